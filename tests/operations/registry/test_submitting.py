"""One audit a version, whatever duplicates, losses and races there are."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from judge_audit.lake import Lake
from judge_audit.operations.registry import Launched, Ledger, Version, submit
from judge_audit.operations.registry.ledger import COMPLETE, FAILED, LOST, REQUESTED, STARTED, TOLD, claimed
from judge_audit.operations.registry.submit import AUDITED, CANCELLED, ENDED, REFUSED, UNDER_WAY, WAITING

WHEN = datetime(2026, 11, 1, tzinfo=UTC)
VERSION = Version("http://r", "aesthetic", "3", WHEN)


class Server:
    """Starts one run a key, as Prefect does, and forgets them when emptied."""

    def __init__(self, state=WAITING):
        self.runs, self.state, self.keys = {}, state, []
        self._lock = threading.Lock()

    def __call__(self, request):
        with self._lock:
            self.keys.append(request.key)
            run = self.runs.setdefault(request.key, f"run-{len(self.keys)}")
        return Launched(run, self.state, "run ended as Crashed" if self.state == ENDED else "")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(Lake.open(tmp_path / "lake"))


def complete(ledger, version=VERSION, round_=1, audit_id="a1", state="open"):
    ledger.record(version, COMPLETE, round_, audit_id=audit_id, gate_id="g", state=state)


def statuses(ledger, version=VERSION):
    rows = ledger.history(version).rows
    return sorted((row["round"], row["status"], row["attempt"]) for row in rows)


def test_the_same_version_is_submitted_once_however_often(ledger):
    server = Server()
    outcomes = [submit(ledger, VERSION, server, via=via) for via in ("event", "poller", "command", "event")]
    assert [outcome.new for outcome in outcomes] == [True, False, False, False]
    assert {outcome.run_id for outcome in outcomes} == {"run-1"}
    assert all(outcome.state == UNDER_WAY and outcome.code == 0 for outcome in outcomes)
    assert statuses(ledger) == [(1, REQUESTED, 1)]
    assert ledger.history(VERSION).rows[0]["via"] == "event"


def test_submissions_at_the_same_moment_start_one_run(tmp_path):
    server, outcomes = Server(), []
    Lake.open(tmp_path / "lake")

    def one():
        outcomes.append(submit(Ledger(Lake.open(tmp_path / "lake")), VERSION, server))

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.runs) == 1
    assert sum(outcome.new for outcome in outcomes) == 1


def test_what_was_audited_is_not_audited_again_though_the_server_was_emptied(ledger):
    submit(ledger, VERSION, Server())
    complete(ledger)
    emptied = Server()
    outcome = submit(ledger, VERSION, emptied)
    assert (outcome.state, outcome.gate, outcome.audit_id, outcome.code) == (AUDITED, "open", "a1", 0)
    assert not emptied.keys


def test_a_run_that_the_server_forgot_before_it_ended_is_asked_for_again(ledger):
    submit(ledger, VERSION, Server())
    emptied = Server()
    assert submit(ledger, VERSION, emptied).state == UNDER_WAY
    assert len(emptied.runs) == 1
    assert statuses(ledger) == [(1, REQUESTED, 1)]


def test_a_run_that_could_not_be_started_leaves_nothing_behind_and_is_tried_again(ledger):
    def broken(_request):
        raise ConnectionError("down")

    with pytest.raises(ConnectionError):
        submit(ledger, VERSION, broken)
    assert statuses(ledger) == []
    assert submit(ledger, VERSION, Server()).new


def test_a_dead_run_is_replaced_and_after_three_a_person_is_asked(ledger):
    server = Server(ENDED)
    outcome = submit(ledger, VERSION, server)
    assert len(server.runs) == 3
    assert (outcome.state, outcome.code) == (REFUSED, 2)
    assert "run ended as Crashed" in outcome.line
    assert "--again" in outcome.line
    assert [status for _, status, _ in statuses(ledger)] == [FAILED, LOST, LOST, LOST, *[REQUESTED] * 3]
    assert submit(ledger, VERSION, Server()).state == REFUSED
    anew = submit(ledger, VERSION, Server(), again=True)
    assert (anew.state, anew.new) == (UNDER_WAY, True)


def test_one_dead_run_is_followed_by_one_more(ledger):
    server = Server()
    submit(ledger, VERSION, server)
    first = set(server.runs)

    def crashed(request):
        return Launched("r", ENDED if request.key in first else WAITING)

    assert submit(ledger, VERSION, crashed).state == UNDER_WAY
    assert statuses(ledger) == [(1, LOST, 1), (1, REQUESTED, 1), (1, REQUESTED, 2)]


def test_a_cancelled_run_is_a_person_s_no(ledger):
    outcome = submit(ledger, VERSION, Server(CANCELLED))
    assert outcome.state == REFUSED
    assert "cancelled" in outcome.line
    assert submit(ledger, VERSION, Server()).state == REFUSED


def test_again_begins_one_more_round_and_only_where_the_last_one_ended(ledger):
    server = Server()
    submit(ledger, VERSION, server, again=True)
    submit(ledger, VERSION, server, again=True)
    assert len(server.runs) == 1
    complete(ledger, state="shut")
    assert submit(ledger, VERSION, server).code == 1
    assert submit(ledger, VERSION, server, again=True).new
    assert not submit(ledger, VERSION, server, again=True).new
    assert len(server.runs) == 2
    complete(ledger, round_=2, audit_id="a2")
    assert submit(ledger, VERSION, server).audit_id == "a2"


def test_a_complete_audit_counts_though_its_run_was_given_up_for_lost(ledger):
    submit(ledger, VERSION, Server(ENDED))
    complete(ledger)
    assert submit(ledger, VERSION, Server()).audit_id == "a1"


def test_a_version_number_used_again_is_another_version(ledger):
    complete(ledger)
    anew = Version("http://r", "aesthetic", "3", WHEN + timedelta(days=1))
    assert submit(ledger, anew, Server()).new
    assert len({VERSION.registration_id, anew.registration_id}) == 2


def test_another_lake_asks_for_a_run_of_its_own(tmp_path):
    server = Server()
    for name in ("one", "two"):
        assert submit(Ledger(Lake.open(tmp_path / name)), VERSION, server).new
    assert len(server.runs) == 2


def test_histories_of_many_are_read_at_once(ledger):
    versions = [Version("http://r", "m", str(number), WHEN) for number in range(3)]
    complete(ledger, versions[1])
    ledger.record(versions[1], TOLD, 1)
    found = ledger.histories(versions)
    assert [found[v.registration_id].ending is not None for v in versions] == [False, True, False]
    assert found[versions[1].registration_id].told
    assert ledger.histories([]) == {}


HOLD = """
import sys, time
from datetime import UTC, datetime
from judge_audit.lake import Lake
from judge_audit.operations.registry import Ledger, Version
from judge_audit.operations.registry.ledger import claimed
version = Version("http://r", "aesthetic", "3", datetime(2026, 11, 1, tzinfo=UTC))
with claimed(Ledger(Lake.open(sys.argv[1])), version, 1, "run-a", lambda _: False) as refused:
    print(not refused, flush=True)
    time.sleep(60)
