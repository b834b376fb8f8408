"""What stands before the reading page: it serves known hosts, small bodies and its own pages' requests only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import Any

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 4096
MOST_PATH = 256
HEADERS = (
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
            b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
    ),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"x-robots-tag", b"noindex"),
)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
SAFE = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Guard:
    """Stands around an application.

    Attributes:
        app: The application.
        hosts: Names under which it may be asked; a name of another site that points here is refused.
        origin: The address readers are given, if it is not the server's own (TLS stands in front).
    """

    app: App
    hosts: frozenset[str]
    origin: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        sealed = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal:
            await _refuse(sealed, *refusal)
            return
        body = b"" if scope["method"] in SAFE else await _body(receive)
        if body is None:
            await _refuse(sealed, 413, "That is too long.")
            return
        await self.app(scope, _replayed(body, receive), sealed)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Say why a request is not served, None if it is."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if name.lower() not in self.hosts:
            return 421, "This address is not served here."
        if len(scope["raw_path"]) > MOST_PATH:
            return 414, "That address is too long."
        if scope["method"] not in SAFE:
            site = headers.get(b"sec-fetch-site", b"same-origin")
            origin = headers.get(b"origin")
            if site != b"same-origin" or (
                origin is not None and not self._ours(origin.decode("latin-1"), host)
            ):
                return 403, "This request came from another site."
        return None

    def _ours(self, origin: str, host: str) -> bool:
        """Tell whether a page of ours sent a request."""
        return origin == self.origin or urlsplit(origin).netloc == host


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending


async def _body(receive: Receive) -> bytes | None:
    """Read a body, None if it is longer than any of ours."""
    held = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        held += bytes(message.get("body", b""))
        if len(held) > MOST_BODY:
            return None
        if not message.get("more_body"):
            return held


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Hand a body that was read to the application."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _refuse(send: Send, status: int, said: str) -> None:
    content = said.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(content)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
