"""The ledger: one entry a line, each bound to the one before, so that nothing in it changes unseen."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, file_digest
from judge_audit.core.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jsonschema import Draft202012Validator

LEDGER = "ledger.jsonl"
RESTORE = "Take the file back from version control; what is to change is changed by `judge-audit anchors`."
FORWARD = timedelta(days=1)
"""How far an entry may lie ahead of this machine's clock."""

PICTURE = ("known_as", "image", "file_digest", "pixel_digest", "width", "height", "prompt", "cluster")
"""What a relabelling leaves alone."""

ADD, RELABEL, RETIRE = "add", "relabel", "retire"


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


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """What one annotator said of one dimension of an anchor, on the scale they were given.

    Attributes:
        dimension: What was rated.
        annotator_id: Who rated.
        value: The rating.
        level: nominal, ordinal or interval.
        low: Lower end of the scale, None if nobody declared it.
        high: Upper end.
        higher_is_better: Which way is up.
    """

    dimension: str
    annotator_id: str
    value: float
    level: str = "ordinal"
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A picture that people labelled, as it stands in the manifest.

    Attributes:
        anchor_id: Its name, never used again.
        known_as: item_id under which imported scores know it; "" if they call it by its anchor_id.
        image: Path below the folder, or an address.
        file_digest: SHA-256 of the file.
        pixel_digest: Digest of its pixels.
        width: In pixels.
        height: In pixels.
        prompt: The text it was made for.
        source: The generator it came from.
        topic: Subject group.
        cluster: Anchors that are not independent share one.
        tier: good, middling or bad.
        kind: Which of the four mismatches it shows, "" if none.
        labels: What people said, sorted by dimension and annotator.
    """

    anchor_id: str
    known_as: str
    image: str
    file_digest: str
    pixel_digest: str
    width: int
    height: int
    prompt: str
    source: str
    topic: str
    cluster: str
    tier: str
    kind: str
    labels: tuple[Label, ...]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Anchor:
        """Make an anchor of plain values that keep to the schema."""
        return cls(**{**content, "labels": tuple(Label(**label) for label in content["labels"])})

    def as_json(self) -> str:
        """Write it in the one way in which equal anchors are always written."""
        return canonical_json(self)

    @property
    def digest(self) -> str:
        """SHA-256 of all that is said of it, its picture's two digests included."""
        return file_digest(self.as_json().encode())

    @property
    def annotators(self) -> tuple[str, ...]:
        """Whose labels it bears, sorted."""
        return tuple(sorted({label.annotator_id for label in self.labels}))

    @property
    def is_local(self) -> bool:
        """Whether its picture lies in the folder."""
        return "://" not in self.image

    def faults(self) -> list[str]:
        """Say what no schema sees: labels given twice, out of order or beyond their ends."""
        found = []
        keys = [(label.dimension, label.annotator_id) for label in self.labels]
        for dimension, annotator in sorted({key for key in keys if keys.count(key) > 1}):
            found.append(f"“{annotator}” labels “{dimension}” twice; keep one.")
        if keys != sorted(keys):
            found.append("its labels are not in the order of dimension and annotator.")
        for label in self.labels:
            if (label.low is None) != (label.high is None):
                found.append(f"“{label.dimension}” has one end of a scale; give both ends or none.")
            elif label.low is not None and label.high is not None:
                if label.low >= label.high:
                    found.append(f"the ends of “{label.dimension}” are {label.low:g} and {label.high:g}.")
                elif not label.low <= label.value <= label.high:
                    found.append(
                        f"{label.value:g} of “{label.annotator_id}” lies beyond the ends of “{label.dimension}”, "
                        f"{label.low:g} and {label.high:g}."
                    )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change of a set, written once.

    Attributes:
        number: Place in the ledger, from 1: the version of the set after it.
        set_id: Name of the set.
        action: add, relabel or retire.
        anchor_id: What was changed.
        reason: Why.
        author: By whom.
        annotators: Whose labels the anchor bears (of a retired one: bore).
        time: When, UTC, ISO 8601 to the second.
        before: Digest of the anchor before, "" if there was none.
        after: Digest of the anchor after, "" if there is none.
        anchor: The anchor after, None if it was retired.
        previous: Digest of the entry before, "" in the first.
        digest: SHA-256 of the rest.
    """

    number: int
    set_id: str
    action: str
    anchor_id: str
    reason: str
    author: str
    annotators: tuple[str, ...]
    time: str
    before: str
    after: str
    anchor: Anchor | None
    previous: str
    digest: str = ""

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Entry:
        """Make an entry of plain values that keep to the schema."""
        anchor = None if content["anchor"] is None else Anchor.from_json(content["anchor"])
        return cls(**{**content, "annotators": tuple(content["annotators"]), "anchor": anchor})

    def as_json(self) -> str:
        """Write it as its line of the ledger."""
        return canonical_json(self)

    def sealed(self) -> Entry:
        """Give the entry with its digest."""
        return replace(self, digest=self.proper_digest())

    def proper_digest(self) -> str:
        """Digest everything but the digest."""
        return file_digest(replace(self, digest="").as_json().encode())

    @property
    def made_at(self) -> datetime:
        """When it was made."""
        return datetime.fromisoformat(self.time).astimezone(UTC)


@cache
def entry_validator() -> Draft202012Validator:
    """Give the check of a line of the ledger."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only where a ledger is read

    return Draft202012Validator(entry_schema())


@cache
def entry_schema() -> dict[str, Any]:
    """Give the JSON Schema of an entry."""
    text = (files("judge_audit_schemas") / "anchors" / "entry.schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]
