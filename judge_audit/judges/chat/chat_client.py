"""Asking an OpenAI-compatible endpoint: one request at a time per caller, tried again where that may help.

What the endpoint sends is bounded in size and in time. Errors are told in our own words with the key blotted
out, and never with the library's error behind them: that holds the request with its headers.

Answers of a chat endpoint that are no good ones: whether to ask again, when, and what to tell.
"""

from __future__ import annotations

import json
import random
import threading
import time
import weakref
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.judges.reply_parser import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit.judges.cards.redaction import Secrets


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
        content = json.loads(text)
    except (ValueError, RecursionError):
        return text
    inner = content.get("error", content) if isinstance(content, dict) else content
    message = inner.get("message", inner) if isinstance(inner, dict) else inner
    return message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read when to ask again: in milliseconds, seconds or as a date."""
    lowered = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(lowered[name]) * unit
        except (KeyError, ValueError):
            continue
        return seconds if 0 <= seconds < 1e9 else None
    try:
        left = parsedate_to_datetime(lowered["retry-after"]) - datetime.now(UTC)
    except (KeyError, ValueError, TypeError):
        return None
    return max(0.0, left.total_seconds())


MOST_REPLY_BYTES = 4 << 20
MOST_ERROR_BYTES = 64 << 10

NO_KEY = "none"
"""Sent where a card names no key; local servers look at no key."""

CHANCE = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often an answer is tried for.

    Attributes:
        timeout: Seconds for one request.
        attempts: Requests for one answer at most.
        first_wait: Seconds before the second request; each further wait is up to twice as long.
        most_wait: Longest of these waits.
        longest: Longest wait that is granted to an endpoint that asks for one (Retry-After).
    """

    timeout: float = 120.0
    attempts: int = 5
    first_wait: float = 1.0
    most_wait: float = 30.0
    longest: float = 300.0


