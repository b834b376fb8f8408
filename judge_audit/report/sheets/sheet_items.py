"""What a contact sheet shows: a few items or staged scenes, with their zones on one axis or the pairs built of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import read_rows
from judge_audit.inputs.items import check_columns
from judge_audit.people.readings import read_readings
from judge_audit.people.visibility import provisional_points
from judge_audit.people.zones import make_zones
from judge_audit.report.sheets.axis_sheet import Ladder
from judge_audit.report.sheets.pair_sheet import PairShown
from judge_audit.stimuli.images import ImageError, load_image, load_mask, mask_digest, resolve_image
from judge_audit.stimuli.mismatches.kind import Built, Material
from judge_audit.stimuli.planning.probe_ids import region_of
from judge_audit.stimuli.planning.probes import choose_ladder_items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.brand_rules import BrandRules
    from judge_audit.stimuli.mismatches.kind import Kind

    Row = Mapping[str, str]


def ladders_of_file(
    path: str | Path, axis: Axis, *, count: int, seed: int, readings: str | Path = ""
) -> list[Ladder]:
    """Take a few items of an items file with what is known of an axis on them; no other picture is read.

    Args:
        path: The items file.
        axis: The axis.
        count: How many items: those that `chosen_pictures` takes, which refuses what it refuses here too.
        seed: The audit's seed.
        readings: A readings file, "" if nobody has read.
    """
    chosen = chosen_pictures(path, count=count, seed=seed)
    read = _read_zones(axis, chosen.rows, readings, seed) if readings else {}
    return [
        ladder_of(row, pixels, axis, mask, read.get(row["item_id"])) for row, pixels, mask in chosen.pictures
    ]


@dataclass(frozen=True, slots=True)
class Chosen:
    """Every row of an items file, and row, pixels and mask (where there is one) of each item that was chosen."""

    rows: Sequence[Row]
    pictures: Sequence[tuple[Row, NDArray[np.uint8], NDArray[np.bool_] | None]]


def chosen_pictures(path: str | Path, *, count: int, seed: int) -> Chosen:
    """Take a few items of an items file: those that would carry ladders were there no more; no other picture is read.

    Args:
        path: The items file.
        count: How many items.
        seed: The audit's seed.

    Raises:
        InputError: If a column is missing, or one of the chosen pictures or masks cannot be used.
        UsageError: If the file cannot be read.
    """
    path = Path(path)
    content = read_rows(path)
    check_columns(path, content.columns)
    if content.faults or not content.rows:
        raise InputError(content.faults or [Fault(path.name, 0, "", "the file has no rows.")])
    rows = [row for _, row in content.rows]
    named = [{**row, "cluster": row.get("cluster") or row["item_id"]} for row in rows]
    wanted = set(choose_ladder_items(named, count, seed))
    pictures = []
    faults: list[Fault] = []
    for number, row in content.rows:
        if row["item_id"] not in wanted:
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
        pictures.append((row, pixels, mask))
    if faults:
        raise InputError(faults)
    return Chosen(rows, pictures)


def ladder_of(
    row: Row,
    pixels: NDArray[np.uint8],
    axis: Axis,
    mask: NDArray[np.bool_] | None = None,
    zone: Mapping[str, float | None] | None = None,
) -> Ladder:
    """Put an item with its zone, by readings if there are any, else by the models.

    Of the row item_id and source are used, of the zone perceptible_low, perceptible_high and objectionable.
    """
    item = {"mask_digest": mask_digest(mask) if mask is not None else None}
    region = region_of(axis, item)
    if zone is not None:
        low, high, objectionable = (
            zone[name] for name in ("perceptible_low", "perceptible_high", "objectionable")
        )
    else:
        points = provisional_points(axis, pixels)
        low, high, objectionable = (points.low, points.high, axis.overdone) if points else (None, None, None)
    return Ladder(
        item=row["item_id"],
        source=row["source"],
        pixels=pixels,
        mask=mask,
        low=low,
        high=high,
        objectionable=objectionable,
        provisional=zone is None,
        region=region[0] if region else "",
    )


def _read_zones(
    axis: Axis, rows: Sequence[Row], readings: str | Path, seed: int
) -> dict[str, Mapping[str, float | None]]:
    """Settle the zones of all items by readings; empty if nobody has read this axis."""
    items = pa.table({"item_id": pa.array([row["item_id"] for row in rows], pa.string())})
    table = read_readings(readings, {axis.name: axis}, items)
    if axis.name not in table["axis"].to_pylist():
        return {}
    zones = make_zones({axis.name: axis}, items, table, _no_pixels, seed=seed).table.to_pylist()
    return {zone["item_id"]: zone for zone in zones if not zone["provisional"]}


def _no_pixels(row: Mapping[str, object]) -> NDArray[np.uint8]:
    """Refuse: an axis that somebody has read asks no model, hence for no picture."""
    raise AssertionError(f"nobody looks at {row['item_id']}.")


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
    """Take a few items of an items file, as `chosen_pictures` does, with the team's brand rules."""
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
