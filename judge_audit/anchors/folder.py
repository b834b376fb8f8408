"""The folder of an anchor set: read whole and verified before anything is taken from it.

anchors/
ledger.jsonl    every change there ever was; what the set holds follows from it
anchors.jsonl   the anchors as they stand, for people and for reviews of a change
images/         pictures, named by their content, those of retired anchors too
"""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from judge_audit.anchors.ledger import LEDGER, RESTORE, read_ledger, replayed
from judge_audit.core.digests import canonical_json
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.stimuli.images import ImageError, load_image

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.anchors.ledger import Anchor, Entry

MANIFEST = "anchors.jsonl"
AGAIN = 3
"""How often a set is read that changes while it is read."""

MOST_BYTES = 256 * 2**20
"""Size of a ledger or a manifest beyond which it is not read."""

MEND = "`judge-audit anchors verify FOLDER --mend` writes it anew from the ledger."
IMAGES = "images"
OTHER = "Take the picture back from version control, or retire the anchor and add the new picture as another."
STRAY = f"no entry of {LEDGER} names it (an interrupted change leaves such a file). Remove it."


@dataclass(frozen=True, slots=True)
class AnchorSet:
    """A set whose files agree.

    Attributes:
        folder: Where it lies.
        entries: Its ledger.
        pictures: What was seen of the picture of each anchor there ever was, by name; retired ones whose
            picture is no longer there are not among them.
    """

    folder: Path
    entries: tuple[Entry, ...]
    pictures: Mapping[str, Picture]

    @property
    def set_id(self) -> str:
        """Its name."""
        return self.entries[0].set_id

    @property
    def version(self) -> int:
        """The newest version: how many entries there are."""
        return len(self.entries)

    def head(self, version: int | None = None) -> str:
        """Give the digest of the last entry of a version, of the newest by default."""
        return self.entries[self._version(version) - 1].digest

    def at(self, version: int | None = None) -> tuple[Anchor, ...]:
        """Give the anchors of a version, of the newest by default, sorted by name.

        Raises:
            UsageError: If the set has no such version.
        """
        standing = replayed(self.entries[: self._version(version)]).standing
        return tuple(standing[name] for name in sorted(standing))

    def ever(self) -> tuple[Anchor, ...]:
        """Give every anchor there ever was and whose picture is there, as it stood last, sorted by name."""
        state = replayed(self.entries)
        held = state.standing | state.retired
        return tuple(held[name] for name in sorted(held) if name in self.pictures)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what limits the use of the set, though nothing is wrong with it."""
        every = replayed(self.entries)
        gone = sorted(set(every.retired) - set(self.pictures))
        held = every.standing | every.retired
        otherwise = sorted(
            name for name, seen in self.pictures.items() if seen.pixel_digest != held[name].pixel_digest
        )
        found = []
        if gone:
            found.append(
                f"The pictures of retired anchors are gone, no judge can be asked again: {', '.join(gone)}."
            )
        if otherwise:
            found.append(
                f"The libraries here read other pixels from the same files than when they were added: "
                f"{', '.join(otherwise)}."
            )
        return tuple(found)

    def place(self, anchor: Anchor) -> str:
        """Say where the picture of an anchor is read from."""
        return str(self.folder / anchor.image) if anchor.is_local else anchor.image

    def _version(self, version: int | None) -> int:
        if version is None or version == 0:
            return self.version
        if not 1 <= version <= self.version:
            raise UsageError(
                f"the anchor set at {self.folder} has the versions 1 to {self.version}; there is no {version}."
            )
        return version


def read_anchors(folder: str | Path, *, extends: str = "", now: datetime | None = None) -> AnchorSet:
    """Read and verify an anchor set.

    Args:
        folder: Where it lies.
        extends: Head of an earlier version that it must contain, "" for none.
        now: The time, for tests.

    Raises:
        UsageError: If there is no such set.
        InputError: With everything wrong with it, by file and line.
    """
    held, faults = verified(Path(folder), extends=extends, now=now)
    if faults or held is None:
        raise InputError(faults, f"The anchor set at {folder} is not used as it is.")
    return held


def verified(
    folder: Path, *, extends: str = "", now: datetime | None = None
) -> tuple[AnchorSet | None, list[Fault]]:
    """Read an anchor set and find everything wrong with it.

    Returns:
        The set as its ledger tells it, None if the ledger cannot be followed; and the faults.

    Raises:
        UsageError: If there is no set at all.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder. `judge-audit anchors add` makes one.")
    for _ in range(AGAIN):
        stamp = _stamp(folder)
        held, faults = _verified(folder, extends, now or datetime.now(UTC))
        if not faults or stamp == _stamp(folder):
            break  # else the set was changed while it was read
    return held, faults


def _stamp(folder: Path) -> list[tuple[int, int, int]]:
    """Tell one state of the two files from another."""
    told = [(folder / name).lstat() for name in (LEDGER, MANIFEST) if (folder / name).exists()]
    return [(each.st_ino, each.st_mtime_ns, each.st_size) for each in told]


