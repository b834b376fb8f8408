"""The reading page's server: what a reader's browser may ask, and nothing else.

Before a mark the browser is told how many steps there are and where their pictures lie, and nothing of axis,
strength, item, score or another reader. Addresses of pictures are sealed under the study's key for one session.
"""

from __future__ import annotations

import hmac
import math
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from judge_audit.people.study.marks import Conflict, Malformed, Mark, Unreasoned, read_mark
from judge_audit.people.study.middleware import Guard
from judge_audit.people.study.picture_provider import StaleLadderError, stored_png
from judge_audit.people.study.plan import HALF_PERIOD_MS, Slot, slots_of
from judge_audit.people.study.readers import Reader, by_session, by_token, open_session, sealed

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

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


COOKIE = "reader"
AHEAD = 1
"""Ladders beyond the first unread one that a browser may load already."""

PAGES = {
    "index.html": "text/html",
    "other.html": "text/html",
    "refused.html": "text/html",
    "reading.css": "text/css",
    "reading.js": "text/javascript",
    "stage.js": "text/javascript",
}
"""The files of the page; nothing else on this machine can be asked for."""


def make_app(desk: Desk, hosts: frozenset[str], origin: str) -> Guard:
    """Make the application.

    Args:
        desk: What it knows.
        hosts: Names under which it may be asked.
        origin: The address readers are given.
    """
    pages = Pages(desk)
    routes = [
        Route("/", pages.index),
        Route("/r/{token}", pages.link, methods=["GET", "POST"]),
        Route("/favicon.ico", lambda _request: Response(status_code=204)),
        Route("/page/{name}", pages.file),
        Route("/api/state", pages.state),
        Route("/api/ladder/{place:int}", pages.ladder),
        Route("/api/mark", pages.mark, methods=["POST"]),
        Route("/picture/{place:int}/{name}", pages.picture),
    ]
    handlers = {StaleLadderError: pages.stale, Exception: pages.broken}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), hosts, origin)


