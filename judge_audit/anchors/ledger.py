"""The ledger: one entry a line, each bound to the one before, so that nothing in it changes unseen."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from judge_audit.anchors.entries import ADD, RELABEL, RETIRE, Anchor, Entry, entry_validator
from judge_audit.core.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

LEDGER = "ledger.jsonl"
RESTORE = "Take the file back from version control; what is to change is changed by `judge-audit anchors`."
FORWARD = timedelta(days=1)
"""How far an entry may lie ahead of this machine's clock."""

PICTURE = ("known_as", "image", "file_digest", "pixel_digest", "width", "height", "prompt", "cluster")
"""What a relabelling leaves alone."""


@dataclass(frozen=True, slots=True)
class LedgerRead:
    """What a ledger held.

    Attributes:
        entries: The entries that could be read, in the order of the file.
        faults: Everything wrong with it, by line.
    """

    entries: tuple[Entry, ...]
    faults: tuple[Fault, ...]


@dataclass(slots=True)
class Replay:
    """The anchors after some entries.

    Attributes:
        standing: Those in the set, by name.
        retired: Those taken out, as they stood last.
    """

    standing: dict[str, Anchor] = field(default_factory=dict)
    retired: dict[str, Anchor] = field(default_factory=dict)

    def take(self, entry: Entry) -> None:
        """Let an entry happen."""
        if entry.anchor is not None:
            self.standing[entry.anchor_id] = entry.anchor
        elif entry.anchor_id in self.standing:
            self.retired[entry.anchor_id] = self.standing.pop(entry.anchor_id)


def replayed(entries: Iterable[Entry]) -> Replay:
    """Give the anchors as they stand after entries that hold."""
    state = Replay()
    for entry in entries:
        state.take(entry)
    return state


def read_ledger(content: bytes, now: datetime) -> LedgerRead:
    """Read a ledger and find everything wrong with it.

    Args:
        content: The file.
        now: The time, against which entries may not lie ahead.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        return LedgerRead((), (Fault(LEDGER, row, "", f"it is not UTF-8 text. {RESTORE}"),))
    lines = text.split("\n")
    faults = []
    if lines[-1]:
        said = f"the last line is cut off: it does not end. {RESTORE}"
        faults.append(Fault(LEDGER, len(lines), "", said))
    else:
        lines.pop()
    if not lines:
        return LedgerRead((), (Fault(LEDGER, 0, "", f"it is empty. {RESTORE}"),))
    numbered: list[tuple[int, Entry]] = []
    for number, line in enumerate(lines, 1):
        entry, wrong = _entry(line)
        faults += [Fault(LEDGER, number, "", f"{said} {RESTORE}") for said in wrong]
        if entry is not None:
            numbered.append((number, entry))
    faults += _chain(numbered, now)
    return LedgerRead(tuple(entry for _, entry in numbered), tuple(dict.fromkeys(faults)))


def _refused_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _entry(line: str) -> tuple[Entry | None, list[str]]:
    """Read a line, or say what is wrong with it."""
    try:
        content = json.loads(line, parse_constant=_refused_constant)
    except (ValueError, RecursionError) as error:
        return None, [f"it is not valid JSON: {error}."]
    if wrong := schema_faults(content):
        return None, wrong
    entry = Entry.from_json(content)
    if entry.as_json() != line:
        return entry, ["it is not written as judge-audit writes it: it was edited after it was made."]
    wrong = [] if entry.anchor is None else entry.anchor.faults()
    if entry.digest != entry.proper_digest():
        wrong.append("its digest does not fit it: it was edited after it was made.")
    return entry, wrong


def schema_faults(content: Any) -> list[str]:  # noqa: ANN401 - whatever JSON holds
    """Hold an entry against the schema, in words."""
    return sorted(_said(error) for error in entry_validator().iter_errors(content))


def _said(error: Any) -> str:  # noqa: ANN401 - jsonschema's own type
    """Name the key and what is wrong with it, going into alternatives."""
    if error.validator == "oneOf" and isinstance(error.instance, dict):
        inner = [part for part in error.context if part.schema_path[0] == 1]
        if inner:
            return " ".join(sorted(_said(part) for part in inner))
    path = ".".join(str(part) for part in error.absolute_path)
    place = f"{path}: " if path else ""
    if error.validator == "pattern" and not str(error.instance).strip():
        return f"{place}it is empty."
    text = str(error.message)
    return f"{place}{text if len(text) < 200 else text[:200] + '…'}."


def _chain(numbered: Sequence[tuple[int, Entry]], now: datetime) -> list[Fault]:
    """See that every entry follows the one before and may follow it."""
    faults: list[Fault] = []
    state = Replay()
    seen: dict[str, int] = {}
    before: Entry | None = None
    for number, entry in numbered:
        wrong = [] if before is None and number != 1 else _follows(entry, before, seen, now)
        faults += [Fault(LEDGER, number, "", f"{said} {RESTORE}") for said in (*wrong, *_may(entry, state))]
        seen.setdefault(entry.digest, number)
        state.take(entry)
        before = entry
    return faults


def _follows(entry: Entry, before: Entry | None, seen: dict[str, int], now: datetime) -> list[str]:
    """Say in what an entry does not follow the one before it."""
    found = []
    if entry.digest in seen:
        return [f"it is the entry of line {seen[entry.digest]} once more."]
    expected = (1, "") if before is None else (before.number + 1, before.digest)
    if (entry.number, entry.previous) != expected:
        where = "the first entry" if before is None else f"entry {before.number}"
        found.append(
            f"entry {entry.number} does not follow {where}: an entry was deleted, inserted, moved or rewritten."
        )
    if before is not None:
        if entry.set_id != before.set_id:
            found.append("it belongs to another set.")
        if entry.made_at < before.made_at:
            found.append(f"its time {entry.time} lies before that of the entry before it, {before.time}.")
    if entry.made_at > now + FORWARD:
        found.append(f"its time {entry.time} lies in the future.")
    return found


def _may(entry: Entry, state: Replay) -> list[str]:
    """Say why an entry may not be made where the anchors stand as they do."""
    name = entry.anchor_id
    held = state.standing.get(name)
    found = []
    if entry.action == ADD and (held is not None or name in state.retired):
        found.append(f"“{name}” is in the set already; an anchor_id is never used again.")
    if entry.action in {RELABEL, RETIRE} and held is None:
        found.append(f"“{name}” is not in the set.")
    if (entry.anchor is None) != (entry.action == RETIRE):
        return [*found, f"the action is {entry.action} and the anchor does not fit it."]
    told = entry.anchor or held
    if entry.anchor is not None:
        found += _alters(entry, entry.anchor, held)
    if told is not None and entry.annotators != told.annotators:
        found.append("annotators are not those whose labels the anchor bears.")
    if entry.before != (held.digest if held is not None else ""):
        found.append("its digest `before` is not that of the anchor as it stood.")
    if entry.after != (entry.anchor.digest if entry.anchor is not None else ""):
        found.append("its digest `after` is not that of the anchor it gives.")
    return found


def _alters(entry: Entry, anchor: Anchor, held: Anchor | None) -> list[str]:
    """See that an entry speaks of one anchor, and a relabelling leaves the picture alone."""
    if anchor.anchor_id != entry.anchor_id:
        return [f"it speaks of “{entry.anchor_id}” and gives “{anchor.anchor_id}”."]
    if entry.action != RELABEL or held is None:
        return []
    changed = [name for name in PICTURE if getattr(anchor, name) != getattr(held, name)]
    return (
        [f"a relabelling changes {', '.join(changed)}; another picture is another anchor."] if changed else []
    )