def _verified(folder: Path, extends: str, now: datetime) -> tuple[AnchorSet | None, list[Fault]]:
    content, faults = read_own(folder, LEDGER)
    if content is None:
        if not (folder / MANIFEST).exists() and not faults:
            raise UsageError(f"{folder}: there is no anchor set in it. `judge-audit anchors add` makes one.")
        return None, faults or [Fault(LEDGER, 0, "", f"it is missing. {RESTORE}")]
    read = read_ledger(content, now)
    if not read.entries:
        return None, [*faults, *read.faults]
    faults += read.faults
    if extends and extends not in {entry.digest for entry in read.entries}:
        said = f"it does not extend the version with the head {extends}: it was rewritten since. {RESTORE}"
        faults.append(Fault(LEDGER, 0, "", said))
    faults += _manifest_faults(folder, read.entries, whole=not read.faults)
    state = replayed(read.entries)
    seen, wrong = look_at(folder, list(state.standing.values()), list(state.retired.values()))
    return AnchorSet(folder, read.entries, seen), sorted({*faults, *wrong})


def read_own(folder: Path, name: str) -> tuple[bytes | None, list[Fault]]:
    """Read a file of the set, which is a plain file of bearable size."""
    path = folder / name
    try:
        told = path.lstat()
    except FileNotFoundError:
        return None, []
    if not stat.S_ISREG(told.st_mode):
        return None, [Fault(name, 0, "", f"it is a link or no plain file, which is not followed. {RESTORE}")]
    if told.st_size > MOST_BYTES:
        return None, [Fault(name, 0, "", f"it is larger than {MOST_BYTES // 2**20} MiB. {RESTORE}")]
    return path.read_bytes(), []


def manifest_of(entries: Sequence[Entry]) -> str:
    """Write the manifest that follows from a ledger: who it is, then an anchor a line."""
    last = entries[-1]
    head = {"set_id": last.set_id, "version": last.number, "head": last.digest}
    standing = replayed(entries).standing
    lines = [canonical_json(head), *(standing[name].as_json() for name in sorted(standing))]
    return "".join(f"{line}\n" for line in lines)


def _manifest_faults(folder: Path, entries: Sequence[Entry], *, whole: bool) -> list[Fault]:
    """Hold the manifest against the ledger, line by line."""
    content, faults = read_own(folder, MANIFEST)
    if content is None:
        return faults or [Fault(MANIFEST, 0, "", f"it is missing. {MEND}")]
    if not whole:
        return []  # what a broken ledger would make of it says nothing
    found = content.decode("utf-8", "replace")
    if found == manifest_of(entries):
        return []
    version, head = _header(found)
    if version > len(entries):
        said = (
            f"it is that of version {version}, and the ledger ends at {len(entries)}: entries were cut off the "
            f"end of {LEDGER}. {RESTORE}"
        )
        return [Fault(LEDGER, len(entries), "", said)]
    if version and head == entries[version - 1].digest and found == manifest_of(entries[:version]):
        said = (
            f"it is that of version {version}, and the ledger is at {len(entries)}: a change was interrupted."
        )
        return [Fault(MANIFEST, 1, "", f"{said} {MEND}")]
    return _different_lines(found, manifest_of(entries))


def lagging(folder: Path, entries: Sequence[Entry]) -> bool:
    """Tell whether the manifest is missing or that of an earlier version: what an interrupted change leaves."""
    content, faults = read_own(folder, MANIFEST)
    if content is None:
        return not faults
    found = content.decode("utf-8", "replace")
    version, _ = _header(found)
    return 0 < version < len(entries) and found == manifest_of(entries[:version])


def _header(text: str) -> tuple[int, str]:
    """Read version and head of a manifest; 0 if it does not say."""
    try:
        content = json.loads(text.partition("\n")[0])
        version, head = content["version"], content["head"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0, ""
    return (version, str(head)) if isinstance(version, int) and version > 0 else (0, "")


def _different_lines(found: str, proper: str) -> list[Fault]:
    """Name the lines of the manifest that the ledger does not give."""
    given, wanted = found.split("\n"), proper.split("\n")
    names = {line: _name(line) for line in (*given, *wanted)}
    kept = set(wanted)
    told = {_name(line) for line in given}
    faults = []
    for number, line in enumerate(given, 1):
        if line in kept:
            kept.discard(line)
            continue
        name = names[line]
        known = name in {names[row] for row in wanted}
        said = (
            f"“{name}” stands here otherwise than in {LEDGER}: it was changed without an entry."
            if name and known
            else f"no entry of {LEDGER} gives this line."
        )
        faults.append(Fault(MANIFEST, number, "", f"{said} {RESTORE}"))
    lost = sorted(names[row] for row in kept if names[row] and names[row] not in told)
    faults += [
        Fault(MANIFEST, 0, "", f"“{name}” is missing, which {LEDGER} holds. {RESTORE}") for name in lost
    ]
    return faults or [Fault(MANIFEST, 0, "", f"its lines are in another order. {RESTORE}")]


def _name(line: str) -> str:
    """Read the anchor_id of a line, "" if it has none."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return str(content.get("anchor_id", "")) if isinstance(content, dict) else ""


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
