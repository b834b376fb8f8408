"""Four uses, four standings, one position.

Missing evidence is unknown, never pass, and unknown demotes. A provisional pass supports nothing; a
provisional fail makes a use "unproven, suspected" and bars nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
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

ORDERS_NOTHING = {
    ("scale", "capability"): {"constant", "one_value", "no_order", "reversed", "silent"},
    ("within_prompt", "top1_gain"): {"worse_than_chance"},
}
"""Findings of a judge that cannot even put images in order, by question."""

NOT_APPLICABLE_FILE = "not_applicable.yaml"
COMPARES = "compares"
"""The case of a judge that compares two pictures and gives no scores."""

REASONS = 2
"""Reasons of single verdicts that are named with what is missing; the report has them all."""

USE_FIELDS = {"use", "step", "question", "requires"}
OPTIONAL_FIELDS = {"bars", "bars_once", "bars_of_comparers", "shows"}
REQUIREMENT_FIELDS = {"check", "measure", "missing", "remedy"}
WAIVED, OVER = "waived", "over"
"""Optional fields of a requirement: the context in which it is not asked for, and what it must be there for."""

SCOPES = ("axes", "dimensions", "kinds")
"""What a requirement may be asked over: it must be proved for each of them."""

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
        missing: What is not proved where they do not.
        remedy: What to do about that.
        waived: The context in which missing evidence is let be, "" if in none; a conviction never is.
        over: Of `SCOPES`: what there must be a verdict on, each.
    """

    check: str
    measure: str
    missing: str
    remedy: str
    waived: str = ""
    over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """A question whose conviction bars a use.

    Attributes:
        check: The check.
        measure: The measure.
        finding: The fault that bars; "" for any.
        of_comparers: Whether it is asked of judges that compare alone.
        each: Whether it must have been asked in every dimension.
    """

    check: str
    measure: str
    finding: str = ""
    of_comparers: bool = False
    each: bool = True


@dataclass(frozen=True, slots=True)
class Use:
    """One of the four jobs.

    Attributes:
        name: Its name.
        step: The step it belongs to.
        question: What it comes down to.
        requires: What must be proved.
        bars: What bars it wherever found.
        shows: Questions (check.measure) that are shown with it and decide nothing.
    """

    name: str
    step: Position
    question: str
    requires: tuple[Requirement, ...]
    bars: tuple[Bar, ...] = ()
    shows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """What an audit has to have evidence on, and what cannot be asked of its judge.

    Attributes:
        axes: The ladders that must have been judged: the default ones, and all ever climbed for this judge.
        dimensions: The sub-scores that the judge declares, and all that it ever had.
        kinds: The mismatch kinds that must have been tried.
        dropped: Sources that earlier audits of this judge had and this one has not.
        sources: The sources of this audit.
        cannot: Of `NOT_APPLICABLE`: what holds of this audit.
    """

    axes: frozenset[str] = frozenset()
    dimensions: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    cannot: frozenset[str] = frozenset()


def builtin_uses() -> tuple[Use, ...]:
    """Read the shipped checklists.

    Raises:
        MachineryError: If a checklist is malformed; names the file.
    """
    folder = files("judge_audit_schemas") / "uses"
    found = []
    for entry in sorted(folder.iterdir(), key=lambda path: path.name):
        if not entry.name.endswith(".yaml") or entry.name in {"limits.yaml", NOT_APPLICABLE_FILE}:
            continue
        found.append(parse_use(entry.name, read_shipped(entry)))
    return tuple(found)


