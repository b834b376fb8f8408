"""What happens to a picture before a model sees it: resize, crop, scale, standardise, as a card describes it.

The resize is Pillow's, which filters before it samples (antialiased) and rounds to 8 bits between; other
libraries' differ by up to 142 levels, so the backend is part of a judge's identity.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

MOST_PIXELS = 64_000_000
"""A picture resized beyond this is not shown: a strip 1 × 30,000 brought to a shorter side of 224."""


@dataclass(frozen=True, slots=True)
class Preprocessing:
    """One way of preparing pixels.

    Attributes:
        resize: `short_side` (shape kept, shorter side to size, the longer truncated to whole pixels),
            `squash` (both sides to size), `pad` (shape kept, longer side to size, filled up around the
            middle) or `none`.
        height: Size in pixels; 0 where there is no resize.
        width: The same.
        crop: Side of the middle that is cut out, 0 for none.
        interpolation: `bicubic`, `bilinear` or `lanczos`.
        pad_value: Red, green and blue of the margin.
        scale: What 8-bit values are multiplied by.
        mean: Taken off after scaling, per channel in the model's order.
        std: Divided by after that.
        layout: `NCHW` or `NHWC`.
        channels: `RGB` or `BGR`.
        dtype: `float32`, `float16`, or `uint8` for plain pixels.
    """

    resize: str
    height: int = 0
    width: int = 0
    crop: int = 0
    interpolation: str = "bicubic"
    pad_value: tuple[int, ...] = (0, 0, 0)
    scale: float = 1 / 255
    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    std: tuple[float, ...] = (1.0, 1.0, 1.0)
    layout: str = "NCHW"
    channels: str = "RGB"
    dtype: str = "float32"

    def identity(self) -> dict[str, Any]:
        """Give everything that makes the numbers, with backend and dtype."""
        return {**asdict(self), "backend": "pillow"}

    @property
    def shape(self) -> tuple[int, int] | None:
        """Height and width the model gets, None if they differ between pictures."""
        if self.crop:
            return self.crop, self.crop
        return (self.height, self.width) if self.resize in {"squash", "pad"} else None

    def resized(self, height: int, width: int) -> tuple[int, int]:
        """Give the height and width a picture is resized to, before margin and crop."""
        if self.resize == "none":
            return height, width
        if self.resize == "squash":
            return self.height, self.width
        if self.resize == "short_side":
            short, long = min(height, width), max(height, width)
            other = self.height * long // short
            return (self.height, other) if height <= width else (other, self.height)
        # The tighter side fits exactly; compared in whole numbers, so that no rounding picks the other.
        if height * self.width >= width * self.height:
            return self.height, max(1, round(width * self.height / height))
        return max(1, round(height * self.width / width)), self.width

    def problem(self, height: int, width: int) -> str:
        """Say why a picture cannot be shown, or nothing."""
        rows, columns = self.resized(height, width)
        if rows * columns > MOST_PIXELS:
            return f"{height} × {width} pixels would be resized to {rows} × {columns}"
        if min(rows, columns) < self.crop:
            return f"{height} × {width} pixels are too few to cut {self.crop} × {self.crop} out of the middle"
        return ""

    def table(self) -> NDArray[Any]:
        """Give what each 8-bit value becomes: (value·scale − mean) / std, shape (3, 256)."""
        values = np.arange(256)
        if self.dtype == "uint8":
            return np.repeat(values[None].astype(np.uint8), 3, axis=0)
        mean, std = (np.array(entry, np.float64)[:, None] for entry in (self.mean, self.std))
        with np.errstate(over="ignore", invalid="ignore"):
            return ((values * self.scale - mean) / std).astype(self.dtype)

    def prepare(self, pixels: NDArray[np.uint8]) -> NDArray[Any]:
        """Prepare a picture.

        Args:
            pixels: 8-bit sRGB, shape (height, width, 3); one without a `problem`.

        Returns:
            Numbers of the declared type, shape (3, rows, columns) or (rows, columns, 3) by layout.
        """
        shown = self._cropped(self._resized(pixels))
        planes = shown.transpose(2, 0, 1) if self.channels == "RGB" else shown.transpose(2, 0, 1)[::-1]
        table = self.table()
        prepared = np.stack([table[channel][plane] for channel, plane in enumerate(planes)])
        return prepared if self.layout == "NCHW" else np.ascontiguousarray(prepared.transpose(1, 2, 0))

    def _resized(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        from PIL import Image  # noqa: PLC0415 - only when a judge of this kind is used

        rows, columns = self.resized(*pixels.shape[:2])
        if (rows, columns) == pixels.shape[:2]:
            resized = pixels
        else:
            filters = {"bicubic": Image.Resampling.BICUBIC, "bilinear": Image.Resampling.BILINEAR}
            chosen = filters.get(self.interpolation, Image.Resampling.LANCZOS)
            resized = np.asarray(Image.fromarray(pixels).resize((columns, rows), chosen))
        if self.resize != "pad" or (rows, columns) == (self.height, self.width):
            return resized
        filled = np.empty((self.height, self.width, 3), np.uint8)
        filled[:] = np.array(self.pad_value, np.uint8)
        top, left = (self.height - rows) // 2, (self.width - columns) // 2
        filled[top : top + rows, left : left + columns] = resized
        return filled

    def _cropped(self, pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Cut out the middle; half a pixel goes to the even side, as in torchvision's centre crop."""
        if not self.crop:
            return pixels
        top, left = (round((side - self.crop) / 2) for side in pixels.shape[:2])
        return pixels[top : top + self.crop, left : left + self.crop]


