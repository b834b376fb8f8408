"""What an axis is: one knob, its unit, its direction and its ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.image_buffers import Scratch

    Pixels = NDArray[np.uint8]


class Draw(Protocol):
    """Draws one rung.

    Takes 8-bit sRGB pixels (height, width, 3), the strength, and a `Scratch` of reusable buffers and
    intermediate planes shared by the rungs of one image; returns new pixels that the scratch does not own.
    """

    def __call__(self, image: Pixels, strength: float, scratch: Scratch) -> Pixels:
        """Draw `image` changed by `strength`."""
        ...


@dataclass(frozen=True, slots=True)
class Axis:
    """A single-variable change with its ladder.

    Attributes:
        name: As it stands in tables, with the direction (`saturation+`).
        unit: Unit of the strength in words ("share of colour added", "stops (EV)").
        description: One sentence for people.
        strengths: Rungs 1, 2, ...: rising, geometric; rung 0 (strength 0) is the original itself.
        overdone: Declared strength from which a change counts as objectionable when nobody has read it.
        visibility: Which provisional visibility models apply: "tone", "blur", "noise", "jpeg", or None (missing
            until read).
        statistic: Surface statistic the axis is meant to move (a name in
            `judge_audit.stimuli.surface_statistics.STATISTICS`), None where no statistic stands for it.
        rises: True if that statistic rises with strength.
        recipe_version: Raised whenever the same strength would draw other pixels.
        draw: The drawing rule.
        default: Whether the axis is climbed when an audit names none; else only by name or by `all`.
        region: The part of a picture that alone may change: "background" (outside the item's own mask, else
            outside the salient region), a fixed part by a name of its own such as "corner" (the lower right),
            or None for the whole picture. Probes name it.
        partial: Whether part of a picture stays as it is although `region` is None, as under a cut from one side.
    """

    name: str
    unit: str
    description: str
    strengths: tuple[float, ...]
    overdone: float
    visibility: Literal["tone", "blur", "noise", "jpeg"] | None
    statistic: str | None
    rises: bool
    recipe_version: int
    draw: Draw
    default: bool = True
    region: str | None = None
    partial: bool = False

    @property
    def local(self) -> bool:
        """Whether part of a picture stays as it is, so that a judge may be looking elsewhere."""
        return self.partial or self.region is not None


def strength_text(strength: float) -> str:
    """Give the canonical text of a strength, the one that enters a probe's id."""
    return format(strength, ".6g")
