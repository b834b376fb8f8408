"""The command on threads and on processes, again, and on real pictures."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from command_world import COMMAND, arguments, make, results, run

from judge_audit.lake import Lake

pytestmark = pytest.mark.parts


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path)


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
