"""The certificate: what a release owner acts on, with a digest of every row it rests on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import (
    ApprovalsRow,
    AuditsRow,
    DecisionsRow,
    JudgesRow,
    RankChangesRow,
    SignoffsRow,
    StandingsRow,
)

from judge_audit.core.digests import canonical_json, row_digest, text_digest
from judge_audit.core.limits import changed_limits
from judge_audit.core.messages import knows, say
from judge_audit.core.tables import definition, rows_of
from judge_audit.core.version import __version__
from judge_audit.core.vocabulary import Position, Standing
from judge_audit.decisions.gate.approvals import SCREENING
from judge_audit.decisions.gate.builtin_answers import lasts
from judge_audit.decisions.gate.model import OPEN
from judge_audit.decisions.gate.summary import document_of
from judge_audit.decisions.judge_change import difference, draw_sample, replay
from judge_audit.decisions.standings import POSITION_ROW
from judge_audit.lake.audits import RESULTS, result_of
from judge_audit.lake.evidence import audit_root

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from judge_audit.decisions.gate.model import Answer, Question
    from judge_audit.decisions.standings import Use
    from judge_audit.lake import Lake

    Row = dict[str, Any]

FORMAT = 1
"""Number of the certificate's shape; changes are additive within a number."""

SHOWN_FLIPS = 6
"""Pairs of anchors shown as pictures; the rest are counted."""

REPLAY_SEED = 1
"""Settles which past decisions are replayed where there are too many for all."""

USES = ("filtering", "ranking", "reward", "acceptance")
"""The four uses in the order of their steps."""

PLAN = ("items", "probes", "zones")
EVIDENCE = (*PLAN, "judges", "calls", "scores")
"""Tables of what an audit's figures were made of."""

NAMED_UP_TO = 2_000
"""Tables with no more rows than this are digested row by row too, so that a changed row can be named."""

ROW_CHARS = 16
COMPLETE = "complete"
ACCEPTANCE = "acceptance"
"""The use in which nobody looks, and which therefore needs a sign-off."""


@dataclass(frozen=True, slots=True)
class Rests:
    """What names the rows a certificate rests on.

    Attributes:
        candidate: The audit.
        gate_id: The asking of the gate.
        approval_id: The approval it was held against, "" if none.
        baseline_judge: The judge approved then, "" if none.
    """

    candidate: str
    gate_id: str
    approval_id: str
    baseline_judge: str


def evidence_tables(lake: Lake, rests: Rests) -> dict[str, Callable[[], pa.Table]]:
    """Give, table by table, how the rows that a certificate rests on are read."""
    judged = rows_of(lake.read("audits", audit_id=rests.candidate), AuditsRow)
    if not judged:
        return {"audits": partial(lake.read, "audits", audit_id=rests.candidate)}
    audit = judged[0]
    found: dict[str, Callable[[], pa.Table]] = {
        **{name: partial(result_of, lake, name, rests.candidate) for name in RESULTS},
        **{name: partial(evidence_of, lake, name, audit) for name in EVIDENCE},
    }
    if lake.files("comparisons", audit["judge_id"]):
        found["comparisons"] = partial(compared_of, lake, audit)
        found["strengths"] = partial(lake.read, "strengths", audit_id=rests.candidate)
    found["gates"] = lambda: lake.read("gates", audit_id=rests.candidate, gate_id=rests.gate_id)
    if rests.approval_id:
        found["approvals"] = lambda: lake.read("approvals", approval_id=rests.approval_id)
    if rests.baseline_judge and rests.baseline_judge != audit["judge_id"]:
        key = {"judge_id": audit["judge_id"], "baseline": rests.baseline_judge}
        found["rank_changes"] = lambda: lake.read("rank_changes", **key)
    if audit["anchor_set"]:
        key_ = {"set_id": audit["anchor_set"], "anchor_version": audit["anchor_version"]}
        for name in ("anchors", "anchor_labels"):
            found[name] = partial(lake.read, name, **key_)
    return found


