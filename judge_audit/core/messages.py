"""Every sentence that a report or a verdict prints; another language is another set of files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from judge_audit.core.errors import MachineryError
from judge_audit.core.resources import read_shipped

LANGUAGE = "en"


@cache
def _sentences() -> dict[str, str]:
    """Read all message files of the language into one flat mapping."""
    sentences: dict[str, str] = {}
    for entry in sorted((files("judge_audit_schemas") / "messages").iterdir(), key=lambda path: path.name):
        if f".{entry.name}".endswith(f".{LANGUAGE}.yaml"):
            _flatten("", read_shipped(entry), sentences, entry.name)
    return sentences


def _flatten(prefix: str, content: dict[str, Any], sentences: dict[str, str], origin: str) -> None:
    for name, value in content.items():
        key = f"{prefix}{name}"
        if isinstance(value, dict):
            _flatten(f"{key}.", value, sentences, origin)
        elif key in sentences:
            raise MachineryError(f"{origin}: the message “{key}” stands twice.")
        else:
            sentences[key] = str(value)


def knows(key: str) -> bool:
    """Whether there is a sentence of that name."""
    return key in _sentences()


def say(key: str, **values: Any) -> str:  # noqa: ANN401 - whatever a sentence shows
    """Fill a sentence.

    Args:
        key: Its name, as `group.name`.
        values: What stands in its braces.

    Raises:
        MachineryError: If there is no such sentence, or a value is missing.
    """
    sentence = _sentences().get(key)
    if sentence is None:
        raise MachineryError(f"there is no message “{key}”.")
    try:
        return sentence.format(**values)
    except KeyError as error:
        raise MachineryError(f"the message “{key}” needs a value for {error}.") from error
