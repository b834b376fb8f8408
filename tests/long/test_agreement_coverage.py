"""Intervals of agreement cover the truth, at least as well as a bootstrap; near-copies are rarely invented."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from judge_audit.checks.evidence import Evidence
from judge_audit.checks.people.agreement import run
from judge_audit.core.limits import read_limits
from judge_audit.judges.cards.card import Card
from judge_audit.measures.agreement import alpha, match, table_ratings
from judge_audit.measures.raters import common, others_mean, rater_to_others, weighted_kappa

pytestmark = pytest.mark.long
TRIALS = 600
CUTS = (-1.5, -0.5, 0.5, 1.5)


def people(rng, n, validity, raters=3, size=1):
    """Ratings on a scale of five; a truth shared by `size` items of a cluster, wholly."""
    truth = np.repeat(rng.normal(size=n // size), size)[:, None]
    heard = np.sqrt(validity) * truth + np.sqrt(1 - np.array(validity)) * rng.normal(size=(n, raters))
    return np.digitize(heard, CUTS).astype(float)


def kappa_of_two(ratings):
    items, one, two = common(ratings, 0, 1)
    return weighted_kappa(ratings.values[one], ratings.values[two], "quadratic", items, ratings.clusters)


def shown(level):
    def made(ratings):
        found = alpha(ratings, level)
        return found.alpha, found.unseen

    return made


STATISTICS = {
    "nominal": shown("nominal"),
    "ordinal": shown("ordinal"),
    "interval": shown("interval"),
    "fleiss": lambda ratings: (match(ratings).kappa, match(ratings).unseen),
    "weighted": lambda ratings: (kappa_of_two(ratings), 0.0),
    "others": lambda ratings: (rater_to_others(ratings, 0, others_mean(ratings), "spearman"), 0.0),
}


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("validity", [0.0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize(("n", "size"), [(48, 1), (150, 1), (192, 4)])
def test_intervals_cover_the_truth(name, validity, n, size):
    measure = STATISTICS[name]
    rng = np.random.default_rng(1)
    truth = measure(table_ratings(people(rng, 200_000, validity)))[0].value
    clusters = np.arange(n) // size
    covered = []
    for _ in range(TRIALS):
        figure, unseen = measure(table_ratings(people(rng, n, validity, size=size), clusters))
        low, high = figure.estimate(unseen).interval(0.9)
        covered.append(low <= truth <= high)
    assert 0.84 < np.mean(covered) < 0.97, np.mean(covered)


def test_a_bootstrap_covers_no_better():
    rng = np.random.default_rng(2)
    n, draws = 48, 2_000
    truth = alpha(table_ratings(people(rng, 200_000, 0.5)), "ordinal").alpha.value
    ours, theirs = [], []
    for _ in range(150):
        table = people(rng, n, 0.5)
        found = alpha(table_ratings(table), "ordinal")
        low, high = found.alpha.estimate(found.unseen).interval(0.9)
        ours.append(low <= truth <= high)
        counts = np.stack([(table == value).sum(axis=1) for value in range(5)], 1).astype(float)
        pairs = (counts[:, :, None] * counts[:, None, :] - np.eye(5) * counts[:, None, :]) / 2
        weights = rng.multinomial(n, np.full(n, 1 / n), size=draws)
        drawn = (weights @ pairs.reshape(n, 25)).reshape(draws, 5, 5)
        marginal = drawn.sum(axis=2)
        ranks = marginal.cumsum(axis=1) - marginal / 2
        apart = (ranks[:, :, None] - ranks[:, None, :]) ** 2
        total = marginal.sum(axis=1)
        expected = (marginal[:, :, None] * marginal[:, None, :] * apart).sum(axis=(1, 2)) / (total - 1)
        low, high = np.quantile(1 - (drawn * apart).sum(axis=(1, 2)) / expected, [0.05, 0.95])
        theirs.append(low <= truth <= high)
    print("linearised", np.mean(ours), "percentiles of draws", np.mean(theirs))
    assert np.mean(ours) > np.mean(theirs) - 0.03


def named(table, level="ordinal"):
    """The pairs named as near-copies."""
    rows = [
        {"item_id": f"i{at:04d}", "source": "s", "topic": "", "prompt_id": "", "cluster": None}
        | {"dimension": "d", "annotator_id": f"r{rater}", "value": float(value), "level": level}
        | {"low": None, "high": None, "higher_is_better": True}
        for at, row in enumerate(table)
        for rater, value in enumerate(row)
    ]
    given = {"audit_id": "x", "judge_id": "j", "is_control": False, "seed": 1, "limits": read_limits()}
    given |= {"card": Card(kind="t", name="t"), "axes": {}, "zones": pa.table({"item_id": []})}
    nothing = pa.table({"item_id": []})
    findings = run(Evidence(**given, responses=nothing, labels=pa.Table.from_pylist(rows)))
    return {
        row["rater"]
        for row in findings.verdicts
        if row["measure"] == "near_copies" and row["verdict"] == "fail"
    }


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize(
    "validity", [(0.5,) * 4, (0.95, 0.95, 0.3, 0.3), (0.98, 0.98, 0.1, 0.1), (0.9, 0.9, 0.2, 0.3, 0.4, 0.5)]
)
def test_honest_raters_are_rarely_called_copies(n, validity):
    rng = np.random.default_rng(3)
    wrong = sum(bool(named(people(rng, n, validity, raters=len(validity)))) for _ in range(100))
    assert wrong <= 7


@pytest.mark.parametrize(("n", "least"), [(200, 0.8), (1000, 0.97)])
@pytest.mark.parametrize("validity", [0.4, 0.6])
def test_copies_with_slips_are_found(n, least, validity):
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(50):
        table = people(rng, n, validity, raters=4)
        table[:, 3] = np.where(rng.random(n) < 0.95, table[:, 0], table[:, 3])
        found += named(table) == {"r0 / r3"}
    assert found >= least * 50
