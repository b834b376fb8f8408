"""What the two stand-in models see."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from judge_audit.demo.corpus import cut_crops
from judge_audit.people.visibility import ciede2000, lab, provisional_points, ssim
from judge_audit.stimuli.axes.axis import Axis

PHOTO = cut_crops(4, 256, 3)[3].pixels


def axis_of(draw, visibility="tone", strengths=(0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)):
    return Axis(
        "test", "unit", "A test.", strengths, 1.0, visibility, None, rises=True, recipe_version=1, draw=draw
    )


def brighter(image, strength, _scratch):
    return np.clip(np.rint(image * 2.0 ** (strength / 2.2)), 0, 255).astype(np.uint8)


def blurred(image, strength, _scratch):
    return cv2.GaussianBlur(image, (0, 0), strength)


def test_ciede2000_agrees_with_an_independent_implementation():
    color = pytest.importorskip("skimage.color")
    rng = np.random.default_rng(1)
    first, second = (
        rng.uniform((0, -90, -90), (100, 90, 90), (4000, 3)).astype(np.float32) for _ in range(2)
    )
    second[:1000] = first[:1000] + rng.normal(0, 1, (1000, 3)).astype(np.float32)
    first[:50, 1:] = 0
    for k_lightness in (1.0, 2.3):
        expected = color.deltaE_ciede2000(first.astype(float), second.astype(float), kL=k_lightness)
        assert np.allclose(ciede2000(first, second, k_lightness), expected, atol=1e-6)


def test_ciede2000_gives_the_value_of_the_published_test_pair():
    first, second = np.array([[50, 2.6772, -79.7751]], np.float32), np.array([[50, 0, -82.7485]], np.float32)
    assert ciede2000(first, second)[0] == pytest.approx(2.0425, abs=1e-4)


def test_ssim_agrees_with_an_independent_implementation():
    metrics = pytest.importorskip("skimage.metrics")
    first = cv2.cvtColor(PHOTO, cv2.COLOR_RGB2GRAY).astype(np.float32)
    second = cv2.GaussianBlur(first, (0, 0), 1.2)
    expected = metrics.structural_similarity(
        first, second, data_range=255, gaussian_weights=True, sigma=1.5, use_sample_covariance=False
    )
    assert ssim(first, second) == pytest.approx(expected, abs=5e-3)


def test_a_brightness_ladder_is_noticed_near_five_percent_of_lightness():
    points = provisional_points(axis_of(brighter), PHOTO)
    for strength in points:
        apart = lab(brighter(PHOTO, strength, None)) - lab(PHOTO)
        assert 1.5 < np.sqrt((apart**2).sum(axis=-1)).mean() < 5


def test_blur_is_noticed_between_half_a_pixel_and_two():
    points = provisional_points(axis_of(blurred, "blur", (0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.2, 3.3)), PHOTO)
    assert 0.4 < points.low <= points.high < 2.0


def test_a_change_that_does_nothing_is_never_noticed():
    points = provisional_points(axis_of(lambda image, _strength, _scratch: image.copy()), PHOTO)
    assert points == (math.inf, math.inf)


def test_a_picture_without_edges_never_shows_blur():
    grey = np.full((64, 64, 3), 120, np.uint8)
    assert provisional_points(axis_of(blurred, "blur"), grey) == (math.inf, math.inf)


def test_no_model_speaks_of_crops():
    assert provisional_points(axis_of(brighter, None), PHOTO) is None
