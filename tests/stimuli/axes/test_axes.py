"""Axes: one knob each, drawn as published, rung 0 untouched, dose monotone."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import MachineryError
from judge_audit.demo.corpus import cut_crops
from judge_audit.stimuli.axes import axes_of, builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch, wide_tables
from judge_audit.stimuli.surface_statistics import measure_surface

AXES = builtin_axes()
PICTURES = [crop.pixels for crop in cut_crops(9, 96, 1)]
WHOLE = [
    "blur",
    "brightness+",
    "brightness-",
    "contrast+",
    "contrast-",
    "saturation+",
    "saturation-",
    "sharpen",
]
NAMES = sorted([*WHOLE, "crop"])
ASKED = ["background_blur", "jpeg", "noise", "watermark"]
EVERY = sorted([*NAMES, *ASKED])
SMALL = {
    "narrow": np.random.default_rng(1).integers(0, 256, (3, 40, 3), np.uint8),
    "tall": np.random.default_rng(2).integers(0, 256, (31, 5, 3), np.uint8),
    "tiny": np.random.default_rng(3).integers(0, 256, (3, 3, 3), np.uint8),
    "black": np.zeros((24, 33, 3), np.uint8),
    "white": np.full((24, 33, 3), 255, np.uint8),
    "grey": np.full((24, 33, 3), 128, np.uint8),
}


def linear(pixels):
    value = pixels / 255.0
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def encoded(light):
    light = np.clip(light, 0, 1)
    return np.rint(255 * np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055))


def oklab_chroma(pixels, gain):
    """Ottosson's published forward and inverse constants, in double precision."""
    forward = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    from_lab = [
        [1, 0.3963377774, 0.2158037573],
        [1, -0.1055613458, -0.0638541728],
        [1, -0.0894841775, -1.2914855480],
    ]
    backward = [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
    lab = np.cbrt(linear(pixels) @ np.transpose(forward)) @ np.transpose(to_lab)
    lab[..., 1:] *= gain
    return encoded((lab @ np.transpose(from_lab)) ** 3 @ np.transpose(backward))


def draw(name, pixels, strength):
    return AXES[name].draw(pixels, strength, Scratch())


def test_nine_ladders_are_climbed_unasked_and_the_others_by_name():
    assert sorted(AXES) == EVERY
    assert sorted(name for name, axis in AXES.items() if axis.default) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_ladder_is_geometric_and_spans_about_two_decades(name):
    strengths = np.array(AXES[name].strengths)
    assert 9 <= len(strengths) <= 12
    steps = strengths[1:] / strengths[:-1]
    assert np.allclose(steps, steps[0], rtol=0.05)
    assert strengths[0] < AXES[name].overdone <= strengths[-1]


@pytest.mark.parametrize("name", ASKED)
def test_the_other_ladders_rise_over_about_two_decades_too(name):
    strengths = np.array(AXES[name].strengths)
    assert 9 <= len(strengths) <= 12
    assert strengths[-1] / strengths[0] > 20
    assert strengths[0] < AXES[name].overdone <= strengths[-1]


@pytest.mark.parametrize("name", EVERY)
def test_every_size_and_any_flat_picture_can_be_drawn(name):
    for pixels in SMALL.values():
        for strength in AXES[name].strengths:
            changed = draw(name, pixels, strength)
            assert changed.dtype == np.uint8
            assert changed.shape[0] == pixels.shape[0]
            assert changed.shape[2] == 3
            assert (changed.shape == pixels.shape) == (name != "crop" or changed.shape[1] == pixels.shape[1])


@pytest.mark.parametrize("name", EVERY)
def test_drawing_leaves_the_original_untouched_and_does_not_depend_on_what_was_drawn_before(name):
    shared = Scratch()
    for pixels in PICTURES[:3]:
        before = pixels.copy()
        for strength in reversed(AXES[name].strengths):
            again = AXES[name].draw(pixels, strength, shared)
            assert np.array_equal(again, draw(name, pixels, strength))
            assert again.dtype == np.uint8
            assert not np.shares_memory(again, pixels)
        assert np.array_equal(pixels, before)


@pytest.mark.parametrize("name", [name for name in EVERY if AXES[name].statistic])
def test_the_dose_moves_its_own_statistic_one_way(name):
    axis = AXES[name]
    for pixels in PICTURES:
        values = [
            measure_surface(draw(name, pixels, strength))[axis.statistic] for strength in axis.strengths
        ]
        values = [measure_surface(pixels)[axis.statistic], *values]
        assert (values[-1] > values[0]) == axis.rises
    means = np.mean(
        [
            [measure_surface(draw(name, pixels, strength))[axis.statistic] for strength in axis.strengths]
            for pixels in PICTURES
        ],
        axis=0,
    )
    steps = np.diff(means) * (1 if axis.rises else -1)
    assert (steps > -0.02 * np.abs(means).max()).all()


@pytest.mark.parametrize(("name", "sign"), [("saturation+", 1), ("saturation-", -1)])
def test_saturation_is_a_chroma_gain_in_oklab(name, sign):
    for pixels in PICTURES[:4]:
        for strength in AXES[name].strengths[::3]:
            apart = np.abs(draw(name, pixels, strength) - oklab_chroma(pixels, 1 + sign * strength))
            assert apart.max() <= 1
            assert (apart > 0).mean() < 0.02


@pytest.mark.parametrize(("name", "sign"), [("brightness+", 1), ("brightness-", -1)])
def test_brightness_is_exposure_in_linear_light(name, sign):
    for strength in AXES[name].strengths:
        wanted = encoded(linear(PICTURES[0]) * 2.0 ** (sign * strength))
        apart = np.abs(draw(name, PICTURES[0], strength) - wanted)
        # Values that fall on a half level may round either way in single precision.
        assert apart.max() <= 1
        assert (apart > 0).mean() < 0.02


@pytest.mark.parametrize(("name", "sign"), [("contrast+", 1), ("contrast-", -1)])
def test_contrast_keeps_the_mean_and_scales_about_it(name, sign):
    pixels = PICTURES[0]
    middle = np.rint(pixels @ [0.299, 0.587, 0.114]).mean()
    for strength in AXES[name].strengths:
        wanted = np.clip(np.rint(middle + (pixels - middle) * (1 + sign * strength)), 0, 255)
        assert np.abs(draw(name, pixels, strength) - wanted).max() <= 1


def test_a_crop_cuts_the_right_side_and_resamples_nothing():
    for strength in AXES["crop"].strengths:
        cut = draw("crop", PICTURES[0], strength)
        assert np.array_equal(cut, PICTURES[0][:, : cut.shape[1]])


def test_threads_draw_the_same_pixels():
    def digests(_):
        scratch = Scratch()
        return [pixel_digest(axis.draw(PICTURES[1], axis.strengths[-1], scratch)) for axis in AXES.values()]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(digests, range(8)))
    assert all(entry == found[0] for entry in found)


