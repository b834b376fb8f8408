"""Pictures as they come from the wild, normalised once on load to 8-bit sRGB.

A picture is hostile input: its size is read before it is decoded, and nothing is decoded beyond the limits.

Masks that come with items: which part of a picture is its subject.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import file_digest, pixel_digest
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL import Image


BACKDROP = (128, 128, 128)
"""Colour under transparent pixels: middle grey, so that neither a light nor a dark subject vanishes."""

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP", "PPM")
"""Formats that are decoded; formats with interpreters behind them (EPS, PDF, …) are not."""


class ImageError(UsageError):
    """A file that cannot be used as a picture; the message says why."""


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """What is still decoded.

    Attributes:
        max_bytes: Size of the file.
        max_pixels: Width times height.
        min_side: Shorter side in pixels; below it no statistic means anything.
    """

    max_bytes: int = 100 * 2**20
    max_pixels: int = 40_000_000
    min_side: int = 16


@dataclass(frozen=True, slots=True)
class LoadedImage:
    """A normalised picture.

    Attributes:
        pixels: 8-bit sRGB, shape (height, width, 3), contiguous, read-only.
        file_digest: SHA-256 of the file.
        file_bytes: Size of the file.
        pixel_digest: Digest of the pixels.
        frames: Frames in the file; above 1 only the first was used.
        notes: What was done to it, in words, separated by semicolons; empty if nothing.
    """

    pixels: NDArray[np.uint8]
    file_digest: str
    file_bytes: int
    pixel_digest: str
    frames: int
    notes: str


def load_image(uri: str, limits: ImageLimits | None = None) -> LoadedImage:
    """Read and normalise a picture.

    Args:
        uri: A path or a URL of a filesystem that fsspec knows.
        limits: What is still decoded.

    Raises:
        ImageError: If it is missing, unreadable, too large, truncated or not a picture.
    """
    return decode_image(read_bytes(uri, limits or ImageLimits()), limits)


def read_bytes(uri: str, limits: ImageLimits) -> bytes:
    """Read a file, refusing one beyond the limit before reading it whole."""
    import fsspec  # noqa: PLC0415 - only where pictures are read

    try:
        filesystem, path = fsspec.core.url_to_fs(uri)
        with filesystem.open(path, "rb") as file:
            content: bytes = file.read(limits.max_bytes + 1)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise ImageError("there is no such file.") from error
    except (OSError, ValueError, ImportError) as error:
        raise ImageError(f"it cannot be read: {error}.") from error
    if len(content) > limits.max_bytes:
        raise ImageError(f"the file is larger than {limits.max_bytes // 2**20} MiB.")
    if not content:
        raise ImageError("the file is empty (0 bytes).")
    return content


def decode_image(content: bytes, limits: ImageLimits | None = None) -> LoadedImage:
    """Decode and normalise the bytes of a picture.

    Raises:
        ImageError: If they are not a whole picture within the limits.
    """
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415

    limits = limits or ImageLimits()
    try:
        with warnings.catch_warnings():
            # Size limits are checked here before decoding; Pillow's own warning would only repeat them.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
                _check_size(opened, limits)
                frames = int(getattr(opened, "n_frames", 1))
                opened.load()
                pixels, notes = _normalise(opened)
    except UnidentifiedImageError as error:
        raise ImageError(f"it is not a picture in a known format ({', '.join(FORMATS)}).") from error
    except Image.DecompressionBombError as error:
        raise ImageError("it has far too many pixels (a decompression bomb?).") from error
    except ImageError:
        raise
    except Exception as error:
        # Pillow's decoders raise nearly anything on a damaged file.
        raise ImageError(f"it is damaged or cut off: {error}.") from error
    if frames > 1:
        notes.append(f"first of {frames} frames")
    pixels.flags.writeable = False
    digests = file_digest(content), len(content), pixel_digest(pixels)
    return LoadedImage(pixels, *digests, frames, "; ".join(notes))


def _check_size(image: Image.Image, limits: ImageLimits) -> None:
    """Refuse a picture by its declared size, before any of it is decoded."""
    width, height = image.size
    if width * height > limits.max_pixels:
        raise ImageError(
            f"it has {width} × {height} pixels; the limit is {limits.max_pixels:,} pixels in all."
        )
    if min(width, height) < limits.min_side:
        raise ImageError(f"it has {width} × {height} pixels; each side needs at least {limits.min_side}.")


def _normalise(image: Image.Image) -> tuple[NDArray[np.uint8], list[str]]:
    """Bring orientation, bit depth, transparency and colour space to 8-bit sRGB."""
    from PIL import ImageOps  # noqa: PLC0415

    notes: list[str] = []
    profile = image.info.get("icc_profile")
    turned = ImageOps.exif_transpose(image)
    if turned is not None and image.getexif().get(0x0112, 1) not in (0, 1):
        notes.append("turned by its EXIF orientation")
    image = turned if turned is not None else image
    if image.mode.startswith(("I", "F")):
        image = _eight_bit_grey(image, notes)
    if image.mode == "P" or "transparency" in image.info:
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    alpha = image.getchannel("A") if image.mode in {"RGBA", "LA", "PA"} else None
    if alpha is not None:
        image = image.convert("L" if image.mode == "LA" else "RGB")
    image = _to_srgb(image, profile, notes)
    pixels = np.array(image, np.uint8, order="C")
    if alpha is not None and alpha.getextrema() != (255, 255):
        share = np.asarray(alpha, np.float32)[..., None] / 255
        mixed = pixels * share + np.asarray(BACKDROP, np.float32) * (1 - share)
        pixels = np.rint(mixed).astype(np.uint8)
        notes.append(f"transparency laid over grey {BACKDROP[0]}")
    return pixels, notes


def _eight_bit_grey(image: Image.Image, notes: list[str]) -> Image.Image:
    """Scale 16-bit grey (and floats in 0 to 1) to 8 bits; Pillow itself would cut 16 bits to white."""
    from PIL import Image  # noqa: PLC0415

    values = np.asarray(image)
    if image.mode == "F":
        if not np.isfinite(values).all() or values.min() < 0 or values.max() > 1:
            raise ImageError("it holds floating-point values outside 0 to 1; convert it to 8 or 16 bits.")
        scaled = values * 255.0
    elif values.min() < 0 or values.max() > 65535:
        raise ImageError("it holds grey values beyond 16 bits; convert it to 8 or 16 bits.")
    else:
        scaled = values.astype(np.float64) / 65535.0 * 255.0
    notes.append("16-bit grey scaled to 8 bits" if image.mode != "F" else "floats scaled to 8 bits")
    return Image.fromarray(np.rint(np.clip(scaled, 0, 255)).astype(np.uint8))


def _to_srgb(image: Image.Image, profile: bytes | None, notes: list[str]) -> Image.Image:
    """Convert by the embedded profile where there is a usable one, else by the plain rule of the mode."""
    from PIL import ImageCms  # noqa: PLC0415

    if profile and image.mode in {"RGB", "L", "CMYK"}:
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            if "srgb" not in ImageCms.getProfileDescription(source).lower():
                target = ImageCms.createProfile("sRGB")
                converted = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
                if converted is not None:
                    notes.append("converted from its ICC profile")
                    return converted
        except (ImageCms.PyCMSError, OSError, ValueError):
            notes.append("unusable ICC profile ignored")
    if image.mode == "CMYK":
        notes.append("CMYK without a profile converted by the plain rule")
    return image.convert("RGB")


def resolve_image(folder: Path, written: str) -> str:
    """Find where an image lies: a URL or absolute path as it stands, else relative to the items file.

    Raises:
        ImageError: If a relative path leads out of the folder of the items file, also through a link.
    """
    if "\0" in written:
        raise ImageError("the path holds a NUL character.")
    if "://" in written:
        return written
    if Path(written).is_absolute():
        return written
    base = folder.resolve()
    found = (base / written).resolve()
    if not found.is_relative_to(base):
        raise ImageError("a relative path must stay in the folder of the items file; write it absolute.")
    return str(found)


SUBJECT_FROM = 128
"""Grey level from which a mask's pixel marks the subject."""


