"""What the reading page's server knows: the study, its readers as they stand now, their marks and pictures."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_audit.people.study.plan import Slot, slots_of
from judge_audit.people.study.readers import Reader, by_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.people.study.folder import StudyFolder
    from judge_audit.people.study.marks import Marks
    from judge_audit.people.study.picture_provider import Gallery


@dataclass(frozen=True, slots=True)
class Session:
    """Who asks: the reader, the random part of the session, and the reader's slots."""

    reader: Reader
    nonce: str
    slots: tuple[Slot, ...]


@dataclass(eq=False, slots=True)
class Desk:
    """What the server knows: the study, its readers, its marks and its pictures.

    Attributes:
        folder: The study.
        marks: Its marks.
        gallery: Its pictures.
        secure: Whether cookies travel by TLS only.
        say: Tells the study's owner something.
    """

    folder: StudyFolder
    marks: Marks
    gallery: Gallery
    secure: bool
    say: Callable[[str], None]
    _readers: tuple[int, bytes, tuple[Reader, ...]] = (-1, b"", ())
    _slots: dict[str, tuple[Slot, ...]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def readers(self) -> tuple[bytes, tuple[Reader, ...]]:
        """Give key and readers as they stand in the folder now: a revoked link ends at once."""
        changed = self.folder.changed_at()
        with self._lock:
            if changed != self._readers[0]:
                self._readers = (changed, *self.folder.readers())
            return self._readers[1:]

    def slots(self, reader: Reader) -> tuple[Slot, ...]:
        """Give a reader's slots."""
        with self._lock:
            if reader.reader_id not in self._slots:
                self._slots[reader.reader_id] = slots_of(self.folder.study, reader.reader_id)
            return self._slots[reader.reader_id]

    def session(self, cookie: str) -> Session | None:
        """Find out who asks, by what the browser shows; None if nobody known."""
        key, readers = self.readers()
        found = by_session(readers, cookie, key)
        return Session(*found, self.slots(found[0])) if found else None

    def first_open(self, session: Session) -> int:
        """Give the place of the first slot that is not read to its end; one past the last if all are."""
        for place, slot in enumerate(session.slots, 1):
            if not self.marks.done(session.reader, slot):
                return place
        return len(session.slots) + 1
