"""Rates from unequal samples: their intervals cover the planted rate as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures.stratified_rates import Part, Rate, Stratum, weighted_stratum
from judge_audit.people.review_sample import Draw, draw_decisions

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


def logistic(x):
    return 1 / (1 + np.exp(-x))


def drawn_rates(rng, seed):
    """Decide 3,000 items of two sources by their scores, draw as a pack does, and let people look."""
    scores = rng.normal(size=3000)
    sources = np.where(rng.random(3000) < 0.7, "a", "b")
    bad = rng.random(3000) < logistic(-1.5 - 2 * scores + 0.8 * (sources == "b"))
    rows = [
        {
            "decision_id": f"{at:04d}",
            "item_id": str(at),
            "source": str(sources[at]),
            "value": float(scores[at]),
        }
        | {"decision": "accept" if scores[at] > -0.3 else "reject"}
        for at in range(3000)
    ]
    held: dict[tuple[str, str], list[Draw]] = {}
    for draw in draw_decisions(rows, frozenset(), boundary=0.2, each=60, seed=seed):
        held.setdefault((draw.stratum.split(" / ")[1], draw.stratum), []).append(draw)
    made = {"accept": [], "reject": []}
    for (side, name), draws in sorted(held.items()):
        hits = [float(bad[int(draw.item_id)]) for draw in draws]
        made[side].append(weighted_stratum(name, hits, [draw.inclusion for draw in draws]))
    return Rate(tuple(made["accept"])), Rate(tuple(made["reject"]))


def test_packs_drawn_by_score_cover_the_rates_of_the_process():
    big = np.random.default_rng(0)
    scores, second = big.normal(size=2_000_000), big.random(2_000_000) >= 0.7
    chance = logistic(-1.5 - 2 * scores + 0.8 * second)
    taken = scores > -0.3
    planted = (
        chance[taken].mean(),
        chance[~taken].mean(),
        (chance * taken).sum() / chance.sum(),
    )
    rng, held, draws = np.random.default_rng(11), np.zeros(3), 1200
    for seed in range(draws):
        accepted, rejected = drawn_rates(rng, seed)
        for at, figure in enumerate((accepted, rejected, Part(accepted, rejected))):
            low, high = figure.interval(0.95)
            held[at] += low <= planted[at] <= high
    print("bad | accepted, bad | rejected, accepted | bad covered", held / draws)
    assert (held / draws >= 0.93).all()
    assert (held / draws <= 0.97).all()
