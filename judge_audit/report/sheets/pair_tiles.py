"""Deliberate mismatches on the page: intact, damaged and difference as small pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judge_audit.report.sheets.pair_sheets import PairShown, tiles_of
from judge_audit.report.sheets.pictures import jpeg_uri
from judge_audit.stimuli.mismatches.kind import Built
from judge_audit.stimuli.planning.mismatches import sides_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.stimuli.mismatches.kind import Mask

Pixels = NDArray[np.uint8]
Members = Callable[[Mapping[str, Any]], tuple[Pixels, Pixels]]

SIDE = 216
"""Longest side of a tile in pixels."""

QUALITY = 88


def draw_pairs(shown: Sequence[Mapping[str, Any]], members: Members | None) -> dict[str, list[str]]:
    """Draw the pairs that are shown.

    A pair that can no longer be drawn is left out; the page says so.

    Args:
        shown: Rows with pair_id and what table `mismatches` says of the pair.
        members: Gives the pixels of the intact and the damaged member; None draws nothing.

    Returns:
        Data URIs by pair_id: intact, damaged and, where the two are of one size or one is cut of the other, their
        difference; the intact one alone where no pixel differs.
    """
    found: dict[str, list[str]] = {}
    if members is None:
        return found
    for row in shown:
        try:
            intact, damaged = members(row)
        except Exception:  # noqa: BLE001, S112 - a report is worth having without one of its pictures
            continue
        found[row["pair_id"]] = [
            jpeg_uri(np.ascontiguousarray(tile), QUALITY) for tile in _tiles(row, intact, damaged)
        ]
    return found


def _tiles(row: Mapping[str, Any], intact: Pixels, damaged: Pixels) -> list[Pixels]:
    """Give the tiles of a pair."""
    factor = SIDE / max(intact.shape[:2])
    pair = PairShown(
        row["intact"], row["source"], row["intact_prompt"] or "", intact, _made(row, intact, damaged)
    )
    made = pair.made
    assert isinstance(made, Built)
    if made.pixels is None:
        return [tile for tile, _ in tiles_of(pair, made, factor)][:1]
    if made.frame is None and intact.shape != damaged.shape:
        alone = [PairShown("", "", "", pixels, _made(row, pixels, pixels)) for pixels in (intact, damaged)]
        sizes = [SIDE / max(one.intact.shape[:2]) for one in alone]
        return [
            tiles_of(one, one.made, size)[0][0]
            for one, size in zip(alone, sizes, strict=True)
            if isinstance(one.made, Built)
        ]
    return [tile for tile, _ in tiles_of(pair, made, factor)]


def _made(row: Mapping[str, Any], intact: Pixels, damaged: Pixels) -> Built:
    """Describe the damaged member as its builder did."""
    same = intact.shape == damaged.shape and np.array_equal(intact, damaged)
    box = sides_of(row["region_box"])
    region: Mask | None = None
    if box is not None and not same:
        region = np.zeros(intact.shape[:2], np.bool_)
        region[box[1] : box[3], box[0] : box[2]] = True
    return Built(
        variant=row["variant"],
        pixels=None if same else damaged,
        prompt=None,
        region=region,
        difficulty=row["difficulty"] or 0.0,
        told=row["told"],
        frame=sides_of(row["frame"]),
    )