"""


def test_one_process_holds_a_version_and_the_next_takes_over_when_it_is_killed(ledger, tmp_path):
    words = [sys.executable, "-c", HOLD, str(tmp_path / "lake")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline().strip() == "True"
        with claimed(ledger, VERSION, 1, "run-b", lambda _: False) as refused:
            assert refused
            assert "on this machine" in refused
        holder.kill()
    # the server may take a dead run for a living one; on its own machine the lock says better
    with claimed(ledger, VERSION, 1, "run-b", lambda _: True) as refused:
        assert not refused
    assert statuses(ledger) == [(1, STARTED, 1), (1, STARTED, 2)]


def test_a_run_of_another_machine_is_asked_after(ledger):
    ledger.record(VERSION, STARTED, 1, flow_run="run-a", host="another")
    with claimed(ledger, VERSION, 1, "run-b", lambda run: run == "run-a") as refused:
        assert refused
        assert "run-a" in refused
    with claimed(ledger, VERSION, 1, "run-a", lambda _: True) as refused:
        assert not refused  # the same run, tried again
    with claimed(ledger, VERSION, 1, "run-c", lambda _: False) as refused:
        assert not refused
    assert len(statuses(ledger)) == 3


def test_a_round_that_ended_is_not_begun_again(ledger):
    complete(ledger)
    with claimed(ledger, VERSION, 1, "run-b", lambda _: False) as refused:
        assert refused
    with claimed(ledger, VERSION, 2, "run-b", lambda _: False) as refused:
        assert not refused