def parse_use(origin: str, content: Any) -> Use:  # noqa: ANN401 - whatever the file holds
    """Make a use of a checklist's content, or say what is wrong with the file."""
    if not isinstance(content, dict) or set(content) - OPTIONAL_FIELDS != USE_FIELDS:
        raise MachineryError(
            f"{origin}: a checklist has the fields {', '.join(sorted(USE_FIELDS))} and may have "
            f"{', '.join(sorted(OPTIONAL_FIELDS))}."
        )
    if not content["requires"]:
        raise MachineryError(f"{origin}: a checklist that requires nothing would allow every judge.")
    for entry in content["requires"]:
        if not isinstance(entry, dict) or set(entry) - {WAIVED, OVER} != REQUIREMENT_FIELDS:
            wanted = ", ".join(sorted(REQUIREMENT_FIELDS))
            raise MachineryError(
                f"{origin}: each requirement has the fields {wanted} and may have {WAIVED} and {OVER}."
            )
        if entry.get(WAIVED, INTERNAL) != INTERNAL:
            raise MachineryError(f"{origin}: a requirement can be {WAIVED} in the context {INTERNAL} alone.")
        if set(entry.get(OVER, ())) - set(SCOPES):
            raise MachineryError(f"{origin}: {OVER} names some of {', '.join(SCOPES)}.")
    bars = [
        *(_bar(origin, text) for text in content.get("bars", ())),
        *(replace(_bar(origin, text), each=False) for text in content.get("bars_once", ())),
        *(
            replace(_bar(origin, text), of_comparers=True, each=False)
            for text in content.get("bars_of_comparers", ())
        ),
    ]
    return Use(
        name=content["use"],
        step=Position(content["step"]),
        question=content["question"],
        requires=tuple(
            Requirement(**{**entry, OVER: tuple(entry.get(OVER, ()))}) for entry in content["requires"]
        ),
        bars=tuple(bars),
        shows=tuple(content.get("shows", ())),
    )


def _bar(origin: str, entry: Any) -> Bar:  # noqa: ANN401 - whatever the file holds
    """Read `check.measure`, or `check.measure: finding`."""
    text, finding = next(iter(entry.items())) if isinstance(entry, dict) and len(entry) == 1 else (entry, "")
    check, dot, measure = str(text).partition(".")
    if not dot or not measure:
        raise MachineryError(
            f"{origin}: “{entry}” names no question; write check.measure, or check.measure: finding."
        )
    return Bar(check, measure, str(finding))


@cache
def not_applicable() -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """Read which questions cannot be asked when, the one list of them: by case, the uses and the questions."""
    content = read_shipped(files("judge_audit_schemas") / "uses" / NOT_APPLICABLE_FILE)
    return {
        case: (frozenset(entry["uses"]), frozenset(entry["questions"])) for case, entry in content.items()
    }


def stand(
    uses: Sequence[Use],
    verdicts: Sequence[Mapping[str, Any]],
    context: str = OUTSIDE,
    scope: Scope | None = None,
) -> list[dict[str, Any]]:
    """Give a judge its standing in each use, and its position.

    A use is allowed only if every verdict that it requires is there and passes, over the whole scope, and every
    question that bars it was asked and ended without a firm conviction. A barring question that stayed open is named
    and blocks nothing; one that cannot be asked of this judge is left out by the list of `not_applicable` alone.

    Args:
        uses: The checklists.
        verdicts: Rows of table `verdicts` of one judge in one audit.
        context: Where the judge is used, one of `CONTEXTS`.
        scope: What there has to be evidence on.

    Returns:
        Rows with use, standing, reasons and missing; the last is the position.
    """
    scope = scope or Scope()
    rows = [_standing(use, verdicts, context, scope) for use in uses]
    allowed = {row["use"] for row in rows if row["standing"] == Standing.ALLOWED}
    position, reasons = _position(uses, allowed, verdicts)
    missing = sorted({text for row in rows for text in row["missing"]}) if position != Position.NONE else []
    rows.append({"use": POSITION_ROW, "standing": position.value, "reasons": reasons, "missing": missing})
    return rows


@dataclass(slots=True)
class _Held:
    """What the evidence comes to for one use."""

    against: list[str] = field(default_factory=list)
    open_: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    lacking: set[str] = field(default_factory=set)


