"""The part of the report about a judge that compares: what its places owe, what it prefers, what it cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.report.figure_text import finite
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from judge_audit.report.facts import Facts

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
        for row in facts.verdicts
        if row["check"] == check and row["measure"] == measure
    ]
    held = {
        (row["kind"], row["measure"]): {
            **{name: finite(row[name]) for name in ("value", "ci_low", "ci_high")},
            "n": row["n"],
        }
        for row in facts.measures
        if row["check"] == "position_bias"
    }
    kinds = [
        {"kind": kind, **{name: held.get((kind, name)) for name in COLUMNS}}
        for kind in KINDS
        if (kind, "left_share") in held
    ]
    silent = [row["reason"] for row in facts.verdicts if row["finding"] == "not_asked"]
    return {
        "answers": answers,
        "kinds": kinds,
        "circles": held.get(("untouched", "cyclic_share")),
        "repeats": held.get((POOLED, "repeat_choice")),
        "not_asked": list(dict.fromkeys(silent)),
        "failed": [row["reason"] for row in answers if row["verdict"] == Verdict.FAIL],
    }


def share_and_interval(entry: dict[str, Any] | None) -> str:
    """Write a share with its interval in percent; a dash where there is none."""
    if entry is None or entry["value"] is None:
        return "–"
    low, high = (entry[name] for name in ("ci_low", "ci_high"))
    told = f"{100 * entry['value']:.0f} %"
    return told if low is None or high is None else f"{told} ({100 * low:.0f} to {100 * high:.0f})"


def agreement_and_interval(entry: dict[str, Any] | None) -> str:
    """Write an agreement, −1 to 1, with its interval; a dash where there is none."""
    if entry is None or entry["value"] is None:
        return "–"
    numbers = [entry[name] for name in ("value", "ci_low", "ci_high")]
    value, *ends = (None if number is None else f"{number:+.2f}".replace("-", "−") for number in numbers)
    return str(value) if None in ends else f"{value} ({ends[0]} to {ends[1]})"
