"""The reading page's server: what a reader's browser may ask, and nothing else.

Before a mark the browser is told how many steps there are and where their pictures are, and nothing of axis,
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
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from judge_audit.people.study.marks import Conflict, Malformed, Mark, Unreasoned, read_mark
from judge_audit.people.study.picture_provider import StaleLadderError, stored_png
from judge_audit.people.study.plan import HALF_PERIOD_MS, Slot, slots_of
from judge_audit.people.study.readers import Reader, by_session, by_token, open_session, sealed

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.middleware.base import RequestResponseEndpoint
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from judge_audit.people.study.folder import StudyFolder
    from judge_audit.people.study.marks import Marks
    from judge_audit.people.study.picture_provider import PictureProvider


@dataclass(frozen=True, slots=True)
class Session:
    """Who asks: the reader, the random part of the session, and the reader's slots."""

    reader: Reader
    nonce: str
    slots: tuple[Slot, ...]


@dataclass(eq=False, slots=True)
class ServerState:
    """What the server knows: the study, its readers, its marks and its pictures.

    Attributes:
        folder: The study.
        marks: Its marks.
        pictures: Its pictures.
        secure: Whether cookies travel by TLS only.
        say: Tells the study's owner something.
    """

    folder: StudyFolder
    marks: Marks
    pictures: PictureProvider
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
        known = by_session(readers, cookie, key)
        return Session(*known, self.slots(known[0])) if known else None

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


MOST_BODY = 4096
MOST_PATH = 256
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-robots-tag": "noindex",
}
"""Headers of every answer, refusals and failures included."""

SAFE = frozenset({"GET", "HEAD"})


def make_app(state: ServerState, hosts: frozenset[str], origin: str) -> ASGIApp:
    """Make the application: its pages behind a filter of requests.

    Args:
        state: What it knows.
        hosts: Names under which it may be asked; a name of another site that points here is refused.
        origin: The address readers are given, if it is not the server's own (TLS is terminated in front).
    """
    pages = Pages(state)
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

    async def filtered(request: Request, call_next: RequestResponseEndpoint) -> Response:
        refusal = _refusal(request, hosts, origin)
        response = _refused(*refusal) if refusal else await call_next(request)
        response.headers.update(HEADERS)
        return response

    # Around the whole application, so that the answer to an unexpected error carries the headers too.
    return BaseHTTPMiddleware(Starlette(routes=routes, exception_handlers=handlers), dispatch=filtered)


def _refusal(request: Request, hosts: frozenset[str], origin: str) -> tuple[int, str] | None:
    """Say why a request is not served, None if it is."""
    host = request.headers.get("host", "")
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if name.lower() not in hosts:
        return 421, "This address is not served here."
    if len(request.scope["raw_path"]) > MOST_PATH:
        return 414, "That address is too long."
    if request.method not in SAFE:
        sender = request.headers.get("origin")
        ours = sender is None or sender == origin or urlsplit(sender).netloc == host
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin" or not ours:
            return 403, "This request came from another site."
    return None


def _refused(status: int, words: str) -> Response:
    return PlainTextResponse(words, status, headers={"connection": "close"})


