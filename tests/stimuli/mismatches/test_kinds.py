"""The mismatch kinds: what their builders change, and what they refuse."""

from __future__ import annotations

import csv
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from judge_audit.core.errors import MachineryError
from judge_audit.core.vocabulary import MISMATCHES
from judge_audit.demo.corpus import demo_pictures
from judge_audit.stimuli.brand_rules import BrandRule, BrandRules, example_rules
from judge_audit.stimuli.images import load_image
from judge_audit.stimuli.mismatches import mismatch_kinds, mismatch_of
from judge_audit.stimuli.mismatches.kind import DIMENSIONS, Built, Material, Unsuited, Variant
from judge_audit.stimuli.mismatches.semantic_miss import SPARE_PROMPTS

KINDS = mismatch_kinds()
WAYS = [(kind, variant.name) for kind in KINDS.values() for variant in kind.variants]
RULES = example_rules()


def named(entry):
    return f"{entry[0].name}-{entry[1]}"


@pytest.fixture(scope="module")
def materials():
    pictures = demo_pictures(18)
    prompts = tuple((row["topic"], row["prompt"]) for row, _ in pictures)
    return [Material(row, pixels, 1, rules=RULES, prompts=prompts) for row, pixels in pictures]


def plain(**changes):
    """A white ball on grey, in the middle."""
    pixels = np.full((120, 160, 3), 120, np.uint8)
    down, across = np.ogrid[:120, :160]
    ball = (down - 60) ** 2 + (across - 80) ** 2 < 25**2
    pixels[ball] = (240, 200, 180)
    pixels[ball & (down % 8 < 3)] = (40, 30, 90)
    given = {
        "item": {"item_id": "ball", "prompt": "two red balls", "topic": "toys"},
        "pixels": pixels,
        "seed": 1,
    }
    return Material(**{**given, "mask": ball, "rules": RULES, **changes})


def test_there_are_the_four_kinds_and_each_damages_a_dimension_of_its_own():
    assert set(KINDS) == {"semantic_miss", "poor_quality", "compliance_breach", "structural_error"}
    assert sorted(kind.damages for kind in KINDS.values()) == sorted(DIMENSIONS)
    for kind in KINDS.values():
        assert set(kind.expectations) == set(DIMENSIONS)
        assert kind.expectations[kind.damages] == "drops"


@pytest.mark.parametrize("way", WAYS, ids=named)
def test_nothing_changes_outside_the_declared_region(way, materials):
    kind, variant = way
    made = [(material, kind.build(material, variant)) for material in materials]
    built = [(material, pair) for material, pair in made if isinstance(pair, Built)]
    assert built, "no item suits"
    for material, pair in built:
        assert pair.constructed
        assert 0 <= pair.difficulty <= 1
        assert pair.told
        assert pair.honest_limits
        if pair.pixels is None:
            assert pair.region is None
            assert pair.prompt not in {None, material.prompt}
        elif pair.frame is not None:
            left, top, right, bottom = pair.frame
            assert np.array_equal(pair.pixels, material.pixels[top:bottom, left:right])
            assert not pair.region[top:bottom, left:right].any()
        else:
            outside = ~pair.region
            assert np.array_equal(pair.pixels[outside], material.pixels[outside])
            assert not np.array_equal(pair.pixels, material.pixels)
            assert pair.prompt is None


@pytest.mark.parametrize("way", WAYS, ids=named)
def test_the_same_item_and_seed_give_the_same_pair_and_the_item_stays_untouched(way, materials):
    kind, variant = way
    for material in materials[:6]:
        before = material.pixels.copy()
        first, second = (
            kind.build(material, variant),
            kind.build(replace(material, pixels=before.copy()), variant),
        )
        assert np.array_equal(material.pixels, before)
        assert type(first) is type(second)
        if isinstance(first, Built):
            assert (first.told, first.prompt, first.difficulty) == (
                second.told,
                second.prompt,
                second.difficulty,
            )
            assert (first.pixels is None) == (second.pixels is None)
            assert first.pixels is None or np.array_equal(first.pixels, second.pixels)
        else:
            assert first.reason.endswith(".")


def test_pairs_hang_on_the_pixels_and_not_on_the_items_name(materials):
    material = materials[0]
    renamed = replace(material, item={**material.item, "item_id": "another name"})
    kind = KINDS["structural_error"]
    assert np.array_equal(kind.build(material, "warp").pixels, kind.build(renamed, "warp").pixels)


