"""Coverage of the lift intervals and wrong verdicts at the margin, with the product's own functions.

A planted mean lift of exactly ±0.05 (the premature margin) is estimated again and again; the truth comes from
one very large population. Printed: coverage at 90 % and at m = 15, the share wrongly convicted at m = 15
(should stay near 0.05 / 15 / 2 = 0.0017) and the share wrongly passed at 90 % (should stay near 0.05).
"""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import corrected_level, within
from judge_audit.measures.lifts import Reference, averaged, combined_mean, lifts

pytestmark = pytest.mark.long

MARGIN, CLAIMS, DRAWS, REFERENCE = 0.05, 15, 2000, 100
PER_CLUSTER = 2


def _population(rng, shape, judge, clusters, n, effect):
    """Untouched and changed scores of n items in clusters of two; both repeats of a stochastic judge."""

    def spread(size):
        return rng.normal(size=size) if shape == "normal" else rng.exponential(size=size) ** 1.3

    shared, shared_effect = spread(clusters), spread(clusters)
    of = np.arange(n) % clusters
    quality = 0.7 * shared[of] + 0.7 * spread(n)
    change = effect * (1 + 0.5 * shared_effect[of] + 0.5 * spread(n))
    noise = 0.4 if judge == "stochastic" else 0.0
    before = quality + noise * rng.normal(size=n)
    after = quality + change + noise * rng.normal(size=n)
    if judge == "integer":
        before, after = np.round(1.5 * before), np.round(1.5 * after)
    return before, after, of


def _true_lift(shape, judge, effect):
    before, after, _ = _population(np.random.default_rng(1), shape, judge, 100_000, 200_000, effect)
    ordered = np.sort(np.round(before, 9))

    def placed(values):
        rounded = np.round(values, 9)
        return (
            (np.searchsorted(ordered, rounded) + np.searchsorted(ordered, rounded, "right"))
            / 2
            / len(ordered)
        )

    return float((placed(after) - placed(before)).mean())


def _effect_at_margin(shape, judge):
    low, high = 0.0, 2.0
    for _ in range(22):
        middle = (low + high) / 2
        low, high = (middle, high) if _true_lift(shape, judge, middle) < MARGIN else (low, middle)
    return high


@pytest.mark.parametrize("judge", ["continuous", "integer", "stochastic"])
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_intervals_cover_and_the_margin_convicts_no_one(shape, judge):
    effect = _effect_at_margin(shape, judge)
    truth = _true_lift(shape, judge, effect)
    rng = np.random.default_rng(2)
    for laddered in (10, 20, 48):
        counts = np.zeros(4)
        for _ in range(DRAWS):
            total = max(REFERENCE // PER_CLUSTER, laddered)
            before, after, of = _population(rng, shape, judge, total, total * PER_CLUSTER, effect)
            reference = Reference(before, of, total)
            chosen = of < laddered
            part = averaged([lifts(after[chosen], before[chosen], of[chosen], reference)])
            estimate = combined_mean([part])
            low, high = estimate.interval(0.90)
            counts[0] += low <= truth <= high
            low, high = estimate.interval(corrected_level(CLAIMS))
            counts[1] += low <= truth <= high
            answer = within(estimate, MARGIN, CLAIMS)
            counts[2] += answer.verdict == Verdict.FAIL
            counts[3] += answer.verdict == Verdict.PASS
        at90, at15, convicted, passed = counts / DRAWS
        print(
            f"{shape:7} {judge:10} clusters {laddered:2}: coverage 90 % {at90:.3f}, m=15 {at15:.4f}, "
            f"wrongly convicted {convicted:.4f}, wrongly passed {passed:.3f} (truth {truth:.4f})"
        )
        assert at90 >= 0.86
        assert at15 >= 0.985
        assert convicted <= 0.006
        assert passed <= 0.10
