"""`judges try` with a key: sent to the endpoint, shown and kept nowhere, whatever the endpoint does with it."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
import yaml
from chat_server import Raw, answer, error, serving

from judge_audit.cli import run_command

KEY = "sk-planted/with+signs==1234567890"
SHOWN = [["--json"], ["--traceback"]]


def repeated(request, pixels, number):
    """The key in a number's reply, in prose, in the service's name, and in errors of every kind."""
    told = [
        answer(f"Score: 7 ({KEY})", model=f"model for {KEY}"),
        answer(f"I cannot rate this with {quote(KEY, safe='')}."),
        error(400, f"bad request of {KEY}"),
        Raw(200, f'{{"choices": [{KEY}'.encode()),
    ]
    return told[number % len(told)]


def refused(request, pixels, number):
    return error(401, f"Incorrect API key provided: {KEY}")


def broken(request, pixels, number):
    return error(500, f"worker with {KEY} is gone")


@pytest.fixture(params=["variable", "file"])
def card(request, tmp_path, monkeypatch):
    """Write a card that names a key in either way; the file with it is the only one that may hold it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HIDDEN_ENDPOINT_KEY", raising=False)
    if request.param == "variable":
        monkeypatch.setenv("HIDDEN_ENDPOINT_KEY", KEY)
        named = {"key_env": "HIDDEN_ENDPOINT_KEY"}
    else:
        (tmp_path / "endpoint.key").write_text(f"{KEY}\n", encoding="utf-8")
        named = {"key_file": "endpoint.key"}

    def write(url):
        fields = {
            "kind": "endpoint",
            "name": "x",
            "base_url": url,
            "model": "m",
            "prompt_template": "Rate {prompt}",
        }
        fields |= {"retries": {"attempts": 1}, "scale_low": 0, "scale_high": 10, **named}
        (tmp_path / "card.yaml").write_text(yaml.safe_dump(fields), encoding="utf-8")

    return write


@pytest.mark.parametrize("rule", [repeated, refused, broken])
def test_a_trial_shows_and_writes_no_key(card, tmp_path, capfd, rule):
    with serving(rule) as server:
        card(server.url)
        codes = {run_command(["judges", "try", "card.yaml", *words]) for words in SHOWN}
        assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert codes <= {repeated: {0, 1}, refused: {2}, broken: {1}}[rule]
    told = "".join(capfd.readouterr())
    assert "[key]" in told
    for form in (KEY, quote(KEY, safe=""), json.dumps(KEY)[1:-1], base64.b64encode(KEY.encode()).decode()):
        assert form not in told
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "endpoint.key":
            assert KEY.encode() not in path.read_bytes(), path
