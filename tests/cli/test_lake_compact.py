from __future__ import annotations

import json

import pytest
from busy_lake import fill
from typer.testing import CliRunner

from judge_audit.cli.app import tree
from judge_audit.cli.lakes import COMMANDS
from judge_audit.core.errors import UsageError
from judge_audit.lake import Lake


@pytest.fixture
def busy(tmp_path):
    return fill(Lake.open(tmp_path / "busy"), batches=4)


def run(*words):
    return CliRunner().invoke(tree("", COMMANDS), ["compact", *words])


def test_a_dry_run_says_what_would_be_done_and_the_next_one_does_it(busy):
    dry = run("--lake", busy.url, "--dry-run")
    assert "12 files of rows would become 3." in dry.output
    assert dry.output.startswith("It was a dry run: nothing was written.")
    done = run("--lake", busy.url, "--keep-days", "30")
    assert "12 files of rows became 3." in done.output
    again = json.loads(run("--lake", busy.url, "--json").stdout)
    assert (again["recorded"], again["purged"], again["number"]) == (False, [], 0)


def test_numbers_that_make_no_sense_are_wrong_use(busy):
    assert isinstance(run("--lake", busy.url, "--keep-days", "-3").exception, UsageError)
    assert isinstance(run("--lake", busy.url + "-none").exception, UsageError)