def load_mask(uri: str, size: tuple[int, int], limits: ImageLimits | None = None) -> NDArray[np.bool_]:
    """Read a mask: white marks the subject, which background axes leave alone.

    Args:
        uri: A path or a URL of a filesystem that fsspec knows.
        size: Height and width of the item's picture.
        limits: What is still decoded.

    Returns:
        True where the subject is, shape `size`.

    Raises:
        ImageError: If it cannot be read as a picture, has another size, or marks nothing.
    """
    pixels = load_image(uri, limits).pixels
    if pixels.shape[:2] != size:
        raise ImageError(
            f"the mask has {pixels.shape[1]} × {pixels.shape[0]} pixels, its picture "
            f"{size[1]} × {size[0]}; they must be the same (after any EXIF rotation)."
        )
    mask = np.asarray(pixels.min(axis=-1) >= SUBJECT_FROM, np.bool_)
    if not mask.any():
        raise ImageError(f"the mask marks nothing: {SUBJECT_FROM} to 255 (white) is the subject that stays.")
    return mask


def mask_digest(mask: NDArray[np.bool_]) -> str:
    """Digest a mask and its size."""
    return pixel_digest(mask.astype(np.uint8))


def part_box_of(written: str) -> tuple[float, float, float, float] | None:
    """Read a part: left, top, right, bottom as shares of width and height; None where nothing is written.

    Raises:
        ValueError: If it is something else.
    """
    shares = written.replace(",", " ").split()
    if not shares:
        return None
    left, top, right, bottom = (float(share) for share in shares)
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise ValueError(written)
    return left, top, right, bottom


def is_part_box(written: str) -> bool:
    """Say whether a part, or nothing, is written."""
    try:
        part_box_of(written)
    except ValueError:
        return False
    return True
