"""A small audit to break: pictures, a slow judge that writes down what it is shown, and what its lake came to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

from judge_audit.lake import Lake

COMMAND = [sys.executable, "-c", "from judge_audit.cli import main; main()"]
RESULTS = ("curves", "measures", "verdicts", "standings")
TIMES = ("called_at", "latency_ms", "runtime_id")
JUDGE = """
import pathlib, time
from judge_audit.core.digests import pixel_digest
HERE = pathlib.Path(__file__).parent
def answer(image):
    return float(image[..., 1].mean() + image.std())
def score(images, prompts):
    time.sleep({seconds} * len(images))
    with (HERE / "asked.log").open("a") as file:
        for image in images:
            file.write(f"{{pixel_digest(image)}}\\n")
    return [answer(image) for image in images]
score.pinned = True
{more}
"""


def make(folder: Path, *, pictures: int = 40, seconds: float = 0.02, more: str = "") -> Path:
    """Write the pictures, their list and the judge."""
    lines = ["item_id,source,prompt,image"]
    for number in range(pictures):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number, 20 + number / 2, (48, 48, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},a picture,{number}.png")
    (folder / "items.csv").write_text("\n".join(lines))
    (folder / "slow_judge.py").write_text(JUDGE.format(seconds=seconds, more=more))
    return folder


def words(lake: str, *more: str, judge: str = "slow_judge:score") -> list[str]:
    """Give the command that audits the judge."""
    given = ["run", "--items", "items.csv", "--judge", judge, "--axes", "saturation+,blur"]
    given += ["--ladder-items", "8", "--pairs-per-kind", "0", "--workers", "2", "--lake", lake]
    return [*COMMAND, *given, "--report", f"{Path(lake).name}-report", *more]


def run(folder: Path, asked: list[str], timeout: float = 600, **options) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", **options.pop("env", {})}
    return subprocess.run(
        asked,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
        check=False,
        **options,
    )


def good(done: subprocess.CompletedProcess[str]) -> str:
    """See that a run was good, and give what it printed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def told(done: subprocess.CompletedProcess[str], code: int) -> str:
    """See that a run failed as it should, without a traceback, and give what it said last."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr[done.stderr.rindex("judge-audit: ") :]


def rows(lake: str | Path) -> dict:
    """Every row of a lake's answers and of its last audit's results, ids of audits and times aside."""
    held = Lake.open(lake, create=False)
    audits = [row for row in held.read("audits").to_pylist() if row["status"] == "complete"]
    last = max(audits, key=lambda row: row["ended_at"])["audit_id"]
    found = {name: held.read(name, audit_id=last).drop_columns(["audit_id"]).to_pylist() for name in RESULTS}
    for name in ("calls", "scores"):
        table = held.read(name)
        plain = table.drop_columns([column for column in TIMES if column in table.column_names]).to_pylist()
        found[name] = sorted(plain, key=lambda row: json.dumps(row, sort_keys=True))
    return found


def same(one: str | Path, other: str | Path) -> None:
    """See that two lakes hold the same, value for value, and nothing twice."""
    first, second = rows(one), rows(other)
    for name in first:
        assert first[name] == second[name], name
    keys = [(row["judge_id"], row["probe_id"], row["repeat"]) for row in second["calls"]]
    assert len(keys) == len(set(keys))


def asked(folder: Path) -> Counter:
    """The pictures that the judge was shown, each as often as it was."""
    log = folder / "asked.log"
    return Counter(log.read_text().split()) if log.exists() else Counter()


def answers(lake: str | Path) -> Counter:
    """The pictures whose answers are in the lake."""
    if not (Path(lake) / "lake.json").exists():
        return Counter()
    calls = Lake.open(lake, create=False).read("calls", is_control=False).to_pylist()
    return Counter(call["pixel_digest"] for call in calls if call["state"] == "ok")


def below(pid: int) -> dict[int, str]:
    """Processes started by a process, directly or not, with their command lines."""
    parents, lines = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                lines[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, grown = {pid}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return {one: lines[one] for one in found - {pid} if one in lines}
