from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from judge_audit.cli import run_command
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake
from judge_audit.operations.status import exposition, make_status, status_lines

NIGHT = datetime(2026, 3, 1, 2, tzinfo=UTC)
NOW = NIGHT + timedelta(hours=9)
SCHEMA = json.loads((files("judge_audit_schemas") / "status" / "status.schema.json").read_text())


@pytest.fixture
def lake(tmp_path):
    return Lake.open(tmp_path / "lake")


def judge(lake, judge_id="j1", name="taste"):
    label = {"judge_id": judge_id, "name": name, "version": judge_id}
    lake.commit({"judge_labels": from_rows("judge_labels", [label])})


def audit(lake, audit_id, at=NIGHT, judge_id="j1", position="filter and rank", status="complete"):
    row = {"audit_id": audit_id, "judge_id": judge_id, "status": status, "started_at": at, "ended_at": at}
    lake.commit({"audits": from_rows("audits", [row])})
    stand = {"audit_id": audit_id, "judge_id": judge_id, "use": "position", "standing": position}
    lake.commit({"standings": from_rows("standings", [stand])})


def gate(lake, gate_id, audit_id, state, at, *, use="filtering", judge_id="j1", severity="critical"):
    told = {"gate_id": gate_id, "audit_id": audit_id, "judge_id": judge_id, "baseline": "*", "use": use}
    rows = [
        {
            **told,
            "suite": "s",
            "expectation": "other",
            "severity": "critical",
            "state": "open",
            "asked_at": at,
        },
        {
            **told,
            "suite": "s",
            "expectation": "e",
            "severity": severity,
            "state": state,
            "owner": "judge owner",
            "reason": "It is worse.",
            "remedy": "Mend it.",
            "asked_at": at,
        },
    ]
    lake.commit({"gates": from_rows("gates", rows)})


def approve(lake, audit_id, use="filtering", judge_id="j1", at=NIGHT):
    row = {"approval_id": audit_id + use, "audit_id": audit_id, "judge_id": judge_id, "use": use}
    lake.commit({"approvals": from_rows("approvals", [{**row, "signer": "Ada", "approved_at": at}])})


def run(lake, run_id, outcome, at, **more):
    row = {"run_id": run_id, "kind": "run", "judge": "taste.yaml", "started_at": at, "host": "h", **more}
    lake.commit({"runs": from_rows("runs", [{**row, "outcome": "started"}])})
    if outcome != "started":
        lake.commit({"runs": from_rows("runs", [{**row, "outcome": outcome, "ended_at": at}])})


def ask(lake, **how):
    document = make_status(lake, now=NOW, **how)
    Draft202012Validator(SCHEMA).validate(document)
    return document


def aged(hours):
    return {"max_age": timedelta(hours=hours)}


@pytest.fixture
def whole(lake):
    judge(lake)
    audit(lake, "a1", NIGHT - timedelta(days=1))
    audit(lake, "a2")
    approve(lake, "a1", at=NIGHT - timedelta(days=1))
    gate(lake, "g1", "a2", "open", NIGHT)
    return lake


def test_all_is_good(whole):
    told = ask(whole, **aged(26))
    (entry,) = told["judges"]
    assert (told["good"], told["exit_code"], entry["findings"]) == (True, 0, [])
    last = entry["last_good_audit"]
    assert (last["audit_id"], last["age_seconds"], last["position"]) == ("a2", 9 * 3600, "filter and rank")
    assert (entry["gate"]["state"], entry["gate"]["use"], entry["gate"]["reasons"]) == (
        "open",
        "filtering",
        [],
    )
    assert entry["approved"][0]["audit_age_seconds"] == 33 * 3600
    assert status_lines(told)[0] == "taste: good."


def test_an_audit_too_old_is_not_good(whole):
    told = ask(whole, **aged(8))
    assert (told["exit_code"], told["judges"][0]["findings"][0]["finding"]) == (1, "stale")
    assert "9 hours old; 8 hours are allowed" in "".join(status_lines(told))
    assert ask(whole)["exit_code"] == 0


def test_a_shut_gate_is_not_good_and_says_why(whole):
    gate(whole, "g2", "a2", "shut", NIGHT + timedelta(hours=1))
    told = ask(whole, **aged(26))
    assert told["exit_code"] == 1
    assert told["judges"][0]["gate"]["reasons"][0]["remedy"] == "Mend it."
    assert "s/e: It is worse. → judge owner: Mend it." in "\n".join(status_lines(told))


def test_a_gate_that_cannot_be_asked_exits_2_and_a_warning_shuts_nothing(whole):
    gate(whole, "g2", "a2", "cannot be asked", NIGHT + timedelta(hours=1))
    assert ask(whole)["exit_code"] == 2
    gate(whole, "g3", "a2", "shut", NIGHT + timedelta(hours=2), severity="warning")
    assert ask(whole)["exit_code"] == 0


