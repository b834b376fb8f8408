"""Surface statistics: known answers from the definitions, the same wherever a picture lies in memory."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from scipy.ndimage import convolve, laplace

from judge_audit.demo.corpus import cut_crops
from judge_audit.stimuli import surface_statistics as surface
from judge_audit.stimuli.surface_statistics import STATISTICS, measure_surface

PICTURES = [crop.pixels for crop in cut_crops(4, 96, 1)]
MASK = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]])


@pytest.mark.parametrize("pixels", PICTURES)
def test_statistics_are_what_their_definitions_say(pixels):
    luma, red, blue = np.moveaxis(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb).astype(float), 2, 0)
    wanted = {
        "luma": luma.mean(),
        "contrast": luma.std(),
        "chroma": np.hypot(red - 128, blue - 128).mean(),
        "sharpness": np.log10(np.abs(laplace(luma, mode="mirror")).mean() + 0.01),
        "noise": np.sqrt(np.pi / 2) / 6 * np.abs(convolve(luma, MASK)[1:-1, 1:-1]).mean(),
        "clipped": ((pixels == 0) | (pixels == 255)).mean(),
    }
    assert measure_surface(pixels) == pytest.approx(wanted, rel=1e-5)
    assert tuple(wanted) == STATISTICS


def test_a_statistic_does_not_depend_on_where_a_picture_lies_or_how_it_is_cut():
    pixels = np.ascontiguousarray(PICTURES[0][:53, :71])
    wanted = measure_surface(pixels)
    assert measure_surface(PICTURES[0][:53, :71]) == wanted
    for offset in (1, 2, 9, 33):
        moved = np.zeros(pixels.size + 64, np.uint8)[offset : offset + pixels.size].reshape(pixels.shape)
        moved[...] = pixels
        assert measure_surface(moved) == wanted


def test_an_opencv_without_wide_tables_measures_the_same(monkeypatch):
    wanted = measure_surface(PICTURES[1])
    monkeypatch.setattr(surface, "wide_tables", lambda: False)
    assert measure_surface(PICTURES[1]) == wanted
