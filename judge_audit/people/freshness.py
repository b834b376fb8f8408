"""Whether a reading is still of the pictures that the judge is shown: a changed recipe makes it stale."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import pixel_digest, text_digest
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.planning.probe_ids import ladder_probe_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Axis

    Row = Mapping[str, Any]
    Pixels = NDArray[np.uint8]


def ladder_digest(digests: Iterable[str]) -> str:
    """Digest the pixel digests of a ladder's rungs, weakest first."""
    return text_digest("ladder", *digests)


def draw_ladder(
    axis: Axis, item: Row, pixels: Pixels, mask: NDArray[np.bool_] | None, scratch: Scratch | None = None
) -> list[Pixels]:
    """Draw every rung of an item's ladder, weakest first, as it is drawn for the judge.

    Args:
        axis: The axis.
        item: Its row of `items`.
        pixels: Its pixels.
        mask: Its mask, if it came with one.
        scratch: Working memory of this thread.
    """
    scratch = scratch or Scratch()
    scratch.begin(pixels, mask if needs_mask(axis, item) else None)
    return [axis.draw(pixels, strength, scratch) for strength in axis.strengths]


def needs_mask(axis: Axis, item: Row) -> bool:
    """Tell whether the axis keeps to the item's own mask."""
    return axis.region == "background" and bool(item.get("mask_digest"))


@dataclass(eq=False, slots=True)
class Freshness:
    """Holds readings against today's pictures.

    A reading names the probes it saw, the pixels of every rung and the libraries that drew them. Where probes and
    libraries are the same, so are the pixels; else the ladder is drawn again and its pixels are compared.

    Attributes:
        axes: The axes by name.
        items: Rows of `items` by item_id.
        pixels: Decodes an item.
        mask: Reads an item's mask.
    """

    axes: Mapping[str, Axis]
    items: Mapping[str, Row]
    pixels: Callable[[Row], Pixels]
    mask: Callable[[Row], NDArray[np.bool_] | None]
    _today: dict[tuple[str, str], str] = field(default_factory=dict)

    def is_stale(self, reading: Row) -> bool:
        """Tell whether a reading was of other pixels than are drawn today; unknown where it names none."""
        axis, item = self.axes.get(reading["axis"]), self.items.get(reading["item_id"])
        if axis is None or item is None or not reading.get("ladder_digest"):
            return False
        same = reading["renderer"] == fingerprint() and reading["probe_ids"] == ladder_probe_ids(item, axis)
        return not same and reading["ladder_digest"] != self._drawn(axis, item)

    def _drawn(self, axis: Axis, item: Row) -> str:
        """Digest an item's ladder as it is drawn today."""
        key = (item["item_id"], axis.name)
        if key not in self._today:
            mask = self.mask(item) if needs_mask(axis, item) else None
            rungs = draw_ladder(axis, item, self.pixels(item), mask)
            self._today[key] = ladder_digest(map(pixel_digest, rungs))
        return self._today[key]
