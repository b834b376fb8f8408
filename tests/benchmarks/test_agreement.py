"""Agreement of many ratings, intervals included, costs a few passes over them."""

from __future__ import annotations

import numpy as np
import pytest
from seconds import seconds

from judge_audit.measures.agreement import LEVELS, alpha, match, table_ratings


@pytest.mark.parametrize("raters", [3, 8])
def test_fifty_thousand_items_of_24_sources_with_intervals_cost_no_more_than_sorting_them_a_hundred_times(
    raters,
):
    rng = np.random.default_rng(0)
    n = 50_000
    truth = rng.integers(0, 5, (n, 1))
    table = np.where(rng.random((n, raters)) < 0.7, truth, rng.integers(0, 5, (n, raters))).astype(float)
    sources = np.arange(n) % 24
    ratings = table_ratings(table, None, sources)

    def measure():
        for kept in [np.ones(n, bool), *(sources == at for at in range(24))]:
            part = ratings.of_items(kept)
            for level in LEVELS:
                assert alpha(part, level).alpha.estimate().usable
            assert match(part).kappa.estimate().usable

    values = rng.random(ratings.values.size)
    assert seconds(measure) < 100 * seconds(lambda: np.argsort(values, kind="stable"))