def test_without_a_variant_the_first_that_suits_is_taken(materials):
    kind = KINDS["compliance_breach"]
    names = {kind.build(material).variant for material in materials}
    assert len(names) > 1
    with pytest.raises(KeyError):
        kind.build(materials[0], "none such")


@pytest.mark.parametrize("variant", ["warp", "mirror"])
def test_a_structural_damage_keeps_to_the_mask(variant):
    material = plain()
    made = KINDS["structural_error"].build(material, variant)
    assert isinstance(made, Built), made
    assert not (made.region & ~material.mask).any()
    assert "salience" not in " ".join(made.honest_limits)


def test_a_structural_damage_keeps_to_the_part_the_items_file_names():
    item = {"item_id": "ball", "prompt": "balls", "part_box": "0.35, 0.3, 0.65, 0.7"}
    made = KINDS["structural_error"].build(plain(item=item), "mirror")
    assert isinstance(made, Built), made
    left, top, right, bottom = made.box
    assert left >= 56
    assert top >= 36
    assert right <= 104
    assert bottom <= 84


@pytest.mark.parametrize("written", ["0.5 0.5 0.4 0.9", "a b c d", "0 0 1", "0 0 2 2"])
def test_a_part_box_that_makes_no_sense_is_refused_with_what_to_write(written):
    made = KINDS["structural_error"].build(plain(item={"prompt": "", "part_box": written}), "warp")
    assert isinstance(made, Unsuited)
    assert "left, top, right, bottom" in made.reason


def test_a_part_is_not_doubled_under_a_prompt_that_states_a_count():
    made = KINDS["structural_error"].build(plain(), "duplicate")
    assert isinstance(made, Unsuited)
    assert "count" in made.reason


def test_an_even_picture_cannot_be_damaged_where_nobody_would_see_it():
    grey = np.full((100, 100, 3), 128, np.uint8)
    for kind, variant in (
        ("poor_quality", ""),
        ("structural_error", "warp"),
        ("compliance_breach", "margin"),
    ):
        made = KINDS[kind].build(Material({"prompt": "grey"}, grey, 1, rules=RULES), variant)
        assert isinstance(made, Unsuited), kind


def test_a_picture_too_small_is_refused_with_its_size():
    made = KINDS["poor_quality"].build(Material({"prompt": ""}, np.zeros((20, 30, 3), np.uint8), 1))
    assert isinstance(made, Unsuited)
    assert "30 × 20" in made.reason


def test_a_breach_needs_rules_of_its_sort():
    kind = KINDS["compliance_breach"]
    assert "no brand rules" in kind.build(plain(rules=None), "margin").reason
    only = BrandRules("Mine", (BrandRule("clear", "margin", margin=0.1),), "x")
    assert "no white_space rule" in kind.build(plain(rules=only), "white_space").reason
    assert isinstance(kind.build(plain(rules=only)), Built)


def test_a_cut_puts_the_subject_on_the_edge():
    material = plain()
    made = KINDS["compliance_breach"].build(material, "margin")
    assert isinstance(made, Built), made
    left, top, right, bottom = made.frame
    kept = material.mask[top:bottom, left:right]
    assert kept.sum() == material.mask.sum()
    assert kept[0].any() or kept[-1].any() or kept[:, 0].any() or kept[:, -1].any()
    assert made.rule == "subject_clear_of_the_edge"


def test_a_subject_in_the_margin_already_is_refused_by_edge():
    mask = np.zeros((120, 160), np.bool_)
    mask[:, :50] = True
    made = KINDS["compliance_breach"].build(plain(mask=mask), "margin")
    assert isinstance(made, Unsuited)
    assert "left" in made.reason


def test_a_space_is_filled_only_where_it_is_empty():
    kind = KINDS["compliance_breach"]
    made = kind.build(plain(), "white_space")
    assert isinstance(made, Built)
    assert made.box[3] <= 0.22 * 120 + 1
    busy = plain().pixels.copy()
    busy[4:20, 30:60] = 255
    assert "not empty" in kind.build(plain(pixels=busy), "white_space").reason


def test_a_banned_element_hides_little_of_the_subject():
    kind = KINDS["compliance_breach"]
    only = BrandRules("Mine", (BrandRule("none", "banned_element", element="badge", size=0.6),), "x")
    mask = np.zeros((120, 160), np.bool_)
    mask[:, :70] = True
    made = kind.build(plain(mask=mask, rules=only), "banned_element")
    assert isinstance(made, Built), made
    assert made.box[0] > 70
    assert isinstance(kind.build(plain(mask=np.ones_like(mask), rules=only), "banned_element"), Unsuited)


