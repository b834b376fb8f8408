"""Four uses, four standings, one position.

Missing evidence is unknown, never pass, and unknown demotes. A provisional pass supports nothing; a
provisional fail makes a use "unproven, suspected" and bars nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import StandingsRow

from judge_audit.core.errors import MachineryError
from judge_audit.core.messages import say
from judge_audit.core.resources import read_shipped
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import NOT_ASKED, POOLED, READ, Capability, Position, Standing, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.lake import Lake

POSITION_ROW = "position"
"""The `use` of the one row that names the position."""

ORDERS_NOTHING = {"constant", "no_order", "reversed", "silent"}
"""Findings of a judge that cannot even put images in order."""

USE_FIELDS = {"use", "step", "question", "requires"}
REQUIREMENT_FIELDS = {"check", "measure", "missing", "remedy"}
WAIVED = "waived"
"""Optional field of a requirement: the context in which it is not asked for."""

INTERNAL, OUTSIDE = "internal", "outside"
CONTEXTS = (INTERNAL, OUTSIDE)
"""Where a judge is used: inside, where a failure costs a rerun, or facing people beyond the team."""


def position_of(lake: Lake, audit_id: str) -> str:
    """Read the position that an audit came to."""
    rows = rows_of(
        lake.read("standings", audit_id=audit_id, use=POSITION_ROW, is_control=False), StandingsRow
    )
    return str(rows[0]["standing"]) if rows else Position.NONE.value


@dataclass(frozen=True, slots=True)
class Requirement:
    """One piece of evidence that a use asks for.

    Attributes:
        check: The check that gives it.
        measure: The measure whose verdicts must pass.
        missing: What to say where it is not there.
        remedy: What to do about that.
        waived: The context in which it is not asked for, "" if in none.
    """

    check: str
    measure: str
    missing: str
    remedy: str
    waived: str = ""


@dataclass(frozen=True, slots=True)
class Use:
    """One of the four jobs, with what it requires and the step it belongs to."""

    name: str
    step: Position
    question: str
    requires: tuple[Requirement, ...]


def builtin_uses() -> tuple[Use, ...]:
    """Read the shipped checklists.

    Raises:
        MachineryError: If a checklist is malformed; names the file.
    """
    folder = files("judge_audit_schemas") / "uses"
    found = []
    for entry in sorted(folder.iterdir(), key=lambda path: path.name):
        if not entry.name.endswith(".yaml") or entry.name == "limits.yaml":
            continue
        found.append(parse_use(entry.name, read_shipped(entry)))
    return tuple(found)


def parse_use(origin: str, content: Any) -> Use:  # noqa: ANN401 - whatever the file holds
    """Make a use of a checklist's content, or say what is wrong with the file."""
    if not isinstance(content, dict) or set(content) != USE_FIELDS:
        raise MachineryError(f"{origin}: a checklist has the fields {', '.join(sorted(USE_FIELDS))}.")
    if not content["requires"]:
        raise MachineryError(f"{origin}: a checklist that requires nothing would allow every judge.")
    for entry in content["requires"]:
        if set(entry) - {WAIVED} != REQUIREMENT_FIELDS:
            wanted = ", ".join(sorted(REQUIREMENT_FIELDS))
            raise MachineryError(f"{origin}: each requirement has the fields {wanted} and may have {WAIVED}.")
        if entry.get(WAIVED, INTERNAL) != INTERNAL:
            raise MachineryError(f"{origin}: a requirement can be {WAIVED} in the context {INTERNAL} alone.")
    return Use(
        name=content["use"],
        step=Position(content["step"]),
        question=content["question"],
        requires=tuple(Requirement(**entry) for entry in content["requires"]),
    )


