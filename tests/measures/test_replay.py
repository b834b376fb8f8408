"""Cuts carried over as shares or numbers; shares over strata recover what was planted."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.estimates import wilson
from judge_audit.measures.replay import (
    Decided,
    changed_rate,
    first_rate,
    kept_by_number,
    kept_by_share,
    recorded_thresholds,
    stratified,
)


def decided(accepted, new, old=None, sources=None, inclusion=None):
    n = len(accepted)
    return Decided(
        np.array(accepted, bool),
        np.asarray(old if old is not None else np.full(n, np.nan), float),
        np.asarray(new, float),
        np.array(sources if sources is not None else [0] * n),
        np.zeros(n, int),
        np.asarray(inclusion if inclusion is not None else np.ones(n), float),
    )


def test_each_source_keeps_the_share_it_had():
    given = decided([1, 1, 0, 0, 1, 0, 0, 0], [1, 9, 8, 2, 100, 300, 200, 0], sources=[0] * 4 + [1] * 4)
    kept = kept_by_share(given)
    assert kept.tolist() == [0, 1, 1, 0, 0, 1, 0, 0]
    assert changed_rate(given, kept, accepted=True).changed == pytest.approx(2 / 3)
    assert changed_rate(given, kept, accepted=False).changed == pytest.approx(2 / 5)


def test_ties_at_the_cut_count_in_part():
    assert kept_by_share(decided([1, 0, 0, 0], [5, 5, 1, 0])).tolist() == [0.5, 0.5, 0, 0]


def test_what_the_new_judge_has_not_scored_is_unknown_and_bounded():
    given = decided([1, 1, 1, 0, 0], [3, np.nan, 1, 2, 0])
    kept = kept_by_share(given)
    assert np.isnan(kept[1])
    rate = changed_rate(given, kept, accepted=True)
    assert (rate.n, rate.n_unknown) == (2, 1)
    assert rate.changed == pytest.approx(0.5)
    assert (rate.least, rate.most) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    nothing = changed_rate(decided([1], [np.nan]), np.array([np.nan]), accepted=True)
    assert np.isnan(nothing.changed)
    assert nothing.unknown == 1


def test_a_threshold_is_found_only_where_every_decision_follows_it():
    fine = decided([1, 1, 0], [0, 0, 0], old=[7, 6, 5.5])
    assert recorded_thresholds(fine) == {0: 6.0}
    assert recorded_thresholds(decided([1, 0, 1], [0, 0, 0], old=[7, 6, 5])) is None
    assert recorded_thresholds(decided([1, 0], [0, 0], old=[7, np.nan])) is None
    assert recorded_thresholds(decided([0, 0], [0, 0], old=[7, 6])) is None
    moved = decided([1, 1, 0], [6.0, 5.9, 6.1], old=[7, 6, 5])
    assert kept_by_number(moved, {0: 6.0}).tolist() == [1, 0, 1]


def test_first_choices_need_every_item_of_a_prompt():
    given = decided([1, 0, 1, 0], [1, 2, 3, np.nan], old=[2, 1, 2, 1])
    rate = first_rate(given, {"p": np.array([0, 1]), "q": np.array([2, 3])})
    assert (rate.changed, rate.n, rate.n_unknown) == (1.0, 1, 1)


def test_one_stratum_is_wilsons():
    values = np.r_[np.ones(12), np.zeros(28)]
    rate = stratified(values, np.ones(40), np.zeros(40, int))
    assert (rate.low, rate.high) == pytest.approx(wilson(12, 40, 0.9))


def test_unequal_sampling_is_undone_and_the_interval_covers():
    rng = np.random.default_rng(0)
    sizes, shares, drawn = np.array([9000, 900, 100]), np.array([0.02, 0.3, 0.8]), np.array([60, 60, 60])
    truth = float((sizes * shares).sum() / sizes.sum())
    strata = np.repeat(np.arange(3), drawn)
    weights = np.repeat(sizes / drawn, drawn)
    held, middle = 0, []
    for _ in range(600):
        values = (rng.random(180) < shares[strata]).astype(float)
        rate = stratified(values, weights, strata, 0.95)
        held += rate.low <= truth <= rate.high
        middle.append(rate.changed)
    assert np.mean(middle) == pytest.approx(truth, abs=0.003)
    assert 0.93 <= held / 600 <= 0.985