def _standing(use: Use, verdicts: Sequence[Mapping[str, Any]], context: str, scope: Scope) -> dict[str, Any]:
    """Hold the evidence against one checklist."""
    held = _Held()
    left_out = _left_out(use, scope)
    for requirement in use.requires:
        if f"{requirement.check}.{requirement.measure}" not in left_out:
            _require(held, requirement, verdicts, context, scope)
    for bar in use.bars:
        if bar.of_comparers and COMPARES not in scope.cannot:
            continue
        if f"{bar.check}.{bar.measure}" not in left_out:
            _see_bar(held, bar, _asked(verdicts, bar.check, bar.measure), scope)
    held.missing += [say("standings.dropped", source=name) for name in sorted(scope.dropped)]
    if held.undecided:
        held.noted.append(say("standings.undecided", questions="; ".join(held.undecided)))
    cases = dict.fromkeys(case.partition(",")[0] for case in _cases(use, scope))
    notes = [say(f"standings.not_applicable.{case}", sources=", ".join(scope.sources)) for case in cases]
    blocked = held.open_ or held.missing
    standing = Standing.BARRED if held.against else Standing.UNPROVEN if blocked else Standing.ALLOWED
    reasons = list(dict.fromkeys([*held.against, *held.open_, *held.noted, *notes]))
    if standing == Standing.ALLOWED and not held.noted:
        reasons = [say("standings.proved"), *reasons]
    return {"use": use.name, "standing": standing.value, "reasons": reasons, "missing": held.missing}


def _asked(verdicts: Sequence[Mapping[str, Any]], check: str, measure: str) -> list[Mapping[str, Any]]:
    """Give the verdicts on a question."""
    return [
        row
        for row in verdicts
        if row["check"] == check and row["measure"] == measure and row.get("kind", POOLED) != READ
    ]


def _cases(use: Use, scope: Scope) -> list[str]:
    """Name the cases that leave out a question of a use."""
    named = {f"{one.check}.{one.measure}" for one in use.requires}
    named |= {f"{one.check}.{one.measure}" for one in use.bars}
    return [
        case
        for case, (uses, questions) in not_applicable().items()
        if case.partition(",")[0] in scope.cannot and use.name in uses and questions & named
    ]


def _left_out(use: Use, scope: Scope) -> frozenset[str]:
    """Name the questions that cannot be asked of this judge for a use."""
    return frozenset().union(*(not_applicable()[case][1] for case in _cases(use, scope)))


def _require(
    held: _Held, requirement: Requirement, verdicts: Sequence[Mapping[str, Any]], context: str, scope: Scope
) -> None:
    """Hold the verdicts on a question against a requirement."""
    found = _asked(verdicts, requirement.check, requirement.measure)
    firm = [row for row in found if row["verdict"] == Verdict.FAIL and not row["provisional"]]
    suspected = [row for row in found if row["verdict"] == Verdict.FAIL and row["provisional"]]
    lacking = _lacking_scope(requirement, found, scope, _kinds_tried(verdicts))
    proved = found and all(row["verdict"] == Verdict.PASS and not row["provisional"] for row in found)
    held.against += [row["reason"] for row in firm]
    held.open_ += [say("standings.suspected", reason=row["reason"]) for row in suspected]
    if (proved and not lacking) or firm:
        return
    # Evidence that was asked for and is missing may be waived; a verdict that is not there may be one that was removed.
    if requirement.waived == context and found and not suspected:
        held.noted.append(say("standings.waived", missing=requirement.missing))
    else:
        held.missing.append(_lacking(requirement, found, lacking))
        held.lacking.add(requirement.check)


