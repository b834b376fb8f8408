"""Scenes with known content."""

from __future__ import annotations

import numpy as np
import pytest

from judge_audit.demo.drawing import draw_scene
from judge_audit.demo.scenes import HOURS, SETTINGS, STYLES, Placed, Scene, make_scene, prompt_of
from judge_audit.demo.shapes import COLOURS, THINGS


def scene_of(colour: str, hour: str = "noon") -> Scene:
    return Scene("table", hour, (Placed("ball", colour, 0.5, 0.85, 0.5),), 3)


@pytest.mark.parametrize("style", STYLES)
def test_the_same_scene_is_drawn_the_same_twice(style):
    first, second = (draw_scene(make_scene(12), style, 160) for _ in range(2))
    assert first.shape == (160, 160, 3)
    assert first.dtype == np.uint8
    assert np.array_equal(first, second)


def test_two_styles_of_one_scene_look_different():
    flat, shaded = (draw_scene(make_scene(4), style, 160).astype(int) for style in STYLES)
    assert np.abs(flat - shaded).mean() > 5


@pytest.mark.parametrize("style", STYLES)
def test_a_red_ball_is_redder_than_a_blue_one_where_it_stands(style):
    middle = [
        draw_scene(scene_of(colour), style, 200)[100:125, 88:112].mean(axis=(0, 1))
        for colour in ("red", "blue")
    ]
    assert middle[0][0] > middle[0][2] + 25
    assert middle[1][2] > middle[1][0] + 25


@pytest.mark.parametrize("style", STYLES)
def test_night_is_darker_than_noon(style):
    noon, night = (draw_scene(scene_of("white", hour), style, 160).mean() for hour in ("noon", "night"))
    assert night < noon - 20


def test_prompts_count_and_name_what_stands_there():
    placed = (
        Placed("box", "red", 0.2, 0.8, 0.2),
        Placed("box", "red", 0.5, 0.8, 0.2),
        Placed("mug", "blue", 0.8, 0.8, 0.2),
    )
    scene = Scene("table", "evening", placed, 1)
    assert (
        prompt_of(scene, "flat")
        == "Flat illustration of one blue mug and two red boxes on a table in the evening."
    )


def test_every_scene_uses_known_words_and_shows_something():
    for seed in range(60):
        scene = make_scene(seed)
        assert scene.setting in SETTINGS
        assert scene.hour in HOURS
        assert 1 <= len(scene.placed) <= 5
        assert {thing.thing for thing in scene.placed} <= set(SETTINGS[scene.setting])
        assert {thing.thing for thing in scene.placed} <= set(THINGS)
        assert {thing.colour for thing in scene.placed} <= set(COLOURS)


def test_scenes_differ_in_brightness_contrast_and_colour():
    for style in STYLES:
        pictures = [draw_scene(make_scene(seed), style, 96).astype(float) for seed in range(30)]
        brightness = [picture.mean() for picture in pictures]
        contrast = [picture.mean(axis=2).std() for picture in pictures]
        colour = [np.ptp(picture, axis=2).mean() for picture in pictures]
        for values in (brightness, contrast, colour):
            assert np.quantile(values, 0.9) > 1.5 * np.quantile(values, 0.1)
