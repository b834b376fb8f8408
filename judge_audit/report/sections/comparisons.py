"""The part of the report about a judge that compares: what its places owe, what it prefers, what it cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import DASH, true_minus
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.report.facts import where
from judge_audit.report.figures import figure_of, percent_bounds, with_interval
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from judge_audit.report.facts import Facts
    from judge_audit.report.figures import Figure

KINDS = ("untouched", "pairs", "ladders")
COLUMNS = ("left_share", "left_decided", "tied_choices", "same_winner", "order_agreement")
ANSWERS = (("position_bias", "left_share"), ("scale", "capability"), ("mismatch", "damage_preference"))


def comparisons_of(facts: Facts) -> dict[str, Any] | None:
    """Gather what is known of the comparisons; None of a judge that scores.

    Returns:
        `answers`: verdicts on place, order and damages; `kinds`: per kind of comparison its shares with intervals;
        `circles`, `repeats`: shares of triples that go round in a circle, and of repeated questions answered alike;
        `not_asked`: what cannot be asked of it, in words.
    """
    if not facts.card.get("compares"):
        return None
    answers = [
        {**verdict_of(row), "measure": measure, "kind": row["kind"]}
        for check, measure in ANSWERS
        for row in where(facts.verdicts, check=check, measure=measure)
    ]
    measures = where(facts.measures, check="position_bias")
    figures = {(row["kind"], row["measure"]): figure_of(row) for row in measures}
    kinds = [
        {"kind": kind, **{name: figures.get((kind, name)) for name in COLUMNS}}
        for kind in KINDS
        if (kind, "left_share") in figures
    ]
    silent = [row["reason"] for row in where(facts.verdicts, finding="not_asked")]
    return {
        "answers": answers,
        "kinds": kinds,
        "circles": figures.get(("untouched", "cyclic_share")),
        "repeats": figures.get((POOLED, "repeat_choice")),
        "not_asked": list(dict.fromkeys(silent)),
        "failed": [row["reason"] for row in where(answers, verdict=Verdict.FAIL)],
    }


def agreement_and_interval(figure: Figure | None) -> str:
    """Write an agreement, −1 to 1, with its interval; a dash where there is none."""
    return with_interval(figure, lambda value: true_minus(f"{value:+.2f}"), " to ")


def share_and_interval(figure: Figure | None) -> str:
    """Write a share with its interval in percent; a dash where there is none."""
    return DASH if figure is None or figure["value"] is None else percent_bounds(figure, " to ")
