"""Changing an anchor set: every change is an entry, and a set is changed by one at a time or not at all."""

from __future__ import annotations

import os
import secrets
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from judge_audit.anchors.folder import (
    IMAGES,
    MANIFEST,
    STRAY,
    AnchorSet,
    address_fault,
    lagging,
    manifest_of,
    verified,
)
from judge_audit.anchors.ledger import (
    ADD,
    LEDGER,
    RELABEL,
    RETIRE,
    Anchor,
    Entry,
    Label,
    replayed,
    schema_faults,
)
from judge_audit.core.errors import Fault, InputError, MachineryError, UsageError
from judge_audit.core.files import grab
from judge_audit.stimuli.images import ImageError, ImageLimits, decode_image, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".bmp", ".ppm")
LOCK = ".lock"
PATIENCE = 30.0
"""Seconds to wait for another change of the set to end."""


DOT_FILES = {".gitattributes": "* -text\n", ".gitignore": f"{LOCK}\n"}
"""What keeps version control from changing ends of lines, and from keeping the lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An anchor to add, or what a relabelling says of one.

    Attributes:
        anchor_id: Its name.
        image: Path or address of the picture; "" in a relabelling.
        tier: good, middling or bad; in a relabelling None leaves it.
        kind: Which mismatch it shows; in a relabelling None leaves it.
        source: The generator; in a relabelling None leaves it, as it does topic.
        prompt: The text it was made for.
        topic: Subject group.
        cluster: "" for one of its own.
        known_as: item_id under which imported scores know it, if another.
        labels: What people said; in a relabelling these replace what the same people said of the same dimensions.
        withdrawn: Labels that a relabelling takes away, by (dimension, annotator).
        reason: Why; "" for that of the whole change.
        row: Where it stands in its file.
    """

    anchor_id: str
    image: str = ""
    tier: str | None = None
    kind: str | None = None
    source: str | None = None
    prompt: str = ""
    topic: str | None = None
    cluster: str = ""
    known_as: str = ""
    labels: tuple[Label, ...] = ()
    withdrawn: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    row: int = 0


@dataclass(slots=True)
class _Change:
    """A change as it is put together: what it adds to the ledger, and what is wrong with it."""

    origin: str
    author: str
    reason: str
    now: datetime
    entries: list[Entry]
    set_id: str
    started: int
    strays: list[Fault]
    pictures: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def fault(self, draft: Draft, column: str, said: str) -> None:
        """Note what is wrong with a draft."""
        self.faults.append(Fault(self.origin, draft.row, column, said, draft.anchor_id))

    def enter(self, draft: Draft, action: str, before: Anchor | None, after: Anchor | None) -> None:
        """Put an entry at the end, unless it would not hold."""
        told = after or before
        last = self.entries[-1] if self.entries else None
        entry = Entry(
            number=len(self.entries) + 1,
            set_id=self.set_id,
            action=action,
            anchor_id=draft.anchor_id,
            reason=draft.reason or self.reason,
            author=self.author,
            annotators=told.annotators if told is not None else (),
            time=self.now.astimezone(UTC).isoformat(timespec="seconds"),
            before=before.digest if before is not None else "",
            after=after.digest if after is not None else "",
            anchor=after,
            previous=last.digest if last is not None else "",
        ).sealed()
        wrong = [*schema_faults(_plain(entry)), *(after.faults() if after is not None else ())]
        for said in wrong:
            self.fault(draft, "", said.removeprefix("anchor."))
        if not wrong:
            self.entries.append(entry)


def _plain(entry: Entry) -> object:
    import json  # noqa: PLC0415 - the schema is held against what will be written

    return json.loads(entry.as_json())


def add(
    folder: Path,
    drafts: Sequence[Draft],
    *,
    author: str,
    reason: str,
    origin: str = "",
    now: datetime | None = None,
) -> AnchorSet:
    """Add anchors: all of them, or none.

    Args:
        folder: The set; made if it is not there.
        drafts: What to add; pictures are copied into the folder, addresses kept as they are.
        author: Who adds them.
        reason: Why, for drafts without a reason of their own.
        origin: Name of the file they come from, for messages.
        now: The time, for tests.

    Raises:
        InputError: With everything wrong, with the drafts and with the set as it is.
    """
    with _changing(folder, author, reason, origin, now, new=True) as change:
        state = replayed(change.entries)
        shown = {(row.pixel_digest, row.prompt): name for name, row in state.standing.items()}
        for draft in drafts:
            anchor = _pictured(change, draft)
            if draft.anchor_id in state.standing or draft.anchor_id in state.retired:
                said = (
                    f"“{draft.anchor_id}” is in the set already (or was, and is retired); give it a new name."
                )
                change.fault(draft, "anchor_id", said)
            elif anchor is not None:
                twin = shown.setdefault((anchor.pixel_digest, anchor.prompt), draft.anchor_id)
                if twin != draft.anchor_id:
                    change.fault(draft, "image", f"it is the picture of “{twin}”, with the same prompt.")
                    continue
                state.standing[draft.anchor_id] = anchor
                change.enter(draft, ADD, None, anchor)
        return _made(folder, change)


