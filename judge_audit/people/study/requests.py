"""What the reading page may send, held to its form: a mark in steps, and the screen it was made on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from judge_audit.people.study.marks import Mark

MOST_REASON = 200
SCREEN = {
    "shown_width": (1, 100_000),
    "shown_height": (1, 100_000),
    "pixel_ratio": (0.1, 20),
    "zoom": (0.01, 100),
    "distance_cm": (10, 500),
    "seconds": (0, 86_400),
}
"""Smallest and largest sensible value of each figure."""

MAY_BE_UNKNOWN = frozenset({"distance_cm"})
WHOLE = frozenset({"shown_width", "shown_height"})


class Malformed(ValueError):  # noqa: N818 - told to the page, which sends no such thing
    """A request that no page of ours sends."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A mark as it was sent.

    Attributes:
        slot: Place in the reader's order, from 1.
        mark: The mark.
    """

    slot: int
    mark: Mark


def read_mark(body: bytes, steps: int) -> Sent:
    """Read what the page sent.

    Args:
        body: JSON.
        steps: Steps of the slider.

    Raises:
        Malformed: If it is anything else.
    """
    try:
        content = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed from error
    if not isinstance(content, dict):
        raise Malformed
    asked = content.get("asked") is True
    perceptible = _step(content, "perceptible", 1, steps)
    first = perceptible if perceptible is not None else 1
    objectionable = _step(content, "objectionable", first, steps) if asked else None
    reason = content.get("reason", "")
    if not isinstance(reason, str) or len(reason) > MOST_REASON or not all(map(_plain, reason)):
        raise Malformed
    mark = Mark(
        after=_whole(content.get("after"), -1, 10_000),
        perceptible=perceptible,
        objectionable=objectionable,
        asked=asked,
        reason=reason.strip(),
        screen=_screen(content.get("screen")),
    )
    return Sent(_whole(content.get("slot"), 1, 1_000_000), mark)


def _screen(told: Any) -> dict[str, float | int | None]:  # noqa: ANN401 - whatever was sent
    """Read the figures of the screen."""
    if not isinstance(told, dict):
        raise Malformed
    found: dict[str, float | int | None] = {}
    for name, (low, high) in SCREEN.items():
        value = told.get(name)
        if value is None and name in MAY_BE_UNKNOWN:
            found[name] = None
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise Malformed
        else:
            found[name] = round(value) if name in WHOLE else float(value)
    return found


def _step(content: dict[str, Any], name: str, low: int, high: int) -> int | None:
    """Read a step; null is never, and must be said."""
    if name not in content:
        raise Malformed
    return None if content[name] is None else _whole(content[name], low, high)


def _whole(value: Any, low: int, high: int) -> int:  # noqa: ANN401 - whatever was sent
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise Malformed
    return value


def _plain(letter: str) -> bool:
    return letter.isprintable()


def _no_constant(name: str) -> float:
    raise Malformed(name)
