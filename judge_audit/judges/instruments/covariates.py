"""Covariates of an untouched picture that no ladder turns: blurred background, text, shape, size, faces.

Together with luma, contrast, chroma and sharpness of the surface instrument they are what a score may only be echoing.
They are measured once per picture, untouched, by an instrument of its own whose readings lie in the lake
like the surface instrument's; shape, size and faces come from the items table.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from judge_audit.judges.instruments.surface import Instrument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit_schemas.rows import ItemsRow
    from numpy.typing import NDArray

    Plane = NDArray[np.uint8]

VERSION = "1"
"""Raised whenever the same pixels would give other covariates."""

MEASURED = ("background_blur", "text_area")
"""What the instrument measures."""

COVARIATES = (
    *("luma", "contrast", "chroma", "sharpness"),
    *MEASURED,
    *("face_count", "aspect_ratio", "megapixels", "file_bytes"),
)
"""luma, contrast, chroma, sharpness: as the surface instrument measures them. background_blur: log2 of the sharpness of
the salient region over that of the rest; 0 equal, 1 twice as sharp. text_area: share of the area in boxes
that look like lines of text. face_count: the items file's column. aspect_ratio: log2 of width over height.
megapixels: log10. file_bytes: log10. That instrument's noise is left out: it and sharpness are two readings of the
same fine detail (rank correlation .96 to .99 on photographs and on drawn scenes), and side by side neither
would have a weight of its own."""

LONG_SIDE = 640
"""Larger pictures are measured on a copy of this size."""

SALIENCY_SIZE = 64
SALIENT_SHARE = 0.25
SALIENCY_SIGMA = 2.5
SHARPNESS_FLOOR = 0.5
"""Mean absolute Laplacian (of luma 0-255) added to both regions, so that two flat ones count as equal."""

DECIMALS = 6
"""Readings are rounded: the last digits of a Fourier transform depend on the machine."""

STROKE_WIDTH = 15
"""Strokes of letters are thinner than this on the copy that is measured."""

STROKE_CONTRAST = 50
GLYPH_HEIGHT = (6, 100)
GLYPH_ASPECT = (0.08, 2.5)
GLYPH_FILL = (0.15, 0.9)
LINE_ASPECT = 2
LETTERS = 4
"""Letters in a row that make a line of text."""

MOST_GLYPHS = 1500
"""A picture with more candidates is a texture; the largest are looked at."""


def measure_covariates(pixels: NDArray[np.uint8]) -> dict[str, float]:
    """Measure what a picture shows.

    Args:
        pixels: 8-bit sRGB, shape (height, width, 3).

    Returns:
        One number per name in `MEASURED`.
    """
    luma = _small_luma(pixels)
    return {
        "background_blur": round(background_blur(luma), DECIMALS),
        "text_area": round(text_area(luma), DECIMALS),
    }


def _small_luma(pixels: NDArray[np.uint8]) -> Plane:
    """Give luma, the long side at most `LONG_SIDE`."""
    luma: Plane = np.ascontiguousarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb)[..., 0], np.uint8)
    height, width = luma.shape
    scale = LONG_SIDE / max(height, width)
    if scale < 1:
        size = (max(3, round(width * scale)), max(3, round(height * scale)))
        luma = cv2.resize(luma, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    return np.asarray(luma, np.uint8)


def saliency(luma: Plane) -> Plane:
    """Map what stands out, by the spectral residual (Hou & Zhang 2007).

    The log amplitude spectrum of a picture 64 pixels wide, minus its own local average (3 x 3), goes back
    with the phases as they were; squared and smoothed, it is large where the picture departs from the usual.

    Args:
        luma: Shape (height, width).

    Returns:
        0-255, of the same shape.
    """
    height, width = luma.shape
    small = cv2.resize(luma, (SALIENCY_SIZE, SALIENCY_SIZE), interpolation=cv2.INTER_AREA).astype(float)
    spectrum = np.fft.fft2(small)
    amplitude = np.log(np.abs(spectrum) + 1e-9)
    residual = amplitude - cv2.blur(amplitude, (3, 3), borderType=cv2.BORDER_REPLICATE)
    back = np.fft.ifft2(np.exp(residual + 1j * np.angle(spectrum)))
    power = cv2.GaussianBlur(np.abs(back) ** 2, (0, 0), SALIENCY_SIGMA)
    top = float(power.max())
    levels = np.rint(255 * power / top if top > 0 else power).astype(np.uint8)
    return np.asarray(cv2.resize(levels, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def background_blur(luma: Plane) -> float:
    """Compare the sharpness of the most salient quarter of a picture with that of the rest.

    Args:
        luma: Shape (height, width), at least 3 x 3.

    Returns:
        log2 of the ratio of mean absolute Laplacians, inside over outside: positive when what stands out is
        sharper than what surrounds it. A picture of fine detail on a plain ground reads high too (no pixel
        tells a blurred ground from a plain one), and what stands out is itself drawn to fine detail.
    """
    salient = saliency(luma)
    inside = salient > np.sort(salient, axis=None)[int((1 - SALIENT_SHARE) * (salient.size - 1))]
    if not inside.any() or inside.all():
        return 0.0
    edges = np.abs(cv2.Laplacian(luma, cv2.CV_16S))
    means = [float(edges[where].sum(dtype=np.int64)) / int(where.sum()) for where in (inside, ~inside)]
    return math.log2((means[0] + SHARPNESS_FLOOR) / (means[1] + SHARPNESS_FLOOR))


def text_area(luma: Plane) -> float:
    """Share of the area that lies in boxes which look like a line of printed text.

    Thin strokes, lighter or darker than what is around them (white and black top-hat), are cut out; pieces
    of the height, width and fill of letters are chained sideways when they are of one height, on one line
    and close together; chains of four and more are text. It sees upright print. It misses writing on a
    slant, joined script, letters with strokes wider than 15 pixels (of 640) and faint print, and it may take
    fences, keyboards and rows of windows for text: a covariate for comparing pictures, not a reader.

    Args:
        luma: Shape (height, width).

    Returns:
        A share, 0 to 1.
    """
    covered = np.zeros(luma.shape, bool)
    square = cv2.getStructuringElement(cv2.MORPH_RECT, (STROKE_WIDTH, STROKE_WIDTH))
    for shape in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT):
        strokes = cv2.morphologyEx(luma, shape, square)
        level, _ = cv2.threshold(strokes, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
        pieces = (strokes > max(level, STROKE_CONTRAST)).astype(np.uint8)
        _, _, boxes, _ = cv2.connectedComponentsWithStats(pieces, connectivity=8)
        for left, top, right, bottom in _lines(_glyphs(boxes[1:].astype(np.int64))):
            covered[top:bottom, left:right] = True
    return float(covered.mean())


def _glyphs(boxes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keep the boxes (left, top, width, height, area) that could be letters, ordered from left to right."""
    _, _, width, height, area = boxes.T
    aspect, fill = width / height, area / (width * height)
    fits = (height >= GLYPH_HEIGHT[0]) & (height <= GLYPH_HEIGHT[1])
    fits &= (aspect >= GLYPH_ASPECT[0]) & (aspect <= GLYPH_ASPECT[1])
    fits &= (fill >= GLYPH_FILL[0]) & (fill <= GLYPH_FILL[1])
    glyphs = boxes[fits]
    glyphs = glyphs[np.argsort(-glyphs[:, 3], kind="stable")[:MOST_GLYPHS]]
    return np.asarray(glyphs[np.argsort(glyphs[:, 0], kind="stable")])


