"""The process of the embedded Prefect server: `python -m judge_audit_flows.server_process`.

It takes the port it is given or chooses a free one, writes it to its output as one line, and serves until it is ended
or its parent is gone.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time

GLANCE_SECONDS = 0.5


def _die_with_parent() -> None:
    """End this process when its parent has ended, however that came about.

    The parent holds the other end of our input; a fork of the parent may hold it too, hence the second look.
    """
    parent = os.getppid()

    def listen() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    def glance() -> None:
        while os.getppid() == parent:
            time.sleep(GLANCE_SECONDS)
        os._exit(0)

    for watch in (listen, glance):
        threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Serve."""
    _die_with_parent()
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(
        socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
    )  # a server that has just ended holds its port a while
    door.bind(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0))
    port = door.getsockname()[1]
    os.environ["PREFECT_SERVER_API_HOST"] = "127.0.0.1"
    os.environ["PREFECT_SERVER_API_PORT"] = str(port)
    os.environ["PREFECT_SERVER_UI_API_URL"] = f"http://127.0.0.1:{port}/api"
    print(port, flush=True)  # noqa: T201 - what the parent reads

    import uvicorn  # noqa: PLC0415 - after the environment is set
    from prefect.server.api.server import create_app  # noqa: PLC0415

    config = uvicorn.Config(create_app(final=True), log_level="warning", lifespan="on", access_log=False)
    uvicorn.Server(config).run(sockets=[door])


if __name__ == "__main__":
    main()