def relabel(
    folder: Path,
    drafts: Sequence[Draft],
    *,
    author: str,
    reason: str,
    origin: str = "",
    now: datetime | None = None,
) -> AnchorSet:
    """Change what is said of anchors, never their pictures: all the changes, or none.

    Raises:
        InputError: With everything wrong, with the drafts and with the set as it is.
    """
    with _changing(folder, author, reason, origin, now) as change:
        standing = replayed(change.entries).standing
        for draft in drafts:
            held = standing.get(draft.anchor_id)
            if held is None:
                change.fault(draft, "anchor_id", f"“{draft.anchor_id}” is not in the set (or retired).")
                continue
            anchor = _relabelled(change, draft, held)
            if anchor == held:
                change.fault(draft, "", f"it says of “{draft.anchor_id}” what the set says already.")
            else:
                standing[draft.anchor_id] = anchor
                change.enter(draft, RELABEL, held, anchor)
        return _made(folder, change)


def retire(
    folder: Path, names: Sequence[str], *, author: str, reason: str, now: datetime | None = None
) -> AnchorSet:
    """Take anchors out of the set: all of them, or none. Their pictures and their history stay.

    Raises:
        InputError: With everything wrong, with the names and with the set as it is.
    """
    with _changing(folder, author, reason, "", now) as change:
        standing = replayed(change.entries).standing
        for name in names:
            draft = Draft(anchor_id=name)
            held = standing.pop(name, None)
            if held is None:
                change.fault(draft, "anchor_id", f"“{name}” is not in the set (or retired already).")
            else:
                change.enter(draft, RETIRE, held, None)
        return _made(folder, change)


def mend(folder: Path) -> bool:
    """Write the manifest anew from the ledger where a change was interrupted; tell whether it was needed."""
    with locked(folder):
        held, _ = verified(folder)
        if held is None or not lagging(folder, held.entries):
            return False
        write(folder / MANIFEST, manifest_of(held.entries).encode())
        return True


@contextmanager
def _changing(
    folder: Path, author: str, reason: str, origin: str, now: datetime | None, *, new: bool = False
) -> Iterator[_Change]:
    """Hold the set, verify it as it is, and hand out a change that starts where it ends."""
    for name, text in (("--author", author), ("--reason", reason)):
        if not text.strip():
            raise UsageError(f"{name} is empty: every change of an anchor set says who made it and why.")
    now = now or datetime.now(UTC)
    if new:
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        fresh = new and not (folder / LEDGER).exists() and not (folder / MANIFEST).exists()
        held, strays = (None, []) if fresh else _sound(folder, now)
        entries = list(held.entries) if held is not None else []
        if entries and now + timedelta(seconds=1) < entries[-1].made_at:
            raise UsageError(
                f"the last entry of {folder / LEDGER} was made at {entries[-1].time}, and this machine's clock says "
                f"{now.isoformat(timespec='seconds')}. Set the clock right."
            )
        if entries:
            now = max(now, entries[-1].made_at)
        set_id = entries[0].set_id if entries else secrets.token_hex(16)
        yield _Change(
            origin or "the command line", author, reason, now, entries, set_id, len(entries), strays
        )


def _sound(folder: Path, now: datetime) -> tuple[AnchorSet, list[Fault]]:
    """Give the set if it is sound, and the pictures nobody names.

    A manifest left behind by an interrupted change is written anew by the next one, and its pictures may be those
    that the next one brings.
    """
    held, faults = verified(folder, now=now)
    if held is not None and lagging(folder, held.entries):
        faults = [fault for fault in faults if fault.file != MANIFEST]
    strays = [fault for fault in faults if fault.message == STRAY]
    faults = [fault for fault in faults if fault.message != STRAY]
    if faults or held is None:
        raise InputError(faults, f"The anchor set at {folder} is not changed before this is mended.")
    return held, strays


