"""The two models for changes as fine as the pixels."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from judge_audit.demo.corpus import cut_crops
from judge_audit.people.visibility import (
    PIXELS_PER_DEGREE,
    lab,
    provisional_points,
    sensitivity,
    spatial_lab,
    standard_observer,
)
from judge_audit.stimuli.axes import builtin_axes

PHOTOS = [crop.pixels for crop in cut_crops(9, 320, 1)]
AXES = builtin_axes()


def gabor(frequency, spread, side=256):
    """Contrast pattern of ModelFest: a cosine in a Gaussian window, in degrees."""
    across, down = np.meshgrid(*[(np.arange(side) - side / 2) / PIXELS_PER_DEGREE] * 2)
    window = np.exp(-(across**2 + down**2) / (2 * spread**2))
    return (np.cos(2 * np.pi * frequency * across) * window).astype(np.float32)


def test_sensitivity_is_highest_between_two_and_four_cycles_and_lower_for_oblique_patterns():
    frequencies = np.geomspace(0.5, 30, 200)
    found = sensitivity(frequencies, np.zeros(1))
    assert 2 < frequencies[found.argmax()] < 4
    assert sensitivity(np.array(20.0), np.array(0.0)) > 1.3 * sensitivity(
        np.array(math.sqrt(200)), np.array(math.sqrt(200))
    )


@pytest.mark.parametrize("frequency", [4.0, 8.0])
def test_a_grating_is_seen_where_people_saw_it(frequency):
    """A grating over the whole field is at threshold near one over the sensitivity at its frequency."""
    grating = np.cos(2 * np.pi * frequency * np.arange(240) / PIXELS_PER_DEGREE)
    pattern = np.repeat(grating[None, :], 240, axis=0).astype(np.float32)
    visible = standard_observer(pattern)
    peak = float(sensitivity(np.array(frequency), np.array(0.0)))
    assert 0.5 * peak < visible < 1.5 * peak
    assert standard_observer(3 * pattern) == pytest.approx(3 * visible, rel=1e-4)


def test_the_observer_sees_a_small_patch_only_where_it_looks():
    patch = gabor(4.0, 0.25)
    assert standard_observer(patch) < standard_observer(gabor(4.0, 2.0))


def test_without_detail_the_eye_blurs_nothing():
    for colour in ((200, 30, 60), (12, 200, 90), (128, 128, 128)):
        flat = np.full((96, 96, 3), colour, np.uint8)
        assert np.abs(spatial_lab(flat) - lab(flat)).max() < 0.2


def test_a_fine_checkerboard_is_seen_as_grey():
    board = np.indices((192, 192)).sum(axis=0) % 2
    pixels = np.where(board[..., None] == 1, (255, 0, 0), (0, 255, 0)).astype(np.uint8)
    seen = spatial_lab(pixels)[48:-48, 48:-48]
    assert seen.std(axis=(0, 1)).max() < 2.5
    assert lab(pixels).std(axis=(0, 1)).max() > 50


def test_noise_is_first_seen_between_a_level_and_six():
    for pixels in PHOTOS[:6]:
        points = provisional_points(AXES["noise"], pixels)
        assert 1 < points.low < points.high < 6.5


def test_jpeg_is_first_seen_between_quality_ninety_five_and_thirty():
    for pixels in PHOTOS:
        points = provisional_points(AXES["jpeg"], pixels)
        assert 5 < points.low < points.high < 70


def test_one_grey_shows_noise_and_never_jpeg():
    grey = np.full((200, 200, 3), 128, np.uint8)
    assert provisional_points(AXES["noise"], grey).high < 7
    assert provisional_points(AXES["jpeg"], grey) == (math.inf, math.inf)


def test_the_models_answer_for_the_smallest_pictures():
    tiny = cv2.resize(PHOTOS[0], (16, 17))
    assert math.isfinite(provisional_points(AXES["noise"], tiny).low)


def test_s_cielab_agrees_with_an_independent_reading_of_the_paper():
    """Kernels of the paper in double precision at full resolution, CIELAB by the standard's own formula."""
    ndimage = pytest.importorskip("scipy.ndimage")
    color = pytest.importorskip("skimage.color")
    pixels = PHOTOS[3][:160, :160]
    opponent = np.array([[0.279, 0.72, -0.107], [-0.449, 0.29, -0.077], [0.086, -0.59, 0.501]])
    planes = color.rgb2xyz(pixels) @ opponent.T
    kernels = (
        ((0.921, 0.105, -0.108), (0.0283, 0.133, 4.336)),
        ((0.531, 0.330), (0.0392, 0.494)),
        ((0.488, 0.371), (0.0536, 0.386)),
    )
    for channel, (weights, spreads) in enumerate(kernels):
        planes[..., channel] = sum(
            weight
            / sum(weights)
            * ndimage.gaussian_filter(planes[..., channel], 60 * spread / np.sqrt(2), mode="reflect")
            for weight, spread in zip(weights, spreads, strict=True)
        )
    wanted = color.xyz2lab(np.maximum(planes @ np.linalg.inv(opponent).T, 0))
    apart = np.sqrt(((spatial_lab(pixels) - wanted) ** 2).sum(axis=-1))
    assert apart.mean() < 0.25
