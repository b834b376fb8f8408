from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from judge_audit.core.configuration import Configuration, resolve
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.tables import definition, from_rows
from judge_audit.judges.calling.budget import BudgetReached
from judge_audit.lake import Lake
from judge_audit.lake.audits import audit_left_open
from judge_audit.operations.runs import GATE, RUN, read_runs, recorded
from judge_audit.operations.runs.run_record import new_epoch, opened_by

KEEP = "import pathlib, sys; p = pathlib.Path('told.jsonl'); p.open('ab').write(sys.stdin.buffer.read() + b'\\n')"


@pytest.fixture
def configuration(tmp_path):
    hook = {"command": [sys.executable, "-c", KEEP]}
    return Configuration(
        judge="cards/taste.yaml", lake=str(tmp_path / "lake"), project=str(tmp_path), notify=hook
    )


@pytest.fixture
def lake(configuration):
    return Lake.open(configuration.lake)


def states(lake):
    rows = lake.read("runs").to_pylist()
    return sorted(rows, key=lambda row: (row["started_at"], row["outcome"] != "started"))


def told(tmp_path):
    path = tmp_path / "told.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def fail(configuration, error, kind=RUN):
    with pytest.raises(type(error)), recorded(configuration, kind, lambda _: None, flow_run="f1"):
        raise error


def test_a_run_leaves_its_start_and_its_end_and_a_good_one_tells_nobody(configuration, lake, tmp_path):
    with recorded(configuration, RUN, lambda _: None, flow_run="f1") as run:
        run.audited("a1", "j1")
        assert [row["outcome"] for row in states(lake)] == ["started"]
    first, last = states(lake)
    assert (first["judge"], first["ended_at"], first["exit_code"]) == ("cards/taste.yaml", None, None)
    assert (last["outcome"], last["audit_id"], last["exit_code"], last["flow_run"]) == (
        "complete",
        "a1",
        0,
        "f1",
    )
    assert last["started_at"] == first["started_at"] <= last["ended_at"]
    assert told(tmp_path) == []


@pytest.mark.parametrize(
    ("error", "outcome", "code", "said"),
    [
        (UsageError("items.csv: there is no such file."), "failed", 2, "items.csv: there is no such file."),
        (MachineryError("the disk is full."), "failed", 3, "the disk is full."),
        (BudgetReached("the budget is used up"), "stopped", 1, "the budget is used up"),
        (
            ZeroDivisionError("division by zero"),
            "failed",
            3,
            "Unexpected ZeroDivisionError: division by zero",
        ),
        (
            SystemExit(143),
            "failed",
            3,
            "It was told to end from outside (SystemExit).",
        ),
    ],
)
def test_why_a_run_came_to_nothing_stands_in_its_record_and_is_told(
    configuration, lake, tmp_path, error, outcome, code, said
):
    fail(configuration, error)
    last = states(lake)[-1]
    assert (last["outcome"], last["exit_code"], last["reason"]) == (outcome, code, said)
    (notice,) = told(tmp_path)
    assert (notice["event"], notice["outcome"], notice["judge"], notice["exit_code"]) == (
        "audit_failed",
        outcome,
        "taste",
        code,
    )
    assert notice["text"].endswith(said)


def test_who_interrupts_by_hand_is_not_told_so(configuration, lake, tmp_path):
    fail(configuration, KeyboardInterrupt())
    assert (states(lake)[-1]["outcome"], states(lake)[-1]["exit_code"]) == ("interrupted", 130)
    assert told(tmp_path) == []


def test_a_mistyped_question_to_the_gate_is_told_to_nobody_else(configuration, lake, tmp_path):
    fail(configuration, UsageError("no such audit"), GATE)
    assert states(lake)[-1]["reason"] == "no such audit"
    assert told(tmp_path) == []


