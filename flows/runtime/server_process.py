"""The process of the embedded Prefect server: `python -m judge_audit_flows.runtime.server_process`.

It takes the port it is given or chooses a free one, writes it to its output as one line, and serves until it is ended
or its parent is gone.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

from judge_audit_flows.runtime.parent_watch import die_with_parent


def _end_with_input() -> None:
    """End this process when nobody holds the other end of its input any more: its parent does, and has ended."""
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serve."""
    # A fork of the parent may hold the input too, hence both.
    threading.Thread(target=_end_with_input, daemon=True).start()
    die_with_parent()
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
