"""What a table's columns hold, and how a text becomes a value of theirs."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LONGEST_NAME = 1_000
"""Characters of a name; longer ones are a file read with the wrong separator."""

NOTHING = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>"})
"""What data frames write where there is no value."""

NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")

YES = frozenset({"true", "yes", "1"})
NO = frozenset({"", "false", "no", "0"})


class Unfit(ValueError):  # noqa: N818 - it is a text that does not fit, told to the user as a fault
    """A text that is not a value of its column; says why in plain words."""


@dataclass(frozen=True, slots=True)
class Field:
    """One column of an imported table.

    Attributes:
        name: Our name of it.
        kind: name, text, number, whole, names, time, yes or one of `allowed`.
        needed: Whether the file must have it.
        filled: Whether it must have a value in every row.
        allowed: The words it may hold, none for any.
    """

    name: str
    kind: str = "text"
    needed: bool = False
    filled: bool = False
    allowed: Sequence[str] = ()


def is_nothing(text: str) -> bool:
    """Tell whether a text stands for no value."""
    return text.strip().casefold() in NOTHING


def number_of(text: str) -> float:
    """Read a finite number as people and programs write it, in ASCII digits.

    Raises:
        Unfit: If it is none.
    """
    text = text.strip()
    if not NUMBER.fullmatch(text):
        raise Unfit(f"“{shortened(text)}” is not a number.")
    value = float(text)
    if not math.isfinite(value):
        raise Unfit(f"“{shortened(text)}” is too large for a number.")
    return value


def value_of(column: Field, text: str) -> Any:  # noqa: ANN401 - whatever the column holds
    """Read one text.

    Returns:
        The value; None where there is none, except for texts, which are then empty.

    Raises:
        Unfit: If it does not fit the column.
    """
    if column.filled and not text.strip():
        raise Unfit("it is empty.")
    if column.allowed:
        word = text.strip().casefold()
        if word not in column.allowed:
            raise Unfit(f"“{shortened(text)}” is none of {', '.join(column.allowed)}.")
        return word
    return READERS[column.kind](text)


def _name(text: str) -> str:
    name = text.strip()
    if "\0" in name:
        raise Unfit("it holds a NUL character.")
    if len(name) > LONGEST_NAME:
        raise Unfit(f"it has {len(name):,} characters; a name has at most {LONGEST_NAME:,}.")
    if name == "*":
        raise Unfit("“*” is kept for figures over all.")
    return name


def _text(text: str) -> str:
    if "\0" in text:
        raise Unfit("it holds a NUL character.")
    return text


def _number(text: str) -> float | None:
    return None if is_nothing(text) else number_of(text)


def _whole(text: str) -> int | None:
    value = _number(text)
    if value is None:
        return None
    if not value.is_integer() or not 0 <= value < 2**53:
        raise Unfit(f"“{shortened(text)}” is not a whole number from 0.")
    return int(value)


def _names(text: str) -> list[str] | None:
    """Read a list of names: JSON, or names with | between."""
    if is_nothing(text):
        return None
    if text.lstrip().startswith("["):
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unfit(f"“{shortened(text)}” is not a JSON list of names.") from error
        if not all(isinstance(entry, str) for entry in entries):
            raise Unfit("a list of names holds texts only.")
    else:
        entries = text.split("|")
    names = [_name(entry) for entry in entries]
    if not all(names):
        raise Unfit("one of the names is empty.")
    return names


def _time(text: str) -> datetime | None:
    if is_nothing(text):
        return None
    try:
        time = datetime.fromisoformat(text.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise Unfit(f"“{shortened(text)}” is not a time such as 2026-11-30T08:00:00Z.") from error


def _yes(text: str) -> bool:
    word = text.strip().casefold()
    if word not in YES | NO:
        raise Unfit(f"“{shortened(text)}” is neither true nor false.")
    return word in YES


READERS: dict[str, Callable[[str], Any]] = {
    "name": _name,
    "text": _text,
    "number": _number,
    "whole": _whole,
    "names": _names,
    "time": _time,
    "yes": _yes,
}


def shortened(text: str, most: int = 60) -> str:
    """Cut a text so that it can be shown in a message."""
    shown = "".join(char if char.isprintable() else "·" for char in text[: most + 1])
    return shown if len(text) <= most else shown[:most] + "…"
