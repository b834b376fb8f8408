"""What is combined is what promises most, by lifts of single axes and pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from judge_audit.measures.headroom import Foretold, Seen, best_pair, greedy

AXES = ("a", "b", "c", "d")


def anything(axes):
    return True


def model(lift, noise=0.0, seed=0):
    """See single axes and pairs of a response `lift(shares)`, with errors."""
    rng = np.random.default_rng(seed)
    alone = {axis: lift({axis: 1.0}) + noise * rng.normal() / 2 for axis in AXES}
    joint = {
        pair: Seen(lift(dict.fromkeys(pair, 2**-0.5)) + noise * rng.normal(), noise)
        for pair in combinations(AXES, 2)
    }
    return Foretold(alone, joint)


def test_single_axes_and_pairs_are_foretold_exactly():
    seen = model(lambda shares: 0.1 * shares.get("a", 0) + 0.2 * shares.get("a", 0) * shares.get("b", 0))
    assert seen.lift(["a"]) == pytest.approx(0.1)
    assert seen.lift(["a", "b"]) == pytest.approx(0.1 * 2**-0.5 + 0.2 / 2)


def test_a_response_of_second_order_is_foretold_for_any_number_of_axes():
    def lift(shares):
        total = 0.05 * sum(shares.values())
        return total + 0.3 * sum(shares[one] * shares[two] for one, two in combinations(shares, 2))

    seen = model(lift)
    for axes in (AXES[:3], AXES):
        assert seen.lift(axes) == pytest.approx(lift(dict.fromkeys(axes, len(axes) ** -0.5)))


def test_a_hidden_triple_is_found():
    def lift(shares):
        mixed = [shares.get(axis, 0.0) for axis in "acd"]
        return sum(one * two for one, two in combinations(mixed, 2))

    seen = model(lift)
    pair = best_pair(seen, anything)
    assert set(pair) < set("acd")
    assert greedy(seen, pair, anything) == ("a", "c", "d")


def test_a_larger_mix_is_always_offered_and_never_breaks_the_rules():
    seen = model(lambda shares: 0.0)
    assert len(greedy(seen, ("a", "b"), anything)) == 3
    assert greedy(seen, ("a", "b"), lambda axes: set(axes) <= {"a", "b"}) == ("a", "b")
    assert best_pair(seen, lambda axes: False) is None
    assert best_pair(seen, lambda axes: set(axes) == {"b", "d"}) == ("b", "d")


def test_what_noise_adds_to_a_pair_is_shrunk():
    added = [
        [model(lambda shares: 0.0, noise=0.1, seed=seed).added(pair) for pair in combinations(AXES, 2)]
        for seed in range(50)
    ]
    raw = [
        [seen.value - sum(made.alone[axis] for axis in pair) / 2**0.5 for pair, seen in made.joint.items()]
        for made in (model(lambda shares: 0.0, noise=0.1, seed=seed) for seed in range(50))
    ]
    assert np.abs(added).mean() < 0.5 * np.abs(raw).mean()
