"""A tiny project, a real Prefect server and a real worker, for tests of what is deployed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import numpy as np
from PIL import Image

JUDGE = """
import pathlib, time
def score(images, prompts):
    time.sleep({pause} * len(images))
    with pathlib.Path(__file__).with_name("asked.log").open("a") as log:
        log.write("." * len(images))
    return [float(image[..., 1].mean() + image.std()) for image in images]
"""
AUDIT = """
items: items.csv
judge: mine:score
axes: [blur]
ladder_items: 4
pairs_per_kind: 0
lake: lake
report: report
"""


def make_project(folder, *, items=12, pause=0.0):
    """Write a project of a few small pictures and a judge that takes `pause` seconds a picture."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["item_id,source,prompt,image"]
    for number in range(items):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number, 20 + number / 2, (32, 32, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},a picture,{number}.png")
    (folder / "items.csv").write_text("\n".join(lines))
    (folder / "mine.py").write_text(JUDGE.format(pause=pause))
    (folder / "audit.yaml").write_text(AUDIT)
    return folder / "audit.yaml"


def worker_process(pool, folder):
    """Start a worker, in a session of its own so that it can be ended with all that it started."""
    with (folder / "worker.log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def descendants(pid):
    """Give the processes that a process has started, and those have: each run of a worker has a session of its own."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children = {}
    for line in listed.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def end(process, sign=signal.SIGKILL):
    """End a process and whatever it has started, at once."""
    for pid in [process.pid, *descendants(process.pid)]:
        with suppress(ProcessLookupError):
            os.kill(pid, sign)
    process.wait(20)


@contextmanager
def worker(pool, folder):
    """Have a worker while something is tested."""
    process = worker_process(pool, folder)
    try:
        yield process
    finally:
        end(process)


def wait_for(what, seconds, pause=0.5):
    """Wait until something is there, and give it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(pause)
    raise AssertionError(f"not within {seconds} s: {what}")