def stand(
    uses: Sequence[Use], verdicts: Sequence[Mapping[str, Any]], context: str = OUTSIDE
) -> list[dict[str, Any]]:
    """Give a judge its standing in each use, and its position.

    Args:
        uses: The checklists.
        verdicts: Rows of table `verdicts` of one judge in one audit.
        context: Where the judge is used, one of `CONTEXTS`.

    Returns:
        Rows with use, standing, reasons and missing; the last is the position.
    """
    rows = [_standing(use, verdicts, context) for use in uses]
    allowed = {row["use"] for row in rows if row["standing"] == Standing.ALLOWED}
    position, reasons = _position(uses, allowed, verdicts)
    missing = sorted({text for row in rows for text in row["missing"]}) if position != Position.NONE else []
    rows.append({"use": POSITION_ROW, "standing": position.value, "reasons": reasons, "missing": missing})
    return rows


def _standing(use: Use, verdicts: Sequence[Mapping[str, Any]], context: str) -> dict[str, Any]:
    """Hold the evidence against one checklist."""
    against: list[str] = []
    open_: list[str] = []
    missing: list[str] = []
    waived: list[str] = []
    for requirement in use.requires:
        found = [
            row
            for row in verdicts
            if row["check"] == requirement.check
            and row["measure"] == requirement.measure
            and row.get("kind", POOLED) != READ
        ]
        firm = [row for row in found if row["verdict"] == Verdict.FAIL and not row["provisional"]]
        suspected = [row for row in found if row["verdict"] == Verdict.FAIL and row["provisional"]]
        proved = found and all(row["verdict"] == Verdict.PASS and not row["provisional"] for row in found)
        against += [row["reason"] for row in firm]
        open_ += [say("standings.suspected", reason=row["reason"]) for row in suspected]
        if proved or firm:
            continue
        if requirement.waived == context:
            waived.append(say("standings.waived", missing=requirement.missing))
        else:
            missing.append(_lacking(requirement, found))
    standing = Standing.BARRED if against else Standing.UNPROVEN if open_ or missing else Standing.ALLOWED
    reasons = against + open_ + waived
    if not reasons and not missing:
        reasons = [say("standings.proved")]
    return {"use": use.name, "standing": standing.value, "reasons": reasons, "missing": missing}


def _lacking(requirement: Requirement, found: Sequence[Mapping[str, Any]]) -> str:
    """Say what is missing and how to get it, with the number of items that would settle what is open."""
    wanted = [
        int(row["n_needed"])
        for row in found
        if row["verdict"] == Verdict.INCONCLUSIVE and row.get("n_needed") is not None
    ]
    if found and all(row["finding"] == NOT_ASKED for row in found):
        return " ".join(dict.fromkeys(str(row["reason"]) for row in found))
    parts = [requirement.missing, requirement.remedy]
    if wanted:
        parts.append(say("standings.needed", n=f"{max(wanted):,}"))
    return " ".join(parts)


def _position(
    uses: Sequence[Use], allowed: set[str], verdicts: Sequence[Mapping[str, Any]]
) -> tuple[Position, list[str]]:
    """Name the highest step whose checklists, and those of every step below, are complete."""
    lost = [
        row["reason"]
        for row in verdicts
        if row["check"] == "scale" and row["measure"] == "capability" and row["finding"] in ORDERS_NOTHING
    ]
    if lost:
        return Position.NONE, lost
    position = Position.SCREENING
    for step in (Position.FILTER_AND_RANK, Position.REWARD, Position.ACCEPT):
        needed = [use for use in uses if use.step == step]
        if not needed or any(use.name not in allowed for use in needed):
            names = ", ".join(use.name for use in needed if use.name not in allowed) or say(
                "standings.no_checklist"
            )
            reasons = [say("standings.not_earned", step=step.value, uses=names)]
            if position == Position.SCREENING:
                reasons.append(say("standings.screening"))
            return position, reasons
        position = step
    return position, [say("standings.complete")]


def capability_of(verdicts: Sequence[Mapping[str, Any]]) -> Capability:
    """Read what the judge's scale can carry from its verdicts; unknown demotes to ranker."""
    scale = [row for row in verdicts if row["check"] == "scale"]
    if any(row["measure"] == "capability" and row["finding"] in ORDERS_NOTHING for row in scale):
        return Capability.NONE
    absolute = [row["verdict"] == Verdict.PASS for row in scale if row["measure"] == "absolute"]
    return Capability.ABSOLUTE if absolute and all(absolute) else Capability.RANKER