def test_a_far_exchange_takes_a_prompt_of_another_topic():
    others = (("toys", "three balls"), ("food", "a bowl of soup with bread"), ("", "no topic at all"))
    made = KINDS["semantic_miss"].build(plain(prompts=others), "far")
    assert made.prompt == "a bowl of soup with bread"
    assert made.difficulty < 0.3


def test_where_all_items_have_one_topic_a_prompt_of_the_packages_own_is_told_to_be_one():
    made = KINDS["semantic_miss"].build(plain(prompts=(("toys", "three balls"),)), "far")
    assert made.prompt in {prompt for _, prompt in SPARE_PROMPTS}
    assert "package's own" in made.told


def test_a_far_exchange_refuses_items_without_topic_prompt_or_stranger():
    kind = KINDS["semantic_miss"]
    assert "topic" in kind.build(plain(item={"prompt": "a ball"}), "far").reason
    assert "no prompt" in kind.build(plain(item={"prompt": " ", "topic": "toys"}), "far").reason
    alike = plain(prompts=(("food", "two red balls"),))
    assert "too many words" in kind.build(alike, "far").reason


def test_a_near_exchange_without_a_rule_word_is_not_offered():
    made = KINDS["semantic_miss"].build(plain(item={"prompt": "a lovely cat", "topic": "animal"}), "near")
    assert isinstance(made, Unsuited)
    assert "rule table" in made.reason


def test_a_near_exchange_is_harder_than_a_far_one():
    kind = KINDS["semantic_miss"]
    item = {"prompt": "a photograph of two red balls beside a wooden box in a garden", "topic": "toys"}
    material = plain(item=item, prompts=(("food", "a bowl of soup with bread"),))
    near, far = (kind.build(material, variant) for variant in ("near", "far"))
    assert near.difficulty > far.difficulty + 0.4
    assert near.hardness != far.hardness


def test_a_malformed_file_is_refused_by_its_name():
    sound = KINDS["poor_quality"]
    with pytest.raises(MachineryError, match=r"kinds/odd\.py"):
        mismatch_of(SimpleNamespace(), "odd")
    for wrong in (
        replace(sound, expectations={**sound.expectations, "semantic": "rises"}),
        replace(sound, expectations={"aesthetic": "drops"}),
        replace(sound, damages="semantic"),
        replace(sound, variants=()),
    ):
        with pytest.raises(MachineryError, match=r"kinds/odd\.py"):
            mismatch_of(SimpleNamespace(KIND=wrong), "odd")


def test_a_kind_says_why_no_variant_suits():
    ways = (
        Variant("one", "", lambda material: Unsuited("too red.")),
        Variant("two", "", lambda material: Unsuited("too blue.")),
    )
    made = replace(KINDS["poor_quality"], variants=ways).build(plain())
    assert made.reason == "one: too red. two: too blue."


def test_real_generated_pictures_get_pairs_of_every_kind_but_near_exchanges(shared_cases):
    with (shared_cases / "images.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[::4]
    prompts = tuple((row["topic"], row["prompt"]) for row in rows)
    for row in rows:
        pixels = load_image(str(shared_cases / row["image"])).pixels
        material = Material(row, pixels, 1, rules=RULES, prompts=prompts)
        for name, variant in (
            ("semantic_miss", "far"), ("poor_quality", ""), ("compliance_breach", "banned_element"),
            ("structural_error", "warp"),
        ):  # fmt: skip
            assert isinstance(KINDS[name].build(material, variant), Built), (row["item_id"], name)
        assert isinstance(KINDS["semantic_miss"].build(material, "near"), Unsuited)


def test_strangers_that_are_given_take_the_place_of_the_packages_own():
    given = (("boat", "a photo of a boat"), ("ball", "a photo of a ball"))
    item = {"prompt": "a photo of two red balls", "topic": "toys"}
    made = KINDS["semantic_miss"].build(plain(item=item, spare_prompts=given), "far")
    assert made.prompt == "a photo of a boat"
    assert "those given" in made.told


def test_the_kinds_of_anchors_are_those_of_pairs():
    assert set(KINDS) == set(MISMATCHES)
