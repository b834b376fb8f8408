"""Rates from unequal samples: their intervals cover the planted rate as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.sampling import Part, Rate, Stratum

pytestmark = pytest.mark.long

# (population, bad rate, drawn): two sources, accepted and rejected, thick at the boundary; the last is appealed
# and seen whole.
DESIGNS = {
    "boundary densified": (
        [(4000, 0.01, 100), (800, 0.12, 120), (6000, 0.02, 100), (1000, 0.2, 120)],
        [(3000, 0.95, 80), (700, 0.6, 120), (2500, 0.9, 80), (600, 0.55, 120), (150, 0.4, 150)],
    ),
    "rare faults": (
        [(9000, 0.005, 300), (1000, 0.05, 200)],
        [(2000, 0.97, 60), (500, 0.7, 60)],
    ),
    "even": ([(1000, 0.3, 60), (1000, 0.3, 60)], [(1000, 0.7, 60), (1000, 0.7, 60)]),
}


def draw(rng, design):
    return Rate(
        tuple(Stratum(str(at), size, rng.binomial(n, p), n) for at, (size, p, n) in enumerate(design))
    )


def truth(design):
    return sum(size * p for size, p, _ in design)


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("level", [0.95, 0.90])
def test_rates_and_their_turned_round_forms_cover_the_planted_values(name, level):
    accepted, rejected = DESIGNS[name]
    rng = np.random.default_rng(7)
    sizes = [sum(size for size, _, _ in part) for part in (accepted, rejected)]
    bad = truth(accepted), truth(rejected)
    planted = {
        "bad | accepted": bad[0] / sizes[0],
        "good | rejected": 1 - bad[1] / sizes[1],
        "accepted | bad": bad[0] / sum(bad),
    }
    draws = 4000
    held = dict.fromkeys(planted, 0)
    for _ in range(draws):
        first, second = draw(rng, accepted), draw(rng, rejected)
        good = Rate(tuple(Stratum(s.name, s.size, s.n - s.hits, s.n) for s in second.strata))
        figures = {
            "bad | accepted": first,
            "good | rejected": good,
            "accepted | bad": Part(first, second),
        }
        for key, figure in figures.items():
            low, high = figure.interval(level)
            held[key] += low <= planted[key] <= high
    for key, count in held.items():
        print(f"{name}, {level:.0%}: {key} covered {count / draws:.3f}")
        assert level - 0.02 <= count / draws <= level + 0.02 + (level < 0.95) * 0.005, key
