"""A run's record: that it began, how it ended, and why, in plain words; and telling the team's hook of it."""

from __future__ import annotations

import json
import secrets
import socket
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import AuditsRow, CanaryNightsRow

from judge_audit.core.errors import EXIT_GOOD, EXIT_JUDGE_FAILED, EXIT_MACHINERY, AuditError, UsageError
from judge_audit.core.formatting import minute
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.version import __version__
from judge_audit.decisions.gate.model import CRITICAL, OPEN, SHUT
from judge_audit.judges.canaries.verdict import DECLARED, UNKNOWN
from judge_audit.judges.cards.redaction import secrets_around
from judge_audit.lake import Lake
from judge_audit.lake.audits import audit_left_open, names_of
from judge_audit.lake.compaction import tidy
from judge_audit.operations.notifications import AUDIT_FAILED, EPOCH_CHANGED, GATE_SHUT, hook_of, notify
from judge_audit.operations.runs.run_history import (
    COMPLETE,
    FAILED,
    INTERRUPTED,
    LOST,
    STARTED,
    STOPPED,
    Life,
    lock_of,
    read_runs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from judge_audit.core.configuration import Configuration
    from judge_audit.operations.notifications import Hook

    Row = dict[str, Any]

RUN, RELEASE, GATE = "run", "release", "gate"
EXIT_INTERRUPTED = 130
LONGEST_REASON = 2_000
"""Characters of a reason that are kept."""

FIRST_REASONS = 3
"""Reasons of a shut gate that a notice bears."""


class Run:
    """One run of a command or deployment, from its start to its end."""

    def __init__(
        self, kind: str, url: str, judge: str, hook: Hook | None, tell: Callable[[str], None]
    ) -> None:
        """Begin; nothing is written before `begin`.

        Args:
            kind: run, release or gate.
            url: Where the lake is.
            judge: The judge as it was asked for, "" if by an audit alone.
            hook: The team's hook.
            tell: Given sentences that a person should see.
        """
        self.kind, self.url, self.judge, self.hook, self.tell = kind, url, judge, hook, tell
        self.started = datetime.now(UTC)
        self.run_id = f"{self.started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
        self.name = Path(judge).stem if judge.endswith((".yaml", ".yml")) else judge
        self.judge_id: str | None = None
        self.audit_id: str | None = None
        self.flow_run: str | None = None
        self.gate: Mapping[str, Any] | None = None
        self.exit_code = EXIT_GOOD
        self._lake: Lake | None = None
        self._life: Life | None = None

    def begin(self, *, create: bool = True) -> None:
        """Put down that the run began, once; runs found to have ended without a word are put down as lost.

        Args:
            create: Make the lake if it is not there; else, where there is none, nothing is put down.
        """
        if self._lake is not None:
            return
        try:
            lake = Lake.open(self.url, create=create)
        except UsageError:
            if create:
                raise
            return
        self._life = Life(lock_of(lake, self.run_id))
        lake.commit({"runs": from_rows("runs", [self._row(STARTED)])})
        self._lake = lake
        tell_lost(lake, self.hook, self.tell)

    def audited(self, audit_id: str, judge_id: str) -> None:
        """Keep which audit the run came to, and tell the hook if it is the first of a new epoch."""
        self.audit_id, self.judge_id = audit_id, judge_id
        if self._lake is not None and (epoch := new_epoch(self._lake, audit_id, judge_id)):
            known = opened_by(self._lake, judge_id) != UNKNOWN
            key = "epoch_changed" if known else "epoch_unknown"
            text = say(f"runs.notice.{key}", judge=self.name, epoch=epoch)
            self._notify(EPOCH_CHANGED, {"epoch": epoch, "text": text})

    def asked(self, gate: Mapping[str, Any]) -> None:
        """Keep what the gate answered.

        Args:
            gate: The answer for programs, as `Gated.document` has it.
        """
        self.gate, self.exit_code = gate, gate["exit_code"]
        self.audit_id, self.judge_id = gate["candidate"], gate["judge_id"]

    def complete(self) -> None:
        """Put down a run that came to its end, and tell the hook if the gate is not open."""
        self._end(COMPLETE, "")
        if self.gate is not None and self.exit_code:
            self._notify(GATE_SHUT, _gate_notice(self.gate))

    def fail(self, error: BaseException) -> None:
        """Put down a run that came to nothing, and tell the hook unless a person interrupted it."""
        outcome, reason, self.exit_code = _outcome(error)
        if self.audit_id is None and self._lake is not None:
            with suppress(Exception):  # what is kept of an error must not hide it
                self.audit_id, self.judge_id = audit_left_open(self._lake, self.started)
        self._end(outcome, reason)
        if outcome == INTERRUPTED or (self.kind == GATE and isinstance(error, UsageError)):
            return  # a person sits there and is told
        text = (
            say("runs.notice.gate_failed", reason=reason) if self.kind == GATE else _failed(self.name, reason)
        )
        self._notify(
            AUDIT_FAILED, {"outcome": outcome, "reason": reason, "exit_code": self.exit_code, "text": text}
        )

    def _notify(self, event: str, document: Mapping[str, Any]) -> None:
        own: Row = {"run_id": self.run_id, "kind": self.kind, "judge": self.name}
        own |= {"judge_id": self.judge_id, "audit_id": self.audit_id}
        notify(self.hook, event, {**own, **document}, lake=self._lake, tell=self.tell)

    def _end(self, outcome: str, reason: str) -> None:
        """Put down how the run ended; that this cannot be written changes nothing about it, and is said."""
        try:
            if self._lake is not None:
                self._lake.commit({"runs": from_rows("runs", [self._row(outcome, reason)])})
                self._tidy(self._lake)
        except Exception as error:  # noqa: BLE001 - the same
            self.tell(say("runs.unwritten", reason=str(error)))
        finally:
            if self._life is not None:
                self._life.end()

    def _tidy(self, lake: Lake) -> None:
        """Keep the lake small; that this fails changes nothing about the run, and is said."""
        try:
            tidy(lake)
        except AuditError as error:
            self.tell(say("runs.untidied", reason=str(error)))

    def _row(self, outcome: str, reason: str = "") -> Row:
        ended = outcome != STARTED
        return {
            "run_id": self.run_id,
            "outcome": outcome,
            "kind": self.kind,
            "judge": self.judge,
            "judge_id": self.judge_id,
            "audit_id": self.audit_id,
            "gate_id": self.gate["gate_id"] if self.gate else None,
            "state": self.gate["state"] if self.gate else None,
            "exit_code": self.exit_code if ended else None,
            "reason": reason,
            "started_at": self.started,
            "ended_at": datetime.now(UTC) if ended else None,
            "flow_run": self.flow_run,
            "host": socket.gethostname(),
            "code_version": __version__,
        }


@contextmanager
def recorded(
    configuration: Configuration, kind: str, tell: Callable[[str], None], *, flow_run: str | None = None
) -> Iterator[Run]:
    """Keep the record of a run around what it does, and tell the hook of what it came to.

    In a lake that is there the start is put down at once; in one that is not, when the run calls `begin`: bad input
    makes no lake.

    Args:
        configuration: What the run goes by.
        kind: run, release or gate.
        tell: Given sentences that a person should see, such as that the hook failed.
        flow_run: Prefect's id of the flow run this is part of.
    """
    run = Run(kind, configuration.lake, configuration.judge, hook_of(configuration), tell)
    run.flow_run = flow_run
    try:
        run.begin(create=False)
        yield run
    except BaseException as error:
        run.fail(error)
        raise
    run.complete()


def tell_lost(lake: Lake, hook: Hook | None, tell: Callable[[str], None]) -> None:
    """Put down the runs that ended without a word, and tell the hook of each that no other run put down as well.

    Args:
        lake: The lake.
        hook: The team's hook.
        tell: Given sentences where a notice did not arrive.
    """
    lost = [
        {**row, "outcome": LOST, "reason": lost_reason(row)}
        for row in read_runs(lake, datetime.now(UTC)).lost
    ]
    for row in [row for row in lost if lake.commit({"runs": from_rows("runs", [row])}).new]:
        lock_of(lake, row["run_id"]).unlink(missing_ok=True)
        notice = {name: row[name] for name in ("run_id", "kind", "judge", "judge_id", "audit_id", "reason")}
        notice |= {"outcome": LOST, "exit_code": None, "text": _failed(row["judge"], row["reason"])}
        notify(hook, AUDIT_FAILED, notice, lake=lake, tell=tell)


def lost_reason(row: Mapping[str, Any]) -> str:
    """Say what is known of a run that ended without a word."""
    return say("runs.lost", started=minute(row["started_at"]), host=row["host"])


def _outcome(error: BaseException) -> tuple[str, str, int]:
    """Give how a run ended, why (every secret of the environment blotted out), and its exit code."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, say("runs.interrupted"), EXIT_INTERRUPTED
    outcome, code, kind = FAILED, EXIT_MACHINERY, type(error).__name__
    if isinstance(error, AuditError):
        reason, code = str(error), error.exit_code
        outcome = STOPPED if code == EXIT_JUDGE_FAILED else FAILED
    elif isinstance(error, Exception):
        reason = say("runs.unexpected", kind=kind, error=str(error))
    else:
        reason = say("runs.ended", kind=kind)
    reason = secrets_around().clean(reason)
    return outcome, reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…", code


def _failed(judge: str, reason: str) -> str:
    return say("runs.notice.audit_failed", judge=judge or say("runs.notice.some_judge"), reason=reason)


def _gate_notice(gate: Mapping[str, Any]) -> Row:
    """Make what a notice says of a gate that is not open."""
    barring = [row for row in gate["expectations"] if row["severity"] == CRITICAL and row["state"] != OPEN]
    first = [
        {name: row[name] for name in ("suite", "expectation", "state", "owner", "reason", "remedy")}
        for row in sorted(barring, key=lambda row: row["state"] != SHUT)
    ]
    key = "gate_shut" if gate["state"] == SHUT else "gate_unasked"
    why = first[0]["reason"] if first else ""
    return {
        **{name: gate[name] for name in ("judge", "judge_id", "use", "state", "baseline", "exit_code")},
        "audit_id": gate["candidate"],
        "reasons": first[:FIRST_REASONS],
        "more": max(0, len(first) - FIRST_REASONS),
        "certificate": gate.get("certificate") or None,
        "text": say(f"runs.notice.{key}", judge=gate["judge"], use=gate["use"], reason=why),
    }


def opened_by(lake: Lake, judge_id: str) -> str:
    """Say what the canaries showed when a judge's epoch began (changed, declared, unknown, first); "" without any."""
    nights = rows_of(lake.read("canary_nights", judge_id=judge_id), CanaryNightsRow)
    return str(min(nights, key=lambda row: row["asking"])["answer"]) if nights else ""


def new_epoch(lake: Lake, audit_id: str, judge_id: str) -> int:
    """Give the epoch of which an audit is the first complete one, after others of the same judge's name; else 0.

    One that a person wrote into the card is no news and gives 0 too.
    """
    if opened_by(lake, judge_id) == DECLARED:
        return 0
    cards = lake.read("judges", judge_id=judge_id)["card"].to_pylist()
    try:
        epoch = int(json.loads(cards[0]).get("epoch", 0)) if cards else 0
    except (ValueError, TypeError, AttributeError):
        return 0
    if not epoch:
        return 0
    names = sorted(names_of(lake, judge_id))
    family = set(lake.read("judge_labels", name=names)["judge_id"].to_pylist())
    done = rows_of(lake.read("audits", judge_id=sorted(family), status="complete"), AuditsRow)
    earlier = {row["judge_id"] for row in done if row["audit_id"] != audit_id}
    return epoch if earlier and judge_id not in earlier else 0
