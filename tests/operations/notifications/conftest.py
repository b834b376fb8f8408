from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Listener:
    """A real server on loopback that keeps what it is told and answers as it was told to."""

    def __init__(self):
        self.told, self.answers, self.headers = [], [], {}
        self.hold = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.told.append((self.path, dict(self.headers), body))
                status = owner.answers.pop(0) if owner.answers else 204
                if status == "hang":
                    owner.hold.wait(20)
                    return
                self.send_response(status)
                for name, value in owner.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def listener(monkeypatch):
    monkeypatch.setattr("judge_audit.operations.notifications.send.FIRST_WAIT", 0.01)
    listening = Listener()
    yield listening
    listening.close()
