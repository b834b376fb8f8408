"""A figure held against one limit, whatever it is that nobody has answered or looked at yet."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, items_needed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judge_audit.checks.result_rows import Figure
    from judge_audit.measures.resampling import Resampled


def answer(figure: Figure, *, low: float | None = None, high: float | None = None, claims: int) -> Verdict:
    """Hold a whole interval against one limit: pass wholly inside at 90 %, fail wholly beyond, corrected."""
    if math.isnan(figure.value):
        return Verdict.INCONCLUSIVE
    passing, failing = figure.interval(PASS_LEVEL), figure.interval(corrected_level(claims))
    if low is not None:
        passed, failed = passing[0] > low, failing[1] < low
    else:
        assert high is not None
        passed, failed = passing[1] < high, failing[0] > high
    return Verdict.PASS if passed else Verdict.FAIL if failed else Verdict.INCONCLUSIVE


def however_filled(
    figure: Figure,
    ways: Iterable[Figure],
    *,
    low: float | None = None,
    high: float | None = None,
    claims: int,
) -> tuple[Verdict, bool]:
    """Answer by what was seen; with ways of filling in what was not, only if all of them agree.

    Returns:
        The verdict, and whether what nobody has looked at decides.
    """
    observed = answer(figure, low=low, high=high, claims=claims)
    decides = observed != Verdict.INCONCLUSIVE and any(
        answer(way, low=low, high=high, claims=claims) != observed for way in ways
    )
    return (Verdict.INCONCLUSIVE if decides else observed), decides


def needed_above(figure: Resampled, margin: float, claims: int) -> int | None:
    """Say how many items would settle whether a figure lies above −margin; None where nothing would."""
    known = figure.as_estimate()
    return items_needed(dataclasses.replace(known, value=-known.value), margin, claims, high=margin)
