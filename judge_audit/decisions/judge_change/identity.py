"""What makes two judges two: which part of the identity changed, in plain words, and which did not.

Names and versions are labels only. Scale, direction and dimensions are what a card claims: they are no part of
the identity, yet a reader of scores must know of a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json
from judge_audit.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

IDENTITY = {
    "kind": ("kind",),
    "answers": ("compares",),
    "code": ("target",),
    "weights": ("weights",),
    "template": ("prompt_template",),
    "preprocessing": ("preprocessing",),
    "decoding": ("decoding",),
    "parser": ("parser_version",),
    "epoch": ("epoch",),
}
"""Parts of the identity, each with the fields of the card that make it."""

CLAIMS = {
    "scale": ("scale_low", "scale_high", "scale_step"),
    "direction": ("higher_is_better",),
    "dimensions": ("dimensions",),
    "pinning": ("pinned",),
}
"""What a card claims beside: it makes no other judge."""

LABELS = ("name", "version")

LONGEST = 60
"""Characters of a value that a sentence shows."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field that differs: its path in the card, and the values before and after as JSON (None: absent)."""

    path: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """A part that differs.

    Attributes:
        name: One of `IDENTITY` or `CLAIMS`.
        identity: Whether it makes another judge.
        fields: What differs in it.
    """

    name: str
    identity: bool
    fields: tuple[Field, ...]

    @property
    def sentence(self) -> str:
        """Say what changed."""
        listed = "; ".join(_told(field, single=len(self.fields) == 1) for field in self.fields)
        return say(f"change.part.{self.name}", list=listed)


@dataclass(frozen=True, slots=True)
class Difference:
    """How two judges differ.

    Attributes:
        changed: Parts that differ, those of the identity first.
        same: Names of the parts that do not.
        labels: Label to its values before and after, where they differ.
    """

    changed: tuple[Part, ...]
    same: tuple[str, ...]
    labels: Mapping[str, tuple[str, str]]

    @property
    def another_judge(self) -> bool:
        """Whether any part of the identity differs."""
        return any(part.identity for part in self.changed)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parts of the identity that differ."""
        return tuple(part.name for part in self.changed if part.identity)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Say what changed, what did not, and what is only a label."""
        told = [part.sentence for part in self.changed]
        if not self.another_judge:
            told.insert(0, say("change.same_judge"))
        same = ", ".join(say(f"change.names.{name}") for name in self.same)
        told.append(say("change.unchanged", list=same) if same else say("change.nothing_unchanged"))
        told += [
            say("change.label", name=say(f"change.names.{name}"), old=old, new=new)
            for name, (old, new) in self.labels.items()
        ]
        return tuple(told)


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> Difference:
    """Compare two cards, as table `judges` holds them.

    Args:
        old: The card of the judge before.
        new: The card of the judge after.
    """
    changed, same = [], []
    for parts, identity in ((IDENTITY, True), (CLAIMS, False)):
        for name, fields in parts.items():
            found = tuple(
                entry for field in fields for entry in _differing(field, old.get(field), new.get(field))
            )
            if found:
                changed.append(Part(name, identity, found))
            else:
                same.append(name)
    labels = {
        name: (str(old.get(name, "")), str(new.get(name, "")))
        for name in LABELS
        if old.get(name) != new.get(name)
    }
    return Difference(tuple(changed), tuple(same), labels)


def _differing(path: str, old: Any, new: Any) -> Iterator[Field]:  # noqa: ANN401 - whatever a card holds
    """Give the innermost fields that differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(set(old) | set(new)):
            yield from _differing(f"{path}.{key}", old.get(key), new.get(key))
    elif canonical_json(old) != canonical_json(new):
        yield Field(path, *(None if value is None else canonical_json(value) for value in (old, new)))


def _told(field: Field, *, single: bool) -> str:
    """Write what differs; the name of a field that is a part by itself is not repeated."""
    values = {name: _short(value) for name, value in (("old", field.old), ("new", field.new))}
    if single and "." not in field.path:
        return say("change.from_to", **values)
    return say("change.field_from_to", field=field.path.partition(".")[2] or field.path, **values)


def _short(value: str | None) -> str:
    if value in {None, '""', "{}"}:
        return say("change.nothing")
    assert value is not None
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…"