def make_certificate(lake: Lake, answer: Answer, judge: str, uses: Sequence[Use]) -> Row:
    """Gather the content of a certificate.

    Args:
        lake: The lake, the gate's rows in it.
        answer: The gate's answer.
        judge: What to call the judge.
        uses: The checklists, whose missing pieces are told with the commands that bring them.
    """
    question = answer.question
    audit = rows_of(lake.read("audits", audit_id=question.candidate), AuditsRow)[0]
    standings = rows_of(
        lake.read("standings", audit_id=question.candidate, judge_id=answer.judge_id), StandingsRow
    )
    position = next((row for row in standings if row["use"] == POSITION_ROW), None)
    approval = _approval(lake, answer)
    rests = Rests(
        question.candidate,
        answer.gate_id,
        approval["approval_id"] if approval else "",
        approval["judge_id"] if approval else "",
    )
    expires = expiry(lake, audit, question)
    content = {
        "format": FORMAT,
        "gate": document_of(answer, judge),
        "position": position["standing"] if position else Position.NONE.value,
        "position_reasons": position["reasons"] if position else [],
        "standings": [
            {name: row[name] for name in ("use", "standing", "reasons", "missing")}
            for row in sorted(standings, key=_by_step)
            if row["use"] != POSITION_ROW
        ],
        "changed": _changed(lake, answer, approval),
        "sign": signatures(lake, answer, approval, expires),
        "limits": [asdict(one) for one in changed_limits(audit["configuration"])],
        "commands": missing_pieces(standings, uses, question.use),
        "issued_at": question.now.isoformat(timespec="seconds"),
        "audited_at": iso(audit["ended_at"]),
        "expires_at": iso(expires),
        "lake": lake.url,
        "code_version": __version__,
        "root": audit_root(lake, question.candidate),
        "rests": {name: getattr(rests, name) for name in Rests.__slots__},
        "rows": {name: _told(name, read()) for name, read in evidence_tables(lake, rests).items()},
    }
    return {**content, "digest": digest_of(content)}


def _by_step(row: StandingsRow) -> tuple[int, str]:
    return (USES.index(row["use"]) if row["use"] in USES else len(USES), row["use"])


def digest_of(content: Mapping[str, Any]) -> str:
    """Digest a certificate's content, without the digest itself."""
    return text_digest("certificate", canonical_json({k: v for k, v in content.items() if k != "digest"}))


def _told(name: str, table: pa.Table) -> Row:
    found = digested(name, table)
    return {"rows": found.rows, "digest": found.digest, "each": dict(found.each)}


def _approval(lake: Lake, answer: Answer) -> ApprovalsRow | None:
    """Find the approval of the audit the candidate was held against."""
    if not answer.question.baseline:
        return None
    held = rows_of(
        lake.read("approvals", audit_id=answer.question.baseline, use=answer.question.use), ApprovalsRow
    )
    return max(held, key=lambda row: (row["approved_at"], row["approval_id"]), default=None)


def _changed(lake: Lake, answer: Answer, approval: ApprovalsRow | None) -> Row | None:
    """Say what changed since the approved judge: of its identity, and of the order of the anchors."""
    if approval is None:
        return None
    told: Row = {
        "since": approval["audit_id"],
        "by": approval["signer"],
        "at": iso(approval["approved_at"]),
        "sentences": [say("gate.certificate.same_judge")],
        "replayed": [],
        "flips": [],
        "more_flips": 0,
    }
    if approval["judge_id"] == answer.judge_id:
        return told
    cards = [
        json.loads(row["card"])
        for judge_id in (approval["judge_id"], answer.judge_id)
        for row in rows_of(lake.read("judges", judge_id=judge_id), JudgesRow)
    ]
    if len(cards) == 2:
        told["sentences"] = list(difference(*cards).sentences)
    told["replayed"] = _replayed(lake, answer, approval)
    key = {"judge_id": answer.judge_id, "baseline": approval["judge_id"]}
    flips = sorted(rows_of(lake.read("rank_changes", **key), RankChangesRow), key=_worst_first)
    told["flips"] = [
        {name: value for name, value in row.items() if name not in {"judge_id", "baseline", "audit_id"}}
        for row in _varied(flips)
    ]
    told["more_flips"] = len(flips) - len(told["flips"])
    return told


