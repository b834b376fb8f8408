"""The command on real parts: server, workers, kills, a wheel in an empty environment."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from judge_audit.lake import Lake

pytestmark = pytest.mark.parts

ROOT = Path(__file__).parents[2]
COMMAND = [str(Path(sys.executable).with_name("judge-audit"))]
RESULTS = ("curves", "measures", "verdicts", "standings")
JUDGE = """
import pathlib, time
LOG = pathlib.Path(__file__).with_name("asked.log")
def score(images, prompts):
    time.sleep(0.12 * len(images))
    with LOG.open("a") as file:
        for image in images:
            file.write(f"{hash(image.tobytes())}\\n")
    return [float(image[..., 1].mean() + image.std()) for image in images]
"""


@pytest.fixture
def folder(tmp_path):
    lines = ["item_id,source,prompt,image"]
    for number in range(70):
        rng = np.random.default_rng(number)
        pixels = np.clip(rng.normal(60 + number, 20 + number / 2, (48, 48, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        lines.append(f"i{number:02d},{'xy'[number % 2]},a picture,{number}.png")
    (tmp_path / "items.csv").write_text("\n".join(lines))
    (tmp_path / "slow_judge.py").write_text(JUDGE)
    return tmp_path


def arguments(lake, judge="brisque", *more):
    given = ["run", "--items", "items.csv", "--judge", judge, "--axes", "saturation+,blur,contrast-"]
    return [*given, "--ladder-items", "12", "--lake", lake, "--report", f"{lake}-report", *more]


def run(folder, words, expected=0):
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(  # noqa: PLW1510 - the code is asserted below
        [*COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done


def results(folder, lake):
    """Every result row of the last complete audit, ids of audits and times aside."""
    held = Lake.open(folder / lake, create=False)
    audits = [row for row in held.read("audits").to_pylist() if row["status"] == "complete"]
    last = max(audits, key=lambda row: row["ended_at"])["audit_id"]
    found = {name: held.read(name, audit_id=last).drop_columns(["audit_id"]).to_pylist() for name in RESULTS}
    scores = held.read("scores").to_pylist()
    return {**found, "scores": sorted(scores, key=lambda row: json.dumps(row, sort_keys=True))}


def test_threads_and_processes_find_the_same_and_a_second_run_buys_nothing(folder):
    run(folder, arguments("threads", "brisque", "--runner", "threads"))
    run(folder, arguments("processes", "brisque", "--runner", "processes"))
    assert results(folder, "threads") == results(folder, "processes")
    again = run(folder, arguments("threads"))
    assert re.search(r"^0 new answers", again.stdout, re.MULTILINE)
    assert again.stdout.startswith("Position: ")
    questions = re.findall(r"^  judge-audit (lake sql .*)$", again.stdout, re.MULTILINE)
    assert len(questions) == 3
    for line in questions:
        subprocess.run(f'"{COMMAND[0]}" {line}', shell=True, check=True, cwd=folder, capture_output=True)


def test_a_dry_run_asks_nothing_and_bad_input_ends_with_two(folder):
    done = run(folder, arguments("lake", "slow_judge:score", "--dry-run"))
    assert "minutes" in done.stdout
    assert Lake.open(folder / "lake").read("calls").num_rows == 0
    (folder / "items.csv").write_text("item_id,source,prompt,image\n1,x,p,0.png\n1,x,p,none.png\n")
    done = run(folder, arguments("other"), expected=2)
    assert "row 2, column item_id" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_killed_anywhere_goes_on_and_ends_with_the_same_rows(folder):
    run(folder, arguments("whole", "slow_judge:score"))
    log = folder / "asked.log"
    whole = len(log.read_text().splitlines())
    log.unlink()
    for moment in (8, 9, 10):
        words = [*COMMAND, *arguments("killed", "slow_judge:score")]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        with subprocess.Popen(
            words,
            cwd=folder,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as process:
            time.sleep(moment)
            assert process.poll() is None, "the run was over before it was killed: make the judge slower"
            os.killpg(process.pid, signal.SIGKILL)
    data = folder / "killed" / "data" / "scores"
    for name, content in (("part-zero.parquet", b""), ("part-cut.parquet", b"PAR1 half")):
        data.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(content)
    run(folder, arguments("killed", "slow_judge:score"))
    assert results(folder, "killed") == results(folder, "whole")
    # At most one batch of 32 per worker and kill was answered and lost.
    assert len(log.read_text().splitlines()) <= whole + 3 * 2 * 32


def test_a_wheel_runs_the_demo_in_an_empty_environment_beside_other_flows_and_tasks(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "env", with_pip=True)
    pip = [str(tmp_path / "env/bin/python"), "-m", "pip", "install", "--quiet", "--constraint"]
    subprocess.run([*pip, str(ROOT / "constraints.txt"), str(wheel)], check=True, timeout=600)
    project = tmp_path / "project"
    for name in ("flows", "tasks", "schemas"):
        (project / name).mkdir(parents=True)
        (project / name / "__init__.py").write_text("raise ImportError('not yours')\n")
    done = subprocess.run(  # noqa: PLW1510 - the code is asserted below
        [str(tmp_path / "env/bin/judge-audit"), "demo"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    assert (project / "judge-audit-demo/report/report.html").is_file()