def _made(folder: Path, change: _Change) -> AnchorSet:
    """Write a change down, or refuse it with everything wrong.

    Pictures first, then the ledger, which makes the change, then the manifest, which follows from it.
    """
    change.faults += [fault for fault in change.strays if fault.file not in change.pictures]
    if change.faults:
        raise InputError(change.faults, "Nothing was changed.")
    if len(change.entries) == change.started:
        raise UsageError("there is nothing to change: no anchor was named.")
    try:
        if not change.started:
            for name, text in DOT_FILES.items():
                write(folder / name, text.encode())
        for name, content in change.pictures.items():
            write(folder / name, content)
        write(folder / LEDGER, "".join(f"{entry.as_json()}\n" for entry in change.entries).encode())
        write(folder / MANIFEST, manifest_of(change.entries).encode())
    except OSError as error:
        raise MachineryError(f"{folder}: it cannot be written: {error.strerror or error}.") from error
    held, faults = verified(folder, now=change.now)
    if held is None or faults:
        raise InputError(faults, f"The anchor set at {folder} was changed by somebody else at the same time.")
    return held


def _pictured(change: _Change, draft: Draft) -> Anchor | None:
    """Read the picture of a draft and make the anchor; None, with the fault noted, if that is not possible."""
    address = "://" in draft.image
    if not draft.image.strip():
        change.fault(draft, "image", "it is empty; give a path or an address.")
        return None
    if address and (wrong := address_fault(draft.image)):
        change.fault(draft, "image", wrong)
        return None
    try:
        content = read_bytes(draft.image, ImageLimits())
        image = decode_image(content)
    except ImageError as error:
        change.fault(draft, "image", f"{draft.image}: {error}")
        return None
    suffix = PurePath(draft.image).suffix.lower()
    if not address and suffix not in SUFFIXES:
        change.fault(draft, "image", f"{draft.image}: the name must end in one of {', '.join(SUFFIXES)}.")
        return None
    name = draft.image if address else f"{IMAGES}/{image.file_digest[:32]}{suffix}"
    if not address:
        change.pictures[name] = content
    height, width = image.pixels.shape[:2]
    return Anchor(
        anchor_id=draft.anchor_id,
        known_as=draft.known_as,
        image=name,
        file_digest=image.file_digest,
        pixel_digest=image.pixel_digest,
        width=width,
        height=height,
        prompt=draft.prompt,
        source=draft.source or "",
        topic=draft.topic or "",
        cluster=draft.cluster or draft.anchor_id,
        tier=draft.tier or "",
        kind=draft.kind or "",
        labels=tuple(sorted(draft.labels, key=lambda label: (label.dimension, label.annotator_id))),
    )


def _relabelled(change: _Change, draft: Draft, held: Anchor) -> Anchor:
    """Lay what a draft says over an anchor."""
    labels = {(label.dimension, label.annotator_id): label for label in held.labels}
    for key in draft.withdrawn:
        if labels.pop(key, None) is None:
            change.fault(draft, "", f"“{key[1]}” has not labelled “{key[0]}”; there is nothing to withdraw.")
    said = [(label.dimension, label.annotator_id) for label in draft.labels]
    for dimension, annotator in sorted({key for key in said if said.count(key) > 1}):
        change.fault(draft, "", f"“{annotator}” labels “{dimension}” twice; keep one.")
    labels |= dict(zip(said, draft.labels, strict=True))
    laid = {
        name: getattr(draft, name)
        for name in ("tier", "kind", "source", "topic")
        if getattr(draft, name) is not None
    }
    return replace(held, labels=tuple(labels[key] for key in sorted(labels)), **laid)


def write(path: Path, content: bytes) -> None:
    """Write a file so that it is either whole or as it was before, also after a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.parent.is_symlink():
        raise UsageError(f"{path.parent}: it is a link, which is not followed. Remove it.")
    draft = path.parent / f".{path.name}.{uuid.uuid4().hex}"
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a set against other changes; a process that dies lets go.

    Raises:
        UsageError: If another change does not end.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder. `judge-audit anchors add` makes one.")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(folder / LOCK, flags, 0o644)
    except OSError as error:
        raise MachineryError(f"{folder / LOCK}: it cannot be opened: {error.strerror or error}.") from error
    try:
        until = time.monotonic() + PATIENCE
        while not grab(handle):
            if time.monotonic() > until:
                raise UsageError(
                    f"{folder}: another change of this set has not ended. Try again when it has."
                )
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)
