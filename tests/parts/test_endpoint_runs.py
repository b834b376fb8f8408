"""Endpoint judges through the command: Prefect, threads, processes, kills; the key and the budget through all of it."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from judge_audit.lake import Lake

pytestmark = pytest.mark.parts

KEY = "sk-planted-0987654321"
COMMAND = [sys.executable, "-c", "from judge_audit.cli import main; main()"]
BATCH = 8


def _beside(name):
    path = Path(__file__).parents[1] / "support" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chat = _beside("chat_server")


@pytest.fixture
def folder(tmp_path):
    drawn = np.random.default_rng(6)
    lines = ["item_id,source,prompt,image"]
    for number in range(40):
        pixels = np.clip(drawn.normal(60 + 3 * number, 30, (40, 40, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},picture {number},{number}.png")
    (tmp_path / "items.csv").write_text("\n".join(lines))
    return tmp_path


def write_card(folder, url, **more):
    fields = {
        "kind": "endpoint",
        "name": "vlm",
        "base_url": url,
        "model": "m",
        "prompt_template": "Rate: {prompt}",
    }
    fields |= {"scale_low": 0, "scale_high": 10, "key_env": "THE_ENDPOINT_KEY", "batch_size": BATCH}
    fields |= {"prices": {"currency": "USD", "input": 1000, "output": 1000}, "decoding": {"max_tokens": 5}}
    fields |= {"retries": {"attempts": 2, "first_wait": 0.01}}
    (folder / "vlm.yaml").write_text(yaml.safe_dump({**fields, **more}))


def words(lake, *more):
    given = ["run", "--items", "items.csv", "--judge", "vlm.yaml", "--axes", "blur", "--ladder-items", "8"]
    return [*COMMAND, *given, "--lake", lake, "--report", f"{lake}-report", "--workers", "2", *more]


def run(folder, lake, *more, expected=0):
    environment = {**os.environ, "THE_ENDPOINT_KEY": KEY}
    done = subprocess.run(  # noqa: PLW1510 - the code is asserted below
        words(lake, *more), cwd=folder, capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == expected, done.stdout + done.stderr
    assert KEY not in done.stdout + done.stderr
    return done


def no_key_in(folder):
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 40
    return not [path for path in written if KEY.encode() in path.read_bytes()]


def contrast(request, pixels, number):
    return f"Score: {pixels.std() / 12:.3f}"


@pytest.mark.long
@pytest.mark.parametrize("runner", ["threads", "processes"])
def test_a_budget_holds_for_all_workers_and_going_on_buys_nothing_twice(folder, runner):
    with chat.serving(contrast) as server:
        write_card(folder, server.url)
        done = run(folder, "lake", "--runner", runner, "--max-calls", "50", expected=1)
        assert "the budget is used up: 50 pictures were shown" in done.stderr
        assert "--max-calls 50 will not reach" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(server.requests) == 50
        done = run(folder, "lake", "--runner", runner, "--max-cost", "1000")
        assert "USD" in done.stderr
        in_two = Counter(server.seen)
        server.restart()
        run(folder, "whole", "--runner", runner)
        assert in_two == Counter(server.seen)
        again = run(folder, "lake", "--runner", runner, "--max-calls", "16")
        assert "0 new answers" in again.stdout
        assert "Canaries: 16 canaries asked again: unchanged." in again.stdout
    assert no_key_in(folder)


def test_a_killed_run_buys_at_most_a_batch_of_each_worker_twice(folder):
    def slow(request, pixels, number):
        time.sleep(0.05)
        return contrast(request, pixels, number)

    with chat.serving(slow) as server:
        write_card(folder, server.url, concurrency=4)
        environment = {**os.environ, "THE_ENDPOINT_KEY": KEY}
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = {"cwd": folder, "start_new_session": True, "env": environment, **nowhere}
        with subprocess.Popen(words("lake"), **command) as process:
            while len(server.requests) < 60:
                assert process.poll() is None
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.5)
        run(folder, "lake")
        bought = len(server.requests)
    lake = Lake.open(folder / "lake")
    calls = [row for name in ("calls", "canaries") for row in lake.read(name).to_pylist()]
    held = [call for call in calls if call["served_by"]]
    assert len(held) <= bought <= len(held) + 2 * BATCH
    assert no_key_in(folder)


@pytest.mark.parametrize("runner", ["threads", pytest.param("processes", marks=pytest.mark.long)])
def test_no_traceback_or_log_shows_the_key_whatever_the_endpoint_repeats(folder, runner):
    def telling(request, pixels, number):
        if number < 30:
            return contrast(request, pixels, number)
        return chat.error(401 if number > 40 else 500, f"Incorrect API key provided: {KEY}")

    with chat.serving(telling) as server:
        write_card(folder, server.url)
        done = run(folder, "lake", "--traceback", "--runner", runner, expected=2)
    assert "the endpoint does not take the key" in done.stderr
    assert "[key]" in done.stderr
    assert "Traceback" in done.stderr
    assert no_key_in(folder)
    (database,) = folder.rglob("prefect.db")
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as held:
        told = [row[0] for row in held.execute("SELECT parameters FROM flow_run")]
        kept = "\n".join(held.iterdump())
    assert any("vlm.yaml" in parameters for parameters in told)
    assert KEY not in kept


def test_a_dry_run_tells_the_cost_of_the_whole_by_three_answers(folder):
    with chat.serving(contrast) as server:
        write_card(folder, server.url)
        told = json.loads(run(folder, "lake", "--dry-run", "--json").stdout)
        assert len(server.requests) == 3
    assert told["expected_cost"] == pytest.approx(told["new_calls"] * 0.105)
    assert told["currency"] == "USD"


def test_an_endpoint_that_changes_silently_between_two_nights_is_caught_on_the_second(folder):
    rule = [contrast]

    def behind_the_name(request, pixels, number):
        return rule[0](request, pixels, number)

    with chat.serving(behind_the_name) as server:
        write_card(folder, server.url)
        small = ("--only", "mismatches", "--pairs-per-kind", "0")
        first = run(folder, "lake", *small)
        assert "Canaries: 16 canaries were asked before everything else" in first.stdout
        rule[0] = lambda request, pixels, number: f"Score: {pixels.mean() / 25:.3f}"
        second = run(folder, "lake", *small)
        assert "Canaries: The judge has changed behind its name." in second.stdout
        assert "It is another epoch: the same name answers differently now (from 0 to 1)." in second.stdout
        assert "40 new answers from the judge, 0 taken from the lake." in second.stdout
    document = json.loads((folder / "lake-report" / "report.json").read_text())
    assert (document["canaries"]["epoch"], document["canaries"]["nights"]) == (1, 1)
    assert any("The judge has changed behind its name" in caveat for caveat in document["caveats"])
    assert document["judge"] == "vlm 1 · epoch 1"
