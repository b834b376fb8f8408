"""The stage after the audit: ask the release gate, put its answer into the lake."""

from __future__ import annotations

import getpass
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit.audits.plugins import find_suites, find_uses, find_views
from judge_audit.audits.verify import picture_digest
from judge_audit.core.errors import AuditError, UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows
from judge_audit.decisions.gate.approvals import SCREENING, Approver, approve, last_use
from judge_audit.decisions.gate.certificate import digest_of, items_of, make_certificate
from judge_audit.decisions.gate.evaluate import ask_gate, audit_of, candidate_of, held_against
from judge_audit.decisions.gate.model import APPROVED, Answer
from judge_audit.decisions.gate.summary import CODES, document_of, lines_of
from judge_audit.decisions.judge_change.change import compare_with
from judge_audit.lake.audits import called
from judge_audit.lake.sql import questions
from judge_audit.report.certificate import write_certificate
from judge_audit.report.sheets.page_pictures import data_uri
from judge_audit.stimuli.images import load_image

SIDE = 240
"""Longest side of a picture in a certificate, in pixels."""

if TYPE_CHECKING:
    from pathlib import Path

    from judge_audit.lake import Lake

    Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Gated:
    """What the gate came to.

    Attributes:
        answer: The answer.
        judge: What to call the candidate's judge.
        certificate: Path of the certificate, "" before it is written.
    """

    answer: Answer
    judge: str
    certificate: str = ""

    @property
    def code(self) -> int:
        """The exit code."""
        return CODES[self.answer.state]

    @property
    def lines(self) -> list[str]:
        """The answer for people."""
        written = [say("gate.lines.certificate", path=self.certificate)] if self.certificate else []
        return [*lines_of(self.answer, self.judge), *written]

    @property
    def document(self) -> Row:
        """The answer for programs."""
        written = {"certificate": self.certificate} if self.certificate else {}
        return {**document_of(self.answer, self.judge), **written}


def gate(
    lake: Lake,
    *,
    candidate: str | None = None,
    baseline: str = APPROVED,
    use: str | None = None,
    project: str = "",
    now: datetime | None = None,
) -> Gated:
    """Ask the release gate and write its rows into table `gates`.

    Args:
        lake: The lake.
        candidate: An audit's id; the newest complete audit if None.
        baseline: An audit's id, or `approved`.
        use: What the judge is to be released for; what it was approved for last if None.
        project: The team's folder, "" if there is none.
        now: The time; that of the clock if None.

    Raises:
        UsageError: If there is no such audit or use, or a suite is malformed.
    """
    answer = asked(lake, candidate=candidate, baseline=baseline, use=use, project=project, now=now)
    lake.commit({"gates": from_rows("gates", answer.rows)})
    return Gated(answer, called(lake, answer.judge_id))


def asked(
    lake: Lake,
    *,
    candidate: str | None,
    baseline: str = APPROVED,
    use: str | None = None,
    project: str = "",
    now: datetime | None = None,
) -> Answer:
    """Compare the candidate with the judges before it, and ask the release gate; its rows are not written."""
    row = candidate_of(lake, candidate)
    meant = use or last_use(lake, row["judge_id"])
    known = [*sorted(find_uses(project)), SCREENING]
    if meant not in known:
        raise UsageError(f"--for {meant}: there is no such use; the uses are {', '.join(known)}.")
    lead = held_against(lake, row, meant, baseline)
    # On the anchors, whose answers retention leaves alone.
    others = [audit_of(lake, name) for name in (lead, before(lake, row["audit_id"])) if name]
    compare_with(lake, row, others)
    suites = {name: part.thing for name, part in find_suites(project).items()}
    views = {name: part.thing for name, part in find_views(project).items()}
    return ask_gate(lake, row, meant, suites, now=now or datetime.now(UTC), baseline=baseline, views=views)


def certify(lake: Lake, gated: Gated, folder: Path, *, project: str = "") -> Gated:
    """Write the certificate of an asked gate: certificate.html and certificate.json, each whole or not at all.

    Returns:
        The same with the path of the page.
    """
    uses = [part.thing for part in find_uses(project).values()]
    document = make_certificate(lake, gated.answer, gated.judge, uses)
    pictures = _pictures(lake, document)
    document["digest"] = digest_of(document)
    return replace(gated, certificate=str(write_certificate(document, pictures, folder)))


def _pictures(lake: Lake, document: Row) -> dict[str, str]:
    """Load the pictures of turned pairs and name them in the content; one that changed or is lost is left out."""
    items = items_of(lake, document)
    uris: dict[str, str] = {}
    names: dict[str, str] = {}
    for item_id, row in items.items():
        try:
            image = load_image(row["uri"])
        except (AuditError, OSError):
            continue
        if image.pixel_digest == row["pixel_digest"]:
            uri = data_uri(image.pixels, min(1.0, SIDE / max(image.pixels.shape[:2])))
            names[item_id] = picture_digest(uri)
            uris[names[item_id]] = uri
    for flip in (document["changed"] or {}).get("flips", []):
        for side in ("first", "second"):
            flip[f"picture_{side}"] = names.get(flip[f"anchor_{side}"])
    return uris


def before(lake: Lake, audit_id: str) -> str:
    """Give the audit of the same judge's name before an audit, "" if there is none."""
    text = "SELECT before FROM nights WHERE audit_id = $audit"
    with questions(lake, asked=[text]) as session:
        rows = session.ask(text, {"audit": audit_id})
    return (rows["before"].to_pylist() or [""])[0] or ""


def approve_candidate(
    lake: Lake,
    *,
    candidate: str | None,
    use: str | None,
    approver: Approver,
    project: str = "",
    now: datetime | None = None,
) -> Row:
    """Ask the gate, and record that a person approves the candidate.

    Returns:
        The row of table `approvals`.

    Raises:
        UsageError: If it is refused; says why and what to do.
    """
    when = now or datetime.now(UTC)
    answer = asked(lake, candidate=candidate, use=use, project=project, now=when)
    return approve(lake, answer, approver, when)


def account() -> str:
    """Give the account under which this runs."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