def preprocessing_of(content: Mapping[str, Any]) -> tuple[Preprocessing, dict[str, str]]:
    """Read a card's preprocessing; what its schema cannot say is checked here.

    Args:
        content: As the schema of the kind admits it.

    Returns:
        The preprocessing, and what is wrong by field.
    """
    size = content.get("size", 0)
    height, width = (int(side) for side in (size if isinstance(size, list) else (size, size)))
    crop = int(content.get("crop_size", min(height, width))) if content.get("crop") == "centre" else 0
    named = {
        name: content[name] for name in ("interpolation", "layout", "channels", "dtype") if name in content
    }
    named |= {name: tuple(content[name]) for name in ("pad_value", "mean", "std") if name in content}
    if "scale" in content:
        named["scale"] = _fraction(content["scale"])
    preprocessing = Preprocessing(content.get("resize", "none"), height, width, crop, **named)
    return preprocessing, _faults(content, preprocessing)


def _faults(content: Mapping[str, Any], preprocessing: Preprocessing) -> dict[str, str]:
    """Say which fields do not go together."""
    named, resize = set(content), preprocessing.resize
    sized = min(preprocessing.height, preprocessing.width)
    rules = [
        (
            "size",
            (resize == "none") == ("size" in named),
            "a resize needs a size, and resize: none has none.",
        ),
        (
            "size",
            resize == "short_side" and isinstance(content.get("size"), list),
            "short_side takes one number.",
        ),
        ("pad_value", "pad_value" in named and resize != "pad", "only resize: pad has a margin."),
        ("crop_size", "crop_size" in named and not preprocessing.crop, "a crop_size goes with crop: centre."),
        ("crop_size", content.get("crop") == "centre" and not preprocessing.crop, "say how much is cut out."),
        (
            "crop_size",
            0 < sized < preprocessing.crop,
            f"{preprocessing.crop} is more than the size after the resize.",
        ),
        (
            "std",
            not np.isfinite(preprocessing.table()).all(),
            f"gives numbers that {preprocessing.dtype} cannot hold.",
        ),
    ]
    rules += [
        (name, preprocessing.dtype == "uint8" and name in named, "plain uint8 pixels take none.")
        for name in ("scale", "mean", "std")
    ]
    return {field: message for field, wrong, message in rules if wrong}


def _fraction(scale: float | str) -> float:
    return 1 / int(scale.partition("/")[2]) if isinstance(scale, str) else float(scale)