def test_a_gate_that_was_shut_before_its_audit_was_approved_is_not_held_against_it(lake):
    judge(lake)
    audit(lake, "a1")
    gate(lake, "g1", "a1", "shut", NIGHT)
    assert ask(lake)["exit_code"] == 1
    approve(lake, "a1", at=NIGHT)
    told = ask(lake)
    assert (told["exit_code"], told["judges"][0]["gate"]["approved_since"]) == (0, True)
    assert "shut when asked 9 hours ago about audit a1, which was approved since." in "\n".join(
        status_lines(told)
    )
    gate(lake, "g2", "a1", "shut", NIGHT + timedelta(hours=1))
    assert ask(lake)["exit_code"] == 1


def test_the_gate_that_counts_is_that_of_a_use_the_judge_is_approved_for(whole):
    gate(whole, "g2", "a2", "shut", NIGHT + timedelta(hours=1), use="acceptance")
    told = ask(whole)
    assert told["exit_code"] == 0
    assert [entry["use"] for entry in told["judges"][0]["gates"]] == ["acceptance", "filtering"]


def test_an_answer_given_again_counts_from_when_it_was_given_again(whole):
    gate(whole, "g2", "a2", "shut", NIGHT + timedelta(hours=1))
    again = {"kind": "gate", "judge_id": "j1", "audit_id": "a2", "gate_id": "g1", "state": "open"}
    run(whole, "20260301T060000Z-aa", "complete", NIGHT + timedelta(hours=4), **again)
    told = ask(whole)["judges"][0]["gate"]
    assert (told["state"], told["age_seconds"]) == ("open", 5 * 3600)


def test_never_asked_and_never_approved_are_said(lake):
    judge(lake)
    audit(lake, "a1")
    told = ask(lake)
    assert (told["exit_code"], told["judges"][0]["gate"]) == (0, {"state": "never asked"})
    assert "  Gate: never asked." in status_lines(told)
    assert "  Approved: for nothing." in status_lines(told)


def test_the_last_failed_run_is_told_with_its_reason_and_when(whole):
    run(whole, "20260228T010000Z-aa", "failed", NIGHT - timedelta(days=1), reason="the disk is full.")
    told = ask(whole)["judges"][0]["last_failed_run"]
    assert told is None  # it was started for taste.yaml, which nobody has yet seen to be taste
    run(whole, "20260301T020000Z-bb", "complete", NIGHT, judge_id="j1", audit_id="a2")
    told = ask(whole)["judges"][0]["last_failed_run"]
    assert (told["reason"], told["since_last_good"]) == ("the disk is full.", False)
    run(
        whole,
        "20260301T080000Z-cc",
        "failed",
        NIGHT + timedelta(hours=6),
        reason="no such file.",
        exit_code=2,
    )
    document = ask(whole)
    told = document["judges"][0]["last_failed_run"]
    assert (told["outcome"], told["exit_code"], told["since_last_good"]) == ("failed", 2, True)
    assert "(failed, 3 hours ago, after the last good audit). no such file." in "\n".join(
        status_lines(document)
    )


def test_a_run_without_an_end_is_running_for_a_day_and_then_lost(whole):
    run(whole, "20260301T020000Z-bb", "complete", NIGHT, judge_id="j1", audit_id="a2")
    run(whole, "20260301T080000Z-cc", "started", NIGHT + timedelta(hours=6))
    assert [entry["run_id"] for entry in ask(whole)["judges"][0]["running"]] == ["20260301T080000Z-cc"]
    late = make_status(whole, now=NOW + timedelta(days=2))["judges"][0]
    assert late["running"] == []
    assert late["last_failed_run"]["outcome"] == "lost"
    assert "ended without a word" in late["last_failed_run"]["reason"]


def test_a_lake_where_nothing_came_to_its_end(lake):
    assert ask(lake)["exit_code"] == 2
    assert "holds no audit" in status_lines(ask(lake))[0]
    run(lake, "20260301T020000Z-aa", "failed", NIGHT, reason="items.csv: there is no such file.")
    told = ask(lake)
    assert (told["exit_code"], told["judges"][0]["judge"]) == (2, "taste.yaml")
    assert told["judges"][0]["last_failed_run"]["reason"] == "items.csv: there is no such file."
    assert ask(lake, **aged(26))["exit_code"] == 1


