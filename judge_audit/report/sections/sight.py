"""The part of the report that says what the judge can see: before any ladder is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.report.facts import placed, where
from judge_audit.report.figures import finite
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import MeasuresRow

    from judge_audit.report.facts import Facts

NAME = "sight"
QUESTIONS = ("repeat", "batch", "copy", "border", "aspect", "orientation", "prompt")
"""In the order in which a person asks them; each is the beginning of its measures' names."""


def sight_of(facts: Facts, axes: Sequence[str]) -> dict[str, Any]:
    """Gather what is known of the judge's sight.

    Returns:
        `answers`: one entry per question and dimension, a verdict with the sizes of the change; `ladders`: per axis
        and dimension the smallest strength that moves most scores, the share of rungs that move nothing at all,
        and whether the ladder is provably outside what the judge looks at.
    """
    verdicts, measures = where(facts.verdicts, check=NAME), where(facts.measures, check=NAME)
    answers = [
        {"question": question, **verdict_of(row), **_sizes(question, row["dimension"], measures)}
        for question in QUESTIONS
        for row in where(verdicts, measure=f"{question}_moved")
    ]
    unseen = {(row["axis"], row["dimension"]) for row in where(verdicts, finding="unseen")}
    values = {(row["axis"], row["dimension"], row["measure"]): finite(row["value"]) for row in measures}
    place = placed(axes)
    keys = {(row["axis"], row["dimension"]) for row in where(measures, measure="unseen_share")}
    ladders = [
        {
            "axis": axis,
            "dimension": dimension,
            "seen_from": values.get((axis, dimension, "seen_from")),
            "unseen_share": values.get((axis, dimension, "unseen_share")),
            "unseen": (axis, dimension) in unseen,
        }
        for axis, dimension in sorted(keys, key=lambda key: (place(key[0]), key[1]))
    ]
    return {"answers": answers, "ladders": ladders}


def _sizes(question: str, dimension: str, measures: Sequence[MeasuresRow]) -> dict[str, Any]:
    """Give the median and the largest change, in points and in robust SDs; None where there is none."""
    sizes = {
        (row["measure"], row["kind"]): finite(row["value"])
        for row in where(measures, dimension=dimension)
        if row["measure"].startswith(f"{question}_change")
    }
    return {
        f"{kind}_{unit}": sizes.get((f"{question}_change{suffix}", kind))
        for kind in ("median", "largest")
        for unit, suffix in (("points", ""), ("sd", "_sd"))
    }
