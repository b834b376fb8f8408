"""A small server on loopback that speaks the OpenAI protocol and answers from the pixels of the picture it got."""

from __future__ import annotations

import base64
import io
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from PIL import Image

from judge_audit.core.digests import pixel_digest


def answer(text, *, ending="stop", usage=(100, 5), refusal=None, logprobs=None, **more):
    """Make the body of an answer."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "little-vlm-0107",
        "system_fingerprint": "fp_12ab",
        "choices": [{"index": 0, "message": message, "finish_reason": ending, "logprobs": logprobs}],
    }
    if usage:
        told = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        body["usage"] = told
    return {**body, **more}


def tokens(*places):
    """Make the log probabilities of an answer: each place lists token and probability, the one written first."""
    return {
        "content": [
            {
                "token": place[0][0],
                "logprob": float(np.log(place[0][1])),
                "top_logprobs": [{"token": t, "logprob": float(np.log(p))} for t, p in place],
            }
            for place in places
        ]
    }


def decoded(request):
    """Decode the picture of a request."""
    (url,) = [
        part["image_url"]["url"] for part in request["messages"][-1]["content"] if part["type"] == "image_url"
    ]
    head, _, content = url.partition(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))


class Raw:
    """An answer that is no JSON object: a status, headers, bytes, and what happens to the connection."""

    def __init__(self, status=200, body=b"", headers=None, *, hang=0.0, drip=0, cut=False):
        self.status, self.body, self.headers = status, body, headers or {}
        self.hang, self.drip, self.cut = hang, drip, cut


def error(status, message="no", headers=None, **more):
    body = {"error": {"message": message, "type": "error", **more}}
    return Raw(status, json.dumps(body).encode(), headers)


class ChatServer:
    """The server; `rule(request, pixels, number)` gives a body, a text or a `Raw`.

    Attributes:
        requests: Every request's body, in the order of arrival.
        headers: Their headers.
        seen: Digests of the pictures.
        most: Most requests that were under way at once.
    """

    def __init__(self, rule):
        self.rule = rule
        self.requests, self.headers, self.seen, self.times = [], [], [], []
        self.most = self.under_way = 0
        self.lock = threading.Lock()
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                outer.serve(self)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def serve(self, handler):
        request = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        pixels = decoded(request)
        with self.lock:
            number = len(self.requests)
            self.requests.append(request)
            self.headers.append(dict(handler.headers))
            self.seen.append(pixel_digest(pixels))
            self.times.append(time.monotonic())
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        try:
            told = self.rule(request, pixels, number)
            self.send(handler, told)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True
        finally:
            with self.lock:
                self.under_way -= 1

    def send(self, handler, told):
        told = answer(told) if isinstance(told, str) else told
        if isinstance(told, dict):
            told = Raw(200, json.dumps(told).encode(), {"Content-Type": "application/json"})
        if told.hang:
            self.released.wait(told.hang)
        handler.send_response(told.status)
        headers = {"Content-Type": "application/json", **told.headers}
        length = len(told.body) + (50 if told.cut else 0)
        for name, value in {"Content-Length": str(length), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        for start in range(0, len(told.body), told.drip or len(told.body) or 1):
            handler.wfile.write(told.body[start : start + (told.drip or len(told.body))])
            if told.drip and self.released.wait(0.1):
                break
        if told.cut:
            handler.close_connection = True

    def restart(self):
        self.requests.clear()
        self.headers.clear()
        self.seen.clear()
        self.times.clear()


@contextmanager
def serving(rule):
    """Serve for the time being, in a thread of its own."""
    server = ChatServer(rule)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()
