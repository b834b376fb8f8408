"""The pictures of the page, drawn again: changed copies, rungs of ladders, deliberate mismatches, worst cases.

A picture that can no longer be read is left out; the page says so.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from judge_audit.report.sheets.axis_sheet import tile_of
from judge_audit.report.sheets.layout import scaled
from judge_audit.report.sheets.pair_sheet import tiles_of
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.combinations import draw_combined, read_recipe
from judge_audit.stimuli.mismatches.kind import Built
from judge_audit.stimuli.planning.mismatches import sides_of

if TYPE_CHECKING:
    from judge_audit.stimuli.axes.axis import Axis

Pixels = NDArray[np.uint8]
Row = Mapping[str, Any]
Reader = Callable[[str], Pixels]
"""Gives the pixels of an item by its id; 8-bit sRGB, shape (height, width, 3)."""

Masks = Callable[[str], NDArray[np.bool_] | None]
"""Gives the mask of an item by its id, None if it has none."""

Members = Callable[[Row], tuple[Pixels, Pixels]]
"""Gives the pixels of the intact and the damaged member of a row of `mismatches`."""

SIDE, QUALITY = 320, 90
TILE_SIDE, TILE_QUALITY, FINE_QUALITY = 120, 88, 95
MISMATCH_SIDE, MISMATCH_QUALITY = 216, 88
FULL_COLOUR = 95


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and its changed copy as data URIs; `width` is the copy's, in percent (below 100 for a crop)."""

    original: str
    changed: str
    width: float


@dataclass(frozen=True, slots=True)
class Tile:
    """A small picture as a data URI, with its width in percent of the original's; below 100 for a crop."""

    uri: str
    width: float


def readable(
    rows: Iterable[Row], pixels: Reader | None, masks: Masks | None = None
) -> Iterator[tuple[Row, Pixels, Scratch]]:
    """Give the rows (with item_id) whose pictures can be read, with pixels and a scratch that has begun on them.

    Without a reader of pictures there are none.
    """
    scratch = Scratch()
    for row in rows if pixels is not None else ():
        assert pixels is not None
        try:
            original = pixels(row["item_id"])
            scratch.begin(original, masks(row["item_id"]) if masks else None)
        except Exception:  # noqa: BLE001, S112 - a report is worth having without one of its pictures
            continue
        yield row, original, scratch


def pictures_of(
    movers: Sequence[Row], pixels: Reader | None, axes: Mapping[str, Axis], masks: Masks | None = None
) -> dict[tuple[str, str, float], Pair]:
    """Draw the movers again, by item, axis and strength; one whose axis is gone is left out."""
    drawable = [row for row in movers if row["axis"] in axes]
    pairs: dict[tuple[str, str, float], Pair] = {}
    for row, original, scratch in readable(drawable, pixels, masks):
        changed = axes[row["axis"]].draw(original, row["strength"], scratch)
        width = 100 * changed.shape[1] / original.shape[1]
        pairs[row["item_id"], row["axis"], row["strength"]] = _pair(original, changed, width)
    return pairs


def draw_worst(
    parts: Sequence[Row], pixels: Reader | None, axes: Mapping[str, Axis]
) -> dict[tuple[str, str], Pair]:
    """Draw the worst cases of the entries of `hacking`, by item and recipe; one of whose axes is gone is left out."""
    worst = [row for part in parts for row in part["worst"]]
    rows = [row for row in worst if all(dose.axis in axes for dose in read_recipe(row["recipe"]))]
    pairs: dict[tuple[str, str], Pair] = {}
    further = Scratch()
    for row, original, scratch in readable(rows, pixels):
        changed = draw_combined(original, read_recipe(row["recipe"]), axes, scratch, further)
        pairs[row["item_id"], row["axis"]] = _pair(original, changed, 100.0)
    return pairs


def _pair(original: Pixels, changed: Pixels, width: float) -> Pair:
    factor = min(1.0, SIDE / max(original.shape[:2]))
    return Pair(data_uri(original, factor), data_uri(changed, factor), width)


def draw_strips(
    strips: Sequence[Row], pixels: Reader | None, axes: Mapping[str, Axis], masks: Masks | None = None
) -> dict[str, list[Tile]]:
    """Draw the entries of `strips` again: by axis the tile of the original, then one per rung shown."""
    tiles: dict[str, list[Tile]] = {}
    for row, original, scratch in readable(strips, pixels, masks):
        axis = axes[row["axis"]]
        drawn = [original, *(axis.draw(original, rung["strength"], scratch) for rung in row["rungs"])]
        tiles[axis.name] = [_tile(copy, original.shape, fine=row["fine"]) for copy in drawn]
    return tiles


def _tile(pixels: Pixels, original: tuple[int, ...], *, fine: bool) -> Tile:
    shown = np.ascontiguousarray(tile_of(pixels, original, TILE_SIDE, fine=fine))
    width = 100.0 if fine else 100 * pixels.shape[1] / original[1]
    return Tile(jpeg_uri(shown, FINE_QUALITY if fine else TILE_QUALITY), min(100.0, width))


def draw_pairs(shown: Sequence[Row], members: Members | None) -> dict[str, list[str]]:
    """Draw the deliberate mismatches that are shown, rows with what table `mismatches` says of them.

    Returns:
        Data URIs by pair_id: intact, damaged and, where the two are of one size or one is cut of the other, their
        difference; the intact one alone where no pixel differs.
    """
    uris: dict[str, list[str]] = {}
    for row in shown if members is not None else ():
        assert members is not None
        try:
            intact, damaged = members(row)
        except Exception:  # noqa: BLE001, S112 - a report is worth having without one of its pictures
            continue
        tiles = _mismatch_tiles(row, intact, damaged)
        uris[row["pair_id"]] = [jpeg_uri(np.ascontiguousarray(tile), MISMATCH_QUALITY) for tile in tiles]
    return uris


def _mismatch_tiles(row: Row, intact: Pixels, damaged: Pixels) -> list[Pixels]:
    """Give the tiles of a pair, its damaged member described as its builder did."""
    factor = MISMATCH_SIDE / max(intact.shape[:2])
    if np.array_equal(intact, damaged):
        return [scaled(intact, factor)]
    box, frame = sides_of(row["region_box"]), sides_of(row["frame"])
    if frame is None and intact.shape != damaged.shape:
        return [scaled(one, MISMATCH_SIDE / max(one.shape[:2])) for one in (intact, damaged)]
    region = np.zeros(intact.shape[:2], np.bool_) if box is not None else None
    if box is not None and region is not None:
        region[box[1] : box[3], box[0] : box[2]] = True
    made = Built(
        variant=row["variant"],
        pixels=damaged,
        prompt=None,
        region=region,
        difficulty=row["difficulty"] or 0.0,
        told=row["told"],
        frame=frame,
    )
    return [tile for tile, _ in tiles_of(intact, made, factor)]


def data_uri(pixels: Pixels, factor: float) -> str:
    """Store a picture (8-bit sRGB) as a JPEG data URI, its sides multiplied by a factor of at most 1."""
    return jpeg_uri(scaled(pixels, factor) if factor < 1 else pixels, QUALITY)


def jpeg_uri(pixels: Pixels, quality: int) -> str:
    """Store a picture (8-bit sRGB) as a JPEG data URI; from quality 95 on colour keeps its full resolution."""
    flat = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    how = [cv2.IMWRITE_JPEG_QUALITY, quality]
    if quality >= FULL_COLOUR:
        how += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    _, stored = cv2.imencode(".jpg", flat, how)
    return "data:image/jpeg;base64," + base64.b64encode(stored.tobytes()).decode("ascii")