def test_no_secret_of_the_environment_stands_in_a_record(configuration, lake, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-1234")
    fail(configuration, RuntimeError("401 for key sk-very-secret-1234"))
    assert "very-secret" not in f"{states(lake)}{told(tmp_path)}"
    assert "[key]" in states(lake)[-1]["reason"]


def test_bad_input_makes_no_lake_but_the_hook_is_told(configuration, tmp_path):
    fail(configuration, UsageError("there are no items"))
    assert not (tmp_path / "lake").exists()
    assert told(tmp_path)[0]["reason"] == "there are no items"


def test_a_hook_that_fails_changes_nothing(configuration, lake):
    from dataclasses import replace

    said = []
    broken = replace(configuration, notify={"command": ["no-such-program-anywhere"]})
    with pytest.raises(UsageError, match="why"), recorded(broken, RUN, said.append):
        raise UsageError("why")
    assert "did not reach the command no-such-program-anywhere" in said[0]
    assert lake.read("notices").to_pylist()[0]["delivered"] is False


def test_an_end_that_cannot_be_written_hides_no_error(configuration, lake, tmp_path):
    said = []

    def run():
        with recorded(configuration, RUN, said.append):
            commits = tmp_path / "lake" / "commits"
            commits.rename(tmp_path / "gone")
            commits.write_text("in the way")
            raise UsageError("why")

    with pytest.raises(UsageError, match="why"):
        run()
    assert any("could not be written" in line for line in said)


KILLED = """
import sys, time
from judge_audit.core.configuration import Configuration
from judge_audit.operations.runs import recorded
with recorded(Configuration(judge="taste", lake=sys.argv[1]), "run", print):
    print("begun", flush=True)
    time.sleep(60)
"""


def test_a_killed_run_is_told_from_a_living_one_and_put_down_by_the_next(configuration, lake, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, configuration.lake], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout.readline() == b"begun\n"
        now = datetime.now(UTC)
        assert [row["judge"] for row in read_runs(lake, now).living] == ["taste"]
        assert read_runs(lake, now).lost == ()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    (lost,) = read_runs(lake, now).lost
    assert read_runs(lake, now).living == ()
    with recorded(configuration, RUN, lambda _: None):
        pass
    kept = [row for row in states(lake) if row["run_id"] == lost["run_id"]]
    assert [row["outcome"] for row in kept] == ["started", "lost"]
    assert (kept[1]["ended_at"], kept[1]["exit_code"]) == (None, None)
    assert "ended without a word" in kept[1]["reason"]
    (notice,) = told(tmp_path)
    assert (notice["event"], notice["outcome"], notice["run_id"]) == ("audit_failed", "lost", lost["run_id"])
    with recorded(configuration, RUN, lambda _: None):
        pass
    assert len(told(tmp_path)) == 1


def test_a_run_of_another_machine_is_given_a_day(lake):
    row = {"run_id": "20260101T000000Z-aa", "outcome": "started", "kind": "run", "judge": "x", "host": "far"}
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    lake.commit({"runs": from_rows("runs", [{**row, "started_at": begun}])})
    assert read_runs(lake, begun + timedelta(hours=23)).living
    assert read_runs(lake, begun + timedelta(hours=25)).lost


def test_what_a_run_says_of_its_own_end_counts_before_what_others_took_it_for(lake):
    row = {"run_id": "20260101T000000Z-aa", "kind": "run", "judge": "x"}
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    for outcome in ("started", "lost", "complete"):
        lake.commit({"runs": from_rows("runs", [{**row, "outcome": outcome, "started_at": begun}])})
    assert [row["outcome"] for row in read_runs(lake, begun).ended] == ["complete"]


def audit(lake, audit_id, judge, status, at):
    row = {"audit_id": audit_id, "judge_id": judge, "status": status, "started_at": at, "ended_at": at}
    lake.commit({"audits": from_rows("audits", [row])})


def label(lake, judge, name, epoch):
    lake.commit({"judges": from_rows("judges", [{"judge_id": judge, "card": json.dumps({"epoch": epoch})}])})
    lake.commit(
        {"judge_labels": from_rows("judge_labels", [{"judge_id": judge, "name": name, "version": "1"}])}
    )


def test_the_audit_that_a_failed_run_left_open_is_named(lake):
    at = datetime(2026, 1, 2, tzinfo=UTC)
    audit(lake, "old", "j", "started", at - timedelta(days=1))
    assert audit_left_open(lake, at) == (None, None)
    audit(lake, "new", "j", "started", at)
    assert audit_left_open(lake, at) == ("new", "j")
    audit(lake, "other", "j", "started", at)
    assert audit_left_open(lake, at) == (None, None)


def test_the_first_audit_of_a_new_epoch_is_known(lake):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for judge, epoch in (("j0", 0), ("j1", 1), ("j2", 1)):
        label(lake, judge, "other" if judge == "j2" else "taste", epoch)
    audit(lake, "a0", "j0", "complete", at)
    audit(lake, "a1", "j1", "complete", at)
    audit(lake, "b", "j2", "complete", at)
    assert (new_epoch(lake, "a0", "j0"), new_epoch(lake, "a1", "j1"), new_epoch(lake, "b", "j2")) == (0, 1, 0)
    audit(lake, "a2", "j1", "complete", at)
    assert new_epoch(lake, "a2", "j1") == 0


def test_an_epoch_that_a_person_wrote_into_the_card_is_no_news(lake):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    for judge, epoch in (("j0", 0), ("j3", 3)):
        label(lake, judge, "taste", epoch)
        audit(lake, f"a-{judge}", judge, "complete", at)
    assert new_epoch(lake, "a-j3", "j3") == 3
    told = {column.name: None for column in definition("canary_nights").columns} | {
        "lineage_id": "l",
        "asking": 4,
    }
    told |= {"judge_id": "j3", "audit_id": "a-j3", "epoch": 3, "answer": "declared", "decided_at": at}
    lake.commit({"canary_nights": from_rows("canary_nights", [told])})
    assert opened_by(lake, "j3") == "declared"
    assert new_epoch(lake, "a-j3", "j3") == 0


def test_the_flow_records_a_run_whose_items_are_not_there(tmp_path, lake):
    from judge_audit_flows.audit import run_audit

    from judge_audit.core.progress import Progress

    path = tmp_path / "audit.yaml"
    path.write_text("items: nowhere.csv\nlake: lake\n")
    with pytest.raises(UsageError):
        run_audit(resolve(path), Progress())
    assert [row["outcome"] for row in states(lake)] == ["started", "failed"]
    assert "nowhere.csv" in states(lake)[-1]["reason"]
