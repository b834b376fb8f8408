from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

from judge_audit import progress as shown_progress


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
