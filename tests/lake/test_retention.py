from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from lake_rows import call_rows, score_rows

from judge_audit.core.digests import row_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.decisions.gate.certificate import EVIDENCE, evidence_of
from judge_audit.decisions.gate.evaluate import candidate_of
from judge_audit.lake import Lake
from judge_audit.lake import compaction as compacting
from judge_audit.lake.audits import find_audit
from judge_audit.lake.compaction import compact, compaction_lines
from judge_audit.lake.connect import connect
from judge_audit.stimuli.combinations import chosen_id, soundings_id

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
NOW = FIRST + timedelta(days=100)
SMALL = ("measures", "verdicts", "standings", "gates", "approvals", "signoffs", "audits", "judges", "curves")


def add_plan(lake, plan, items):
    """Plan an untouched probe and a rung of each item, and show the anchor."""
    rows = [{"plan_id": plan, "item_id": name, "source": "s", "prompt": "x"} for name in (*items, "anchor")]
    probes = [
        {
            "plan_id": plan,
            "probe_id": f"{kind}-{name}",
            "item_id": name,
            "axis": axis,
            "rung": rung,
            "repeat": 0,
        }
        for name in items
        for kind, axis, rung in (("o", "original", 0), ("b", "blur", 1))
    ]
    shown = {"plan_id": plan, "item_id": "anchor", "axis": "anchor", "rung": 0, "repeat": 0}
    probes.append({**shown, "probe_id": "a-anchor"})
    zones = [{"plan_id": plan, "zones_id": f"z-{plan}", "item_id": name, "axis": "blur"} for name in items]
    tables = {"items": rows, "probes": probes, "zones": zones}
    lake.commit({name: from_rows(name, content) for name, content in tables.items()})
    return [probe["probe_id"] for probe in probes]


def add_combined(lake, plan, name, probe):
    row = {"plan_id": name, "probe_id": probe, "item_id": "i", "axis": "combo:x", "rung": 0, "repeat": 0}
    lake.commit({"probes": from_rows("probes", [row])})
    return probe


def answer(lake, judge, probes, *, is_control=False):
    held = set(lake.answered(judge)["probe_id"].to_pylist())
    new = [probe for probe in probes if probe not in held]
    if new:
        calls = call_rows(judge, new, is_control=is_control)
        scores = score_rows(judge, dict.fromkeys(new, 1.0), is_control=is_control)
        lake.commit({"calls": calls, "scores": scores})


def add_judge(lake, judge, name, kind="callable", *, is_control=False):
    rows = [{"judge_id": judge, "kind": kind, "card": "{}", "is_control": is_control}]
    labels = [{"judge_id": judge, "name": name, "version": "1", "is_control": is_control}]
    lake.commit({"judges": from_rows("judges", rows)})
    lake.commit({"judge_labels": from_rows("judge_labels", labels)})


def add_audit(lake, name, day, judge, plan, *, complete=True):
    told = {"zones_id": f"z-{plan}", "combined_ids": [soundings_id(plan, f"z-{plan}")]}
    row = {"audit_id": name, "judge_id": judge, "plan_id": plan, "started_at": FIRST + timedelta(days=day)}
    row["configuration"] = json.dumps(told)
    lake.commit({"audits": from_rows("audits", [{**row, "status": "started"}])})
    if complete:
        row["ended_at"] = row["started_at"] + timedelta(hours=1)
        lake.commit({"audits": from_rows("audits", [{**row, "status": "complete"}])})
        told = [{"audit_id": name, "subject": judge, "check": "scale", "measure": "pile", "value": 0.5}]
        lake.commit({"measures": from_rows("measures", told)})


@pytest.fixture
def nights(nights_once, tmp_path):
    return Lake.open(shutil.copytree(nights_once.url, tmp_path / "lake"))


@pytest.fixture(scope="module")
def nights_once(tmp_path_factory):
    """Eight nights of one judge, each with a plan of two items of its own and one that all share."""
    lake = Lake.open(tmp_path_factory.mktemp("nights") / "lake")
    add_judge(lake, "real", "the judge")
    add_judge(lake, "fake", "a control", "control", is_control=True)
    for night in range(8):
        plan = f"plan-{night}"
        probes = add_plan(lake, plan, [f"i{night}a", f"i{night}b", "shared"])
        probes.append(add_combined(lake, plan, soundings_id(plan, f"z-{plan}"), f"sounded-{night}"))
        answer(lake, "real", probes)
        mine = add_combined(lake, plan, chosen_id(plan, f"z-{plan}", "fake"), f"chosen-{night}")
        answer(lake, "fake", [*probes, mine], is_control=True)
        add_audit(lake, f"night-{night}", night, "real", plan)
    return lake


