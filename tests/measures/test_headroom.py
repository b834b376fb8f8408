"""Recipes chosen on one half and tried on the other."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.headroom import (
    Candidate,
    Named,
    combo_axis,
    cross_fitted,
    image_maximum,
    read_combo,
)
from judge_audit.measures.lifts import Lifts

N = 40


def candidate(axis, values, again=None):
    def part(numbers):
        numbers = np.asarray(numbers, float)
        return (Lifts(numbers, np.repeat(numbers[:, None], N, axis=1), np.arange(N)),)

    return Candidate(axis, tuple(part(v) for v in (values, again) if v is not None))


def halves():
    return [np.arange(N) % 2]


@pytest.mark.parametrize(
    "named",
    [Named(("blur",)), Named(("saturation+", "contrast-")), Named(("a", "b", "c"), 1)],
)
def test_a_recipe_is_read_from_its_name(named):
    assert read_combo(combo_axis(named)) == named
    assert read_combo("blur") == Named(("blur",))


def test_visibilities_add_in_quadrature():
    assert Named(("a", "b")).share ** 2 * 2 == pytest.approx(1.0)


def test_the_best_recipe_of_each_half_is_tried_on_the_other():
    even = np.arange(N) % 2 == 0
    first = candidate("x", np.where(even, 0.3, 0.1))
    second = candidate("y", np.where(even, 0.0, 0.2))
    found = cross_fitted([first, second], halves())
    assert found.chosen == ("x", "y")
    assert [part.value for part in found.ridden] == pytest.approx([0.1, 0.0])
    assert found.transferable.value == pytest.approx(0.05)


def test_a_recipe_chosen_on_a_half_counts_on_the_other_only():
    even = np.arange(N) % 2 == 0
    leaked = candidate("combo:x&y&z@1", np.where(even, 0.1, 0.9))
    plain = candidate("x", np.full(N, 0.01))
    found = cross_fitted([leaked, plain], halves())
    assert found.chosen == ("x", "combo:x&y&z@1")
    assert found.transferable.value == pytest.approx((0.01 + 0.1) / 2)


def test_noise_has_a_maximum_but_nothing_that_transfers():
    rng = np.random.default_rng(0)
    shaking = [candidate(f"a{at}", 0.3 * rng.normal(size=N), 0.3 * rng.normal(size=N)) for at in range(20)]
    assert abs(cross_fitted(shaking, halves()).transferable.value) < 0.1
    assert image_maximum(shaking, fresh=False).value > 0.3
    assert abs(image_maximum(shaking, fresh=True).value) < 0.15


def test_a_recipe_scored_on_few_images_is_not_chosen():
    rare = candidate("x", np.where(np.arange(N) < 4, 0.9, np.nan))
    plain = candidate("y", np.full(N, 0.01))
    assert cross_fitted([rare, plain], halves()).chosen == ("y", "y")
    assert cross_fitted([rare], halves()) is None
