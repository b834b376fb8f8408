"""What people and production say about the judge, use by use: rates with their intervals and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.report.charts.use_charts import LIFT, SHARE
from judge_audit.report.figure_text import finite
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.report.facts import Facts

    Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure that is drawn: its measure and kind, and the word it stands under."""

    measure: str
    kind: str
    word: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A check of this part: its heading, its scale, and what is drawn of it, from above."""

    check: str
    scale: str
    shown: tuple[Shown, ...]


PARTS = (
    Asked(
        "review",
        SHARE,
        (
            Shown("pass_rate", "top", "top"),
            Shown("pass_rate", "bottom", "bottom"),
            Shown("quantile_difference", POOLED, "difference"),
        ),
    ),
    Asked(
        "choices",
        SHARE,
        (
            Shown("judge_first_choice", POOLED, "judge"),
            Shown("rater_first_choice", POOLED, "rater"),
            Shown("chance_first_choice", POOLED, "chance"),
            Shown("first_choice", POOLED, "difference"),
        ),
    ),
    Asked(
        "separation",
        LIFT,
        (
            Shown("judge_lift_after", POOLED, "judge"),
            Shown("people_lift_after", POOLED, "people"),
            Shown("separated", POOLED, "difference"),
        ),
    ),
    Asked(
        "acceptance",
        SHARE,
        (
            Shown("false_accept_rate", "bad_given_accepted", "bad_given_accepted"),
            Shown("false_accept_rate", "accepted_given_bad", "accepted_given_bad"),
            Shown("false_reject_rate", "good_given_rejected", "good_given_rejected"),
            Shown("false_reject_rate", "rejected_given_good", "rejected_given_good"),
            Shown("overturn_rate", "settled_appeals", "settled_appeals"),
        ),
    ),
    Asked(
        "appeals",
        SHARE,
        (
            Shown("appeal_rate", POOLED, "appealed"),
            Shown("overturned_share", POOLED, "overturned"),
            Shown("open_share", POOLED, "open"),
        ),
    ),
)


def use_evidence_of(facts: Facts) -> list[dict[str, Any]]:
    """Give the checks that anything was measured for, each with its figures, verdicts and weeks."""
    found = []
    for asked in PARTS:
        measures = [row for row in facts.measures if row["check"] == asked.check]
        verdicts = [row for row in facts.verdicts if row["check"] == asked.check]
        dimensions = list(dict.fromkeys(row["dimension"] for row in measures if _drawn(asked, row)))
        own = [name for name in dimensions if asked.check != "review" or name == POOLED]
        for dimension in own:
            part = {
                "check": asked.check,
                "dimension": dimension,
                "scale": asked.scale,
                "rows": _rows(asked, measures, verdicts, dimension),
                "verdicts": [verdict_of(row) for row in verdicts if row["dimension"] == dimension],
                "named": _named(measures) if asked.check == "review" else "",
                "weeks": _weeks(facts) if asked.check == "appeals" else [],
            }
            found.append(part)
    return found


def _drawn(asked: Asked, row: Row) -> bool:
    return any((row["measure"], row["kind"]) == (shown.measure, shown.kind) for shown in asked.shown)


def _rows(
    asked: Asked, measures: Sequence[Row], verdicts: Sequence[Row], dimension: str
) -> list[dict[str, Any]]:
    """Give what is drawn: each figure over all, then by source; with the limit it is held against."""
    found = []
    for shown in asked.shown:
        own = [
            row
            for row in measures
            if (row["measure"], row["kind"]) == (shown.measure, shown.kind)
            and row["dimension"] == dimension
            and finite(row["value"]) is not None
        ]
        limits = _limits(verdicts, shown, dimension)
        for row in sorted(own, key=lambda row: (row["source"] != POOLED, row["source"])):
            whole = row["source"] == POOLED
            figure = {name: finite(row[name]) for name in ("value", "ci_low", "ci_high", "n")}
            word = say(f"use_evidence.{asked.check}.{shown.word}") if whole else row["source"]
            found.append({"word": word, "whole": whole, **figure, **(limits if whole else {})})
    return found


def _limits(verdicts: Sequence[Row], shown: Shown, dimension: str) -> dict[str, float | None]:
    """Find the limits of a figure; the top's own stands under a verdict of another name."""
    named = "top_pass_rate" if (shown.measure, shown.kind) == ("pass_rate", "top") else shown.measure
    for row in verdicts:
        kinds = {shown.kind, POOLED}
        if row["measure"] == named and row["dimension"] == dimension and row["kind"] in kinds:
            return {name: finite(row[name]) for name in ("limit_low", "limit_high")}
    return {}


def _named(measures: Sequence[Row]) -> str:
    """Say which dimensions and axes reviewers found wanting at the top."""
    told: dict[str, list[tuple[str, float, int]]] = {"pass_rate": [], "axis_share": []}
    for row in measures:
        name = row["dimension"] if row["measure"] == "pass_rate" else row["axis"]
        if row["measure"] in told and row["kind"] == "top" and row["source"] == POOLED and name != POOLED:
            told[row["measure"]].append((name, row["value"], row["n"]))
    said = []
    for measure, key in (("pass_rate", "by_dimension"), ("axis_share", "by_axis")):
        if told[measure]:
            ordered = sorted(told[measure], key=lambda entry: (-entry[1], entry[0]))
            listed = ", ".join(f"{name} {100 * value:.0f} % (n = {n})" for name, value, n in ordered)
            said.append(say(f"use_evidence.review.{key}", list=listed))
    return " ".join(said)


def _weeks(facts: Facts) -> list[dict[str, Any]]:
    """Give the rates by week that rise or not: name, points, and whether the rise is a fault."""
    found = []
    for measure, verdict in (("appeal_rate", "appeal_trend"), ("settled_overturn_rate", "overturn_trend")):
        points = [
            {"week": row["kind"], **{name: finite(row[name]) for name in ("value", "ci_low", "ci_high", "n")}}
            for row in sorted(facts.curves, key=lambda row: row["rung"])
            if row["check"] == "appeals" and row["measure"] == measure
        ]
        told = [row for row in facts.verdicts if row["measure"] == verdict]
        rises = any(row["verdict"] == Verdict.FAIL for row in told)
        if len(points) > 1:
            found.append({"measure": measure, "points": points, "rises": rises})
    return found
