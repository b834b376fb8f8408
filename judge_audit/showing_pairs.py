"""What a contact sheet of pairs shows: a few items, or staged scenes, with the pairs built of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.errors import Fault, InputError
from judge_audit.images import ImageError, load_image
from judge_audit.items import check_columns, resolve_image
from judge_audit.kinds.kind import Built, Material
from judge_audit.masks import load_mask
from judge_audit.probes import choose_ladder_items
from judge_audit.report.pair_sheets import PairShown
from judge_audit.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.brand import BrandRules
    from judge_audit.kinds.kind import Kind


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
    path = Path(path)
    told = read_rows(path)
    check_columns(path, told.columns)
    if told.faults or not told.rows:
        raise InputError(told.faults or [Fault(path.name, 0, "", "the file has no rows.")])
    named = [{**row, "cluster": row.get("cluster") or row["item_id"]} for _, row in told.rows]
    chosen = set(choose_ladder_items(named, count, seed))
    prompts = tuple((row.get("topic", ""), row["prompt"]) for _, row in told.rows)
    found: list[Material] = []
    faults: list[Fault] = []
    for number, row in told.rows:
        if row["item_id"] not in chosen:
            continue
        column = "image"
        try:
            pixels = load_image(resolve_image(path.parent, row["image"])).pixels
            column = "mask"
            uri = row.get("mask", "").strip()
            mask = load_mask(resolve_image(path.parent, uri), pixels.shape[:2]) if uri else None
        except ImageError as error:
            faults.append(Fault(path.name, number, column, f"{row[column]}: {error}", row["item_id"]))
            continue
        found.append(Material(row, pixels, seed, mask, rules, prompts))
    if faults:
        raise InputError(faults)
    return found


def demo_materials(count: int, seed: int, rules: BrandRules | None) -> list[Material]:
    """Take a few of the demo's pictures."""
    from judge_audit.demo.corpus import demo_pictures  # noqa: PLC0415 - draws the demo

    pictures = demo_pictures(count, seed)
    prompts = tuple((row["topic"], row["prompt"]) for row, _ in pictures)
    return [Material(row, pixels, seed, None, rules, prompts) for row, pixels in pictures]


def show_scene_pairs(kind: Kind, count: int, seed: int) -> list[PairShown]:
    """Show pairs of staged scenes, whose damage is known exactly."""
    from judge_audit.demo.scene_pairs import scene_pairs  # noqa: PLC0415 - draws scenes

    pairs = scene_pairs(-(-count // 2), seed, kinds=(kind.name,))
    return [
        PairShown(pair.pair_id, f"{pair.style} scenes", pair.prompt, pair.intact, pair.made) for pair in pairs
    ][:count]
