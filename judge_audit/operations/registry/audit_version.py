"""From a registered version to a judge that can be audited, and from an audit to the ledger's last word."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import AuditsRow, GatesRow, RegistrationsRow

from judge_audit.core.errors import EXIT_MACHINERY, AuditError
from judge_audit.core.tables import rows_of
from judge_audit.decisions.gate.model import CRITICAL, OPEN
from judge_audit.decisions.standings import position_of
from judge_audit.operations.registry.ledger import COMPLETE, FAILED, TOLD, claimed
from judge_audit.operations.registry.template import ARTIFACTS, CARD_FILE, check_template, fill, write_card

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from judge_audit.core.configuration import Configuration
    from judge_audit.lake import Lake
    from judge_audit.operations.registry.ledger import Ledger, Version
    from judge_audit.operations.registry.mlflow_client import Registry

    Row = dict[str, Any]
    Tags = dict[str, str]

PREFIX = "judge_audit."
NOT_AUDITED = "not audited"


@dataclass(frozen=True, slots=True)
class VersionAudit:
    """What it takes to audit registered versions.

    Attributes:
        registry: Where versions and their files are from.
        ledger: The submissions.
        configuration: What the project's audits go by.
        release: Audits a candidate and asks the gate for a use; gives the gate's answer.
        ask_gate: Asks the gate about a complete audit.
        is_alive: Tells whether a flow run goes on.
        announce: Tells whoever listens, given the ledger's row of the end and the tags.
    """

    registry: Registry
    ledger: Ledger
    configuration: Configuration
    release: Callable[[Configuration, str | None], Row]
    ask_gate: Callable[[str, str | None], Row]
    is_alive: Callable[[str], bool]
    announce: Callable[[Version, RegistrationsRow, Tags], None]


def audit_version(work: VersionAudit, version: Version, round_: int, run_id: str) -> tuple[bool, str]:
    """Audit a version if nobody else does, record how it ended, and tell the registry.

    Args:
        work: What it takes.
        version: The version.
        round_: The round of audits; 0 for the one that is open.
        run_id: The flow run that does it.

    Returns:
        Whether the gate is open or somebody else audits it, and what came of it.

    Raises:
        AuditError: If it cannot be audited; recorded unless the machinery failed.
    """
    ledger = work.ledger
    round_ = round_ or ledger.history(version).round
    failure: AuditError | None = None
    with claimed(ledger, version, round_, run_id, work.is_alive) as refusal:
        if not refusal:
            try:
                _audit(work, version, round_, run_id)
            except AuditError as error:
                if error.exit_code == EXIT_MACHINERY:
                    raise
                ledger.record(version, FAILED, round_, reason=str(error), flow_run=run_id or None)
                failure = error
    history = ledger.history(version)
    if history.ending is not None and not history.told:
        tell(work.registry, ledger, version, work.announce)
    if failure is not None:
        raise failure
    if refusal:
        return True, f"{version.told}: {refusal}"
    state = history.ending["state"] if history.ending else "not asked"
    return state == OPEN, f"{version.told}: the gate is {state}."


def _audit(work: VersionAudit, version: Version, round_: int, run_id: str) -> None:
    """Make a judge of a version, audit it, ask the gate, and record the answer."""
    ledger, settings = work.ledger, work.registry.settings
    folder = folder_of(ledger.lake, version, round_)
    more: RegistrationsRow = {"flow_run": run_id or None}
    if before := audited_already(ledger.lake, folder):
        answer = work.ask_gate(before, settings.use)
    else:
        card, digest = make_judge(work.registry, version, folder)
        more |= {"artifact_digest": digest, "source_uri": version.source}
        report = work.configuration.report or "judge-audit-report"
        report = str(Path(report) / "registered" / folder.parent.name / folder.name)
        answer = work.release(replace(work.configuration, judge=str(card), report=report), settings.use)
    close(ledger, version, round_, answer, **more)


def folder_of(lake: Lake, version: Version, round_: int) -> Path:
    """Give the folder of a version's card and files, beside the lake."""
    return lake.storage.beside / "registered" / version.folder / str(round_)


def make_judge(registry: Registry, version: Version, folder: Path) -> tuple[Path, str]:
    """Fetch a version's files and write its card.

    Returns:
        Path of its card, and digest of its artifacts.

    Raises:
        UsageError: If the files are not to be had, or the template does not fit.
        MachineryError: If registry or disk refuse.
    """
    settings = registry.settings
    check_template(settings.template, settings.project)
    fetched = registry.fetch(version, folder / ARTIFACTS)
    content = fill(settings.template, version, digest=fetched.digest, project=settings.project)
    return write_card(content, folder), fetched.digest


def audited_already(lake: Lake, folder: Path) -> str:
    """Find the audit of a version's round that was complete before its run died; "" if there is none."""
    wanted = (*folder.parts[-3:], CARD_FILE)
    for row in rows_of(lake.read("audits", status="complete"), AuditsRow):
        judge = json.loads(row["configuration"]).get("judge", "")
        if Path(judge).parts[-4:] == wanted:
            return str(row["audit_id"])
    return ""


def close(
    ledger: Ledger, version: Version, round_: int, audit: Row, /, **more: Unpack[RegistrationsRow]
) -> None:
    """Record how an audit of a version ended.

    Args:
        ledger: The submissions.
        version: The version.
        round_: The round.
        audit: The gate's answer, as the release gives it.
        more: Further columns.
    """
    more |= {"audit_id": audit["candidate"], "gate_id": audit["gate_id"], "state": audit["state"]}
    ledger.record(version, COMPLETE, round_, 1, **more)


def tell(
    registry: Registry,
    ledger: Ledger,
    version: Version,
    announce: Callable[[Version, RegistrationsRow, Tags], None],
) -> None:
    """Tell the registry and whoever listens how a version's newest round ended, and record that they were told.

    What breaks off half-way is told again by the next look at the registry, so a listener may hear a thing twice.

    Args:
        registry: The registry.
        ledger: The submissions.
        version: The version.
        announce: Tells whoever listens, given the ledger's row of the end and the tags.

    Raises:
        MachineryError: If the registry does not answer.
    """
    ending = ledger.history(version).ending
    if ending is None:
        return
    tags = tags_of(ledger.lake, ending)
    is_open = ending["status"] == COMPLETE and ending["state"] == OPEN
    registry.tell(version, tags, alias=registry.settings.alias, bears=is_open)
    announce(version, ending, tags)
    ledger.record(version, TOLD, ending["round"])


def tags_of(lake: Lake, ending: RegistrationsRow) -> dict[str, str]:
    """Give the tags that tell how a round ended.

    Args:
        lake: The lake.
        ending: The ledger's row of the end.

    Returns:
        Names (`judge_audit.…`) to texts.
    """
    tags = {"gate": NOT_AUDITED, "use": "", "audit_id": "", "position": "", "reasons": ending["reason"] or ""}
    if ending["status"] == COMPLETE:
        audit_id = ending["audit_id"]
        rows = rows_of(lake.read("gates", audit_id=audit_id, gate_id=ending["gate_id"]), GatesRow)
        reasons = [
            f"{row['suite']}/{row['expectation']}: {row['reason']}"
            for row in sorted(rows, key=lambda row: (row["state"], row["suite"], row["expectation"]))
            if row["severity"] == CRITICAL and row["state"] != OPEN
        ]
        tags = {
            "gate": ending["state"] or "",
            "use": rows[0]["use"] if rows else "",
            "audit_id": audit_id,
            "position": position_of(lake, audit_id),
            "reasons": "\n".join(reasons),
        }
    return {PREFIX + name: value for name, value in tags.items()}
