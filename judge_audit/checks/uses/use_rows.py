"""Verdicts on what a use asks for: a figure against one limit, whatever nobody has looked at yet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladders.ladder_question import figure_columns
from judge_audit.checks.people.judge_and_raters_rows import missing_row
from judge_audit.core.formatting import finite, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.ladders.ladder_question import Figured


def answer(figure: Figured, *, low: float | None, high: float | None, claims: int) -> Verdict:
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
    figure: Figured,
    ways: Sequence[Figured],
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
    others = [answer(way, low=low, high=high, claims=claims) for way in ways]
    decides = observed != Verdict.INCONCLUSIVE and any(other != observed for other in others)
    return (Verdict.INCONCLUSIVE if decides else observed), decides


def figure_row(
    evidence: Evidence,
    check: str,
    measure: str,
    figure: Figured,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Make a row of `measures`."""
    return evidence.key(check, measure, **parts) | figure_columns(figure)


def judged_row(  # noqa: PLR0913 - what a verdict says
    evidence: Evidence,
    check: str,
    measure: str,
    figure: Figured,
    *,
    verdict: Verdict,
    reason: str,
    claims: int,
    finding: str = "",
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Make a row of `verdicts`, with the interval at the level that decided."""
    row = figure_row(evidence, check, measure, figure)
    del row["n_clusters"]
    if verdict == Verdict.FAIL:
        low, high = figure.interval(corrected_level(claims))
        row |= {"ci_low": finite(low), "ci_high": finite(high)}
    told = {"verdict": verdict.value, "finding": finding if verdict == Verdict.FAIL else ""}
    return {**row, **told, "provisional": False, "reason": reason, **parts}


def missing(evidence: Evidence, check: str, measure: str, reason: str, **parts: Any) -> Findings:  # noqa: ANN401
    """Say that the evidence is not there."""
    return Findings(verdicts=(missing_row(evidence, check, measure, POOLED, reason, **parts),))


def ends(figure: Figured, level: float = PASS_LEVEL) -> dict[str, str]:
    """Write a share and its interval for a sentence."""
    low, high = figure.interval(level)
    return {"value": signed_percent(figure.value), "low": signed_percent(low), "high": signed_percent(high)}


def signed_percent(share: float) -> str:
    """Write a share that may be negative; small ones with a decimal."""
    if not math.isfinite(share):
        return say("uses.unknown")
    if 0 < abs(share) < 0.0995:
        return f"{100 * share:.1f} %".replace("-", "−")
    return percent(share).replace("-", "−")
