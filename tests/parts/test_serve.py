"""`judge-audit serve` as a process: a server of its own, the deployments, an end that leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from urllib.request import ProxyHandler, build_opener

import pytest
from deployed_project import descendants, end, make_project, wait_for

pytest.importorskip("prefect")
pytestmark = [pytest.mark.parts, pytest.mark.timeout(400)]

SERVE = (
    "from judge_audit_flows.deployment.serve import run_serve; "
    "run_serve(only=('nightly', 'tidy'), port={port}, say=print)"
)


def serving(folder, port="None"):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    with (folder / "serve.log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-u", "-c", SERVE.format(port=port)],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment | {"NO_COLOR": "1"},
            start_new_session=True,
        )


def said(folder, word):
    return lambda: [line for line in (folder / "serve.log").read_text().splitlines() if word in line]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_serves_with_a_server_and_page_of_its_own_and_ends_without_a_trace(tmp_path):
    make_project(tmp_path)
    process = serving(tmp_path)
    try:
        wait_for(said(tmp_path, "End it with Ctrl-C."), 240)
        address = said(tmp_path, "Prefect's page: ")()[0].split()[2]
        assert address.startswith("http://127.0.0.1:")
        ask = build_opener(ProxyHandler({})).open
        with ask(f"{address}/api/deployments/name/judge-audit-nightly/nightly", timeout=20) as answer:
            nightly = json.load(answer)
        assert nightly["parameters"] == {"audit": str(tmp_path / "audit.yaml")}
        assert [one["schedule"]["timezone"] for one in nightly["schedules"]] == ["UTC"]
        with ask(address, timeout=20) as page:
            assert b"<html" in page.read()
        started = descendants(process.pid)
        assert started, "the server"
        process.send_signal(signal.SIGINT)  # which it hands on to itself as SIGTERM
        assert process.wait(60) == 0
        assert not said(tmp_path, "Traceback")()
        wait_for(lambda: not any(alive(pid) for pid in started), 20)
    finally:
        end(process)


def test_two_do_not_serve_one_lake_and_a_port_that_is_taken_is_told(tmp_path):
    import socket

    from judge_audit_flows.runtime.server import lasting_server, locked

    from judge_audit.core.errors import UsageError

    held = locked(tmp_path / "held")
    with (
        held,
        pytest.raises(UsageError, match="another `judge-audit serve` runs"),
        lasting_server(tmp_path / "held"),
    ):
        pytest.fail("it started")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match="it is taken"), lasting_server(tmp_path / "free", port):
            pytest.fail("it started")
