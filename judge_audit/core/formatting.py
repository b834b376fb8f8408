"""Numbers, times and untrusted text as people read them on a terminal."""

from __future__ import annotations

import math
from datetime import UTC, datetime


def harmless(text: str) -> str:
    """Put a question mark for every sign that a terminal would obey: names come from untrusted files."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def finite(value: float) -> float | None:
    """Give a number, or None where there is none."""
    return value if math.isfinite(value) else None


def number(value: float) -> str:
    """Write a lift for people."""
    return f"{value:+.3f}".replace("-", "−") if math.isfinite(value) else "unknown"


def about(count: int) -> str:
    """Write a number that is a guess: two digits, the rest zeros."""
    step = 10 ** max(0, len(str(count)) - 2)
    return f"{round(count / step) * step:,}"


def percent(share: float) -> str:
    """Write a share for people."""
    return f"{100 * share:.0f} %"


def minute(when: datetime | str) -> str:
    """Write a time to the minute, in UTC.

    Args:
        when: The time, with its zone; as text, in ISO 8601.
    """
    time = datetime.fromisoformat(when) if isinstance(when, str) else when
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
