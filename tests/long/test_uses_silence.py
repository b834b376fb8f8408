"""The verdicts of choices and separation are silent on honest judges and see planted faults."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.choices import Choices, first_choice
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level
from judge_audit.measures.separation import separation

pytestmark = pytest.mark.long

TRIALS = 120


def separated(rng, n, *, real, judge, integer):
    """Two people and a judge see a real gain, each with noise; the judge sees `judge` more."""
    before, after = rng.normal(size=n), rng.normal(size=n) + real
    scores = [part + 0.7 * rng.normal(size=n) for part in (before, after + judge)]
    if integer:
        scores = [np.round(2 * part) for part in scores]
    people = [(part[:, None] + 0.7 * rng.normal(size=(n, 2)) > 0).mean(axis=1) for part in (before, after)]
    found = separation(
        (scores[0], scores[1]), (people[0], people[1]), np.arange(n), 300, int(rng.integers(1 << 30))
    )
    figure = found["separated"]
    return figure.interval(corrected_level(1))[0] > 0.05, figure.interval(PASS_LEVEL)[1] < 0.05


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("real", [0.0, 0.8])
def test_an_honest_judge_is_not_called_separated(real, integer):
    rng = np.random.default_rng(1)
    told = np.array([separated(rng, 80, real=real, judge=0.0, integer=integer) for _ in range(TRIALS)])
    print(
        f"real gain {real}, integer {integer}: fails {told[:, 0].mean():.3f}, passes {told[:, 1].mean():.3f}"
    )
    assert told[:, 0].mean() < 0.02


def test_a_judge_that_runs_ahead_is():
    rng = np.random.default_rng(2)
    told = np.array([separated(rng, 150, real=0.0, judge=0.8, integer=False) for _ in range(TRIALS)])
    print(f"judge ahead: fails {told[:, 0].mean():.3f}, passes {told[:, 1].mean():.3f}")
    assert told[:, 0].mean() > 0.9
    assert not told[:, 1].any()


def chosen(rng, n, noise):
    """Three annotators and a judge choose among four; the judge has a noise of its own."""
    quality = rng.normal(size=(n, 4))
    picks = np.array([(quality + rng.normal(size=quality.shape)).argmax(axis=1) for _ in range(3)]).T
    scores = quality + noise * rng.normal(size=quality.shape)
    top = scores >= scores.max(axis=1, keepdims=True)
    given = Choices(picks, top / top.sum(axis=1, keepdims=True), np.full(n, 4.0), np.arange(n))
    figure = first_choice(given, 800, int(rng.integers(1 << 30)))["beside"]
    return figure.interval(corrected_level(1))[1] < -0.05, figure.interval(PASS_LEVEL)[0] > -0.05


@pytest.mark.parametrize("n", [40, 300])
def test_a_judge_that_is_one_more_annotator_is_not_called_worse(n):
    rng = np.random.default_rng(3)
    told = np.array([chosen(rng, n, 1.0) for _ in range(TRIALS)])
    print(f"{n} groups, equal judge: fails {told[:, 0].mean():.3f}, passes {told[:, 1].mean():.3f}")
    assert told[:, 0].mean() < 0.03


def test_a_judge_that_chooses_at_random_is_seen():
    rng = np.random.default_rng(4)
    told = np.array([chosen(rng, 150, 30.0) for _ in range(TRIALS)])
    print(f"random judge: fails {told[:, 0].mean():.3f}, passes {told[:, 1].mean():.3f}")
    assert told[:, 0].mean() > 0.9
    assert not told[:, 1].any()
