"""The process of the embedded Prefect server: `python -m judge_audit_flows.server_process`.

It chooses a free port, writes it to its output as one line, and serves until it is ended or its parent
is gone.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

from judge_audit_flows.parents import die_with_parent


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
    door.bind(("127.0.0.1", 0))
    port = door.getsockname()[1]
    os.environ["PREFECT_SERVER_API_HOST"] = "127.0.0.1"
    os.environ["PREFECT_SERVER_API_PORT"] = str(port)
    print(port, flush=True)  # noqa: T201 - what the parent reads

    import uvicorn  # noqa: PLC0415 - after the environment is set
    from prefect.server.api.server import create_app  # noqa: PLC0415

    config = uvicorn.Config(create_app(final=True), log_level="warning", lifespan="on", access_log=False)
    uvicorn.Server(config).run(sockets=[door])


if __name__ == "__main__":
    main()
