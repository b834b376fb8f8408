"""The rule table of near prompt exchanges."""

from __future__ import annotations

import pytest

from judge_audit.demo.scenes import STYLES, make_scene, prompt_of
from judge_audit.stimuli.mismatches.exchanges import COLOURS, COUNTS, TIMES, exchanges, states_count


def prompts_of(prompt, what=""):
    return {offer.prompt for offer in exchanges(prompt) if not what or offer.what == what}


def test_a_count_is_exchanged_and_the_rest_of_the_sentence_is_kept():
    offered = prompts_of("two red cups", "count")
    assert "three red cups" in offered
    assert all(prompt.endswith(" red cups") for prompt in offered)


@pytest.mark.parametrize("table", [COUNTS, COLOURS, TIMES])
def test_nothing_is_ever_exchanged_for_itself(table):
    assert all(word not in targets and len(set(targets)) == len(targets) for word, targets in table.items())


def test_no_count_becomes_one_and_one_becomes_nothing_else():
    assert all("one" not in targets for targets in COUNTS.values())
    assert prompts_of("one bird on a wire") == set()
    assert prompts_of("a bird on a wire") == set()


def test_no_colour_takes_an_an():
    assert all(target[0] not in "aeiou" for targets in COLOURS.values() for target in targets)
    assert "a blue flower among leaves" in prompts_of("an orange flower among leaves")
    assert "A blue flower" in prompts_of("An orange flower")


@pytest.mark.parametrize(
    "prompt",
    [
        "a reddish sky",
        "a blackbird",
        "a red-haired woman",
        "a two-storey house",
        "the winner of a gold medal",
        "silver spoons on linen",
        "a glass of red wine",
        "a cup of green tea",
        "a black and white photograph of a street",
        "an orange on a plate",
        "orange juice in a glass",
        "a sky blue scarf",
        "the White House in spring",
        "a girl two years old",
        "a clock at two o'clock",
        "a table for the two",
        'a cat with a sign that says "two red cups at night"',
        "a cat with a sign that says 'two red cups at night'",
        "a lovely cat",
        "nightfall and noontide",
        "",
    ],
)
def test_prompts_without_a_word_the_rules_are_sure_of_are_offered_nothing(prompt):
    assert exchanges(prompt) == ()


def test_a_colour_the_prompt_names_already_is_not_put_in():
    offered = prompts_of("a red ball beside a blue box", "colour")
    assert offered
    assert not any("blue ball" in prompt or "red box" in prompt for prompt in offered)


def test_the_first_word_of_a_sentence_keeps_its_capital():
    assert "Three dogs in a park" in prompts_of("Two dogs in a park")
    assert "Blue doors" in prompts_of("Red doors")


@pytest.mark.parametrize(
    ("prompt", "changed"),
    [
        ("a street at night", "a street at noon"),
        ("a harbour in the evening.", "a harbour at noon."),
        ("a meadow at noon, painted", "a meadow at night, painted"),
    ],
)
def test_a_time_of_day_becomes_another_light(prompt, changed):
    assert changed in prompts_of(prompt, "time of day")


def test_a_prompt_of_two_times_of_day_is_left_alone():
    assert prompts_of("a street at night and at noon", "time of day") == set()


def test_every_offer_differs_from_the_prompt_in_the_words_it_names():
    for seed in range(40):
        for style in STYLES:
            prompt = prompt_of(make_scene(seed), style)
            for offer in exchanges(prompt):
                assert offer.prompt != prompt
                assert offer.old != offer.new
                assert prompt.replace(offer.old, "") != prompt
                assert offer.new in offer.prompt


def test_stated_counts_are_known():
    assert states_count("one red apple")
    assert states_count("3 cats")
    assert not states_count("a lonely apple")
    assert not states_count("a two-storey house")
