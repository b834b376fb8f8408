"""Piles, bins and the last rung nobody sees."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judge_audit.measures.ladders import edge, falls_steadily
from judge_audit.measures.scale import bin_width, distinct, last_end, levels, pile


def test_a_pile_is_found_wherever_bin_edges_fall():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(6.5, 8.49, 95), rng.uniform(0, 5, 5)])
    assert pile(values, 1.0).share == pytest.approx(0.95)
    fixed = max(np.histogram(values, np.arange(12))[0][k : k + 2].sum() for k in range(10)) / 100
    assert fixed < 0.90


def test_a_window_on_whole_numbers_holds_two_values_and_not_three():
    values = np.array([6.0] * 30 + [7.0] * 30 + [8.0] * 40)
    assert (pile(values, 1.0).hits, pile(values, 1.0).low) == (70, 7.0)


def test_the_last_of_ten_bins_holds_the_end_of_the_scale():
    values = np.array([8.0] * 20 + [9.0] * 20 + [10.0] * 20 + [3.0] * 40)
    assert pile(values, 1.0, last_end(0, 10, None)).hits == 60
    assert pile(values, 1.0, last_end(0, 10, 1)).hits == 40
    inside = np.array([6.0] * 20 + [7.0] * 20 + [8.0] * 20)
    assert pile(inside, 1.0, last_end(0, 10, None)).hits == 40


def test_a_pile_agrees_with_a_search_over_every_window():
    values = np.random.default_rng(1).normal(5, 1, 200).round(2)
    found = pile(values, 0.37)
    assert found.hits == max(((values >= a) & (values < a + 0.74 - 1e-12)).sum() for a in values)


def test_bins_are_the_values_on_a_scale_of_few_and_a_tenth_of_it_otherwise():
    assert (levels(1, 5, 1), bin_width(1, 5, 1)) == (5, 1)
    assert (levels(0, 10, 1), bin_width(0, 10, 1)) == (11, 1)
    assert (levels(0, 100, 1), bin_width(0, 100, 1)) == (101, 10)
    assert (levels(0, 1, None), bin_width(0, 1, None)) == (None, 0.1)


def test_distinct_counts_values_and_the_share_of_the_commonest():
    assert distinct(np.array([1.0, 1.0, 1.0, 2.0])) == (2, 0.75)


def test_the_edge_is_the_last_rung_below_the_smaller_point():
    found = edge([1, 2, 4, 8], [False] * 4, 4)
    assert (found.rung, found.reach) == (1, pytest.approx(2 / math.sqrt(8)))


def test_a_change_never_noticed_has_its_edge_at_the_strongest_rung():
    found = edge([1, 2, 4, 8], [False] * 4, math.inf)
    assert (found.rung, found.reach) == (3, 1.0)


def test_inert_rungs_are_no_edge():
    assert edge([1, 2, 4, 8], [False, True, False, False], 4).rung == 0
    assert edge([1, 2, 4, 8], [True, True, False, False], 4).rung == -1
    assert edge([1, 2, 4, 8], [False] * 4, 0.5).rung == -1


def test_falling_steadily_allows_flats_but_no_rise():
    assert falls_steadily(np.array([5.0, 4.0, 4.0, 3.0])) is True
    assert falls_steadily(np.array([5.0, 4.0, 4.5])) is False
    assert falls_steadily(np.array([5.0, 5.0])) is None
