"""Intervals of the covariate regression cover what was planted; noise convicts nobody."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.measures import regression as reg

pytestmark = pytest.mark.long
TRIALS = 200


def drawn(rng, *, clusters, size, share, features=6, skewed=False, integer=False):
    """Features and errors that hang together inside clusters; the first feature explains `share`."""
    names = np.repeat(np.arange(clusters), size)

    def column():
        whole = rng.normal(size=clusters)[names]
        return np.sqrt(0.6) * whole + np.sqrt(0.4) * rng.normal(size=len(names)) if size > 1 else whole

    given = np.column_stack([column() for _ in range(features)])
    scores = np.sqrt(share) * given[:, 0] + np.sqrt(1 - share) * column()
    scores = np.round(2 * scores) if integer else scores
    given = np.exp(given) if skewed else given
    return reg.Sample(scores, given, tuple("abcdefgh"[:features]), names, 1.0, np.ones(features))


@pytest.mark.parametrize("shape", [{}, {"skewed": True}, {"integer": True}])
@pytest.mark.parametrize(("clusters", "size"), [(30, 1), (100, 1), (48, 4)])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_intervals_cover_the_planted_share_and_weights(clusters, size, share, shape):
    rng = np.random.default_rng(11)
    held = {"explained": [], "weight": [], "null weight": [], "own share": []}
    values = []
    # An integer judge's normal scores lose a little of the planted share; the truth is then a large sample's.
    large = reg.fit(drawn(rng, clusters=20_000, size=1, share=share, **shape), seed=1)
    truth = {"explained": large.in_sample, "weight": large.weights[0].value, "null weight": 0.0}
    truth["own share"] = large.shares[0].value
    for _ in range(TRIALS):
        found = reg.fit(drawn(rng, clusters=clusters, size=size, share=share, **shape), seed=1)
        values.append(found.explained.value)
        parts = (found.explained, found.weights[0], found.weights[1], found.shares[0])
        for name, part in zip(held, parts, strict=True):
            low, high = part.interval(0.9)
            held[name].append(low <= truth[name] <= high)
    error = np.std(values) / np.sqrt(TRIALS)
    assert abs(np.mean(values) - truth["explained"]) < 3 * error + 0.02
    for name, covered in held.items():
        # A single share is a square: at 30 clusters and 6 statistics its interval falls a little short.
        assert np.mean(covered) > (0.75 if name == "own share" else 0.80), (name, np.mean(covered))


def test_noise_is_almost_never_said_to_be_half_explained():
    rng = np.random.default_rng(12)
    for clusters in (24, 48):
        for _ in range(TRIALS):
            found = reg.fit(drawn(rng, clusters=clusters, size=4, share=0.0), seed=1)
            assert found.explained.interval(0.95)[0] < 0.5