class _Status(Exception):  # noqa: N818 - carries an answer out of the library
    """An answer that is no good one: status, headers and the beginning of its body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status, self.headers, self.body = status, headers, body


class ChatClient:
    """An endpoint with its key; asked from many threads at once."""

    def __init__(
        self, base_url: str, key: str, hidden: Secrets, patience: Patience, *, name: str = ""
    ) -> None:
        """Make the client; nothing is sent.

        Args:
            base_url: Where the endpoint is, up to and with `/v1`.
            key: The key, empty for none.
            hidden: What must not be told.
            patience: How long and how often it is tried.
            name: The judge's name, for messages.
        """
        import openai  # noqa: PLC0415 - an extra, imported when such a judge is used

        self._openai: Any = openai
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=key or NO_KEY,
            max_retries=0,
            timeout=patience.timeout,
            default_headers={"Accept-Encoding": "identity"},
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False, timeout=patience.timeout, event_hooks={"response": [_no_errors]}
            ),
        )
        weakref.finalize(self, self._client.close)
        self._hidden, self._patience, self._name = hidden, patience, name
        self._lock = threading.Lock()
        self._not_before = 0.0

    def ask(self, fields: Mapping[str, Any]) -> tuple[Any, int, int]:
        """Send one request until it is answered.

        Args:
            fields: The request.

        Returns:
            The body of the answer, how many requests were sent, and how many of them may have been charged
            although their answer was lost.

        Raises:
            Failed: If no answer could be had; says why and how often it was tried.
            UsageError: If no request of this kind can be answered (wrong key, unknown model).
        """
        import tenacity  # noqa: PLC0415 - an extra, like the client itself

        patience, losses, number = self._patience, 0, 0
        growing = tenacity.wait_exponential(multiplier=patience.first_wait, max=patience.most_wait)
        later = growing + tenacity.wait_random(0, patience.first_wait)

        def wait(state: Any) -> float:  # noqa: ANN401 - tenacity's own
            """Wait as long as the endpoint asks, else longer and longer."""
            error = state.outcome.exception()
            return float(later(state)) if error.wait is None else float(error.wait)

        tries = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, Failed) and error.again),
            stop=tenacity.stop_after_attempt(patience.attempts),
            wait=wait,
            reraise=True,
        )
        try:
            for attempt in tries:
                with attempt:
                    number = attempt.retry_state.attempt_number
                    self._hold_back()
                    try:
                        return self._once(fields), number, losses
                    except Failed as failed:
                        losses += failed.lost
                        raise
        except Failed as failed:
            failed.attempts, failed.losses = number, losses
            raise
        raise AssertionError("the last attempt either answers or raises")

    def _once(self, fields: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the endpoint sent
        """Send one request."""
        deadline = time.monotonic() + self._patience.timeout
        failed: Failed | UsageError
        try:
            with self._client.chat.completions.with_streaming_response.create(**fields) as response:
                body = _bounded(response.iter_bytes(), MOST_REPLY_BYTES, deadline)
            return json.loads(body)
        except _TooMuch as error:
            failed = Failed(str(error), again=error.late, lost=True)
        except (ValueError, RecursionError):
            failed = Failed("the reply is not valid JSON", again=True, lost=True)
        except self._openai.APITimeoutError:
            failed = Failed(f"no answer within {self._patience.timeout:g} s", again=True, lost=True)
        except Exception as error:  # noqa: BLE001 - the transport's errors share no class with the client's
            # Versions of the client differ in whether they wrap what the transport raises.
            cause = error.__cause__ or error
            failed = self._told(cause) if isinstance(cause, _Status) else self._broken(cause)
        # Outside the handlers: the error behind it holds the request's headers and must not hang on.
        raise failed

    def _broken(self, error: BaseException) -> Failed:
        """Tell of a connection that could not be made or broke off."""
        sent = "connect" not in type(error).__name__.lower()
        reason = self._clean(str(error)) or type(error).__name__
        return Failed(f"the connection failed: {reason}", again=True, lost=sent)

    def _told(self, answer: _Status) -> Failed | UsageError:
        """Read an answer that is no good one; a UsageError if every request would be answered so."""
        message = self._clean(message_of(answer.body))
        line = f"HTTP {answer.status}{': ' + message if message else ''}"
        whole = answer.body.decode("utf-8", "replace").casefold()
        if advice := hopeless(answer.status, whole):
            return UsageError(f"judge “{self._name}”: {advice[0]} ({line}). {advice[1]}")
        if answer.status in UNFIT | {403, 451} and any(word in whole for word in REFUSING):
            return Failed(line, refused=True)
        again = answer.status >= 500 or answer.status in AGAIN
        wait = retry_after(answer.headers) if again else None
        if any(word in whole for word in POINTLESS):
            return Failed(line)
        if wait is not None and wait > self._patience.longest:
            return Failed(f"{line} [asks to wait {wait:,.0f} s]")
        if wait is not None and answer.status == 429:
            self._pause(wait)
        return Failed(line, again=again, wait=wait)

    def _pause(self, seconds: float) -> None:
        """Hold all requests back: the limit is the endpoint's, not one request's."""
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + seconds)

    def _hold_back(self) -> None:
        """Wait until the endpoint wants to be asked again, each caller a little longer than the last moment."""
        while (left := self._not_before - time.monotonic()) > 0:
            time.sleep(left + CHANCE.uniform(0, min(1.0, self._patience.first_wait)))

    def _clean(self, text: str) -> str:
        return self._hidden.clean(short(text, 500))

    def __repr__(self) -> str:
        return "ChatClient(…)"


class _TooMuch(Exception):  # noqa: N818 - what happened
    """A reply that is too long, or too slow in coming."""

    def __init__(self, reason: str, *, late: bool) -> None:
        super().__init__(reason)
        self.late = late


def _bounded(chunks: Iterable[bytes], most: int, deadline: float, *, cut: bool = False) -> bytes:
    """Read a body within its bounds.

    Args:
        chunks: The body as it comes.
        most: Bytes it may have.
        deadline: When it must have come, on the monotonic clock.
        cut: Whether a longer one is cut instead of refused.
    """
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > most:
            if cut:
                break
            raise _TooMuch(f"the reply is longer than {most:,} bytes", late=False)
        if time.monotonic() > deadline:
            raise _TooMuch("the reply did not end in time", late=True)
    return bytes(body[:most])


def _no_errors(response: Any) -> None:  # noqa: ANN401 - the transport's own type
    """Take an answer that is no good one out of the library's hands: it would read all of its body.

    Raises:
        _Status: If it is one.
    """
    if response.status_code < 300:
        return
    try:
        body = _bounded(response.iter_bytes(), MOST_ERROR_BYTES, time.monotonic() + 10, cut=True)
    except Exception:  # noqa: BLE001 - whatever is wrong with the body, the status says enough
        body = b""
    raise _Status(response.status_code, dict(response.headers), body)
