"""An S3 server on loopback whose answers can be made to fail."""

from __future__ import annotations

import logging
import random
import threading

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


class Store:
    """An S3 server whose answers can be made to fail: before the request is done, or after (the answer is lost)."""

    def __init__(self):
        self.share = 0.0
        self.refused = self.lost = 0
        self.down = False
        self._random = random.Random(7)
        self._lock = threading.Lock()
        inner = DomainDispatcherApplication(create_backend_app)

        def app(environ, start):
            with self._lock:
                draw = self._random.random()
            if self.down or draw < self.share / 2:
                self.refused += 1
                return _failed(start)
            if draw < self.share and environ["REQUEST_METHOD"] == "PUT":
                list(inner(environ, lambda *_: None))
                self.lost += 1
                return _failed(start)
            return inner(environ, start)

        self.server = make_server("127.0.0.1", 0, app, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def _failed(start):
    start("503 Service Unavailable", [("Content-Length", "0")])
    return [b""]


def serving(monkeypatch, cache):
    """Serve a store with one bucket, `audits`, and point everything that speaks S3 to it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = Store()
    for name, value in (
        ("AWS_ENDPOINT_URL", store.url),
        ("AWS_ACCESS_KEY_ID", "planted-key"),
        ("AWS_SECRET_ACCESS_KEY", "planted-secret"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("JUDGE_AUDIT_CACHE", str(cache)),
    ):
        monkeypatch.setenv(name, value)
    import boto3

    boto3.client("s3").create_bucket(Bucket="audits")
    yield store
    store.server.shutdown()
