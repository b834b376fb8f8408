"""Models that come with a Python package of their own: importing it in silence, and digesting what it answers with."""

from __future__ import annotations

import importlib
import io
import warnings
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, file_digest, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.judges.cards.redaction import secrets_around
from judge_audit.judges.reply_parser import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit.judges.cards.card import Card

SOURCES = frozenset({".py", ".yaml", ".yml", ".json"})
"""What of a package is digested: its code and the settings that lie with it."""

MOST_SOURCES = 5_000


@dataclass(frozen=True, slots=True)
class OwnPackage:
    """An installed package.

    Attributes:
        module: The module that was asked for.
        name: Its name at the index, and its version.
        source: Digest of its code and settings.
    """

    module: Any
    name: str
    source: str


@contextmanager
def unheard() -> Iterator[None]:
    """Keep what a package prints out of the results, and its filters of warnings to itself."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        yield


def own_package(card: Card, distribution: str, module: str, advice: str) -> OwnPackage:
    """Import a model's own package and digest it.

    Args:
        card: The card.
        distribution: The package's name at the index.
        module: The module that is wanted of it.
        advice: How it is installed.

    Raises:
        UsageError: If it is missing or cannot be imported; says how to install it.
    """
    try:
        with unheard():
            wanted = importlib.import_module(module)
            top = importlib.import_module(module.partition(".")[0])
    except Exception as error:  # also what a package says of a library that is too new for it
        raise UsageError(
            f"judge “{card.name}”: a judge of kind {card.kind} needs the package {distribution} ({reason_of(error)}). "
            f"It is no part of this one. {advice}"
        ) from error
    return OwnPackage(wanted, f"{distribution} {_version(distribution)}".strip(), _source(card, top))


def versions_of(*distributions: str) -> dict[str, str]:
    """Name the versions of those packages that are installed."""
    return {name.replace("-", "_"): known for name in distributions if (known := _version(name))}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _source(card: Card, module: Any) -> str:  # noqa: ANN401 - a module
    """Digest the files that a package answers with."""
    folder = Path(module.__file__ or "").parent
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file())
    if not module.__file__ or not paths or len(paths) > MOST_SOURCES:
        raise UsageError(
            f"judge “{card.name}”: the package {module.__name__} does not lie in a folder of its own, so its code "
            "cannot be part of the judge's identity. Install it as its authors say."
        )
    parts = {str(path.relative_to(folder).as_posix()): file_digest(path.read_bytes()) for path in paths}
    return text_digest(canonical_json(parts))


def reason_of(error: Exception) -> str:
    """Say in a line what a library said, without any key that it may have repeated."""
    text = secrets_around().clean(" ".join(str(error).split()))
    return f"{type(error).__name__}: {short(text, 300)}"


def words_digest(tokenizer: Any) -> str:  # noqa: ANN401 - a tokenizer of transformers
    """Digest a tokenizer by its words, its special ones, and what it makes of upper case."""
    words = {
        "words": tokenizer.get_vocab(),
        "special": {name: str(word) for name, word in tokenizer.special_tokens_map.items()},
        "lower": getattr(tokenizer, "do_lower_case", None),
    }
    return text_digest(canonical_json(words))