@dataclass(frozen=True, slots=True)
class Pages:
    """The answers."""

    server: ServerState

    def index(self, _request: Request) -> Response:
        """Give the page; it is the same for everybody."""
        return _page("index.html")

    def file(self, request: Request) -> Response:
        """Give one of the page's own files."""
        name = request.path_params["name"]
        return _page(name) if name in PAGES and PAGES[name] != "text/html" else _unknown()

    def link(self, request: Request) -> Response:
        """Open a session by a personal link."""
        key, readers = self.server.readers()
        reader = by_token(readers, request.path_params["token"])
        if reader is None:
            return _page("refused.html", 403)
        session = self.server.session(request.cookies.get(COOKIE, ""))
        if session and session.reader.reader_id != reader.reader_id and request.method != "POST":
            return _page("other.html", 409)
        answer = RedirectResponse("/", 303)
        if not session or session.reader.reader_id != reader.reader_id:
            text = open_session(reader, key)
            secure = self.server.secure
            answer.set_cookie(COOKIE, text, httponly=True, samesite="lax", secure=secure, path="/")
        return answer

    def state(self, request: Request) -> Response:
        """Say how far the reader is."""
        session = self.server.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _unknown_reader()
        study = self.server.folder.study
        return JSONResponse(
            {
                "study": study.name,
                "reader": session.reader.annotator_id,
                "protocol": study.protocol,
                "half_period": HALF_PERIOD_MS,
                "objectionable": study.objectionable,
                "steps": study.steps,
                "of": len(session.slots),
                "at": self.server.first_open(session),
                "form": self._form(session),
            }
        )

    def _form(self, session: Session) -> str:
        """Give the token that a page of ours sends with every mark."""
        return sealed(self.server.readers()[0], "form", session.reader.reader_id, session.nonce)

    def _slot(self, session: Session, place: int) -> Slot | None:
        """Give a slot that the reader may see now: the next ones and those before."""
        known = 1 <= place <= min(self.server.first_open(session) + AHEAD, len(session.slots))
        return session.slots[place - 1] if known else None

    def _picture_names(self, session: Session, place: int) -> list[str]:
        key = self.server.readers()[0]
        return [
            sealed(key, "picture", session.reader.reader_id, session.nonce, str(place), str(step))[:40]
            for step in range(self.server.folder.study.steps + 1)
        ]

    def ladder(self, request: Request) -> Response:
        """Say where the pictures of a ladder are, and what this reader marked on it."""
        session = self.server.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _unknown_reader()
        place = request.path_params["place"]
        slot = self._slot(session, place)
        if slot is None:
            return _unknown()
        self.server.pictures.rungs(slot.ladder)  # a ladder that is not the planned one is not begun
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
        row = self.server.marks.latest(session.reader, slot)
        if row is None:
            return None
        objectionable = row["objectionable"]
        return {
            "revision": row["revision"],
            "perceptible": _step(slot, row["perceptible"]),
            "objectionable": None if objectionable is None else _step(slot, objectionable),
            "asked": objectionable is not None,
            "done": self.server.marks.done(session.reader, slot),
        }

    def picture(self, request: Request) -> Response:
        """Give one picture of a ladder."""
        session = self.server.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _unknown_reader()
        place = request.path_params["place"]
        slot = self._slot(session, place)
        names = self._picture_names(session, place) if slot else []
        if slot is None or request.path_params["name"] not in names:
            return _unknown()
        step = names.index(request.path_params["name"])
        pixels = self.server.pictures.rungs(slot.ladder)[slot.rung(step)]
        return Response(stored_png(pixels), media_type="image/png")

    async def mark(self, request: Request) -> Response:
        """Keep a mark."""
        body = b""
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BODY:
                    return _refused(413, "That is too long.")
        except ClientDisconnect:
            return _refused(413, "That is too long.")
        return await run_in_threadpool(self._mark, request, body)

    def _mark(self, request: Request, body: bytes) -> Response:
        session = self.server.session(request.cookies.get(COOKIE, ""))
        if session is None:
            return _unknown_reader()
        form = request.headers.get("x-form", "")
        json_sent = request.headers.get("content-type", "").startswith("application/json")
        if not json_sent or not hmac.compare_digest(form.encode(), self._form(session).encode()):
            return _answer(403, "This mark did not come from the reading page. Load it again.")
        try:
            place, mark = read_mark(body, self.server.folder.study.steps)
        except Malformed:
            return _answer(400, "This mark cannot be read.")
        slot = self._slot(session, place)
        if slot is None or place > self.server.first_open(session):
            return _unknown()
        return self._add(session, slot, mark)

    def _add(self, session: Session, slot: Slot, mark: Mark) -> Response:
        """Keep a mark that was read, and say how the ladder stands."""
        try:
            self.server.marks.add(session.reader, slot, mark, datetime.now(UTC))
        except Conflict:
            return JSONResponse({"kept": self._kept(session, slot)}, 409)
        except Unreasoned:
            return _answer(422, "Say why the mark is corrected.")
        return JSONResponse({"kept": self._kept(session, slot), "at": self.server.first_open(session)})

    def stale(self, _request: Request, error: Exception) -> Response:
        """Tell the owner which ladder cannot be shown, and the reader only that it cannot."""
        self.server.say(str(error))
        return _answer(503, "This picture cannot be shown at the moment. The study's owner has been told.")

    def broken(self, _request: Request, error: Exception) -> Response:
        """Tell the owner what went wrong, and the reader only that something did."""
        self.server.say(f"unexpected {type(error).__name__}: {error}. Nothing that was marked is lost.")
        return _answer(500, "Something went wrong. What you marked is kept; load the page again.")


def _step(slot: Slot, strength: float) -> int | None:
    return slot.step(strength) if math.isfinite(strength) else None


def _page(name: str, status: int = 200) -> Response:
    content = (files("judge_audit.people.study") / "page" / name).read_text(encoding="utf-8")
    if PAGES[name] == "text/html":
        return HTMLResponse(content, status)
    return Response(content, status, media_type=PAGES[name])


def _answer(status: int, sentence: str) -> Response:
    return JSONResponse({"said": sentence}, status)


def _unknown_reader() -> Response:
    return _answer(401, "Open this page by your personal link.")


def _unknown() -> Response:
    return PlainTextResponse("There is no such page.", 404)