@dataclass(frozen=True, slots=True)
class Pages:
    """The answers."""

    desk: Desk

    def index(self, _request: Request) -> Response:
        """Give the page; it is the same for everybody."""
        return _page("index.html")

    def file(self, request: Request) -> Response:
        """Give one of the page's own files."""
        name = request.path_params["name"]
        return _page(name) if name in PAGES and PAGES[name] != "text/html" else _unknown()

    def link(self, request: Request) -> Response:
        """Open a session by a personal link."""
        key, readers = self.desk.readers()
        reader = by_token(readers, request.path_params["token"])
        if reader is None:
            return _page("refused.html", 403)
        held = self.desk.session(request.cookies.get(COOKIE, ""))
        if held and held.reader.reader_id != reader.reader_id and request.method != "POST":
            return _page("other.html", 409)
        answer = RedirectResponse("/", 303)
        if not held or held.reader.reader_id != reader.reader_id:
            text = open_session(reader, key)
            secure = self.desk.secure
            answer.set_cookie(COOKIE, text, httponly=True, samesite="lax", secure=secure, path="/")
        return answer

    def state(self, request: Request) -> Response:
        """Say how far the reader is."""
        session = self.desk.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _stranger()
        study = self.desk.folder.study
        return JSONResponse(
            {
                "study": study.name,
                "reader": session.reader.annotator_id,
                "protocol": study.protocol,
                "half_period": HALF_PERIOD_MS,
                "objectionable": study.objectionable,
                "steps": study.steps,
                "of": len(session.slots),
                "at": self.desk.first_open(session),
                "form": self._form(session),
            }
        )

    def _form(self, session: Session) -> str:
        """Give the token that a page of ours sends with every mark."""
        return sealed(self.desk.readers()[0], "form", session.reader.reader_id, session.nonce)

    def _slot(self, session: Session, place: int) -> Slot | None:
        """Give a slot that the reader may see now: the next ones and those before."""
        known = 1 <= place <= min(self.desk.first_open(session) + AHEAD, len(session.slots))
        return session.slots[place - 1] if known else None

    def _picture_names(self, session: Session, place: int) -> list[str]:
        key = self.desk.readers()[0]
        return [
            sealed(key, "picture", session.reader.reader_id, session.nonce, str(place), str(step))[:40]
            for step in range(self.desk.folder.study.steps + 1)
        ]

    def ladder(self, request: Request) -> Response:
        """Say where the pictures of a ladder lie, and what this reader marked on it."""
        session = self.desk.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _stranger()
        place = request.path_params["place"]
        slot = self._slot(session, place)
        if slot is None:
            return _unknown()
        self.desk.gallery.rungs(slot.ladder)  # a ladder that is not the planned one is not begun
        return JSONResponse(
            {
                "slot": place,
                "pictures": [f"/picture/{place}/{name}" for name in self._picture_names(session, place)],
                "width": slot.ladder.width,
                "height": slot.ladder.height,
                "kept": self._kept(session, slot),
            }
        )

    def _kept(self, session: Session, slot: Slot) -> dict[str, Any] | None:
        """Tell a reader's own latest mark, in steps."""
        row = self.desk.marks.latest(session.reader, slot)
        if row is None:
            return None
        objectionable = row["objectionable"]
        return {
            "revision": row["revision"],
            "perceptible": _step(slot, row["perceptible"]),
            "objectionable": None if objectionable is None else _step(slot, objectionable),
            "asked": objectionable is not None,
            "done": self.desk.marks.done(session.reader, slot),
        }

    def picture(self, request: Request) -> Response:
        """Give one picture of a ladder."""
        session = self.desk.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _stranger()
        place = request.path_params["place"]
        slot = self._slot(session, place)
        names = self._picture_names(session, place) if slot else []
        if slot is None or request.path_params["name"] not in names:
            return _unknown()
        step = names.index(request.path_params["name"])
        pixels = self.desk.gallery.rungs(slot.ladder)[slot.rung(step)]
        return Response(stored_png(pixels), media_type="image/png")

    async def mark(self, request: Request) -> Response:
        """Keep a mark."""
        from starlette.concurrency import run_in_threadpool  # noqa: PLC0415 - beside its only use

        body = await request.body()
        return await run_in_threadpool(self._mark, request, body)

    def _mark(self, request: Request, body: bytes) -> Response:
        session = self.desk.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _stranger()
        given = request.headers.get("x-form", "")
        json_sent = request.headers.get("content-type", "").startswith("application/json")
        if not json_sent or not hmac.compare_digest(given.encode(), self._form(session).encode()):
            return _answer(403, "This mark did not come from the reading page. Load it again.")
        try:
            sent = read_mark(body, self.desk.folder.study.steps)
        except Malformed:
            return _answer(400, "This mark cannot be read.")
        slot = self._slot(session, sent.slot)
        if slot is None or sent.slot > self.desk.first_open(session):
            return _unknown()
        return self._add(session, slot, sent.mark)

    def _add(self, session: Session, slot: Slot, mark: Mark) -> Response:
        """Keep a mark that was read, and say how the ladder stands."""
        try:
            self.desk.marks.add(session.reader, slot, mark, datetime.now(UTC))
        except Conflict:
            return JSONResponse({"kept": self._kept(session, slot)}, 409)
        except Unreasoned:
            return _answer(422, "Say why the mark is corrected.")
        return JSONResponse({"kept": self._kept(session, slot), "at": self.desk.first_open(session)})

    def stale(self, _request: Request, error: Exception) -> Response:
        """Tell the owner which ladder cannot be shown, and the reader only that it cannot."""
        self.desk.say(str(error))
        return _answer(503, "This picture cannot be shown at the moment. The study's owner has been told.")

    def broken(self, _request: Request, error: Exception) -> Response:
        """Tell the owner what went wrong, and the reader only that something did."""
        self.desk.say(f"unexpected {type(error).__name__}: {error}. Nothing that was marked is lost.")
        return _answer(500, "Something went wrong. What you marked is kept; load the page again.")


def _step(slot: Slot, strength: float) -> int | None:
    return slot.step(strength) if math.isfinite(strength) else None


def _page(name: str, status: int = 200) -> Response:
    content = (files("judge_audit.people.study") / "page" / name).read_text(encoding="utf-8")
    if PAGES[name] == "text/html":
        return HTMLResponse(content, status)
    return Response(content, status, media_type=PAGES[name])


def _answer(status: int, said: str) -> Response:
    return JSONResponse({"said": said}, status)


def _stranger() -> Response:
    return _answer(401, "Open this page by your personal link.")


def _unknown() -> Response:
    return PlainTextResponse("There is no such page.", 404)
