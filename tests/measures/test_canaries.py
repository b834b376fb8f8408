from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from canary_judges import ALARM, JUDGES, RETEST_SD, TOLERANCE, answers, changed_nights, same, shuffled

from judge_audit.measures.canaries import LOOKS, Answers, look, shifts, silent_shares, spread


def exact(values):
    """The p-value over all dealings, written anew: loops, no shared code; the last answer of each row is tonight's."""
    n, width = values.shape
    means = [np.mean(row) for row in values]
    variances = [np.mean((row - np.mean(row)) ** 2) for row in values]
    scales = [np.sqrt(own + np.mean(variances)) or 1.0 for own in variances]
    ranks = [sum((a > b) + 0.5 * (a == b) for b in means) for a in means]
    told = []
    for dealt in [(width - 1,) * n, *product(range(width), repeat=n)]:
        moves = [(values[i][a] - means[i]) / scales[i] for i, a in enumerate(dealt)]
        slope = sum(move * (2 * rank / n - 1) for move, rank in zip(moves, ranks, strict=True))
        told.append([abs(sum(moves)), abs(slope), sum(abs(move) for move in moves)])
    figures = np.round(np.array(told), 9)
    odds = (figures[None, 1:] >= figures[:, None]).mean(axis=1)
    least = odds.min(axis=1)
    return (least[1:] <= least[0] + 1e-12).mean()


@pytest.mark.parametrize("seed", range(6))
def test_the_odds_are_those_of_all_dealings(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(5, 3)) + 2 * np.arange(5)[:, None]
    values[:, 2] += seed / 2
    found = look(answers(values, [0, 0, 1]), 0.0, 7).night.p
    expected = exact(values)
    # Above 0.3 the first five hundred dealings end the looking.
    assert found == pytest.approx(expected, abs=0.06 if expected > 0.25 else 0.015)


def test_what_never_wavers_and_says_the_same_is_the_same():
    values = np.repeat(np.arange(16.0)[:, None], 3, 1)
    found = look(answers(values, [0, 0, 1]), TOLERANCE, 1)
    assert (found.night.p, found.drift.p) == (1.0, 1.0)
    assert not found.suspicious(ALARM, 0.1)


@pytest.mark.parametrize(
    ("change", "looks"),
    [
        (lambda q: q + 0.5, {"level"}),
        (lambda q: 1.5 * (q - q.mean()) + q.mean(), {"rescaled", "scattered"}),
        (shuffled, {"scattered"}),
        (lambda q: np.where(np.arange(16) < 8, np.nan, q), {"silent", "others_silent"}),
    ],
)
def test_each_way_of_changing_is_named(change, looks):
    quality = np.random.default_rng(5).normal(size=16)
    values = np.column_stack([*[quality] * 4, *[change(quality)] * 4])
    found = look(answers(values, [0] * 4 + [1] * 4), TOLERANCE, 1)
    assert found.changed(ALARM)
    assert found.night.look in looks


def test_who_refuses_other_pictures_than_before_has_changed():
    quality = np.random.default_rng(5).normal(size=16)
    before, now = (np.where(np.arange(16) % 2 == odd, np.nan, quality) for odd in (0, 1))
    found = look(answers(np.column_stack([before, before, now, now, now]), [0, 0, 1, 1, 1]), TOLERANCE, 1)
    assert found.changed(ALARM)
    assert found.night.look == "others_silent"
    assert silent_shares(answers(np.column_stack([before, now]), [0, 1])) == (0.5, 0.5)


def test_one_dimension_that_moves_among_four_is_named():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(16, 1, 4)) + np.zeros((16, 6, 1))
    values[:, 4:, 2] += 0.4
    found = look(answers(values, [0, 0, 0, 0, 1, 1]), TOLERANCE, 1)
    assert found.changed(ALARM)
    assert (found.night.look, found.night.dimension) == ("level", 2)


def test_less_than_the_tolerance_is_nothing():
    quality = np.random.default_rng(5).normal(size=16)
    unit = spread(answers(quality[:, None], [0]).values)[0]
    for share, expected in ((0.5, False), (3.0, True)):
        moved = quality + share * TOLERANCE * unit
        found = look(
            answers(np.column_stack([*[quality] * 4, *[moved] * 4]), [0] * 4 + [1] * 4), TOLERANCE, 1
        )
        assert found.changed(ALARM) is expected


def test_nothing_hangs_on_unit_direction_or_order_of_the_canaries():
    rng = np.random.default_rng(8)
    values = rng.normal(size=(16, 5)) + rng.normal(size=(16, 1))
    values[:, 4] += 0.8
    told = [
        look(answers(changed, [0, 0, 0, 0, 1]), TOLERANCE, 3).night
        for changed in (values, 40 * values + 7, -values)
    ]
    assert told[0] == told[1] == told[2]
    turned = look(answers(values[rng.permutation(16)], [0, 0, 0, 0, 1]), TOLERANCE, 3).night
    assert turned.p == pytest.approx(told[0].p, abs=0.03)


def test_canaries_without_earlier_answers_say_nothing():
    quality = np.arange(16.0)
    values = np.stack([quality, quality, quality + 5], axis=1)[:, :, None]
    given = np.ones((16, 3), bool)
    given[:, :2] = False
    found = Answers(np.where(given[:, :, None], values, np.nan), given, np.tile([0.0, 0.0, 1.0], (16, 1)))
    assert look(found, TOLERANCE, 1).night.p == 1.0
    assert not found.compared.any()
    assert np.isnan(shifts(found)).all()


def test_very_many_nights_cost_no_more_than_some_and_tell_the_same():
    rng = np.random.default_rng(4)
    quality = rng.normal(size=(16, 1))
    values = quality + 0.3 * rng.normal(size=(16, 400))
    values[:, 396:] += 0.6
    times = [*range(396), *[396] * 4]
    assert look(answers(values, times), TOLERANCE, 1).changed(ALARM)


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_a_judge_that_stays_the_same_is_hardly_ever_called_another(name):
    told = [
        moved
        for seed in range(6)
        for moved in changed_nights(JUDGES[name], lambda q, _: same(q), seed=seed, nights=4, every_night=True)
    ]
    assert len(told) >= 20
    assert sum(told) == 0


@pytest.mark.parametrize("name", ["deterministic", "noisy", "integer"])
def test_a_judge_that_scores_higher_by_its_own_noise_is_caught_mostly_on_the_first_night(name):
    shift = RETEST_SD[name]
    told = [
        changed_nights(JUDGES[name], lambda q, _: q + shift, seed=seed, first=4)[-1] for seed in range(12)
    ]
    assert np.mean(told) >= (1.0 if name == "deterministic" else 0.6)


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_another_order_is_caught_at_once(name):
    told = [changed_nights(JUDGES[name], lambda q, _: shuffled(q), seed=seed)[-1] for seed in range(6)]
    assert sum(told) >= 5


def test_what_wanders_a_little_every_night_is_caught_in_sum():
    """A seventh of its noise a night: no night stands out from the one before."""
    caught = 0
    for seed in range(4):
        told = changed_nights(
            JUDGES["noisy"],
            lambda q, night: q + 0.045 * night,
            seed=seed,
            nights=16,
            first=4,
            every_night=True,
        )
        caught += told[-1]
        assert not any(told[:2])
    assert caught == 4


def test_the_looks_are_a_closed_list_with_a_sentence_each():
    from judge_audit.core.messages import knows

    assert all(knows(f"canaries.look.{name}") for name in (*LOOKS, "drift"))