def _replayed(lake: Lake, answer: Answer, approval: ApprovalsRow) -> list[str]:
    """Say what of production's past decisions would have gone otherwise; nothing where none are recorded.

    Where a source has very many, a sample of them is replayed.
    """
    decisions = rows_of(lake.read("decisions"), DecisionsRow)
    if not decisions:
        return []
    drawn = draw_sample(decisions, REPLAY_SEED)
    sample = None if set(drawn.values()) == {1.0} else drawn
    return list(replay(lake, answer.question.candidate, approval["audit_id"], sample=sample).sentences)


def _varied(flips: Sequence[RankChangesRow]) -> list[RankChangesRow]:
    """Choose the gravest pairs, at first without showing any anchor twice."""
    chosen: list[RankChangesRow] = []
    for again in (False, True):
        for row in flips:
            shown = {name for flip in chosen for name in (flip["anchor_first"], flip["anchor_second"])}
            fresh = not {row["anchor_first"], row["anchor_second"]} & shown
            if len(chosen) < SHOWN_FLIPS and row not in chosen and (fresh or again):
                chosen.append(row)
    return sorted(chosen, key=_worst_first)


def _worst_first(row: RankChangesRow) -> tuple[Any, ...]:
    """Put what goes against people first, then across tiers, then the pairs that moved furthest apart."""
    old = (row["old_rank_second"] or 0.0) - (row["old_rank_first"] or 0.0)
    moved = old + (row["new_rank_first"] or 0.0) - (row["new_rank_second"] or 0.0)
    against = row["direction"] == "against_people"
    return not against, not row["across_tiers"], -moved, row["anchor_first"], row["anchor_second"]


def pictured(document: Mapping[str, Any]) -> list[str]:
    """List the anchors whose pictures a certificate shows, by item_id."""
    flips = (document["changed"] or {}).get("flips", [])
    return list(dict.fromkeys(row[name] for row in flips for name in ("anchor_first", "anchor_second")))


def items_of(lake: Lake, document: Mapping[str, Any]) -> dict[str, Row]:
    """Read where the pictured anchors lie."""
    names = pictured(document)
    if not names:
        return {}
    plans = set(lake.read("audits", audit_id=document["rests"]["candidate"])["plan_id"].to_pylist())
    since = document["changed"]["since"]
    plans |= set(lake.read("audits", audit_id=since)["plan_id"].to_pylist())
    held = lake.read("items", plan_id=sorted(plans))
    return {
        row["item_id"]: row
        for row in held.filter(pc.is_in(held["item_id"], value_set=pa.array(names, pa.string()))).to_pylist()
    }


@dataclass(frozen=True, slots=True)
class Digested:
    """The rows of one table.

    Attributes:
        rows: How many.
        digest: Of all of them, whatever their order.
        each: Digest of each row by its key, empty if there are too many to name.
    """

    rows: int
    digest: str
    each: Mapping[str, str]


def digested(name: str, table: pa.Table) -> Digested:
    """Digest the rows of a table."""
    if table.num_rows > NAMED_UP_TO:
        return Digested(table.num_rows, row_digest(table), {})
    key = definition(name).key
    each = {
        "/".join(str(row[column]) for column in key): row_digest(table.slice(place, 1))[:ROW_CHARS]
        for place, row in enumerate(table.select(list(key)).to_pylist())
    }
    return Digested(table.num_rows, row_digest(table), each)


def evidence_of(lake: Lake, name: str, audit: Mapping[str, Any]) -> pa.Table:
    """Read one table of what an audit's figures were made of: its plan, the judge, its answers to the plan.

    Args:
        lake: The lake.
        name: One of `EVIDENCE`.
        audit: A row of `audits`.
    """
    if name in PLAN:
        return lake.read(name, plan_id=audit["plan_id"])
    held = lake.read(name, judge_id=audit["judge_id"])
    if name == "judges":
        return held
    asked = lake.read("probes", plan_id=audit["plan_id"])["probe_id"]
    return held.filter(pc.is_in(held["probe_id"], value_set=pc.unique(asked)))


