"""The embedded Prefect server, started for real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("prefect")
pytestmark = [pytest.mark.parts, pytest.mark.timeout(180)]

RUN = """
import sys
from pathlib import Path
from judge_audit_flows.runtime.server import _ask, _drain, embedded_server
with embedded_server(Path(sys.argv[1])) as url:
    from prefect import flow, task
    @task(persist_result=False)
    def one(k):
        return k
    @flow
    def whole():
        return sum(f.result() for f in [one.submit(k) for k in range(20)])
    total = whole()
    _drain(url, 0)
    done = {"task_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}}
    print("records", _ask(url + "/task_runs/count", done), "total", total)
    print("bound to", url)
"""

WAIT = """
import signal, sys, time
from pathlib import Path
from judge_audit_flows.runtime import server
# A shell without job control has what it runs in the background ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
start = server.spawn
def told(*rest):
    process = start(*rest)
    print("server", process.pid, flush=True)
    return process
server.spawn = told
with server.embedded_server(Path(sys.argv[1])) as url:
    print("up", url, flush=True)
    time.sleep(600)
"""


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}


def start(script: str, home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, str(home)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=clean_environment())


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not alive(pid):
            return True
        time.sleep(0.1)
    return False


def test_every_task_of_a_run_is_on_record_and_the_server_listens_on_loopback_only(tmp_path):
    process = start(RUN, tmp_path / "home")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "records 20 total 190" in out
    assert "bound to http://127.0.0.1:" in out


def test_two_runs_at_once_with_one_home_both_succeed(tmp_path):
    runs = [start(RUN, tmp_path / "home") for _ in range(2)]
    for process in runs:
        out, err = process.communicate(timeout=150)
        assert process.returncode == 0, err
        assert "records 20" in out


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_no_server_behind(tmp_path, end):
    process = start(WAIT, tmp_path / "home")
    assert process.stdout is not None
    word, pid = process.stdout.readline().split()
    assert word == "server"
    assert process.stdout.readline().startswith("up http://127.0.0.1:")
    assert alive(int(pid))
    process.send_signal(end)
    process.communicate(timeout=20)
    assert gone_within(int(pid), 10)


def test_a_configured_server_is_used_and_none_is_started(tmp_path, monkeypatch):
    from judge_audit_flows.runtime import server

    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    monkeypatch.setattr(server, "spawn", lambda *_: pytest.fail("a server was started"))
    with server.embedded_server(tmp_path / "home") as url:
        assert url == "http://127.0.0.1:9/api"
    assert os.environ["PREFECT_API_URL"] == "http://127.0.0.1:9/api"
    assert not (tmp_path / "home").exists()


def test_a_server_that_cannot_start_is_told_with_its_log(tmp_path, monkeypatch):
    from judge_audit_flows.runtime import server

    from judge_audit.core.errors import MachineryError

    def broken(folder, _settings):
        with (folder / server.LOG).open("a", encoding="utf-8") as stream:
            script = "import sys; sys.exit('the database is locked')"
            pipe = subprocess.PIPE
            return subprocess.Popen([sys.executable, "-c", script], stdout=pipe, stderr=stream, text=True)

    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(server, "spawn", broken)
    with pytest.raises(MachineryError, match="the database is locked"), server.embedded_server(tmp_path):
        pytest.fail("it came up")
    assert "PREFECT_API_URL" not in os.environ
