"""The stage after the audit: ask the release gate, put its answer into the lake."""

from __future__ import annotations

import getpass
import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.audits.plugins import find_suites, find_uses, find_views
from judge_audit.audits.verify import picture_digest
from judge_audit.core.errors import AuditError, UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows
from judge_audit.decisions.gate.approvals import SCREENING, Approver, approve, last_use
from judge_audit.decisions.gate.certificate import digest_of, items_of, make_certificate
from judge_audit.decisions.gate.evaluate import ask_gate, audit_of, candidate_of, held_against
from judge_audit.decisions.gate.model import APPROVED, Against, Answer, Team
from judge_audit.decisions.gate.summary import CODES, document_of, lines_of
from judge_audit.decisions.judge_change.change import compare_with
from judge_audit.decisions.signers import read_people
from judge_audit.lake.audits import called
from judge_audit.lake.connect import tables_read
from judge_audit.lake.evidence import see_whole
from judge_audit.lake.sql import questions
from judge_audit.report.certificate import write_certificate
from judge_audit.report.sheets.page_pictures import data_uri
from judge_audit.stimuli.images import load_image

BEFORE = "SELECT before FROM nights WHERE audit_id = $audit"
SIDE = 240
"""Longest side of a picture in a certificate, in pixels."""

if TYPE_CHECKING:
    from judge_audit_schemas.rows import AuditsRow

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
        DamagedError: If evidence is damaged: then the gate cannot be asked.
    """
    with lake.standing_still():
        answer = asked(
            lake, candidate=candidate, against=Against(baseline), use=use, project=project, now=now
        )
        lake.commit({"gates": from_rows("gates", answer.rows)})
        return Gated(answer, called(lake, answer.judge_id))


def asked(
    lake: Lake,
    *,
    candidate: str | None,
    against: Against | None = None,
    use: str | None = None,
    project: str = "",
    now: datetime | None = None,
) -> Answer:
    """Compare the candidate with the judges before it, and ask the release gate; its rows are not written."""
    see_whole(lake, tables=("audits", "approvals", "purges"))
    row, when = candidate_of(lake, candidate), now or datetime.now(UTC)
    home = home_of(row, project)
    found = find_suites(home)
    suites = {name: part.thing for name, part in found.items()}
    views = {name: part.thing for name, part in find_views(home).items()}
    texts = [BEFORE, *(text for suite in suites.values() for text in (suite.frame, suite.keys))]
    tables = tables_read(texts, views)
    see_whole(lake, tables=tables)
    meant = use or last_use(lake, row)
    uses = {name: part.thing for name, part in find_uses(home).items()}
    known = [*sorted(uses), SCREENING]
    if meant not in known:
        raise UsageError(f"--for {meant}: there is no such use; the uses are {', '.join(known)}.")
    lead = held_against(lake, row, meant, against or Against(), when)
    # On the anchors, whose answers retention leaves alone.
    others = [audit_of(lake, name) for name in (lead, before(lake, row["audit_id"])) if name]
    see_whole(lake, [row["audit_id"], *(other["audit_id"] for other in others)], tables)
    compare_with(lake, row, others)
    team = Team(
        views=views,
        uses=uses,
        suites={name: part.digest for name, part in found.items() if part.digest},
        recorded=recorded_suites(row),
        people=read_people(home),
    )
    return ask_gate(lake, row, meant, suites, now=when, against=against, team=team)


SUITE = re.compile(r"suites: (?P<name>\w+)$")
"""How the digests of an audit name a suite of the team."""


def home_of(audit: AuditsRow, project: str) -> str:
    """Give the project whose parts decide about an audit: that of the audit, wherever the question is asked.

    Args:
        audit: Row of `audits`.
        project: The project in whose folder it is asked, "" if it is none; it counts where the audit had none, or
            where that of the audit is not on this machine.
    """
    own = str(json.loads(audit["configuration"] or "{}").get("project") or "")
    return own if own and Path(own).is_dir() else project


def recorded_suites(audit: AuditsRow) -> dict[str, str]:
    """Give the digests of the team's suites that an audit was made with, by name."""
    digests = json.loads(audit.get("input_digests") or "{}")
    found = ((SUITE.search(name), digest) for name, digest in digests.items())
    return {match["name"]: str(digest) for match, digest in found if match}


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
    with questions(lake, asked=[BEFORE]) as session:
        rows = session.ask(BEFORE, {"audit": audit_id})
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
    answer = asked(
        lake,
        candidate=candidate,
        against=Against(succeeds=approver.succeeds),
        use=use,
        project=project,
        now=when,
    )
    return approve(lake, answer, approver, when)


def account() -> str:
    """Give the account under which this runs."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
