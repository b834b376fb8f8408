"""Answers of a chat endpoint that are no good ones: whether to ask again, when, and what to tell."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

AGAIN = frozenset({408, 409, 425, 429})
"""Answers, beside those from 500 on, after which the same request may succeed."""

POINTLESS = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""What stands in a 429 that no waiting helps."""

REFUSING = (
    "content_filter",
    "content_policy",
    "content policy",
    "data_inspection_failed",
    "moderation",
    "responsibleai",
    "safety system",
)
"""What services write when their filter, and not the request's form, turns a picture or a prompt away."""

UNFIT = frozenset({400, 422})
"""Answers that mean: this request cannot be answered."""

FORMS = ("response_format", "json_schema", "logprobs")
"""What stands in such an answer where the form demanded is not to be had."""


class Failed(Exception):  # noqa: N818 - what happened, without the library's error behind it
    """A request that brought no answer.

    Attributes:
        again: Whether the same request may succeed later.
        wait: Seconds that the endpoint asks to wait, None if it does not say.
        refused: Whether the endpoint's filter turned the picture or the prompt away.
        lost: Whether the endpoint may have answered, and charged, all the same.
    """

    def __init__(
        self,
        reason: str,
        *,
        again: bool = False,
        wait: float | None = None,
        refused: bool = False,
        lost: bool = False,
    ) -> None:
        """Keep what is to be known."""
        super().__init__(reason)
        self.again, self.wait, self.refused, self.lost = again, wait, refused, lost
        self.attempts, self.losses = 1, 0


def hopeless(status: int, body: str) -> tuple[str, str] | None:
    """Say what is wrong, and what to do, if no request of this kind can be answered."""
    if status == 401:
        return "the endpoint does not take the key", "Look at key_env or key_file in the card."
    if status == 404:
        return "there is no such model or address", "Look at base_url and model in the card."
    if status in UNFIT and any(word in body for word in FORMS):
        advice = "Write answer: text in the card, and ask for the form in the prompt."
        return "the endpoint cannot answer in the form that the card demands", advice
    return None


def message_of(body: bytes) -> str:
    """Find the sentence in an error's body."""
    text = body.decode("utf-8", "replace").strip()
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    inner = told.get("error", told) if isinstance(told, dict) else told
    said = inner.get("message", inner) if isinstance(inner, dict) else inner
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read when to ask again: in milliseconds, seconds or as a date."""
    told = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(told[name]) * unit
        except (KeyError, ValueError):
            continue
        return seconds if 0 <= seconds < 1e9 else None
    try:
        left = parsedate_to_datetime(told["retry-after"]) - datetime.now(UTC)
    except (KeyError, ValueError, TypeError):
        return None
    return max(0.0, left.total_seconds())
