"""Planted judges that compare, over seeds: the sound are cleared, the guilty named, and from what lean on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from planted_comparers import AXES, by_quality, coin, corpus, evidence, saturated

from judge_audit.checks.ladders import premature, top_response
from judge_audit.checks.pairwise import position_bias
from judge_audit.checks.scale import scale

pytestmark = pytest.mark.long

SEEDS = 40
CHECKS = (position_bias, scale, premature, top_response)


def tallied(make, items, probes, seeds=SEEDS):
    """Count what every check says over seeds: (check, axis, finding or verdict)."""
    found = Counter()
    for seed in range(seeds):
        held = evidence(make(np.random.default_rng(seed)), items, probes)
        for check in CHECKS:
            for row in check.run(held).verdicts:
                if row["finding"] != "not_asked":
                    found[row["check"], row.get("axis", "*"), row["finding"] or row["verdict"]] += 1
    return found


@pytest.mark.parametrize("tied", [0.0, 0.4])
def test_an_honest_judge_is_convicted_of_nothing(tied):
    items, probes, qualities = corpus(ladders=30)
    found = tallied(lambda rng: by_quality(qualities, rng, tied=tied), items, probes)
    print(tied, dict(found))
    faults = {key: count for key, count in found.items() if key[2] not in {"pass", "inconclusive"}}
    assert sum(faults.values()) <= 2
    assert found["scale", "*", "pass"] == SEEDS
    assert all(found["top_response", axis, "pass"] == SEEDS for axis in AXES)


def test_a_liking_for_saturation_is_convicted_every_time():
    items, probes, qualities = corpus(ladders=30)
    found = tallied(lambda rng: by_quality(qualities, rng, loss=saturated), items, probes)
    print(dict(found))
    assert found["premature", "saturation+", "climbs"] == SEEDS
    assert not found["premature", "blur", "climbs"] + found["premature", "blur", "falls"]


def test_a_coin_is_never_cleared():
    items, probes, _ = corpus(ladders=30)
    found = tallied(coin, items, probes)
    print(dict(found))
    assert not found["scale", "*", "pass"] > SEEDS // 10
    assert found["position_bias", "*", "prefers_left"] + found["position_bias", "*", "prefers_right"] <= 2
    assert not any(found["top_response", axis, "pass"] for axis in AXES)


def test_how_large_a_lean_is_named():
    items, probes, qualities = corpus(prompts=25, ladders=0)
    named = {}
    for lean in (0.0, 0.1, 0.3, 0.6, 1.0):
        found = tallied(lambda rng, lean=lean: by_quality(qualities, rng, tied=0.1, lean=lean), items, probes)
        named[lean] = found["position_bias", "*", "prefers_left"] / SEEDS
    print(named)
    assert named[0.0] == named[0.1] == 0
    assert named[1.0] == 1
