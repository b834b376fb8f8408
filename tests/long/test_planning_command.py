"""`judge-audit plan` says what each verdict needs, as a table and as JSON."""

from __future__ import annotations

import json

import pytest

from judge_audit.cli import run_command

pytestmark = pytest.mark.long

STATED = ["plan", "--spread", "0.2", "--draws", "50", "--design", "axes=3", "--design", "sources=2"]


def test_the_table_shows_needs_and_the_power_of_the_design_as_bars(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_command([*STATED, "--calls", "2000"]) == 0
    told = capsys.readouterr().out
    assert "ladder items" in told
    assert "█" in told
    assert "What 2,000 calls to the judge buys" in told
    assert max(len(line) for line in told.splitlines() if "█" in line) <= 110


def test_json_gives_the_same_and_is_the_same_each_time(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    documents = []
    for _ in range(2):
        assert run_command([*STATED, "--minutes", "10", "--seconds", "0.5", "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]
    by_name = {row["question"]: row for row in documents[0]["needs"]}
    assert by_name["unmoved"]["vary"] == "items"
    assert by_name["unmoved"]["n"] < 200
    assert documents[0]["design"]["axes"] == 3
    assert documents[0]["budgets"][0]["buys"]
