"""The gate as a scheduler meets it: real processes, exit codes, words."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from gate_lake import START, add_audit
from suite_files import SQL, expectation, text

from judge_audit.lake import Lake

pytestmark = pytest.mark.parts  # whole processes, each of which loads Great Expectations


def judge_audit(*words, cwd):
    command = [sys.executable, "-c", "from judge_audit.cli import main; main()", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def here(lake, monkeypatch):
    monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    # The commands go by the clock, to which the first audit of this lake is stale.
    add_audit(lake, "today", at=(datetime.now(UTC) - START).days - 1)
    return Path(lake.url).parent


def test_from_shut_over_the_first_approval_to_open_and_a_certificate_that_holds(here):
    shut = judge_audit("gate", "--lake", "lake", "--for", "filtering", cwd=here)
    assert shut.returncode == 1, shut.stderr
    assert shut.stdout.startswith("The gate is shut: taste j1 may not be released for filtering.")
    assert "convictions" not in shut.stdout
    words = ("approve", "--lake", "lake", "--for", "filtering", "--by", "Ada", "--reason", "it works")
    refused = judge_audit(*words, cwd=here)
    assert refused.returncode == 2
    assert "add --first" in refused.stderr
    assert judge_audit(*words, "--first", cwd=here).returncode == 0
    opened = judge_audit("gate", "--lake", "lake", "--json", cwd=here)
    assert opened.returncode == 0, opened.stdout
    told = json.loads(opened.stdout)
    assert (told["state"], told["exit_code"], told["use"], told["baseline"]) == (
        "open",
        0,
        "filtering",
        "today",
    )
    page = Path(here / told["certificate"])
    assert page == here / "judge-audit-report" / "certificate.html"
    held = judge_audit("verify", str(page), "--lake", "lake", cwd=here)
    assert held.returncode == 0, held.stdout
    assert held.stdout.startswith("The certificate holds:")
    stale = judge_audit("gate", "--lake", "lake", "--candidate", "first", cwd=here)
    assert stale.returncode == 1
    assert "The evidence is stale" in stale.stdout


def test_what_cannot_be_asked_exits_2_and_a_broken_lake_3(here):
    nobody = judge_audit("gate", "--lake", "lake", "--candidate", "none", cwd=here)
    assert nobody.returncode == 2
    assert "no audit “none”" in nobody.stderr
    empty = judge_audit("gate", "--lake", "nowhere", cwd=here)
    assert empty.returncode == 2
    for part in Lake.open(here / "lake").files("standings"):
        Path(part).write_bytes(b"PAR1")
    broken = judge_audit("gate", "--lake", "lake", "--for", "filtering", cwd=here)
    assert broken.returncode == 3, broken.stdout
    assert "Nothing is decided on damaged evidence" in broken.stderr


def test_a_suite_dropped_into_the_project_is_asked_and_a_malformed_one_refused(here):
    (here / "audit.yaml").write_text("items: items.csv\nlake: lake\n", encoding="utf-8")
    (here / "suites").mkdir()
    for ending, content in (("sql", SQL.replace("2 AS v", "9 AS v")), ("json", text(expectation()))):
        (here / "suites" / f"odd.{ending}").write_text(content, encoding="utf-8")
    asked = judge_audit("gate", "--for", "filtering", cwd=here)
    assert asked.returncode == 1, asked.stderr
    assert "✕ odd/small: It is big." in asked.stdout
    assert "judge owner: Shrink it." in asked.stdout
    (here / "suites" / "odd.json").write_text(text(expectation(severity="mild")), encoding="utf-8")
    refused = judge_audit("gate", "--for", "filtering", cwd=here)
    assert refused.returncode == 2
    assert "suites/odd.json" in refused.stderr


def test_a_name_that_would_command_a_terminal_is_printed_harmless(here):
    lake = Lake.open(here / "lake")
    from gate_lake import standing_rows

    rows = standing_rows("odd", "j1", allowed=())
    rows = [{**row, "missing": ["\x1b[2Jgone"]} for row in rows]
    add_audit(lake, "odd", at=3, standings=rows)
    words = ("gate", "--lake", "lake", "--candidate", "odd", "--for", "ranking")
    told = judge_audit(*words, cwd=here)
    assert "\x1b" not in told.stdout
    assert "?[2Jgone" in told.stdout


def test_nothing_of_great_expectations_is_loaded_before_a_gate_is_asked(tmp_path):
    script = (
        "import sys, judge_audit, judge_audit.audits.stages, judge_audit.cli.gates, judge_audit.audits.plugins\n"
        "assert not {'great_expectations', 'pandas'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=60)