def evidence(lake, audit):
    (row,) = lake.read("audits", audit_id=audit, status="complete").to_pylist()
    return {name: row_digest(evidence_of(lake, name, row)) for name in EVIDENCE}


def approve(lake, audit):
    row = {"approval_id": "x", "audit_id": audit, "judge_id": "real", "use": "ranking", "approved_at": FIRST}
    lake.commit({"approvals": from_rows("approvals", [row])})


def sign(lake, audit):
    row = {"signoff_id": "y", "audit_id": audit, "judge_id": "real", "signature": "", "signed_at": FIRST}
    lake.commit({"signoffs": from_rows("signoffs", [row])})


def gate(lake, audit, baseline):
    row = {"gate_id": "g", "suite": "s", "expectation": "e", "audit_id": audit, "judge_id": "real"}
    lake.commit({"gates": from_rows("gates", [{**row, "baseline": baseline}])})


def pack(lake, audit):
    row = {"audit_id": audit, "pack_id": "p", "judge_id": "real"}
    lake.commit({"packs": from_rows("packs", [row])})


def test_raw_answers_of_old_audits_go_and_what_they_came_to_stays(nights):
    before = {name: nights.read(name) for name in SMALL}
    young = {name: evidence(nights, name) for name in ("night-5", "night-6", "night-7")}
    told = compact(nights, keep_audits=3, now=NOW)
    assert [one.audit_id for one in told.purged] == [f"night-{n}" for n in range(5)]
    assert {one.probes for one in told.purged} == {5}
    assert {name: nights.read(name) for name in SMALL} == before
    assert {name: evidence(nights, name) for name in young} == young
    left = set(nights.read("calls", judge_id="real")["probe_id"].to_pylist())
    assert left == {
        *(f"{kind}-i{n}{half}" for kind in "ob" for n in (5, 6, 7) for half in "ab"),
        *("o-shared", "b-shared", "a-anchor"),
        *(f"sounded-{n}" for n in (5, 6, 7)),
    }
    controls = set(nights.read("scores", judge_id="fake")["probe_id"].to_pylist())
    assert controls == left | {f"chosen-{n}" for n in (5, 6, 7)}
    assert set(nights.read("probes", plan_id="plan-0")["probe_id"].to_pylist()) == {"a-anchor"}
    assert nights.read("items", plan_id="plan-0")["item_id"].to_pylist() == ["anchor"]
    assert nights.read("zones", plan_id="plan-0").num_rows == 0


@pytest.mark.parametrize(
    ("need", "said"),
    [
        (lambda lake: approve(lake, "night-0"), "somebody approved it"),
        (lambda lake: sign(lake, "night-0"), "somebody signed it"),
        (lambda lake: gate(lake, "night-0", "*"), "the certificate names its rows"),
        (lambda lake: gate(lake, "night-7", "night-0"), "held another audit against it"),
        (lambda lake: pack(lake, "night-0"), "handed a pack drawn from it"),
    ],
)
def test_what_somebody_needs_stays_whatever_its_age_and_it_is_said_why(nights, need, said):
    need(nights)
    whole = evidence(nights, "night-0")
    told = compact(nights, keep_days=10, now=NOW)
    assert "night-0" not in {one.audit_id for one in told.purged}
    assert said in told.kept["night-0"]
    assert evidence(nights, "night-0") == whole
    assert any(said in line for line in compaction_lines(told))
    assert find_audit(nights, "night-0")["audit_id"] == "night-0"


def test_the_newest_two_audits_of_a_judge_s_name_always_stay(nights):
    add_judge(nights, "next", "the judge")
    answer(nights, "next", add_plan(nights, "plan-9", ["i9"]))
    add_audit(nights, "night-9", 9, "next", "plan-9")
    told = compact(nights, keep_audits=0, now=NOW)
    assert [one.audit_id for one in told.purged] == [f"night-{n}" for n in range(7)]
    assert sorted(told.kept) == ["night-7", "night-9"]


def test_an_audit_that_shares_every_answer_with_one_that_stays_loses_nothing(nights):
    add_audit(nights, "again", 99, "real", "plan-0")
    told = compact(nights, keep_days=10, now=NOW)
    assert "night-0" not in {one.audit_id for one in told.purged}
    assert "audits that stay" in told.kept["night-0"]
    assert nights.read("zones", plan_id="plan-0").num_rows == 3


