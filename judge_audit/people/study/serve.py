"""Running the reading page: check the study, open the port, say what the owner should know."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.network import is_loopback
from judge_audit.lake import Lake
from judge_audit.people.study.folder import register
from judge_audit.people.study.marks import Marks
from judge_audit.people.study.picture_provider import PictureProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from judge_audit.people.study.folder import StudyFolder
    from judge_audit.people.study.server import ServerState
    from judge_audit.stimuli.axes.axis import Axis

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})

EXPOSED = (
    "Warning: this page is now reachable from other machines over plain HTTP. Links and marks can be read and changed "
    "on the way. Put a server that speaks TLS (nginx, Caddy) in front and name its address with --url https://…"
)


def serve_study(
    folder: StudyFolder,
    lake: str,
    axes: Mapping[str, Axis],
    *,
    host: str,
    port: int,
    url: str,
    say: Callable[[str], None],
) -> None:
    """Serve a study until it is interrupted.

    Args:
        folder: The study.
        lake: Where the readings go.
        axes: The axes by name, the project's own among them.
        host: Address to listen on.
        port: Port to listen on; 0 for any free one.
        url: Address under which readers reach the page, "" for the server's own.
        say: Tells the owner something.

    Raises:
        UsageError: If pictures or axes are not the planned ones any more, or the port is taken.
    """
    import uvicorn  # noqa: PLC0415 - only where a page is served

    from judge_audit.people.study.server import ServerState, make_app  # noqa: PLC0415 - it brings the web framework

    pictures = PictureProvider(axes)
    say(f"Checking {len(folder.study.ladders)} ladders …")
    check_ladders(folder, pictures)
    opened_lake = Lake.open(lake)
    register(opened_lake, folder.study)
    marks = Marks(folder.study, opened_lake)
    marks.load()
    state = ServerState(folder, marks, pictures, secure=url.startswith("https://"), say=say)
    parts = urlsplit(url)
    if url and (parts.scheme not in {"http", "https"} or not parts.netloc):
        raise UsageError(f"--url {url}: write https://NAME or http://NAME:PORT.")
    hosts = LOOPBACK | ({parts.hostname} if parts.hostname else set()) | _names(host)
    app = make_app(state, frozenset(hosts), f"{parts.scheme}://{parts.netloc}" if url else "")
    listening = _listen(host, port)
    if not is_loopback(host):
        say(EXPOSED)
    shown = f"[{host}]" if ":" in host else host
    _greet(state, f"http://{shown}:{listening.getsockname()[1]}")
    settings = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        lifespan="off",
    )
    try:
        uvicorn.Server(settings).run(sockets=[listening])
    finally:
        listening.close()


def check_ladders(folder: StudyFolder, pictures: PictureProvider) -> None:
    """Draw every ladder once.

    Raises:
        UsageError: With every ladder that is not the planned one any more.
    """
    faults = []
    for ladder in folder.study.ladders:
        try:
            pictures.rungs(ladder)
        except UsageError as error:
            faults.append(f"{ladder.item_id}: {error}")
    if faults:
        shown = "\n".join(faults[:20])
        more = f"\nand {len(faults) - 20} more." if len(faults) > 20 else ""
        raise UsageError(f"this study cannot be served:\n{shown}{more}")


def _greet(state: ServerState, address: str) -> None:
    """Say where the page is and how far its readers are."""
    _, readers = state.readers()
    study = state.folder.study
    state.say(
        f"Serving “{study.name}” at {address}. Readers open it by their personal links; Ctrl-C ends it."
    )
    if not readers:
        state.say("Nobody is invited yet: judge-audit study readers STUDY --add NAME.")
    for reader in readers:
        done = sum(state.marks.done(reader, slot) for slot in state.slots(reader))
        state.say(f"  {reader.annotator_id}: {done} of {study.slots} read")


def _listen(host: str, port: int) -> socket.socket:
    """Open the port now, so that a taken one is told in words."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(256)
    except OSError as error:
        raise MachineryError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}). Choose another with --port or --host."
        ) from error
    return listening


def _names(host: str) -> set[str]:
    """Names under which a host that is listened on may be asked; of all addresses, those of this machine."""
    if host not in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not listened on
        return {f"[{host}]" if ":" in host else host}
    name = socket.gethostname()
    try:
        addresses = {entry[4][0] for entry in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return {name.lower(), *(f"[{entry}]" if ":" in str(entry) else str(entry) for entry in addresses)}