def _lines(glyphs: NDArray[np.int64]) -> list[tuple[int, int, int, int]]:
    """Chain letters into lines: (left, top, right, bottom) of each chain that is long enough."""
    left, top, width, height, _ = glyphs.T
    size = np.maximum(height[:, None], height[None, :])
    near = np.minimum(height[:, None], height[None, :]) >= 0.5 * size
    near &= np.abs((2 * top + height)[:, None] - (2 * top + height)[None, :]) < 0.7 * size
    gap = left[None, :] - (left + width)[:, None]
    near &= (gap > -0.3 * size) & (gap < 0.8 * size) & (left[None, :] > left[:, None])
    count, chain = connected_components(csr_array(near), directed=False)
    lines = []
    for name in np.flatnonzero(np.bincount(chain, minlength=count) >= LETTERS):
        rows = glyphs[chain == name]
        x, y = rows[:, :2].min(axis=0).tolist()
        right, bottom = (rows[:, :2] + rows[:, 2:4]).max(axis=0).tolist()
        if right - x >= LINE_ASPECT * (bottom - y):
            lines.append((x, y, right, bottom))
    return lines


COVARIATE_INSTRUMENT = Instrument("surveyor", VERSION, MEASURED, measure_covariates)
"""Measures what an untouched picture shows."""


def covariate_table(items: Iterable[ItemsRow], readings: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Put together what is known of every untouched item.

    Args:
        items: Rows of table `items`.
        readings: Rows of both instruments at untouched items: item_id, dimension, value.

    Returns:
        Column item_id, sorted, and one float column per name in `COVARIATES`, NULL where unknown.
    """
    values = {str(item["item_id"]): _of_item(item) for item in items}
    for row in readings:
        if row["dimension"] in COVARIATES and row["item_id"] in values:
            values[row["item_id"]][row["dimension"]] = row["value"]
    names = sorted(values)
    columns = {
        name: pa.array([values[item].get(name) for item in names], pa.float64()) for name in COVARIATES
    }
    return pa.table({"item_id": pa.array(names, pa.string()), **columns})


def _of_item(item: ItemsRow) -> dict[str, float | None]:
    """Give what the items table itself says of an item."""
    faces, size = item.get("face_count"), item.get("file_bytes")
    width, height = item["width"], item["height"]
    return {
        "face_count": None if faces is None else float(faces),
        "aspect_ratio": math.log2(width / height) if width and height else None,
        "megapixels": math.log10(width * height / 1e6) if width and height else None,
        "file_bytes": math.log10(size) if size else None,
    }
