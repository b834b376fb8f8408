"""Numbers, times and names as texts for people."""

from __future__ import annotations

import math
from datetime import UTC, datetime

DASH = "–"
"""What is written for a number that is unknown."""


def harmless(text: str) -> str:
    """Put a question mark for every control character, which a terminal would obey: names come from outside."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def finite(value: float) -> float | None:
    """Give a number, or None where there is none."""
    return value if math.isfinite(value) else None


def number(value: float) -> str:
    """Write a lift with three decimals and its sign."""
    return true_minus(f"{value:+.3f}") if math.isfinite(value) else "unknown"


def true_minus(text: str) -> str:
    """Put minus signs for hyphens."""
    return text.replace("-", "−")


def signed(value: float) -> str:
    """Write a difference: two decimals and its sign, none for 0."""
    text = f"{value:+.2f}"
    return "0.00" if text in {"-0.00", "+0.00"} else true_minus(text)


def lift_text(value: float | None) -> str:
    """Write a lift as `signed` does; a dash where it is unknown."""
    return DASH if value is None else signed(value)


def number_text(value: float | None) -> str:
    """Write a number with three significant digits and a true minus sign."""
    if value is None:
        return DASH
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    if "e" in text:
        text = f"{value:.6f}".rstrip("0") if abs(value) < 1 else f"{value:.0f}"
    return true_minus(text)


def about(count: int) -> str:
    """Write a number that is a guess: two digits, the rest zeros."""
    step = 10 ** max(0, len(str(count)) - 2)
    return f"{round(count / step) * step:,}"


def percent(share: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * share:.0f} %"


def percentile(value: float) -> str:
    """Write a percentile, which is in percent already."""
    return f"{value:.0f} %"


def share_text(share: float) -> str:
    """Write a share as a percentage; one that is small but not nothing never reads as 0 %."""
    return percent(share) if 100 * share >= 1 or share == 0 else "under 1 %"


def fine_percent(share: float) -> str:
    """Write a share, which may be a difference of two: with a decimal below 10 %."""
    return true_minus(f"{100 * share:.1f} %" if 0 < abs(share) < 0.0995 else percent(share))


def shortened(text: str, limit: int = 44) -> str:
    """Cut a long name, with an ellipsis where it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def minute(when: datetime | str) -> str:
    """Write a time to the minute, in UTC.

    Args:
        when: The time, with its zone; as text, in ISO 8601.
    """
    time = datetime.fromisoformat(when) if isinstance(when, str) else when
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
