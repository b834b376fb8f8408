"""Intervals of the judge beside people cover, an equal judge is not convicted, and noise is found out."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.estimates import corrected_level
from judge_audit.measures.judge_and_raters import Sample, measured, people_mean, validity
from judge_audit.measures.resampling import combined, derived
from judge_audit.measures.subscores import correlated, effective

pytestmark = pytest.mark.long

TRIALS, DRAWS = 200, 1_000
KINDS = ("continuous", "integer", "skewed", "stochastic")


def drawn(rng, kind, *, clusters, size=1, judge_noise=0.8, noise=0.8, raters=3):
    """One source: raters on five levels; the judge sees the same qualities with noise of its own."""
    quality = np.repeat(rng.normal(size=clusters), size) * 0.7 + 0.7 * rng.normal(size=clusters * size)
    quality = np.exp(0.7 * quality) - 1.3 if kind == "skewed" else quality
    ratings = np.clip(np.round(3 + quality[:, None] + noise * rng.normal(size=(len(quality), raters))), 1, 5)
    seen = quality[:, None] + judge_noise * rng.normal(size=(len(quality), 2))
    seen = seen if kind == "stochastic" else seen[:, :1].repeat(2, axis=1)
    seen = np.round(5 + 2 * seen) if kind == "integer" else seen
    names = tuple("abcdef"[:raters])
    held = np.repeat(np.arange(clusters), size)
    return Sample(seen[:, 0], seen[:, 1], ratings, names, people_mean(ratings), held)


def of_sources(rng, kind, seed, **shape):
    return combined([measured(drawn(rng, kind, **shape), DRAWS, seed + at)["beside"] for at in range(2)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("clusters", "size"), [(10, 1), (20, 1), (48, 1), (20, 4), (150, 1)])
def test_the_difference_covers_and_an_equal_judge_is_not_worse(kind, clusters, size):
    rng = np.random.default_rng(clusters + size)
    truth = np.mean([measured(drawn(rng, kind, clusters=4_000), 0, 0)["beside"].value for _ in range(6)])
    covered, worse, passed = [], [], []
    for trial in range(TRIALS):
        found = of_sources(rng, kind, trial, clusters=clusters, size=size)
        low, high = found.interval(0.90)
        covered.append(low <= truth <= high)
        worse.append(found.interval(corrected_level(1))[1] < -0.05)
        passed.append(low > -0.05)
    print(
        f"{kind} 2 x {clusters} x {size}: truth {truth:+.3f}, covered {np.mean(covered):.2f},"
        f" worse {np.mean(worse):.3f}, passes {np.mean(passed):.2f}"
    )
    assert np.mean(covered) > 0.84
    assert np.mean(worse) <= 0.03


@pytest.mark.parametrize("clusters", [48, 150])
def test_a_judge_of_noise_is_worse(clusters):
    rng = np.random.default_rng(1)
    found = [
        of_sources(rng, "continuous", trial, clusters=clusters, judge_noise=50.0).interval(0.95)[1]
        for trial in range(TRIALS)
    ]
    print(f"noise at 2 x {clusters}: convicted {np.mean(np.array(found) < -0.05):.2f}")
    assert np.mean(np.array(found) < -0.05) > 0.9


@pytest.mark.parametrize(("noise", "clusters"), [(0.3, 100), (1.0, 100), (1.0, 300)])
def test_a_judge_of_what_people_mean_is_not_steadily_wrong(noise, clusters):
    rng = np.random.default_rng(2)
    wrong, values = [], []
    for trial in range(TRIALS):
        parts = measured(drawn(rng, "stochastic", clusters=clusters, judge_noise=noise), DRAWS, trial)
        whole = derived(validity, parts["with_rater"], parts["between_raters"], parts["retest"])
        steadier = derived(lambda own, people: own - people, parts["retest"], parts["between_raters"])
        wrong.append(steadier.interval(0.95)[0] > 0 and whole.interval(0.95)[1] < 0.9)
        values.append(whole.value)
    print(f"noise {noise} at {clusters}: validity {np.median(values):.2f}, convicted {np.mean(wrong):.3f}")
    assert np.median(values) > 0.9
    assert np.mean(wrong) <= 0.05


@pytest.mark.parametrize("halo", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("rounded", [False, True])
def test_effective_dimensions_cover(halo, rounded):
    rng = np.random.default_rng(3)

    def scores(n):
        own, total = rng.normal(size=(n, 4)), rng.normal(size=(n, 1))
        made = (1 - halo) * own + halo * total
        return np.round(2 * made) if rounded else made

    def figure(n, seed, draws):
        (found,) = correlated([scores(n)], np.arange(n), draws, seed)
        return effective([{pair: both[0] for pair, both in found.items()}], 4)[0]

    truth = figure(60_000, 0, 0).value
    for n in (48, 150):
        covered = []
        for trial in range(TRIALS):
            low, high = figure(n, trial, DRAWS).interval(0.90)
            covered.append(low <= truth <= high)
        print(f"halo {halo} rounded {rounded} n {n}: n_eff {truth:.2f}, covered {np.mean(covered):.2f}")
        assert np.mean(covered) > 0.84