def compared_of(lake: Lake, audit: Mapping[str, Any]) -> pa.Table:
    """Read what a judge that compares answered to the plan of an audit.

    Args:
        lake: The lake.
        audit: A row of `audits`.
    """
    held = lake.read("comparisons", judge_id=audit["judge_id"])
    asked = pc.unique(lake.read("probes", plan_id=audit["plan_id"])["probe_id"])
    inside = [pc.is_in(held[name], value_set=asked) for name in ("left_probe", "right_probe")]
    return held.filter(pc.and_(*inside))


def holding(lake: Lake, question: Question) -> list[SignoffsRow]:
    """Read the sign-offs for the use that hold, in the order in which they were signed."""
    held = rows_of(lake.read("signoffs", audit_id=question.candidate, use=question.use), SignoffsRow)
    return sorted(
        (row for row in held if row["signoff_id"] in question.signoffs),
        key=lambda row: (row["signed_at"], row["signoff_id"]),
    )


def expiry(lake: Lake, audit: AuditsRow, question: Question) -> datetime | None:
    """Say when what an audit showed has grown old, or its first sign-off ends; None while it runs."""
    ended: datetime | None = audit["ended_at"]
    if ended is None:
        return None
    ends: list[datetime] = [row["expires_at"] for row in holding(lake, question)]
    approved = rows_of(lake.read("audits", audit_id=question.baseline, status=COMPLETE), AuditsRow)
    return min([ended + lasts(audit, approved[0] if approved else None), *ends])


def iso(time: datetime | None) -> str | None:
    """Write a time, to the second."""
    return time.isoformat(timespec="seconds") if time else None


def signatures(
    lake: Lake, answer: Answer, approval: ApprovalsRow | None, expires: datetime | None
) -> list[Row]:
    """Say who must sign what by when, and who has."""
    question = answer.question
    entries = _signoffs(lake, answer, expires)
    done = rows_of(lake.read("approvals", audit_id=question.candidate, use=question.use), ApprovalsRow)
    if done:
        return entries + [
            {
                "who": row["signer"],
                "what": say("gate.certificate.approved", use=question.use, reason=row["reason"]),
                "by": None,
                "at": iso(row["approved_at"]),
                "command": "",
            }
            for row in done
        ]
    what = "first" if approval is None else "approve" if answer.state == OPEN else "after"
    command = say(
        f"gate.certificate.command_{'first' if approval is None else 'approve'}",
        candidate=question.candidate,
        use=question.use,
    )
    told = {"who": say("gate.owner.release"), "what": say(f"gate.certificate.sign_{what}", use=question.use)}
    return [*entries, {**told, "by": iso(expires), "at": None, "command": command}]


def _signoffs(lake: Lake, answer: Answer, expires: datetime | None) -> list[Row]:
    """List the sign-offs that hold for the use, and the one that automatic acceptance still needs."""
    question = answer.question
    entries = [
        {
            "who": row["signer"],
            "what": say(
                "gate.certificate.signed_off", reason=row["reason"], until=f"{row['expires_at']:%Y-%m-%d}"
            ),
            "by": None,
            "at": iso(row["signed_at"]),
            "command": "",
        }
        for row in holding(lake, question)
    ]
    if question.use != ACCEPTANCE or entries:
        return entries
    what = say("gate.certificate.sign_off")
    who = say("gate.certificate.answerable")
    return [{"who": who, "what": what, "by": iso(expires), "at": None, "command": ""}]


def missing_pieces(standings: Sequence[StandingsRow], uses: Sequence[Use], use: str) -> list[Row]:
    """List the missing pieces of the use (of all uses, for screening) with the commands that bring them."""
    held = {row["use"]: row for row in standings}
    found: dict[str, Row] = {}
    for entry in uses:
        row = held.get(entry.name)
        if row is None or row["standing"] == Standing.ALLOWED or use not in {entry.name, SCREENING}:
            continue
        for requirement in entry.requires:
            lacking = [text for text in row["missing"] if text.startswith(requirement.missing)]
            key = f"gate.command.{requirement.check}"
            if lacking:
                piece = found.setdefault(
                    lacking[0],
                    {"missing": lacking[0], "command": say(key) if knows(key) else "", "uses": []},
                )
                if entry.name not in piece["uses"]:
                    piece["uses"].append(entry.name)
    return list(found.values())
