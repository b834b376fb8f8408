"""Times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def minute(when: datetime | str) -> str:
    """Write a time to the minute, in UTC.

    Args:
        when: The time, with its zone; as text, in ISO 8601.
    """
    told = datetime.fromisoformat(when) if isinstance(when, str) else when
    return f"{told.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
