"""BRISQUE against an implementation that shares nothing with it but the paper."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from scipy import ndimage, optimize, special

from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.adapters.brisque import features
from judge_audit.judges.protocol import Stimulus


def _picture(side=96, seed=3):
    rng = np.random.default_rng(seed)
    rough = ndimage.gaussian_filter(rng.normal(size=(side, side + 9, 3)), (2, 2, 0))
    return np.clip(127 + 300 * rough + rng.normal(scale=6, size=rough.shape), 0, 255).astype(np.uint8)


def _aggd(plane):
    left, right = plane[plane < 0], plane[plane >= 0]
    left_sd, right_sd = np.sqrt((left**2).mean()), np.sqrt((right**2).mean())
    ratio = left_sd / right_sd
    target = (
        np.abs(plane).mean() ** 2 / (plane**2).mean() * (ratio**3 + 1) * (ratio + 1) / (ratio**2 + 1) ** 2
    )

    def gap(shape):
        return special.gamma(2 / shape) ** 2 / (special.gamma(1 / shape) * special.gamma(3 / shape)) - target

    shape = optimize.brentq(gap, 0.15, 15)
    factor = np.sqrt(special.gamma(1 / shape) / special.gamma(3 / shape))
    mean = (right_sd - left_sd) * special.gamma(2 / shape) / special.gamma(1 / shape) * factor
    return shape, mean, left_sd**2, right_sd**2


def _oracle(pixels):
    grey = pixels.astype(np.float64) @ [0.2125, 0.7154, 0.0721] / 255
    found = []
    for plane in (grey, cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_CUBIC)):
        blur = {"sigma": 7 / 6, "radius": 3, "mode": "constant"}
        mean = ndimage.gaussian_filter(plane, **blur)
        deviation = np.sqrt(np.abs(mean**2 - ndimage.gaussian_filter(plane**2, **blur)))
        normal = (plane - mean) / (deviation + 1 / 255)
        shape, _, left, right = _aggd(normal)
        found += [shape, (left + right) / 2]
        for down, across in ((0, 1), (1, 0), (1, 1)):
            found += _aggd(
                normal[: normal.shape[0] - down, : normal.shape[1] - across] * normal[down:, across:]
            )
        found += _aggd(normal[1:, :-1] * normal[:-1, 1:])
    return np.array(found)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_the_features_are_those_of_the_paper(seed):
    pixels = _picture(seed=seed)
    np.testing.assert_allclose(features(pixels), _oracle(pixels), rtol=0.01, atol=2e-3)


def test_a_picture_scores_the_same_alone_in_a_batch_and_twice():
    judge = load_judge("brisque")
    stimuli = [Stimulus(_picture(seed=seed), "") for seed in range(4)]
    batch = [reply.scores["overall"] for reply in judge.score(stimuli)]
    assert batch == [judge.score([one])[0].scores["overall"] for one in stimuli]
    assert len(set(batch)) == 4


def test_strong_blur_is_worse_and_lower_is_better():
    judge = load_judge("brisque")
    sharp = _picture(side=160)
    blurred = cv2.GaussianBlur(sharp, (0, 0), 4)
    good, bad = (
        reply.scores["overall"] for reply in judge.score([Stimulus(sharp, ""), Stimulus(blurred, "")])
    )
    assert not judge.card.higher_is_better
    assert bad > good + 10


@pytest.mark.parametrize("shape", [(1, 1, 3), (3, 50, 3)])
def test_a_picture_too_small_for_neighbours_is_failed_with_a_reason(shape):
    (reply,) = load_judge("brisque").score([Stimulus(np.zeros(shape, np.uint8), "")])
    assert reply.state == State.FAILED
    assert "shorter than 4 pixels" in reply.raw


def test_a_flat_picture_gets_a_finite_score():
    (reply,) = load_judge("brisque").score([Stimulus(np.full((40, 40, 3), 90, np.uint8), "")])
    assert np.isfinite(reply.scores["overall"])
