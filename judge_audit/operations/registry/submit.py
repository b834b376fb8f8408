"""One submission, however often it is asked for: exactly one audit of a version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import EXIT_GOOD, EXIT_USAGE, AuditError
from judge_audit.decisions.gate.summary import CODES
from judge_audit.operations.registry.audit_version import tell
from judge_audit.operations.registry.ledger import COMPLETE, FAILED, LOST, REQUESTED
from judge_audit.operations.registry.template import check_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit_schemas.rows import RegistrationsRow

    from judge_audit.operations.registry.ledger import History, Ledger, Version
    from judge_audit.operations.registry.mlflow_client import Registry

MOST_LOST = 3
"""Runs of a round that may be lost (machine died, server emptied) before a person has to look."""

WAITING, ENDED, CANCELLED = "waiting", "ended", "cancelled"
"""What a launched run can be found to be: on its way or at work, ended however that came about, ended by a person."""

UNDER_WAY, AUDITED, REFUSED = "under way", "audited", "failed"


@dataclass(frozen=True, slots=True)
class Request:
    """A run that is asked for.

    Attributes:
        version: What it audits.
        round: The round.
        key: The same request has the same key; a launcher starts one run a key.
    """

    version: Version
    round: int
    key: str


@dataclass(frozen=True, slots=True)
class Launched:
    """What became of a request.

    Attributes:
        run_id: The run, the same one whenever the same request is made.
        state: waiting, ended or cancelled.
        told: Its state in words.
    """

    run_id: str
    state: str
    told: str = ""


class Launcher(Protocol):
    """Starts runs."""

    def __call__(self, request: Request) -> Launched:
        """Start the run of a request, or find it; never start a second one of the same key."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a submission came to.

    Attributes:
        state: under way, audited or failed.
        new: Whether it started a run.
        run_id: The run, "" if none is known.
        line: The same in words.
        gate: The gate's answer, "" while there is none.
        audit_id: The audit, "" while there is none.
    """

    state: str
    new: bool
    run_id: str
    line: str
    gate: str = ""
    audit_id: str = ""

    @property
    def code(self) -> int:
        """The exit code."""
        if self.state == REFUSED:
            return EXIT_USAGE
        return CODES.get(self.gate, EXIT_GOOD)


def submit(
    ledger: Ledger,
    version: Version,
    launch: Launcher,
    *,
    via: str = "command",
    again: bool = False,
    history: History | None = None,
) -> Outcome:
    """Have a version audited, unless it was or is being.

    A run is asked for under a key made of lake, version, round and attempt, and recorded once it is there: if the
    record is lost the same key finds the same run, if the run is lost the next submission finds that it ended without
    a record of its own and asks for another.

    Args:
        ledger: What was submitted before.
        version: The version.
        launch: Starts a run, once a key.
        via: Who submits: command, event or poller.
        again: Begin another round where the last one ended.
        history: What the ledger says of the version, if that was read just now.
    """
    known = history or ledger.history(version)
    round_ = known.round
    if known.ending is not None:
        if not again:
            return ended(version, known)
        round_ += 1
    attempt = known.lost + 1 if round_ == known.round else 1
    new = False
    while attempt <= MOST_LOST:
        launched = launch(Request(version, round_, key_of(ledger.lake.url, version, round_, attempt)))
        more: RegistrationsRow = {"via": via, "flow_run": launched.run_id or None}
        first = ledger.record(version, REQUESTED, round_, attempt, **more)
        new = new or first
        known = ledger.history(version)
        if known.ending is not None:
            return ended(version, known, new=new)
        if launched.state == WAITING:
            line = f"{version.told}: {'submitted' if new else 'under way already'} (run {launched.run_id})."
            return Outcome(UNDER_WAY, new, launched.run_id, line)
        reason = launched.told or "the run ended and recorded nothing"
        if launched.state == CANCELLED:
            more["reason"] = f"the run was cancelled: {reason}."
            ledger.record(version, FAILED, round_, attempt, **more)
            return ended(version, ledger.history(version), new=new)
        more["reason"] = reason
        ledger.record(version, LOST, round_, attempt, **more)
        attempt += 1
    lost = [row for row in ledger.history(version).rows if row["status"] == LOST]
    last = max(lost, key=lambda row: row["recorded_at"])["reason"] if lost else "see the server's page"
    reason = f"{MOST_LOST} runs ended without an answer; the last one: {last}"
    ledger.record(version, FAILED, round_, MOST_LOST + 1, via=via, reason=reason)
    return ended(version, ledger.history(version), new=new)


def key_of(lake: str, version: Version, round_: int, attempt: int) -> str:
    """Give the key under which a run is asked for."""
    return "judge-audit-" + text_digest(
        "submission", lake, version.registration_id, str(round_), str(attempt)
    )


def ended(version: Version, history: History, *, new: bool = False) -> Outcome:
    """Say how a version's newest round ended."""
    row = history.ending
    assert row is not None
    run_id = row["flow_run"] or ""
    if row["status"] == COMPLETE:
        line = f"{version.told}: audited ({row['audit_id']}), the gate is {row['state']}."
        return Outcome(AUDITED, new, run_id, line, row["state"] or "", row["audit_id"])
    line = f"{version.told}: it could not be audited: {row['reason']} Once mended, submit it --again."
    return Outcome(REFUSED, new, run_id, line)


@dataclass(slots=True)
class Look:
    """What a look came to.

    Attributes:
        versions: Versions that the registry holds of what is audited.
        submitted: How many were submitted now.
        under_way: How many were before and have not ended.
        left: How many wait for the next look.
        told: How many the registry was told of late.
        lines: What happened, a line each.
        problems: What went wrong; the rest was done all the same.
    """

    versions: int
    submitted: int = 0
    under_way: int = 0
    left: int = 0
    told: int = 0
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """Say it in one line."""
        return (
            f"{self.versions} versions in the registry: {self.submitted} submitted now, {self.under_way} under way, "
            f"{self.left} wait for the next look."
        )


def look(
    registry: Registry,
    ledger: Ledger,
    launch: Launcher,
    announce: Callable[[Version, RegistrationsRow, dict[str, str]], None],
) -> Look:
    """Look at the registry once.

    Args:
        registry: The registry.
        ledger: What was submitted before.
        launch: Starts a run, once a key.
        announce: Tells whoever listens of an end that was not told.

    Raises:
        UsageError: If the card template serves for no version, or the registry refuses.
        MachineryError: If the registry does not answer; nothing is recorded then.
    """
    settings = registry.settings
    check_template(settings.template, settings.project)
    versions = registry.versions()
    histories = ledger.histories(versions)
    result = Look(len(versions))
    for version in versions:
        history = histories[version.registration_id]
        try:
            if history.ending is None:
                if not history.rows and result.submitted >= settings.most:
                    result.left += 1
                    continue
                outcome = submit(ledger, version, launch, via="poller", history=history)
                result.submitted += outcome.new
                result.under_way += not outcome.new
                result.lines.append(outcome.line)
            elif not history.told:
                tell(registry, ledger, version, announce)
                result.told += 1
                result.lines.append(f"{version.told}: the registry was told late how the audit ended.")
        except AuditError as error:
            result.problems.append(f"{version.told}: {error}")
    return result