def test_every_approved_judge_is_told_of_and_any_other_by_name(whole):
    judge(whole, "k1", "ruler")
    judge(whole, "m1", "newer")
    audit(whole, "b1", NIGHT - timedelta(days=9), "k1")
    audit(whole, "c1", NIGHT, "m1")
    assert ask(whole)["other_judges"] == ["newer", "ruler"]
    approve(whole, "b1", judge_id="k1")
    told = ask(whole, **aged(26))
    assert [(entry["judge"], entry["exit_code"]) for entry in told["judges"]] == [("ruler", 1), ("taste", 0)]
    assert told["exit_code"] == 1
    assert ask(whole, judge="taste", **aged(26))["exit_code"] == 0
    assert ask(whole, judge="m1")["judges"][0]["judge"] == "newer"
    with pytest.raises(UsageError, match="knows no such judge; those it knows: newer, ruler, taste"):
        ask(whole, judge="nobody")


def test_of_a_long_history_little_is_read_and_nothing_missed(whole, monkeypatch):
    judge(whole, "k1", "seldom")
    audit(whole, "20250101T020000Z-aa", NIGHT - timedelta(days=400), "k1")
    for night in range(40):
        audit(whole, f"20260101T0000{night:02}Z-aa", NIGHT - timedelta(days=60 - night))
    sizes = []
    read = Lake.read
    monkeypatch.setattr(Lake, "read", lambda *a, **k: sizes.append((t := read(*a, **k)).num_rows) or t)
    assert ask(whole, judge="taste")["judges"][0]["last_good_audit"]["audit_id"] == "a2"
    assert max(sizes) <= 30
    assert ask(whole, judge="seldom")["judges"][0]["last_good_audit"]["audit_id"] == "20250101T020000Z-aa"


def test_figures_are_told_in_the_text_format_with_escaped_labels(whole):
    judge(whole, "k1", 'odd "name"\\\nof two lines')
    audit(whole, "b1", NIGHT, "k1", position="screening")
    approve(whole, "b1", judge_id="k1")
    gate(whole, "g9", "b1", "shut", NIGHT, judge_id="k1")
    text = exposition(ask(whole))
    assert 'judge_audit_last_good_audit_age_seconds{judge="taste"} 32400.0' in text
    assert 'judge_audit_gate_open{judge="taste",use="filtering"} 1.0' in text
    assert r'judge_audit_gate_open{judge="odd \"name\"\\\nof two lines",use="filtering"} 0.0' in text
    assert r'judge_audit_position{judge="odd \"name\"\\\nof two lines"} 1.0' in text
    line = re.compile(
        r'# (HELP|TYPE) judge_audit_\w+ .+|judge_audit_\w+(\{(\w+="([^"\\\n]|\\["\\n])*",?)+\})? [-+0-9.e]+'
    )
    assert all(line.fullmatch(row) for row in text.splitlines())
    assert text.endswith("\n")


def test_the_command_never_makes_a_lake(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    assert run_command(["status", "--lake", "nowhere"]) == 2
    assert "there is no lake" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert run_command(["status", "--lake", "nowhere", "--format", "xml"]) == 2


def test_the_command_prints_json_and_exits_with_its_code(whole, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(Path(whole.url).rglob("*"))
    assert run_command(["status", "--lake", "lake", "--json", "--max-age", "1"]) == 1
    told = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMA).validate(told)
    assert sorted(Path(whole.url).rglob("*")) == before


def test_a_stale_audit_is_told_once_and_again_when_the_next_is_stale(whole, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keep = (
        "import pathlib, sys; pathlib.Path('told.jsonl').open('ab').write(sys.stdin.buffer.read() + b'\\n')"
    )
    hook = json.dumps({"command": [sys.executable, "-c", keep]})
    (tmp_path / "audit.yaml").write_text(f"items: items.csv\nlake: lake\nnotify: {hook}\n")
    for _ in range(2):
        assert run_command(["status", "--max-age", "1", "--notify"]) == 1
    path = tmp_path / "told.jsonl"
    (notice,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert (notice["event"], notice["judge"], notice["audit_id"]) == ("stale", "taste", "a2")
    audit(whole, "a3", NIGHT + timedelta(hours=5))
    assert run_command(["status", "--max-age", "1", "--notify"]) == 1
    assert len(path.read_text().splitlines()) == 2
    assert run_command(["notify"]) == 0
    assert json.loads(path.read_text().splitlines()[-1])["event"] == "trial"
    (tmp_path / "audit.yaml").write_text("items: items.csv\nlake: lake\n")
    assert run_command(["notify"]) == 2
    assert "names no hook" in capsys.readouterr().err


def test_a_notice_that_did_not_arrive_is_told(whole):
    row = {"run_id": "r", "event": "gate_shut", "told_to": "command tell", "delivered": False}
    told = {**row, "reason": "it ended with code 7", "sent_at": NOW}
    whole.commit({"notices": from_rows("notices", [told])})
    document = ask(whole)
    assert document["undelivered"]["reason"] == "it ended with code 7"
    assert document["exit_code"] == 0
    assert "judge_audit_notice_undelivered 1.0" in exposition(document)
