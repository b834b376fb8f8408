"""A small lake with known answers: two judges, one of them a control, on four items of one source."""

from __future__ import annotations

import shutil

import pytest
from lake_rows import NOON, call_rows, score_rows

from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake


@pytest.fixture
def lake(tmp_path):
    return Lake.open(tmp_path / "lake")


@pytest.fixture(scope="session")
def small_lake_once(tmp_path_factory):
    lake = Lake.open(tmp_path_factory.mktemp("small") / "lake")
    items = [
        {"plan_id": "plan", "item_id": f"i{n}", "source": "s", "topic": "", "cluster": f"c{n}", "prompt": "x"}
        for n in range(4)
    ]
    probes = [
        {
            "plan_id": "plan",
            "probe_id": f"o{n}",
            "item_id": f"i{n}",
            "axis": "original",
            "rung": 0,
            "repeat": 0,
        }
        for n in range(4)
    ]
    probes += [
        {"plan_id": "plan", "probe_id": f"b{n}", "item_id": "i0", "axis": "blur", "rung": n, "repeat": 0}
        for n in (1, 2, 3)
    ]
    lake.commit({"items": from_rows("items", items), "probes": from_rows("probes", probes)})
    asked = [probe["probe_id"] for probe in probes]
    values = {"o0": 1.0, "o1": 2.0, "o2": 2.0, "o3": 4.0, "b1": 3.0, "b2": 0.5}
    for judge, is_control in (("real", False), ("fake", True)):
        judges = [
            {"judge_id": judge, "kind": "k", "card": '{"higher_is_better":true}', "is_control": is_control}
        ]
        labels = [{"judge_id": judge, "name": f"the {judge}", "version": "1", "is_control": is_control}]
        lake.commit(
            {"judges": from_rows("judges", judges), "judge_labels": from_rows("judge_labels", labels)}
        )
        scores = score_rows(judge, values, is_control=is_control)
        answered = call_rows(judge, [probe for probe in asked if probe != "b3"], is_control=is_control)
        lake.commit({"calls": answered, "scores": scores})
        inert = call_rows(judge, ["b3"], state="inert", is_control=is_control)
        lake.commit({"calls": inert, "scores": from_rows("scores", [])})
    for audit, hour in (("early", 1), ("late", 2)):
        ended = NOON.replace(hour=hour)
        for status in ("started", "complete"):
            row = {
                "audit_id": audit,
                "status": status,
                "judge_id": "real",
                "plan_id": "plan",
                "ended_at": ended,
            }
            lake.commit({"audits": from_rows("audits", [row])})
        told = {"audit_id": audit, "check": "premature", "measure": "edge_lift", "reason": "because"}
        verdicts = [
            {**told, "subject": "real", "axis": "blur", "verdict": "pass"},
            {**told, "subject": "real", "axis": "crop", "verdict": "fail", "finding": "climbs"},
            {**told, "subject": "fake", "axis": "blur", "verdict": "fail", "is_control": True},
            {**told, "subject": "fake", "axis": "crop", "verdict": "pass", "is_control": True},
        ]
        scale = {"audit_id": audit, "subject": "real", "check": "scale", "measure": "pile", "value": 0.5}
        position = {"audit_id": audit, "judge_id": "real", "use": "position", "standing": "screening"}
        lake.commit(
            {
                "verdicts": from_rows("verdicts", verdicts),
                "measures": from_rows("measures", [scale]),
                "standings": from_rows("standings", [position]),
            }
        )
    return lake


@pytest.fixture
def small_lake(small_lake_once, tmp_path):
    return Lake.open(shutil.copytree(small_lake_once.url, tmp_path / "small"))
