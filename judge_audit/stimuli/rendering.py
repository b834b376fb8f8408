"""Drawing probes: the pixels a judge is shown, and whether they differ from the original's at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import MachineryError
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS
from judge_audit.measures.headroom import is_combined
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.combinations import draw_combined, read_recipe
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from judge_audit_schemas.rows import ItemsRow, ProbesRow
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Axis

    Damage = Callable[[ItemsRow, ProbesRow, NDArray[np.uint8]], NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A probe whose pixels are known."""

    probe: ProbesRow
    pixels: NDArray[np.uint8] | None
    digest: str
    inert: bool
    failed_before: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """What probes are drawn with; `further` is the working memory of changes laid over other changes."""

    axes: Mapping[str, Axis]
    damage: Damage | None
    scratch: Scratch = field(default_factory=Scratch)
    further: Scratch = field(default_factory=Scratch)

    def drawn(self, item: ItemsRow, probe: ProbesRow, pixels: NDArray[np.uint8]) -> Drawn:
        """Draw one probe; a rung whose pixels equal the original's is inert."""
        axis = str(probe["axis"])
        seen = SIGHT.get(axis)
        if axis in {ORIGINAL, ANCHOR} or (seen is not None and seen.draw is None):
            return Drawn(probe, pixels, str(item["pixel_digest"]), inert=False)
        if axis.startswith(PAIR_AXIS):
            return self._damaged(item, probe, pixels)
        if seen is not None and seen.draw is not None:
            changed = seen.draw(pixels)
        elif is_combined(axis):
            doses = read_recipe(str(probe["recipe"]))
            changed = draw_combined(pixels, doses, self.axes, self.scratch, self.further)
        else:
            changed = self.axes[axis].draw(pixels, probe["strength"], self.scratch)
        digest = pixel_digest(changed)
        inert = digest == item["pixel_digest"]
        return Drawn(probe, None if inert else changed, digest, inert)

    def _damaged(self, item: ItemsRow, probe: ProbesRow, pixels: NDArray[np.uint8]) -> Drawn:
        """Draw a damaged member; one over the same pixels is asked all the same, with its own prompt."""
        if self.damage is None:
            raise MachineryError(f"“{item['item_id']}” has a pair, whose damaged member nobody draws.")
        shown = self.damage(item, probe, pixels)
        digest = str(item["pixel_digest"]) if shown is pixels else pixel_digest(shown)
        return Drawn(probe, shown, digest, inert=False)