def _lacking_scope(
    requirement: Requirement, found: Sequence[Mapping[str, Any]], scope: Scope, kinds: frozenset[str]
) -> dict[str, list[str]]:
    """Name what of the scope there is no verdict on: axes (in every dimension), dimensions, or kinds."""
    rows = {(str(row.get("axis", POOLED)), str(row.get("dimension", POOLED))) for row in found}
    dimensions = scope.dimensions if "dimensions" in requirement.over else frozenset()
    lacking: dict[str, list[str]] = {}
    if "axes" in requirement.over:
        named = dimensions or {name for _, name in rows}
        lacking["axes"] = sorted({axis for axis in scope.axes for name in named if (axis, name) not in rows})
        if not rows:
            lacking["axes"] = sorted(scope.axes)
    elif dimensions:
        lacking["dimensions"] = sorted(dimensions - {name for _, name in rows})
    if "kinds" in requirement.over:
        lacking["kinds"] = sorted(scope.kinds - kinds)
    return {name: gone for name, gone in lacking.items() if gone}


def _kinds_tried(verdicts: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Name the mismatch kinds on which a sub-score was judged."""
    rows = _asked(verdicts, "mismatch", "response_lift")
    return frozenset(str(row.get("kind", POOLED)).partition(" (")[0] for row in rows)


def _unclimbed(found: Sequence[Mapping[str, Any]], scope: Scope) -> frozenset[str]:
    """Name the axes on which a question that is asked of every ladder has no answer in some dimension."""
    asked = {
        (str(row.get("axis", POOLED)), str(row.get("dimension", POOLED)))
        for row in found
        if row.get("finding") != NOT_ASKED
    }
    if not {axis for axis, _ in asked} & scope.axes:
        return frozenset()
    names = scope.dimensions or {name for _, name in asked}
    return frozenset(axis for axis in scope.axes for name in names if (axis, name) not in asked)


def _see_bar(held: _Held, bar: Bar, found: Sequence[Mapping[str, Any]], scope: Scope) -> None:
    """Hold the verdicts on a barring question against a use."""
    question = say(f"standings.question.{bar.check}.{bar.measure}")
    answered = {str(row.get("dimension", POOLED)) for row in found if row.get("finding") != NOT_ASKED}
    due = (scope.dimensions - answered if POOLED not in answered else frozenset()) | _unclimbed(found, scope)
    due = due if bar.each else frozenset()
    if due or not answered:
        where = say("standings.lacking.in", list=", ".join(sorted(due))) if due and answered else ""
        if bar.check not in held.lacking:  # else the use lacks what that check requires, which says more
            held.missing.append(say("standings.never_asked", question=question + where))
    if any(row["verdict"] in {Verdict.INCONCLUSIVE, Verdict.MISSING} for row in found):
        held.undecided.append(question)
    for row in found:
        if row["verdict"] == Verdict.FAIL and bar.finding in {"", row.get("finding")}:
            if row["provisional"]:
                held.noted.append(say("standings.suspected", reason=row["reason"]))
            else:
                held.against.append(row["reason"])


def _lacking(
    requirement: Requirement, found: Sequence[Mapping[str, Any]], lacking: Mapping[str, Sequence[str]]
) -> str:
    """Say what is not proved, why, and what to do, with the number of items that would settle what is open."""
    wanted = [
        int(row["n_needed"])
        for row in found
        if row["verdict"] == Verdict.INCONCLUSIVE and row.get("n_needed") is not None
    ]
    parts = [requirement.missing]
    parts += [
        say(f"standings.lacking.{name}", list=", ".join(names)) for name, names in lacking.items() if names
    ]
    if not found:
        parts.append(say("standings.lacking.everything"))
    why = [str(row["reason"]) for row in found if row["verdict"] == Verdict.MISSING]
    parts += list(dict.fromkeys(why))[:REASONS]
    parts.append(requirement.remedy)
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
        if row["finding"] in ORDERS_NOTHING.get((row["check"], row["measure"]), ())
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
    if any(row["finding"] in ORDERS_NOTHING.get((row["check"], row["measure"]), ()) for row in verdicts):
        return Capability.NONE
    absolute = [row["verdict"] == Verdict.PASS for row in scale if row["measure"] == "absolute"]
    return Capability.ABSOLUTE if absolute and all(absolute) else Capability.RANKER
