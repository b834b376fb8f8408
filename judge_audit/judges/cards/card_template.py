"""What judges there are and what each kind needs; a new card, with every field of its kind and what it means."""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.judges.cards.card import card_schema, own_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import ModuleType

CLAIMS = (
    "version",
    "description",
    "licence",
    "dimensions",
    "scale_low",
    "scale_high",
    "scale_step",
    "higher_is_better",
    "needs_prompt",
    "batch_size",
    "concurrency",
)
"""Fields of every card that a team may fill in, in the order of a new one."""

WIDE = 110


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of judge.

    Attributes:
        name: As a card's `kind`.
        about: What it is, in a sentence.
        needed: Fields that a card of it must have, beside kind and name.
        further: Fields of its own that it may have.
        install: How to install what it needs, "" for nothing.
        lacking: Packages of that which are not installed.
        own_card: Whether it comes with its one card, so that no other is written.
    """

    name: str
    about: str
    needed: tuple[str, ...]
    further: tuple[str, ...]
    install: str
    lacking: tuple[str, ...]
    own_card: bool


def kinds_of(modules: Mapping[str, ModuleType]) -> list[Kind]:
    """Say of every kind what it is and what it needs.

    Args:
        modules: The files of the kinds, by name.
    """
    return [_kind(name, module) for name, module in sorted(modules.items())]


def _kind(name: str, module: ModuleType) -> Kind:
    own = own_schema(name)
    needed = tuple(own.get("required", ()))
    extra = getattr(module, "EXTRA", "")
    packages: Iterable[str] = getattr(module, "PACKAGES", ())
    return Kind(
        name=name,
        about=(module.__doc__ or "").strip().split("\n")[0],
        needed=needed,
        further=tuple(field for field in own.get("properties", {}) if field not in {*needed, "batch_size"}),
        install=getattr(module, "INSTALL", f"pip install 'image-judge-audit[{extra}]'" if extra else ""),
        lacking=tuple(package for package in packages if not _installed(package)),
        own_card=getattr(module, "CARD", None) is not None,
    )


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def new_card(kind: Kind, name: str, *, pinned: bool) -> str:
    """Write a card: what must be filled in stands with an example, what may be stands as a comment.

    Args:
        kind: Its kind.
        name: Its name.
        pinned: Whether its weights are held to a digest.
    """
    fields = card_schema(kind.name)["properties"]
    usual = [field for field in own_schema(kind.name).get("usual", ()) if field not in kind.needed]
    lines = [
        f"# {kind.about}",
        f"# What every field means: schemas/cards. Try it: judge-audit judges try cards/{name}.yaml",
        f"kind: {kind.name}",
        f"name: {json.dumps(name)}",
        *(line for field in (*kind.needed, *usual) for line in _field(field, fields[field], active=True)),
        "",
        "# Pinned weights are held to a digest. What may change behind its name is unpinned, and is watched for it.",
        f"pinned: {json.dumps(pinned)}",
    ]
    if pinned:
        example = json.dumps(fields["weights"]["examples"][0], ensure_ascii=False)
        lines += [
            "# The digest: where it is wrong, judge-audit judges try says what is right.",
            f"weights: {example}",
        ]
    lines += ["", "# What it claims. Left out: one dimension, no declared scale, higher is better."]
    written = {*kind.needed, *usual}
    lines += [
        line
        for field in CLAIMS
        if field not in written
        for line in _field(field, fields[field], active=False)
    ]
    further = [field for field in kind.further if field not in {*written, *CLAIMS}]
    if further:
        lines += ["", "# What else this kind may be told."]
        lines += [line for field in further for line in _field(field, fields[field], active=False)]
    return "\n".join(lines) + "\n"


def _field(name: str, schema: Mapping[str, Any], *, active: bool) -> list[str]:
    """Write one field with what it means and an example, which is JSON and so is YAML."""
    about = textwrap.wrap(str(schema.get("description", "")), WIDE - 4, break_on_hyphens=False)
    example = json.dumps(schema["examples"][0], ensure_ascii=False)
    return [*(f"#   {line}" for line in about), f"{'' if active else '# '}{name}: {example}"]


def write_new_card(folder: Path, name: str, content: str) -> Path:
    """Write a card into a folder; one that is there is never touched.

    Raises:
        UsageError: If there is one of that name, or the folder cannot be written.
    """
    path = folder / f"{name}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(content)
    except FileExistsError as error:
        raise UsageError(
            f"{path} is there already and stays as it is. Give another name by --name, or remove it."
        ) from error
    except OSError as error:
        raise UsageError(f"{path}: the card cannot be written: {error.strerror}.") from error
    return path
