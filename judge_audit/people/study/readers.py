"""Who may read: personal links, of which only a digest is kept, and the sessions that they open."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DAYS = 14
"""Days a link is good for, unless given otherwise."""

NAME = re.compile(r"[\w.@+ -]{1,80}")
SESSION = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{32})\.([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Reader:
    """One reader of a study.

    Attributes:
        reader_id: A random name that tells nothing.
        annotator_id: Who it is, as in the readings.
        order: Place in which the reader was assigned; the first two make the zones.
        token_hash: SHA-256 of the token in the personal link.
        expires_at: Until when the link is good.
        revoked: Whether it was withdrawn.
    """

    reader_id: str
    annotator_id: str
    order: int
    token_hash: str
    expires_at: datetime
    revoked: bool = False

    def open_at(self, now: datetime) -> bool:
        """Tell whether the reader may read now."""
        return not self.revoked and now < self.expires_at

    def as_json(self) -> dict[str, Any]:
        """Give the reader as plain values."""
        return {**asdict(self), "expires_at": self.expires_at.isoformat()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Reader:
        """Make a reader of what `as_json` gave."""
        return cls(**{**content, "expires_at": datetime.fromisoformat(content["expires_at"])})


def token_hash(token: str) -> str:
    """Digest a token; it is random enough that no salt is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def person(name: str) -> str:
    """Give what two spellings of one person's name have in common."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def add_reader(
    readers: Sequence[Reader], annotator_id: str, now: datetime, days: int = DAYS
) -> tuple[tuple[Reader, ...], str]:
    """Add a reader.

    Returns:
        All readers, and the token of the new one's link: it is shown once and stored nowhere.

    Raises:
        UsageError: If the name cannot be one, or is that of a reader there is: two readings are worth something
            only if they are of two people.
    """
    name = annotator_id.strip()
    if not NAME.fullmatch(name):
        raise UsageError(f"“{name}” is no name for a reader: letters, digits, spaces and . _ @ + - only.")
    if any(person(reader.annotator_id) == person(name) for reader in readers):
        raise UsageError(
            f"there is a reader “{name}” already. Two readers must be two different people; for a new link of the same "
            "person: judge-audit study readers STUDY --renew NAME."
        )
    token = secrets.token_urlsafe(32)
    made = Reader(
        secrets.token_hex(8), name, len(readers) + 1, token_hash(token), now + timedelta(days=_sound(days))
    )
    return (*readers, made), token


def renew(
    readers: Sequence[Reader], annotator_id: str, now: datetime, days: int = DAYS
) -> tuple[tuple[Reader, ...], str]:
    """Give a reader a new link; the old one and every session that it opened end."""
    current = find(readers, annotator_id)
    token = secrets.token_urlsafe(32)
    until = now + timedelta(days=_sound(days))
    made = replace(current, token_hash=token_hash(token), expires_at=until, revoked=False)
    return tuple(made if reader is current else reader for reader in readers), token


def revoke(readers: Sequence[Reader], annotator_id: str) -> tuple[Reader, ...]:
    """Withdraw a reader's link; what was read stays."""
    current = find(readers, annotator_id)
    return tuple(replace(reader, revoked=True) if reader is current else reader for reader in readers)


def find(readers: Sequence[Reader], annotator_id: str) -> Reader:
    """Find a reader by name.

    Raises:
        UsageError: If there is none; names those there are.
    """
    for reader in readers:
        if person(reader.annotator_id) == person(annotator_id):
            return reader
    names = ", ".join(reader.annotator_id for reader in readers) or "none"
    raise UsageError(f"there is no reader “{annotator_id}” in this study; there are: {names}.")


def _sound(days: int) -> int:
    if not 1 <= days <= 366:
        raise UsageError(f"a link is good for 1 to 366 days, not {days}.")
    return days


def by_token(readers: Sequence[Reader], token: str, now: datetime | None = None) -> Reader | None:
    """Find the reader whose link bears a token, None if there is none who may read now."""
    digest = token_hash(token)
    now = now or datetime.now(UTC)
    bearers = [reader for reader in readers if hmac.compare_digest(reader.token_hash, digest)]
    return bearers[0] if bearers and bearers[0].open_at(now) else None


def open_session(reader: Reader, key: bytes) -> str:
    """Make the text that a browser shows to be known as a reader: random, sealed, and bound to the link."""
    nonce = secrets.token_hex(16)
    return f"{reader.reader_id}.{nonce}.{_seal(key, reader, nonce)}"


def by_session(
    readers: Sequence[Reader], text: str, key: bytes, now: datetime | None = None
) -> tuple[Reader, str] | None:
    """Find whose session a text is.

    Returns:
        The reader and the session's own random part; None if it is forged or the reader may not read any more.
    """
    parts = SESSION.fullmatch(text)
    if not parts:
        return None
    reader = next((known for known in readers if known.reader_id == parts[1]), None)
    if reader is None or not hmac.compare_digest(parts[3], _seal(key, reader, parts[2])):
        return None
    return (reader, parts[2]) if reader.open_at(now or datetime.now(UTC)) else None


def _seal(key: bytes, reader: Reader, nonce: str) -> str:
    return sealed(key, "session", reader.reader_id, reader.token_hash, nonce)


def sealed(key: bytes, *parts: str) -> str:
    """Seal texts under a study's key (HMAC-SHA-256 over parts that cannot run together)."""
    content = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in parts)
    return hmac.new(key, content, hashlib.sha256).hexdigest()
