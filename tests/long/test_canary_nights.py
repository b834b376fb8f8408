"""Many nights: false alarms and power of the rule by simulation, and a server that wavers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

for folder in ("canaries", "measures"):
    sys.path.append(str(Path(__file__).parents[1] / folder))

from canary_judges import ALARM, JUDGES, RETEST_SD, changed_nights, same, shuffled  # noqa: E402
from night_server import nights_in  # noqa: E402

pytestmark = pytest.mark.long


@pytest.fixture
def nights(tmp_path):
    with nights_in(tmp_path) as found:
        yield found


def unsteady(seed=1, shift=0.0):
    drawn = np.random.default_rng(seed)
    return lambda pixels, number: 3 + pixels.mean() / 60 + shift + 0.2 * drawn.normal()


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_hardly_any_night_without_change_is_called_one(name):
    """At most one night in a hundred was asked for; the rule allows one in five hundred."""
    told = [
        moved
        for seed in range(60)
        for moved in changed_nights(
            JUDGES[name], lambda q, _: same(q), seed=seed, nights=10, every_night=True
        )
    ]
    print(f"{name}: {sum(told)} of {len(told)} nights")
    assert len(told) > 550
    assert sum(told) <= 2 + 2 * ALARM * len(told)


@pytest.mark.parametrize("name", sorted(JUDGES))
@pytest.mark.parametrize(("first", "least"), [(2, 0.5), (4, 0.7)])
def test_power_against_a_shift_by_the_judges_own_noise_and_another_order(name, first, least):
    shift = RETEST_SD[name]
    moved, turned = (
        np.mean([changed_nights(JUDGES[name], becomes, seed=seed, first=first)[-1] for seed in range(40)])
        for becomes in (lambda q, _: q + shift, lambda q, _: shuffled(q))
    )
    print(f"{name}, {first} answers before: shift {moved:.2f}, another order {turned:.2f}")
    assert moved >= least
    assert turned >= 0.9


def test_a_server_that_wavers_is_not_taken_for_another(nights):
    nights.model.score = unsteady()
    nights.glance()
    told = [nights.glance(nights.plan_id)[0].answer for _ in range(4)]
    assert told == ["unchanged"] * 4


def test_a_server_that_wavers_and_moves_by_its_own_noise_is_caught(nights):
    nights.model.score = unsteady()
    nights.glance()
    nights.glance(nights.plan_id)
    nights.glance(nights.plan_id)
    nights.model.score = unsteady(2, shift=0.35)
    watched, asked = nights.glance(nights.plan_id)
    assert (watched.answer, asked) == ("changed", 64)
    assert "on overall they score" in watched.lines[0]
    assert "higher than before" in watched.lines[0]


def test_a_slow_drift_is_caught_although_every_night_is_like_the_one_before(nights):
    """A fifth of its noise a night, by a judge that wavers."""
    drawn = np.random.default_rng(6)
    at = {"night": 0}
    nights.model.score = lambda pixels, number: (
        3 + pixels.mean() / 60 + 0.04 * at["night"] + 0.2 * drawn.normal()
    )
    nights.glance()
    answers = []
    for night in range(1, 20):
        at["night"] = night
        watched, _ = nights.glance(nights.plan_id)
        answers.append(watched.answer)
        if watched.answer == "changed":
            break
    assert answers[-1] == "changed"
    assert len(answers) > 3
    assert nights.lake.read("canary_nights", answer="changed").to_pylist()[0]["epoch"] == 1


def test_answers_from_before_there_were_canaries_are_compared_too(nights):
    first, _ = nights.night()
    for record in (nights.folder / "lake" / "commits").iterdir():
        if '"canar' in record.read_text():
            record.unlink()
    nights.model.score = lambda pixels, number: 2 + pixels.mean() / 50
    second, _ = nights.night()
    assert (second.canaries.asking, second.canaries.answer) == (1, "changed")
    assert second.judge_id != first.judge_id
