"""Intervals of τ hold what they promise, noise is not called a change, and planted turns are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judge_audit.measures.change import Readings, compared

pytestmark = pytest.mark.long

TRIALS, FEWER, DRAWS = 400, 200, 600


def drawn(rng, n, kind):
    return rng.exponential(size=n) - 1 if kind == "skewed" else rng.normal(size=n)


def as_scored(values, kind):
    return np.clip(np.round(5 + 2 * values), 0, 10) if kind == "integer" else values


def compare(old, new, seed):
    n = len(old)
    people = np.full((n, n), np.nan)
    sides = [Readings(side, steady=True if side.shape[1] == 1 else None) for side in (old, new)]
    return compared(
        *sides, np.arange(n), people, top_share=0.2, ordered_share=0.9, draws=DRAWS, seed=seed
    ).figures


@pytest.mark.parametrize("kind", ["normal", "skewed", "integer"])
@pytest.mark.parametrize(("n", "least"), [(10, 0.90), (20, 0.92), (48, 0.93)])
def test_the_95_percent_interval_of_tau_covers(kind, n, least):
    def two(rng, n):
        q = drawn(rng, n, kind)
        return [as_scored(q + 0.8 * drawn(rng, n, kind), kind) for _ in range(2)]

    big = two(np.random.default_rng(99), 20_000)
    truth = stats.kendalltau(*big).statistic
    held = 0
    for trial in range(TRIALS):
        rng = np.random.default_rng(trial)
        old, new = two(rng, n)
        low, high = compare(old[:, None], new[:, None], trial)["tau"].interval(0.95)
        held += low <= truth <= high
    assert held / TRIALS >= least, held / TRIALS


@pytest.mark.parametrize("kind", ["normal", "skewed", "integer"])
@pytest.mark.parametrize("noise", [(0.3, 0.3), (0.0, 0.6), (0.2, 1.2)])
def test_a_judge_that_is_merely_noisy_is_rarely_called_changed(kind, noise):
    called, repeats = 0, 2 if kind == "normal" else 4
    for trial in range(FEWER):
        rng = np.random.default_rng(trial)
        q = drawn(rng, 48, kind)
        sides = [
            as_scored(
                q[:, None] + size * np.column_stack([drawn(rng, 48, kind) for _ in range(repeats)]), kind
            )
            for size in noise
        ]
        called += compare(*sides, trial)["drop"].interval(0.95)[0] > 0
    # 2.5 % are allowed; of 200 trials so many stay at or below 12 with probability .998
    assert called <= 12, called


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_planted_break_of_the_order_is_found(noise):
    found = 0
    for trial in range(FEWER):
        rng = np.random.default_rng(trial)
        q = rng.normal(size=60)
        moved = q.copy()
        moved[:12] = -moved[:12] + 0.5
        sides = [base[:, None] + noise * rng.normal(size=(60, 2)) for base in (q, moved)]
        found += compare(*sides, trial)["drop"].interval(0.95)[0] > 0
    assert found / FEWER >= 0.9
