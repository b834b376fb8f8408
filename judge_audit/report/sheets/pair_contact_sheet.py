"""What a contact sheet of pairs shows: a few items, or staged scenes, with the pairs built of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.report.sheets.contact_sheet import chosen_pictures
from judge_audit.report.sheets.pair_sheets import PairShown
from judge_audit.stimuli.mismatches.kind import Built, Material

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judge_audit.stimuli.brand_rules import BrandRules
    from judge_audit.stimuli.mismatches.kind import Kind


def show_pairs(kind: Kind, materials: Sequence[Material]) -> list[PairShown]:
    """Build a pair of each item, the kind's variants taking turns where they suit."""
    shown = []
    for number, material in enumerate(materials):
        made = kind.build(material, kind.variants[number % len(kind.variants)].name)
        if not isinstance(made, Built):
            made = kind.build(material)
        item = material.item
        shown.append(
            PairShown(str(item["item_id"]), str(item["source"]), material.prompt, material.pixels, made)
        )
    return shown


def materials_of_file(path: str | Path, *, count: int, seed: int, rules: BrandRules | None) -> list[Material]:
    """Take a few items of an items file; no other picture is read.

    Args:
        path: The items file.
        count: How many items.
        seed: The audit's seed.
        rules: The team's brand rules.

    Raises:
        InputError: If a column is missing, or one of the chosen pictures or masks cannot be used.
        UsageError: If the file cannot be read.
    """
    chosen = chosen_pictures(path, count=count, seed=seed)
    prompts = tuple((row.get("topic", ""), row["prompt"]) for row in chosen.rows)
    return [Material(row, pixels, seed, mask, rules, prompts) for row, pixels, mask in chosen.pictures]


def demo_materials(count: int, seed: int, rules: BrandRules | None) -> list[Material]:
    """Take a few of the demo's pictures."""
    from judge_audit.demo.corpus import demo_pictures  # noqa: PLC0415 - draws the demo

    pictures = demo_pictures(count, seed)
    prompts = tuple((row["topic"], row["prompt"]) for row, _ in pictures)
    return [Material(row, pixels, seed, None, rules, prompts) for row, pixels in pictures]


def show_scene_pairs(kind: Kind, count: int, seed: int) -> list[PairShown]:
    """Show pairs of staged scenes, whose damage is known exactly."""
    from judge_audit.demo.staged_scenes import scene_pairs  # noqa: PLC0415 - draws scenes

    pairs = scene_pairs(-(-count // 2), seed, kinds=(kind.name,))
    return [
        PairShown(pair.pair_id, f"{pair.style} scenes", pair.prompt, pair.intact, pair.made) for pair in pairs
    ][:count]
