"""An anchor, a label it bears, and an entry of the ledger: what stands in the files of a set."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, file_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema import Draft202012Validator

ADD, RELABEL, RETIRE = "add", "relabel", "retire"


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