def test_blur_is_a_gaussian_of_the_stated_radius_at_any_size():
    noise = np.random.default_rng(1).integers(0, 2, (209, 246, 3)).astype(np.uint8) * 255
    pictures = [crop.pixels for crop in cut_crops(3, 320, 1)]
    for pixels, most in (
        *((picture, 2.4) for picture in pictures),
        (pictures[0][:301, :319], 2.4),
        (noise, 2.6),
    ):
        side = min(pixels.shape[:2])
        for strength in AXES["blur"].strengths:
            sigma = strength / 100 * side
            wanted = gaussian_filter(pixels.astype(float), (sigma, sigma, 0), mode="reflect", truncate=6)
            apart = draw("blur", pixels, strength) - wanted
            assert np.abs(apart).max() <= most
            assert abs(apart.mean()) < 0.07
            assert np.abs(apart).mean() < 0.45


def test_sharpen_takes_the_blur_away_once_more_and_clips():
    for strength in AXES["sharpen"].strengths:
        wanted = np.clip(2 * PICTURES[0].astype(int) - draw("blur", PICTURES[0], strength), 0, 255)
        assert np.array_equal(draw("sharpen", PICTURES[0], strength), wanted)


def test_a_picture_in_hand_is_never_drawn_over():
    scratch, held = Scratch(), []
    for pixels in (*PICTURES[:3], PICTURES[0]):
        for axis in AXES.values():
            for strength in axis.strengths:
                drawn = axis.draw(pixels, strength, scratch)
                held.append((drawn[1:, ::2], drawn[1:, ::2].copy()))
                held = held[-40:]
                assert not any(np.shares_memory(drawn, view) for view, _ in held[:-1])
    assert all(np.array_equal(view, kept) for view, kept in held)


def test_pixels_do_not_depend_on_where_in_memory_a_picture_lies():
    pixels = np.ascontiguousarray(PICTURES[2][:77, :91])
    for offset in (1, 3, 8, 17):
        memory = np.zeros(pixels.size + 64, np.uint8)
        moved = memory[offset : offset + pixels.size].reshape(pixels.shape)
        moved[...] = pixels
        for name, axis in AXES.items():
            for strength in axis.strengths[::3]:
                assert np.array_equal(draw(name, moved, strength), draw(name, pixels, strength))


def test_an_opencv_without_wide_tables_draws_the_same_pixels(monkeypatch):
    pixels = cut_crops(1, 256, 1)[0].pixels
    wanted = {name: draw(name, pixels, axis.strengths[-1]) for name, axis in AXES.items()}
    wide_tables.cache_clear()

    def refuse(values, *_args, plain=cv2.LUT, **named):
        if values.dtype == np.uint16:
            raise cv2.error
        return plain(values, *_args, **named)

    monkeypatch.setattr(cv2, "LUT", refuse)
    try:
        assert not wide_tables()
        for name, axis in AXES.items():
            assert np.array_equal(draw(name, pixels, axis.strengths[-1]), wanted[name])
    finally:
        wide_tables.cache_clear()


DRAW_ALL = """
import sys
import numpy as np
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.core.digests import pixel_digest
pictures, scratch = np.load(sys.argv[1]), Scratch()
for axis in builtin_axes().values():
    for picture in pictures:
        for strength in axis.strengths:
            print(axis.name, strength, pixel_digest(axis.draw(picture, strength, scratch)))
"""


def test_a_processor_without_wide_registers_or_fused_products_draws_the_same_pixels(tmp_path):
    np.save(tmp_path / "pictures.npy", [crop.pixels for crop in cut_crops(2, 200, 1)])

    def run(**changed):
        command = [sys.executable, "-c", DRAW_ALL, str(tmp_path / "pictures.npy")]
        done = subprocess.run(command, env=os.environ | changed, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    plain = run(OPENCV_CPU_DISABLE="AVX512_SKX,AVX2,FMA3,AVX,SSE4_2,SSE4_1")
    assert len(plain) == 2 * sum(len(axis.strengths) for axis in AXES.values())
    assert plain == run()


def test_a_malformed_axis_file_is_refused_by_name():
    with pytest.raises(MachineryError, match=r"axes/mine\.py"):
        axes_of(types.SimpleNamespace(AXES=()), "mine")
