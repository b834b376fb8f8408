"""What people and production say about the judge, use by use: rates with their intervals and limits."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.report.charts.use_charts import LIFT, SHARE
from judge_audit.report.facts import where
from judge_audit.report.figures import figure_of, finite
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.report.facts import Facts

    Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure that is drawn: its check, its measure and kind, and its word."""

    check: str
    measure: str
    kind: str
    word: str


SCALES = {"review": SHARE, "choices": SHARE, "separation": LIFT, "acceptance": SHARE, "appeals": SHARE}
"""The checks of this part, in order, and their scales."""

SHOWN = (
    Shown("review", "pass_rate", "top", "top"),
    Shown("review", "pass_rate", "bottom", "bottom"),
    Shown("review", "quantile_difference", POOLED, "difference"),
    Shown("choices", "judge_first_choice", POOLED, "judge"),
    Shown("choices", "rater_first_choice", POOLED, "rater"),
    Shown("choices", "chance_first_choice", POOLED, "chance"),
    Shown("choices", "first_choice", POOLED, "difference"),
    Shown("separation", "judge_lift_after", POOLED, "judge"),
    Shown("separation", "people_lift_after", POOLED, "people"),
    Shown("separation", "separated", POOLED, "difference"),
    Shown("acceptance", "false_accept_rate", "bad_given_accepted", "bad_given_accepted"),
    Shown("acceptance", "false_accept_rate", "accepted_given_bad", "accepted_given_bad"),
    Shown("acceptance", "false_reject_rate", "good_given_rejected", "good_given_rejected"),
    Shown("acceptance", "false_reject_rate", "rejected_given_good", "rejected_given_good"),
    Shown("acceptance", "overturn_rate", "settled_appeals", "settled_appeals"),
    Shown("appeals", "appeal_rate", POOLED, "appealed"),
    Shown("appeals", "overturned_share", POOLED, "overturned"),
    Shown("appeals", "open_share", POOLED, "open"),
)
"""What is drawn of each check, from above."""


def use_evidence_of(facts: Facts) -> list[dict[str, Any]]:
    """Give the checks that anything was measured for, each with its figures, verdicts and weeks."""
    parts: list[dict[str, Any]] = []
    for check, scale in SCALES.items():
        shown = [entry for entry in SHOWN if entry.check == check]
        drawn = {(entry.measure, entry.kind) for entry in shown}
        measures, verdicts = where(facts.measures, check=check), where(facts.verdicts, check=check)
        known = dict.fromkeys(row["dimension"] for row in measures if (row["measure"], row["kind"]) in drawn)
        parts += [
            {
                "check": check,
                "dimension": dimension,
                "scale": scale,
                "rows": [row for entry in shown for row in _rows(entry, measures, verdicts, dimension)],
                "verdicts": [verdict_of(row) for row in where(verdicts, dimension=dimension)],
                "named": _named(measures) if check == "review" else "",
                "weeks": _weeks(facts) if check == "appeals" else [],
            }
            for dimension in known
            if check != "review" or dimension == POOLED
        ]
    return parts


def _rows(
    shown: Shown, measures: Sequence[MeasuresRow], verdicts: Sequence[VerdictsRow], dimension: str
) -> list[dict[str, Any]]:
    """Give a figure over all with the limit it is compared with, then by source."""
    own = where(measures, measure=shown.measure, kind=shown.kind, dimension=dimension)
    own = [row for row in own if finite(row["value"]) is not None]
    limits = _limits(verdicts, shown, dimension)
    rows = []
    for row in sorted(own, key=lambda row: (row["source"] != POOLED, row["source"])):
        whole = row["source"] == POOLED
        word = say(f"use_evidence.{shown.check}.{shown.word}") if whole else row["source"]
        rows.append({"word": word, "whole": whole, **figure_of(row), **(limits if whole else {})})
    return rows


def _limits(verdicts: Sequence[VerdictsRow], shown: Shown, dimension: str) -> dict[str, float | None]:
    """Find the limits of a figure; that of the top has a verdict of another name."""
    named = "top_pass_rate" if (shown.measure, shown.kind) == ("pass_rate", "top") else shown.measure
    for row in where(verdicts, measure=named, dimension=dimension):
        if row["kind"] in {shown.kind, POOLED}:
            return {name: finite(row[name]) for name in ("limit_low", "limit_high")}
    return {}


def _named(measures: Sequence[MeasuresRow]) -> str:
    """Say which dimensions and axes reviewers found wanting at the top."""
    shares: dict[str, list[tuple[str, float, int]]] = {"pass_rate": [], "axis_share": []}
    for row in where(measures, kind="top", source=POOLED):
        name = row["dimension"] if row["measure"] == "pass_rate" else row["axis"]
        if row["measure"] in shares and row["value"] is not None and name != POOLED:
            shares[row["measure"]].append((name, row["value"], row["n"]))
    sentences = []
    for measure, key in (("pass_rate", "by_dimension"), ("axis_share", "by_axis")):
        if shares[measure]:
            ordered = sorted(shares[measure], key=lambda entry: (-entry[1], entry[0]))
            listed = ", ".join(f"{name} {percent(value)} (n = {n})" for name, value, n in ordered)
            sentences.append(say(f"use_evidence.review.{key}", list=listed))
    return " ".join(sentences)


def _weeks(facts: Facts) -> list[dict[str, Any]]:
    """Give the rates by week that rise or not: name, points, and whether the rise is a fault."""
    series = []
    for measure, verdict in (("appeal_rate", "appeal_trend"), ("settled_overturn_rate", "overturn_trend")):
        points = [
            {"week": row["kind"], **figure_of(row)}
            for row in sorted(where(facts.curves, check="appeals", measure=measure), key=itemgetter("rung"))
        ]
        rises = bool(where(facts.verdicts, measure=verdict, verdict=Verdict.FAIL))
        if len(points) > 1:
            series.append({"measure": measure, "points": points, "rises": rises})
    return series
