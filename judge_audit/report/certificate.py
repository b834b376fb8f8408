"""The page of a certificate: a function of its content and pictures, so it can be written again and compared."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from judge_audit.core.files import put_pair
from judge_audit.core.messages import knows, say
from judge_audit.core.templating import strict_environment
from judge_audit.core.vocabulary import Position

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import jinja2

LOOKS = {"open": "pass", "shut": "fail", "cannot be asked": "inconclusive"}
STANDING_LOOKS = {"allowed": "pass", "barred": "fail", "unproven": "inconclusive"}
SYMBOLS = {"pass": "✓", "fail": "✕", "inconclusive": "?"}


def render(document: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """Write the page.

    Args:
        document: The certificate's content.
        pictures: Data URIs by the digests that the content names.
    """
    # A browser reads a script as no text: no tag may end it.
    embedded = json.dumps(document, ensure_ascii=False, sort_keys=True).replace("<", "\\u003c")
    gate = document["gate"]
    asked = [row for row in gate["expectations"] if gate["baseline"] or not row["compares"]]
    critical = [row for row in asked if row["severity"] == "critical"]
    template = _environment().get_template("certificate.html")
    return template.render(
        doc=document,
        gate=gate,
        blocking=[row for row in critical if row["state"] != "open"],
        warnings=[row for row in asked if row["severity"] != "critical" and row["state"] != "open"],
        pictures=pictures,
        embedded=embedded,
    )


def write_certificate(document: Mapping[str, Any], pictures: Mapping[str, str], folder: Path) -> Path:
    """Put certificate.html and certificate.json into a folder, each whole or not at all.

    Returns:
        Path of the page.

    Raises:
        MachineryError: If the folder cannot be written.
    """
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False)
    put_pair(folder, "certificate", text, render(document, pictures))
    return folder / "certificate.html"


def day(time: str | None) -> str:
    """Write the day of a time."""
    return time[:10] if time else "–"


def _word(key: str, fallback: str) -> str:
    return say(key) if knows(key) else fallback


@cache
def _environment() -> jinja2.Environment:
    environment = strict_environment()
    environment.globals |= {
        "say": lambda key, **values: say(f"gate.certificate.{key}", **values),
        "tell": say,
        "word": _word,
        "looks": LOOKS,
        "standing_looks": STANDING_LOOKS,
        "symbols": SYMBOLS,
        "positions": [position.value for position in Position],
    }
    environment.filters |= {"day": day, "bare": lambda anchor: anchor.removeprefix("anchor:")}
    return environment
