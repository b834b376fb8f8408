"""First choices: known answers, and silence where the judge is one more annotator."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.choices import Choices, agreements, first_choice
from judge_audit.measures.separation import lifts_after, separation


def chosen(picks, judge, clusters=None):
    picks, judge = np.array(picks), np.array(judge, float)
    clusters = np.arange(len(picks)) if clusters is None else clusters
    return Choices(picks, judge, np.full(len(picks), judge.shape[1], float), clusters)


def test_the_judge_is_held_against_the_others_not_against_the_annotator_himself():
    judge, rater = agreements(chosen([[0, 0, 1]], [[1, 0]]))
    assert judge.tolist() == [[0.5, 0.5, 1.0]]
    assert rater.tolist() == [[0.5, 0.5, 0.0]]


def test_a_tie_at_the_top_counts_one_over_the_number_tied():
    judge, _ = agreements(chosen([[0, 0], [2, 1]], [[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]))
    assert judge[0].tolist() == [0.5, 0.5]
    assert judge[1] == pytest.approx([1 / 3, 1 / 3])


def test_a_group_with_one_annotator_takes_no_part():
    given = chosen([[0, -1], [0, 0]], [[1, 0], [0, 1]])
    found = first_choice(given, 200, 1)
    assert found["judge"].value == 0
    assert found["judge"].n == 1
    assert first_choice(chosen([[0, -1]], [[1, 0]]), 10, 1) == {}


def test_renaming_annotators_and_turning_groups_round_changes_nothing():
    rng = np.random.default_rng(1)
    picks, judge = rng.integers(0, 3, (50, 3)), np.eye(3)[rng.integers(0, 3, 50)]
    one = first_choice(chosen(picks, judge), 0, 1)["beside"].value
    other = first_choice(chosen(picks[::-1, ::-1], judge[::-1]), 0, 1)["beside"].value
    assert one == pytest.approx(other)


def test_a_judge_that_is_one_more_annotator_is_neither_better_nor_worse():
    rng = np.random.default_rng(2)
    values = []
    for _ in range(60):
        quality = rng.normal(size=(60, 4))
        seen = [(quality + rng.normal(size=quality.shape)).argmax(axis=1) for _ in range(4)]
        given = chosen(np.array(seen[:3]).T, np.eye(4)[seen[3]])
        values.append(first_choice(given, 0, 1)["beside"].value)
    assert abs(np.mean(values)) < 0.012


def test_the_judges_rise_is_cut_to_as_many_levels_as_people_use():
    rng = np.random.default_rng(3)
    before, after = rng.normal(size=4000), rng.normal(size=4000) + 1
    people = (before > 0).astype(float), (after > 0).astype(float)
    judge, same = lifts_after((before, after), people)
    assert judge == pytest.approx(same, abs=0.002)
    assert same == pytest.approx(0.17, abs=0.01)


def test_any_monotone_rescaling_of_the_judge_rises_the_same():
    rng = np.random.default_rng(4)
    before, after = rng.normal(size=50), rng.normal(size=50)
    people = (np.round(before), np.round(after))
    clusters = np.arange(50)
    one = separation((before, after), people, clusters, 50, 1)
    other = separation((np.exp(before), np.exp(after)), people, clusters, 50, 1)
    assert one["separated"].value == other["separated"].value
    assert (one["separated"].replicates == other["separated"].replicates).all()


def test_judge_up_people_flat_is_seen():
    rng = np.random.default_rng(5)
    quality = rng.normal(size=(2, 200))
    people = (quality[0] > 0).astype(float), (quality[1] > 0).astype(float)
    found = separation((quality[0], quality[1] + 1), people, np.arange(200), 400, 1)
    assert found["separated"].interval(0.95)[0] > 0.05
    assert abs(found["people"].value) < 0.06
