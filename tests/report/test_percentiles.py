from __future__ import annotations

import numpy as np
import pytest

from judge_audit.core.vocabulary import SMALL
from judge_audit.report.percentiles import lift, meaning, placing_of, ticks
from judge_audit.report.sections.scale import histogram


def rows(values, source="a"):
    return [{"source": source, "dimension": "overall", "value": float(value)} for value in values]


def test_a_score_beats_those_below_it_and_half_of_its_equals():
    placing = placing_of(rows([1, 2, 2, 3]), "overall", sign=1, smallest=1)
    assert placing.percentile(2, "a") == 50
    assert placing.percentile(3, "a") == 87.5
    assert placing.percentile(9, "a") == 100


def test_where_lower_is_better_a_low_score_beats():
    placing = placing_of(rows([1, 2, 3, 4]), "overall", sign=-1, smallest=1)
    assert placing.percentile(0, "a") == 100
    assert placing.percentile(4, "a") == 12.5


def test_small_sources_are_placed_together():
    placing = placing_of(rows(range(30)) + rows([5], "b") + rows([7], "c"), "overall", sign=1, smallest=30)
    assert list(placing.scores) == [SMALL, "a"]
    assert placing.percentile(6, "b") == placing.percentile(6, "c") == 50


def test_the_headline_of_a_scale_to_ten_is_an_eight():
    placing = placing_of(rows(range(11)), "overall", sign=1, smallest=1)
    card = {"scale_low": 0.0, "scale_high": 10.0, "scale_step": None}
    assert meaning(placing, card)["headline"] == 8
    down = placing_of(rows(range(11)), "overall", sign=-1, smallest=1)
    assert meaning(down, card)["headline"] == 2


def test_a_coarse_scale_is_explained_value_by_value():
    placing = placing_of(rows([1, 2, 3, 4, 5]), "overall", sign=1, smallest=1)
    found = meaning(placing, {"scale_low": 1.0, "scale_high": 5.0, "scale_step": 1.0})
    assert [row["value"] for row in found["values"]] == [5, 4, 3, 2, 1]
    assert found["headline"] in {1, 2, 3, 4, 5}


def test_equal_scores_everywhere_still_have_a_meaning():
    placing = placing_of(rows([5, 5, 5]), "overall", sign=1, smallest=1)
    assert meaning(placing, {})["headline_percentiles"] == {"a": 50}


def test_a_lift_leaves_the_own_cluster_out():
    held = np.arange(10.0)
    assert lift(held, np.array([0.0]), 0.0, 5.5) == pytest.approx(5 / 9)
    assert lift(held, np.array([0.0, 1.0]), 0.0, 5.5) == pytest.approx(4 / 8)


def test_ticks_are_round():
    assert ticks(0.3, 9.7, 5) == [2, 4, 6, 8]
    assert ticks(4.0, 4.0, 5) == [4.0]


def test_values_beyond_a_declared_end_stand_in_the_outermost_bar():
    card = {"scale_low": 0.0, "scale_high": 10.0, "scale_step": None}
    found = histogram(rows([-1, 5, 12]), "overall", card, [])
    assert (found["counts"][0], found["counts"][-1], found["n"]) == (1, 1, 3)


def test_a_scale_of_few_values_has_a_bar_for_each():
    card = {"scale_low": 1.0, "scale_high": 5.0, "scale_step": 1.0}
    assert histogram(rows([1, 2, 2, 5]), "overall", card, [])["counts"] == [1, 2, 0, 0, 1]
