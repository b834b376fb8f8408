"""The pictures of an anchor set: each the very one that was labelled, and no other beside them."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from judge_audit.anchors.ledger import LEDGER, RESTORE
from judge_audit.core.errors import Fault
from judge_audit.stimuli.images import ImageError, load_image

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judge_audit.anchors.entries import Anchor

IMAGES = "images"
OTHER = "Take the picture back from version control, or retire the anchor and add the new picture as another."
STRAY = f"no entry of {LEDGER} names it (an interrupted change leaves such a file). Remove it."


@dataclass(frozen=True, slots=True)
class Picture:
    """What was seen of a picture when the set was verified.

    Attributes:
        pixel_digest: Digest of its pixels as the libraries here read them.
        width: In pixels.
        height: In pixels.
        frames: Frames in the file.
        notes: What was done to it on load.
        file_bytes: Size of the file.
    """

    pixel_digest: str
    width: int
    height: int
    frames: int
    notes: str
    file_bytes: int


def look_at(
    folder: Path, standing: Sequence[Anchor], retired: Sequence[Anchor]
) -> tuple[dict[str, Picture], list[Fault]]:
    """See that every picture is the one that was labelled, and that no other lies beside them.

    The picture of a retired anchor may be gone (its owner wants it deleted, say), but not be another one.

    Returns:
        What was seen, by anchor, and everything wrong.
    """
    images = folder / IMAGES
    if images.is_symlink() or (images.exists() and not images.is_dir()):
        said = f"it is a link or no folder, which is not followed. {RESTORE}"
        return {}, [Fault(IMAGES, 0, "", said)]
    here = {anchor.image for anchor in standing}
    kept = [anchor for anchor in retired if anchor.image in here or _is_there(folder, anchor)]
    faults: list[Fault] = []
    seen: dict[str, Picture] = {}
    asked = [*standing, *kept]
    with ThreadPoolExecutor(max_workers=4, thread_name_prefix="decode") as pool:
        for anchor, found in zip(asked, pool.map(lambda each: _look(folder, each), asked), strict=True):
            if isinstance(found, Fault):
                faults.append(found)
            else:
                seen[anchor.anchor_id] = found
    return seen, [*faults, *_strays(images, {anchor.image for anchor in asked})]


def _is_there(folder: Path, anchor: Anchor) -> bool:
    """Tell whether anything lies where a picture should; an address is looked up when it is read."""
    place = folder / anchor.image
    return not anchor.is_local or place.exists() or place.is_symlink()


def _strays(images: Path, known: set[str]) -> list[Fault]:
    """Name the files that no anchor names; those with dot-names are nobody's business."""
    names = [f"{IMAGES}/{path.name}" for path in images.iterdir()] if images.is_dir() else []
    return [
        Fault(name, 0, "", STRAY)
        for name in sorted(names)
        if name not in known and not name.startswith(f"{IMAGES}/.")
    ]


def _look(folder: Path, anchor: Anchor) -> Picture | Fault:
    """Read a picture and say why it is not the one that was labelled, if it is not."""
    place = folder / anchor.image
    if anchor.is_local and not _is_there(folder, anchor):
        return Fault(anchor.image, 0, "", f"it is missing. {RESTORE}", anchor.anchor_id)
    if wrong := _unfit(place) if anchor.is_local else address_fault(anchor.image):
        return Fault(anchor.image, 0, "", f"{wrong} {OTHER}", anchor.anchor_id)
    try:
        image = load_image(str(place) if anchor.is_local else anchor.image)
    except ImageError as error:
        return Fault(anchor.image, 0, "", f"{error} {OTHER}", anchor.anchor_id)
    if image.file_digest != anchor.file_digest:
        said = f"it is not the file that was labelled as “{anchor.anchor_id}”: its bytes have changed."
        return Fault(anchor.image, 0, "", f"{said} {OTHER}", anchor.anchor_id)
    height, width = image.pixels.shape[:2]
    return Picture(image.pixel_digest, width, height, image.frames, image.notes, image.file_bytes)


def _unfit(place: Path) -> str:
    """Say why a file is not even opened."""
    return (
        "" if stat.S_ISREG(place.lstat().st_mode) else "it is a link or no plain file, which is not followed."
    )


def address_fault(address: str) -> str:
    """Say why an address may not name a picture of a set; "" if it may.

    Addresses stand in files that are passed around, so they hold no key; and they name no file of the machine
    they are read on.
    """
    try:
        parts = urlsplit(address)
    except ValueError as error:
        return f"the address cannot be read: {error}."
    if parts.scheme in {"file", "local"} or "::" in address:
        return "an address may not name a file of this machine; give a path and the picture is copied."
    if "@" in parts.netloc or parts.query:
        return "an address may not hold a key: no name before @ and nothing after ?."
    return ""
