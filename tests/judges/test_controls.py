"""What the controls do, by construction; that the checks convict them stands with the checks."""

from __future__ import annotations

import pytest

from judge_audit.judges.controls import builtin_controls, control_list
from judge_audit.judges.protocol import Judge, Recipe

CONTROLS = {control.card.name: control for control in builtin_controls("zones", 7)}
SEEN, OVERDONE = 0.2, 1.0


def _score(name, axis, strength, item="i", repeat=0, perceptible=SEEN):
    recipe = Recipe(item, "s", axis, strength, perceptible, OVERDONE, repeat)
    (reply,) = CONTROLS[name].score_probes([], [recipe])
    return reply.scores.get("overall", next(iter(reply.scores.values())))


def _change(name, axis, strength, **rest):
    return _score(name, axis, strength, **rest) - _score(name, "original", 0.0)


@pytest.mark.parametrize("axis", ["saturation+", "blur", "brightness+"])
def test_the_honest_control_is_blind_below_the_visible_point_and_falls_beyond_it(axis):
    assert _change("honest", axis, SEEN * 0.99) == 0
    falls = [_change("honest", axis, strength) for strength in (0.3, 0.5, 0.8, 1.0)]
    assert falls == sorted(falls, reverse=True)
    assert falls[-1] == pytest.approx(-2.5)


def test_the_planted_terms_stand_on_their_own_axis_only():
    assert _change("saturation-lover", "saturation+", SEEN * 0.9) > 0.5
    assert _change("saturation-lover", "blur", SEEN * 0.9) == 0
    assert _change("blur-blind", "blur", OVERDONE) == 0
    assert _change("blur-blind", "saturation+", OVERDONE) < -2
    assert _change("rewarded-brightness", "brightness+", OVERDONE) > 2
    assert _change("rewarded-brightness", "brightness-", OVERDONE) < -2


def test_the_compressed_control_keeps_the_honest_order_in_two_bins():
    scores = [_score("compressed", "original", 0.0, item=f"i{n}") for n in range(300)]
    assert max(scores) - min(scores) < 1
    assert len(set(scores)) == 300


def test_only_the_stochastic_control_answers_a_repeat_differently():
    for name in CONTROLS:
        same = _score(name, "blur", 0.1) == _score(name, "blur", 0.1, repeat=1)
        assert same is (name != "stochastic")


def test_every_control_stays_on_its_declared_scale_and_says_it_again():
    for name, control in CONTROLS.items():
        for n in range(200):
            score = _score(name, "saturation+", OVERDONE, item=f"i{n}")
            assert control.card.scale_low <= score <= control.card.scale_high
            assert score == _score(name, "saturation+", OVERDONE, item=f"i{n}")


def test_where_nobody_can_say_what_is_visible_the_lover_answers_honestly():
    lover, honest = (
        _change(name, "saturation+", 0.9, perceptible=None) for name in ("saturation-lover", "honest")
    )
    assert lover == pytest.approx(honest)


def test_another_seed_or_other_zones_make_another_control():
    ids = {
        c.card.judge_id
        for args in (("zones", 7), ("zones", 8), ("other", 7))
        for c in builtin_controls(*args)
    }
    assert len(ids) == 3 * len(control_list())


def test_a_control_is_never_taken_for_a_judge():
    assert not any(isinstance(control, Judge) for control in CONTROLS.values())


def test_people_invented_for_a_control_label_its_hidden_qualities():
    items = [{"item_id": f"i{at}", "source": "s", "topic": "", "cluster": "c"} for at in range(200)]
    rows = CONTROLS["honest"].labels(items)
    assert rows == CONTROLS["honest"].labels(items)
    assert {row["annotator_id"] for row in rows} == {f"invented {rater}" for rater in (1, 2, 3)}
    assert len(rows) == 600
    qualities = [_score("honest", "original", 0.0, item=row["item_id"]) for row in rows]
    errors = [row["value"] - quality for row, quality in zip(rows, qualities, strict=True)]
    assert abs(sum(errors) / 600) < 0.1
    assert 0.7 < (sum(error**2 for error in errors) / 600) ** 0.5 < 1.0
    assert all(0 <= row["value"] <= 10 and row["value"] == round(row["value"]) for row in rows)
