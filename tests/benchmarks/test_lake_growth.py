"""A question costs what it reads: processor time of commands on a lake of 1, 10, 100 and 365 nights.

Each figure is a multiple of what Python takes to import DuckDB and PyArrow, the least of several turns, all in one run.
The nights are written by the lake's own commits and tidied as a run does at its end; the time is not the clock's, so
that a year of nights goes by in a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from big_lake import brightness, pictures
from lake_nights import write_night

import judge_audit
from judge_audit.lake import Lake
from judge_audit.lake.compaction import tidy

pytestmark = pytest.mark.parts

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
NIGHTS = (1, 10, 100, 365)
IMPORTS = "import duckdb, pyarrow.parquet"
COMMAND = "import sys; from judge_audit.cli import run_command; sys.exit(run_command(sys.argv[1:]))"
QUESTIONS = {
    "SELECT 1": ["lake", "sql", "SELECT 1"],
    "a view": ["lake", "sql", "SELECT * FROM latest_audit"],
    "lake tables": ["lake", "tables"],
}
CONNECT = "import sys, judge_audit; judge_audit.connect(sys.argv[1]).execute('SELECT 1')"
TURNS = 7


def processor_time(*arguments):
    """Give the processor time of a Python process, user and system, in seconds."""
    before = os.times()
    subprocess.run([sys.executable, "-c", *arguments], check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def multiples(url):
    """Measure every question in turn with the imports, several times, and give the least of each as a multiple."""
    asked = {"imports": (IMPORTS,), "connect()": (CONNECT, url)}
    asked |= {name: (COMMAND, *words, "--lake", url) for name, words in QUESTIONS.items()}
    spent = {name: min(times) for name, times in _turns(asked).items()}
    return {name: spent[name] / spent["imports"] for name in asked}


def _turns(asked):
    times = {name: [] for name in asked}
    for _ in range(TURNS):
        for name, arguments in asked.items():
            times[name].append(processor_time(*arguments))
    return times


FOLDERS = ("ahead", "commits", "compactions", "data")


def files_of(lake):
    return sum(path.is_file() for folder in FOLDERS for path in (Path(lake) / folder).rglob("*"))


def test_an_audit_leaves_few_files_and_a_night_with_nothing_new_fewer(tmp_path):
    pictures(tmp_path / "team", 60)
    told = {"axes": ["default"], "lake": tmp_path / "lake", "report": tmp_path / "report", "ladder_items": 12}
    judge_audit.audit(brightness, tmp_path / "team" / "items.csv", **told)
    first = files_of(tmp_path / "lake")
    judge_audit.audit(brightness, tmp_path / "team" / "items.csv", **told)
    again = files_of(tmp_path / "lake") - first
    print(f"{first} files after the first audit, {again} more after one with nothing new")
    assert first <= 40
    assert again <= 10


@pytest.fixture(scope="module")
def growth(tmp_path_factory):
    lake = Lake.open(tmp_path_factory.mktemp("year") / "lake")
    figures, written = {}, 0
    for nights in NIGHTS:
        while written < nights:
            when = FIRST + timedelta(days=written)
            # One night in eighteen finds something else: a year has twenty that changed.
            write_night(lake, written, when, value=float(written // 18), rows=60)
            tidy(lake, now=when)
            written += 1
        figures[nights] = multiples(lake.url)
        figures[nights]["files"] = sum(path.is_file() for path in Path(lake.url).rglob("*"))
    print()
    for nights, row in figures.items():
        print(nights, {name: round(value, 2) for name, value in row.items()})
    return figures


@pytest.mark.parametrize("nights", NIGHTS)
def test_a_question_that_reads_nothing_costs_little_more_than_its_imports(growth, nights):
    assert growth[nights]["SELECT 1"] <= 1.6


@pytest.mark.parametrize("nights", NIGHTS)
def test_a_view_costs_little_more(growth, nights):
    assert growth[nights]["a view"] <= 2


@pytest.mark.parametrize("question", [*QUESTIONS, "connect()"])
def test_a_year_of_nights_answers_like_ten_without_anybody_compacting(growth, question):
    assert growth[365][question] <= 1.5 * growth[10][question]


def test_a_year_of_nights_has_about_as_many_files_as_ten(growth):
    assert growth[365]["files"] <= 3 * growth[10]["files"]
