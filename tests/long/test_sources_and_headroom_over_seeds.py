"""Stability and headroom of continuous, integer and stochastic judges over seeds, convicting and silent."""

from __future__ import annotations

import math

import pytest
from headroom_evidence import evidence, mixed, nothing
from planted_evidence import make

from judge_audit.checks.ladders import headroom, stability
from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card import Card
from judge_audit.judges.controls.recipe_control import honest_change

pytestmark = pytest.mark.long

SEEDS = 20
STYLES = ("continuous", "integer", "stochastic")
SPREADS = {"a": 1.0, "b": 0.3, "c": 1.0}


def draw(*words):
    return (int(text_digest(*words), 16) + 0.5) / 16**32


def scored(change, seed, style, spreads=None):
    """Score quality (spread 3.6, or a share of it by source) plus a change, in a style."""

    def score(recipe):
        words = (recipe.item_id, recipe.axis, f"{recipe.strength:.5g}", str(recipe.repeat), str(seed))
        noise = 0.6 * (draw("noise", *words) - 0.5) if style == "stochastic" else 0.0
        spread = (spreads or {}).get(recipe.source, 1.0)
        value = 5 + 3.6 * spread * (draw("quality", recipe.item_id) - 0.5) + change(recipe) + noise
        return float(math.floor(value + 0.5)) if style == "integer" else value

    axes = ("saturation+", "blur", "contrast+")
    return make(score, Card(kind="k", name="n"), axes=axes, laddered=48, seed=seed)


def liked(recipe):
    if recipe.axis != "saturation+":
        return honest_change(recipe)
    return 1.2 * min(1.0, recipe.strength / (recipe.perceptible or 1.0))


def liked_in_b(recipe):
    return liked(recipe) if recipe.source == "b" else honest_change(recipe)


def count(change, style, spreads=None):
    found = [stability.run(scored(change, seed, style, spreads)).verdicts for seed in range(SEEDS)]
    return sum(any(row["verdict"] == "fail" for row in rows) for rows in found)


@pytest.mark.parametrize("style", STYLES)
def test_a_judge_that_drifts_in_one_source_is_convicted(style):
    hits = count(liked_in_b, style)
    print(f"drifting, {style}: {hits} of {SEEDS} convicted")
    assert hits >= SEEDS - 1


@pytest.mark.parametrize("style", STYLES)
def test_a_judge_that_is_the_same_everywhere_is_not(style):
    hits = count(liked, style)
    print(f"same everywhere, {style}: {hits} of {SEEDS} convicted")
    assert hits <= 1


@pytest.mark.parametrize("style", ["continuous", "stochastic"])
def test_equal_responses_in_sources_of_different_spread_are_not_convicted(style):
    hits = count(lambda recipe: 0.35 * liked(recipe), style, SPREADS)
    print(f"different spread, {style}: {hits} of {SEEDS} convicted")
    assert hits <= 1


@pytest.mark.parametrize("shake", [0.0, 0.2])
def test_a_judge_pushed_by_a_hidden_mix_is_found(shake):
    found = [headroom.run(evidence(mixed, seed=seed, shake=shake)) for seed in range(SEEDS)]
    hits = sum(row["finding"] == "hackable" for part in found for row in part.verdicts)
    print(f"hidden mix, shaking {shake}: {hits} of {SEEDS}")
    assert hits >= SEEDS - 1


@pytest.mark.parametrize("shake", [0.2, 0.5])
def test_a_judge_that_only_shakes_has_nothing_that_transfers(shake):
    found = [headroom.run(evidence(nothing, seed=seed, shake=shake)) for seed in range(SEEDS)]
    hits = sum(row["finding"] == "hackable" for part in found for row in part.verdicts)
    lifts = [row["value"] for part in found for row in part.verdicts]
    best = [r["value"] for part in found for r in part.measures if r["measure"] == "image_maximum"]
    mean = sum(lifts) / SEEDS
    print(f"shaking {shake}: {hits} of {SEEDS}; {mean:+.3f}; best per image {sum(best) / SEEDS:.3f}")
    assert hits == 0
    assert abs(mean) < 0.02