def test_an_audit_that_may_be_running_keeps_its_answers(nights):
    add_audit(nights, "running", 99, "real", "plan-0", complete=False)
    add_audit(nights, "abandoned", 5, "real", "plan-1", complete=False)
    purged = {one.audit_id for one in compact(nights, keep_days=10, now=NOW).purged}
    assert "night-0" not in purged
    assert "night-1" in purged


def test_answers_that_were_imported_stay(nights):
    add_judge(nights, "held", "a table", "table")
    answer(nights, "held", add_plan(nights, "plan-t", ["it"]))
    for day in (1, 2, 3, 4):
        add_audit(nights, f"table-{day}", day, "held", "plan-t")
    compact(nights, keep_days=10, now=NOW)
    assert nights.read("scores", judge_id="held").num_rows == 3


def test_untouched_pictures_that_people_or_production_spoke_of_stay(nights):
    rows = [
        {"import_id": "m", "decision_id": "d", "item_id": "i0a", "judge": "the judge", "decision": "accept"}
    ]
    nights.commit({"decisions": from_rows("decisions", rows)})
    compact(nights, keep_days=10, now=NOW)
    left = nights.read("scores", judge_id="real")["probe_id"].to_pylist()
    assert "o-i0a" in left
    assert not {"b-i0a", "o-i0b"} & set(left)
    assert nights.read("items", plan_id="plan-0")["item_id"].to_pylist() == ["anchor", "i0a"]


def test_a_question_about_it_is_told_when_and_why_it_went(nights):
    compact(nights, keep_days=10, now=NOW)
    for ask in (find_audit, candidate_of):
        with pytest.raises(
            UsageError, match=r"night-2 were removed on 2026-04-11 by retention \(ended more than 10"
        ):
            ask(nights, "night-2")
    with connect(nights) as connection:
        asked = connection.execute("SELECT audit_id, answers FROM purges ORDER BY audit_id").fetchall()
    assert asked == [(f"night-{n}", 5) for n in range(6)]


def test_asked_again_the_same_plan_is_planned_and_bought_again(nights):
    compact(nights, keep_days=10, now=NOW)
    probes = add_plan(nights, "plan-0", ["i0a", "i0b", "shared"])
    answer(nights, "real", probes)
    add_audit(nights, "again", 100, "real", "plan-0")
    assert nights.read("probes", plan_id="plan-0").num_rows == len(probes)
    assert nights.read("items", plan_id="plan-0").num_rows == 4
    held = nights.read("scores", judge_id="real")["probe_id"].to_pylist()
    assert set(probes) <= set(held)
    assert len(held) == len(set(held))
    compact(nights, keep_days=10, now=NOW + timedelta(days=1))
    assert set(probes) <= set(nights.read("scores", judge_id="real")["probe_id"].to_pylist())
    before = len(nights.contents().records)
    answer(nights, "real", probes)
    add_plan(nights, "plan-0", ["i0a", "i0b", "shared"])
    assert len(nights.contents().records) == before


def test_a_second_night_of_retention_takes_nothing_twice(nights):
    compact(nights, keep_days=10, now=NOW)
    again = compact(nights, keep_days=10, now=NOW + timedelta(days=1))
    assert again.purged == ()
    assert nights.read("purges").num_rows == 6


def test_without_a_rule_nothing_goes(nights):
    tables = {name: nights.read(name) for name in ("calls", "scores", "probes", "items", "zones")}
    assert compact(nights, now=NOW).purged == ()
    assert {name: nights.read(name) for name in tables} == tables


def test_a_dry_run_names_what_would_go(nights):
    count = nights.read("calls").num_rows
    told = compact(nights, keep_audits=2, dry_run=True, now=NOW)
    assert [one.audit_id for one in told.purged] == [f"night-{n}" for n in range(6)]
    assert nights.read("calls").num_rows == count
    lines = "\n".join(compaction_lines(told))
    assert "would go" in lines
    assert "night-0: 5 answers" in lines


def test_a_signature_that_arrives_while_retention_decides_stops_it(nights, monkeypatch):
    calls = nights.read("calls")
    settle = compacting._settle

    def signed_meanwhile(lake, *given):
        sign(Lake.open(lake.url), "night-0")
        return settle(lake, *given)

    monkeypatch.setattr(compacting, "_settle", signed_meanwhile)
    told = compact(nights, keep_days=10, now=NOW)
    assert not told.recorded
    assert "run it again" in told.reason
    assert nights.read("calls").equals(calls)
