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
from collections import Counter
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
from judge_audit.digests import pixel_digest
LOG = pathlib.Path(__file__).with_name("asked.log")
def score(images, prompts):
    time.sleep(0.12 * len(images))
    with LOG.open("a") as file:
        for image in images:
            file.write(f"{pixel_digest(image)}\\n")
    return [float(image[..., 1].mean() + image.std()) for image in images]
score.pinned = True
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


def test_a_dry_run_shows_three_pictures_once_and_bad_input_ends_with_two(folder):
    for expected in (3, 0):
        done = run(folder, arguments("lake", "slow_judge:score", "--dry-run", "--json"))
        told = json.loads(done.stdout)
        assert told["tried_calls"] == expected
        assert told["seconds_per_call"] == pytest.approx(0.12, rel=0.2)
    assert len(asked(folder)) == Lake.open(folder / "lake").read("calls", is_control=False).num_rows == 3
    (folder / "items.csv").write_text("item_id,source,prompt,image\n1,x,p,0.png\n1,x,p,none.png\n")
    done = run(folder, arguments("other"), expected=2)
    assert "row 2, column item_id" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "other" / "prefect").exists(), "a server was started for input that cannot be used"


def asked(folder):
    """The pictures that the logging judge was shown, each as often as it was."""
    log = folder / "asked.log"
    return log.read_text().splitlines() if log.exists() else []


def answers(folder, lake):
    """The pictures whose answers of the logging judge are in the lake, by how many answers there are."""
    calls = Lake.open(folder / lake).read("calls", is_control=False).to_pylist()
    return Counter(call["pixel_digest"] for call in calls if call["state"] == "ok")


def servers_of(folder):
    """Processes of embedded servers whose home lies in the folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if str(folder).encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes())
            except OSError:
                continue
    return [line for line in found if b"server_process" in line]


def killed_when(folder, reached):
    """Start the audit, kill it and all its children when something is reached."""
    words = [*COMMAND, *arguments("killed", "slow_judge:score")]
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, cwd=folder, start_new_session=True, **nowhere) as process:
        deadline = time.monotonic() + 120
        while not reached():
            assert process.poll() is None, "the run was over before it was killed: make the judge slower"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)


def test_a_run_killed_anywhere_goes_on_buys_nothing_twice_and_ends_with_the_same_rows(folder):
    run(folder, arguments("whole", "slow_judge:score"))
    (folder / "asked.log").unlink()
    started = time.monotonic()
    moments = [
        lambda: time.monotonic() > started + 2,
        lambda: bool(asked(folder)),
        lambda: sum(answers(folder, "killed").values()) > 64,
        lambda: sum(answers(folder, "killed").values()) > 200,
    ]
    for reached in moments:
        held, before = answers(folder, "killed"), len(asked(folder))
        killed_when(folder, reached)
        _bought_only_what_was_missing(folder, held, before)
    data = folder / "killed" / "data" / "scores"
    for name, content in (("part-zero.parquet", b""), ("part-cut.parquet", b"PAR1 half")):
        data.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(content)
    held, before = answers(folder, "killed"), len(asked(folder))
    run(folder, arguments("killed", "slow_judge:score"))
    _bought_only_what_was_missing(folder, held, before)
    assert answers(folder, "killed") == answers(folder, "whole")
    assert results(folder, "killed") == results(folder, "whole")
    deadline = time.monotonic() + 20
    while servers_of(folder) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not servers_of(folder), "a killed run left its server behind"


def _bought_only_what_was_missing(folder, held, before):
    """See that no picture was shown whose answers were all in the lake when the run began."""
    planned = answers(folder, "whole")
    shown = Counter(asked(folder)[before:])
    twice = [picture for picture, times in shown.items() if times > planned[picture] - held[picture]]
    assert not twice


def test_twenty_generated_pictures_of_thirteen_sources_are_audited_in_one_command(tmp_path, shared_cases):
    words = ["run", "--items", str(shared_cases / "images.csv"), "--lake", "lake", "--report", "report"]
    done = run(tmp_path, words)
    assert done.stdout.startswith("Position: screening")
    lake = Lake.open(tmp_path / "lake", create=False)
    items = lake.read("items")
    assert items.num_rows == 20
    assert len(items["source"].unique()) == 13
    told = run(tmp_path, ["lake", "sql", "--lake", "lake", "--json", "SELECT * FROM covariate_verdicts"])
    rows = json.loads(told.stdout)
    read = [row for row in rows if row["verdict"] != "missing"]
    assert {row["axis"] for row in read} == {
        "saturation+", "saturation-", "brightness+", "brightness-", "contrast+", "contrast-", "sharpen", "blur",
    }  # fmt: skip
    assert not [row for row in rows if row["verdict"] == "pass"], "coarse lifts cannot pass"
    assert all("pooled" in row["reason"] and "coarse" in row["reason"] for row in read)
    assert [row["axis"] for row in rows if row["verdict"] == "missing"] == ["crop"] * 3
    document = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert any("fewer than 30" in text for text in document["caveats"])


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
