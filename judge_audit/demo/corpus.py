"""The demo's items: three sources of pictures, one of them crops of the bundled photographs, with the items file."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.core.errors import MachineryError
from judge_audit.demo.drawing import draw_scene
from judge_audit.demo.scenes import STYLES, make_scene, prompt_of
from judge_audit.stimuli.planning.probes import choose_ladder_items

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PHOTOGRAPHS: dict[str, str] = {
    "astronaut": "Photograph of an astronaut in an orange suit before a flag.",
    "chelsea": "Photograph of a ginger cat's face.",
    "china": "Photograph of a palace with golden roofs.",
    "coffee": "Photograph of a cup of coffee on a wooden table.",
    "flower": "Photograph of an orange flower among leaves.",
    "grace_hopper": "Photograph of a naval officer in uniform.",
    "hubble": "Photograph of galaxies in deep space.",
    "retina": "Photograph of the back of an eye.",
    "rocket": "Photograph of a rocket on its launch pad at night.",
}
"""What each bundled photograph shows; authors and licences stand in photos/ATTRIBUTION.md."""

_SMALLEST_SHARE = 0.5
"""A crop's side is at least this share of the photograph's short side."""


@dataclass(frozen=True, slots=True)
class Crop:
    """A square cut from a photograph.

    Attributes:
        photograph: A name in `PHOTOGRAPHS`.
        number: Which crop of it.
        pixels: 8-bit sRGB, shape (size, size, 3).
    """

    photograph: str
    number: int
    pixels: NDArray[np.uint8]


def read_photograph(name: str) -> NDArray[np.uint8]:
    """Decode a bundled photograph to 8-bit sRGB.

    Raises:
        MachineryError: If the file is not in the package.
    """
    content = files("judge_audit.demo").joinpath("photos", f"{name}.jpg").read_bytes()
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise MachineryError(
            f"The bundled photograph {name}.jpg cannot be decoded; install judge-audit anew."
        )
    return np.ascontiguousarray(decoded[..., ::-1]).astype(np.uint8, copy=False)


def cut_crops(count: int, size: int, seed: int) -> list[Crop]:
    """Cut crops from every photograph in turn.

    Crops are as large as they come and scaled to `size`: where the window is smaller than `size` the crop
    is a little soft, as enlarged pictures are.

    Args:
        count: How many crops in all.
        size: Side of each crop in pixels.
        seed: Settles the windows.

    Returns:
        The crops, spread evenly over the photographs.
    """
    photographs = {name: read_photograph(name) for name in PHOTOGRAPHS}
    crops = []
    for index in range(count):
        name, number = tuple(photographs)[index % len(photographs)], index // len(photographs)
        picture = photographs[name]
        rng = np.random.default_rng([13, seed, index])
        short = min(picture.shape[:2])
        side = int(rng.integers(int(short * _SMALLEST_SHARE), short + 1))
        top = int(rng.integers(picture.shape[0] - side + 1))
        left = int(rng.integers(picture.shape[1] - side + 1))
        window = picture[top : top + side, left : left + side]
        how = cv2.INTER_AREA if side > size else cv2.INTER_CUBIC
        pixels = cv2.resize(window, (size, size), interpolation=how).astype(np.uint8, copy=False)
        crops.append(Crop(name, number, pixels))
    return crops


ITEMS_PER_SOURCE = 108
"""At least 100, and the same number of crops of each of the nine photographs."""

SIDE = 320
"""Pixels; small enough that the default judge answers some five thousand probes in well under a minute."""

SEED = 20
_SEAL = "corpus.json"


def write_demo_corpus(folder: Path, *, size: int = SIDE) -> Path:
    """Write the demo's pictures and items file, unless they are there and intact.

    Args:
        folder: Where to; made if need be.
        size: Side of the pictures in pixels.

    Returns:
        Path of the items file.
    """
    listing = folder / "items.csv"
    if _intact(folder, size):
        return listing
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows, drawings = _planned(size)

    def write(row: dict[str, str], draw: Callable[[], NDArray[np.uint8]]) -> str:
        content = png_of(draw())
        _replace(folder / row["image"], content)
        return _digest(content)

    with ThreadPoolExecutor(max_workers=2) as pool:
        digests = list(pool.map(write, rows, drawings))
    _replace(listing, csv_of(rows))
    seal = {
        "size": size,
        "items": _digest(listing.read_bytes()),
        "images": {row["image"]: digest for row, digest in zip(rows, digests, strict=True)},
    }
    _replace(folder / _SEAL, json.dumps(seal, indent=1).encode())
    return listing


def demo_pictures(count: int, seed: int = SEED) -> list[tuple[dict[str, str], NDArray[np.uint8]]]:
    """Draw a few of the demo's items without writing any: rows of the items file with their pixels.

    Args:
        count: How many, spread over the sources.
        seed: Settles which.
    """
    rows, drawings = _planned(SIDE)
    chosen = set(choose_ladder_items(rows, count, seed))
    return [(row, draw()) for row, draw in zip(rows, drawings, strict=True) if row["item_id"] in chosen]


def _planned(size: int) -> tuple[list[dict[str, str]], list[Callable[[], NDArray[np.uint8]]]]:
    """List the rows of the items file, each with what draws its picture."""
    rows: list[dict[str, str]] = []
    drawings: list[Callable[[], NDArray[np.uint8]]] = []
    for crop in cut_crops(ITEMS_PER_SOURCE, size, SEED):
        item_id = f"photo-{crop.photograph}-{crop.number:02d}"
        rows.append(
            item_row(item_id, "photographs", PHOTOGRAPHS[crop.photograph], "photograph", crop.photograph)
        )
        drawings.append(lambda pixels=crop.pixels: pixels)  # type: ignore[misc]
    for turn, style in enumerate(STYLES):
        for index in range(ITEMS_PER_SOURCE):
            scene = make_scene(turn * 1000 + index)
            item_id = f"{style}-{index:03d}"
            rows.append(item_row(item_id, f"{style} scenes", prompt_of(scene, style), scene.setting, item_id))
            drawings.append(lambda scene=scene, style=style: draw_scene(scene, style, size))  # type: ignore[misc]
    return rows, drawings


def item_row(item_id: str, source: str, prompt: str, topic: str, cluster: str) -> dict[str, str]:
    """Make one row of an items file whose pictures are in the folder `images`."""
    row = {"item_id": item_id, "source": source, "prompt": prompt, "image": f"images/{item_id}.png"}
    return {**row, "topic": topic, "cluster": cluster}


def csv_of(rows: Sequence[dict[str, str]]) -> bytes:
    """Write rows as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def png_of(pixels: NDArray[np.uint8]) -> bytes:
    """Write a picture as PNG, quickly rather than tightly packed."""
    done, content = cv2.imencode(".png", pixels[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
    assert done
    return bytes(content)


def _replace(path: Path, content: bytes) -> None:
    """Put a file in place whole."""
    draft = path.with_name(f".{path.name}")
    draft.write_bytes(content)
    draft.replace(path)


def _digest(content: bytes) -> str:
    """Digest a file's content."""
    return hashlib.sha256(content).hexdigest()


def _intact(folder: Path, size: int) -> bool:
    """Say whether every file of the corpus is there as it was written."""
    try:
        seal = json.loads((folder / _SEAL).read_text())
        return (
            seal["size"] == size
            and seal["items"] == _digest((folder / "items.csv").read_bytes())
            and all(
                digest == _digest((folder / name).read_bytes()) for name, digest in seal["images"].items()
            )
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
