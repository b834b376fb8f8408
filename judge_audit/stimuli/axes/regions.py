"""The parts of a picture that local axes keep to: the background of a subject, and a corner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.stimuli.axes.axis import Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch

    Mask = NDArray[np.bool_]

SALIENT_SHARE = 0.3
"""Share of a picture taken as its subject where nobody supplied a mask."""

_SIDE = 64
_SMOOTH = 6.0

CORNER_TOP, CORNER_LEFT, CORNER_MARGIN = 0.80, 0.50, 0.03
"""The corner begins at these shares of height and width and ends a margin before the edge."""


def subject(image: Pixels, scratch: Scratch) -> Mask:
    """Give what a background axis leaves alone: the item's own mask, else the salient region.

    Args:
        image: 8-bit sRGB, shape (height, width, 3).
        scratch: Holds the item's mask if it has one.

    Returns:
        True where nothing may change, shape (height, width).
    """
    scratch.begin(image)
    if scratch.mask is not None:
        return scratch.mask
    return scratch.kept(image, "salient", salient)


def salient(image: Pixels) -> Mask:
    """Find the salient region by the spectral residual (Hou & Zhang 2007).

    The residual is the log amplitude of the spectrum less its local mean; here the spectrum is divided by the
    exponential of that mean, which is the same and lets frequencies without energy vanish instead of giving
    rounding noise a phase. The most salient `SALIENT_SHARE` of the smoothed map, in whole steps of 1/255, is
    the region. A picture of one colour is salient everywhere.

    Args:
        image: 8-bit sRGB, shape (height, width, 3).

    Returns:
        True where salient, shape (height, width).
    """
    height, width = image.shape[:2]
    shrink = min(1.0, _SIDE / max(height, width))
    size = (max(1, round(width * shrink)), max(1, round(height * shrink)))
    grey: NDArray[Any] = cv2.resize(
        cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), size, interpolation=cv2.INTER_AREA
    ).astype(np.float64)
    # Mirrored, the picture has no edge where it meets itself; its spectrum has none either.
    tiled = np.block([[grey, grey[:, ::-1]], [grey[::-1], grey[::-1, ::-1]]])
    spectrum = np.fft.fft2(tiled - tiled.mean())
    amplitude = np.log(np.abs(spectrum) + 1.0)
    turns = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)]
    around = sum(np.roll(amplitude, turn, (0, 1)) for turn in turns) / len(turns)
    energy = np.abs(np.fft.ifft2(spectrum / np.exp(around))[: size[1], : size[0]]) ** 2
    smooth = cv2.GaussianBlur(energy, (0, 0), _SMOOTH * max(size) / _SIDE, borderType=cv2.BORDER_REFLECT)
    top = float(smooth.max())
    if top <= 0:
        return np.ones((height, width), np.bool_)
    steps = np.rint(smooth * (255 / top)).astype(np.uint8)
    whole = cv2.resize(steps, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)
    return np.asarray(whole >= np.quantile(steps, 1 - SALIENT_SHARE, method="lower"), np.bool_)


def corner(shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Give the rows and columns of the lower right corner, at least one pixel each.

    Args:
        shape: Height and width first.
    """
    found = []
    for side, start in ((shape[0], CORNER_TOP), (shape[1], CORNER_LEFT)):
        end = side - round(min(shape[:2]) * CORNER_MARGIN)
        found.append(slice(min(int(side * start), end - 1), end))
    return found[0], found[1]
