"""`lake sql` is answered without building the command tree, and says the same as the tree would."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from judge_audit.cli import run_command
from judge_audit.cli.app import build
from judge_audit.cli.questions import Question, question_in
from judge_audit.core.configuration import Configuration, resolve
from judge_audit.core.lake_address import lake_of_project
from judge_audit.lake import Lake


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["lake", "sql", "SELECT 1"], Question("SELECT 1")),
        (["lake", "sql"], Question("-")),
        (["lake", "sql", "-"], Question("-")),
        (["lake", "sql", "--lake", "a b", "SELECT 1", "--json"], Question("SELECT 1", "a b", as_json=True)),
        (["lake", "sql", "--lake=x=y", "q", "--format", "csv"], Question("q", "x=y", "csv")),
        (["lake", "sql", "--help"], None),
        (["lake", "sql", "--lake"], None),
        (["lake", "sql", "--lake", "--json"], None),
        (["lake", "sql", "--fromat", "csv", "q"], None),
        (["lake", "sql", "SELECT", "1"], None),
        (["lake", "tables"], None),
        (["lake"], None),
        ([], None),
    ],
)
def test_only_a_plain_question_is_taken(words, asked):
    assert question_in(words) == asked


@pytest.mark.parametrize("rest", [[], ["--json"], ["--format", "csv"], ["--format=json"]])
def test_both_ways_give_the_same_answer(tmp_path, capsys, rest):
    Lake.open(tmp_path / "lake")
    words = ["lake", "sql", "SELECT 1 AS one, 'a' AS text", "--lake", str(tmp_path / "lake"), *rest]
    assert run_command(words) == 0
    quick = capsys.readouterr().out
    assert build()(words) == 0
    assert capsys.readouterr().out == quick
    assert "one" in quick


def test_faults_are_told_by_either_way(tmp_path, capsys):
    lake = str(Lake.open(tmp_path / "lake").url)
    for words, said in (
        (["lake", "sql", "SELECT * FROM cals", "--lake", lake], "calls"),
        (["lake", "sql", "DROP TABLE calls", "--lake", lake], "SELECT"),
        (["lake", "sql", "SELECT 1", "--format", "xml", "--lake", lake], "table, csv, json"),
        (["lake", "sql", "SELECT 1", "--fromat", "csv"], "--fromat"),
        (["lake", "sql", "SELECT 1", "--lake", str(tmp_path / "none")], "no lake at"),
    ):
        assert run_command(words) == 2
        assert said in capsys.readouterr().err


def test_questions_about_the_catalog_see_every_table_and_view(tmp_path, capsys):
    lake = str(Lake.open(tmp_path / "lake").url)
    asked = "SELECT count(*) > 60 AS many FROM information_schema.tables"
    assert run_command(["lake", "sql", asked, "--lake", lake, "--format", "csv"]) == 0
    assert capsys.readouterr().out == "many\nTrue\n"


def test_a_plain_question_imports_neither_pandas_nor_the_checks(tmp_path):
    lake = str(Lake.open(tmp_path / "lake").url)
    code = (
        "import sys; from judge_audit.cli import run_command; "
        "run_command(['lake', 'sql', 'SELECT count(*) FROM calls', '--lake', sys.argv[1]]); "
        "print(sorted({'pandas', 'scipy', 'typer', 'pydantic', 'prefect', 'cv2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, lake], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "text", ["items: a.csv\n", "items: a.csv\nlake: results\n", "items: a.csv\nlake: s3://b/x\n"]
)
@pytest.mark.parametrize("variable", [None, "/elsewhere/lake"])
def test_the_lake_of_a_project_is_the_one_that_run_would_use(tmp_path, monkeypatch, text, variable):
    if variable:
        monkeypatch.setenv("JUDGE_AUDIT_LAKE", variable)
    else:
        monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    (tmp_path / "audit.yaml").write_text(text)
    configured = resolve(tmp_path / "audit.yaml")
    assert isinstance(configured, Configuration)
    assert lake_of_project(tmp_path / "audit.yaml") == configured.lake


@pytest.mark.parametrize("text", ["lake: [1]\n", "lake: {a: b}\n", "- a\n", "a: [\n", "lake: 5\n"])
def test_a_faulty_file_is_left_to_whoever_reads_all_of_it(tmp_path, text):
    (tmp_path / "audit.yaml").write_text(text)
    assert lake_of_project(tmp_path / "audit.yaml") == ""


def test_a_project_without_items_can_be_asked_about_its_lake(tmp_path, monkeypatch, capsys):
    Lake.open(tmp_path / "results")
    (tmp_path / "audit.yaml").write_text("lake: results\n")
    monkeypatch.chdir(tmp_path)
    assert os.environ.get("JUDGE_AUDIT_LAKE") is None
    assert run_command(["lake", "sql", "SELECT 1"]) == 0
    assert "1" in capsys.readouterr().out
