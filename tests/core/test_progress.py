from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from judge_audit.core import progress as shown_progress


def test_off_a_terminal_stages_are_plain_lines():
    stream = io.StringIO()
    with shown_progress.shown(stream) as progress:
        progress.stage("scoring", 1000)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(progress.advance, [1] * 1000))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "scoring …"
    assert lines[1].startswith("scoring: 1,000 in ")
    assert "\x1b" not in stream.getvalue()


def test_a_long_stage_says_its_rate_and_the_time_left(monkeypatch):
    monkeypatch.setattr(shown_progress, "EVERY", 0.0)
    stream = io.StringIO()
    with shown_progress.shown(stream) as progress:
        progress.stage("scoring", 200)
        progress.advance(50)
    assert "50 of 200" in stream.getvalue()
    assert "s left" in stream.getvalue()


def test_progress_is_silent_once_it_is_over():
    stream = io.StringIO()
    with shown_progress.shown(stream):
        pass
    shown_progress.current_progress().advance(3)
    assert not stream.getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_on_a_terminal_a_bar_shows_stage_count_and_rate():
    import pty

    script = (
        "import time\n"
        "from judge_audit.core.progress import shown\n"
        "with shown() as progress:\n"
        "    progress.stage('asking the judge', 40)\n"
        "    for _ in range(40):\n"
        "        progress.advance()\n"
        "        time.sleep(0.02)\n"
        "    progress.stage('measuring')\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen([sys.executable, "-c", script], stderr=theirs, env=environment) as process:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # the other end is gone once the process is
            while chunk := os.read(ours, 4096):
                said += chunk
        assert process.wait(30) == 0
    os.close(ours)
    text = said.decode()
    assert "asking the judge" in text
    assert "40/40" in text
    assert re.search(r"\d+/s", text)
    assert "measuring" in text
