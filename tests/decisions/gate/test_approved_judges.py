"""Which judges are approved today, by the words that audit them again."""

from __future__ import annotations

import json

import pytest
from gate_lake import add_judge, night

from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.decisions.gate.approvals import approved_judges


def approve(lake, audit, judge, use, day):
    row = {"approval_id": f"{audit}-{use}", "audit_id": audit, "judge_id": judge, "use": use, "signer": "Ada"}
    more = {
        "account": "ada",
        "reason": "why",
        "first": True,
        "despite": [],
        "gate_id": "g",
        "audit_digest": "d",
    }
    lake.commit({"approvals": from_rows("approvals", [{**row, **more, "approved_at": night(day)}])})


def audit(lake, name, judge, spec):
    row = {
        "audit_id": name,
        "status": "complete",
        "judge_id": judge,
        "configuration": json.dumps({"judge": spec}),
    }
    lake.commit({"audits": from_rows("audits", [{**row, "plan_id": "plan", "started_at": night(0)}])})


def test_of_one_name_the_newest_approval_counts_and_other_names_stand_beside_it(lake):
    with pytest.raises(UsageError, match="no judge is approved in this lake yet"):
        approved_judges(lake)
    for judge, name in (("j2", "taste"), ("j3", "sharp")):
        add_judge(lake, judge, name)
    for name, judge, spec in (
        ("old", "j1", "cards/old.yaml"),
        ("new", "j2", "cards/new.yaml"),
        ("other", "j3", "a:b"),
    ):
        audit(lake, name, judge, spec)
    approve(lake, "old", "j1", "ranking", 1)
    assert approved_judges(lake) == ["cards/old.yaml"]
    approve(lake, "new", "j2", "filtering", 2)
    approve(lake, "other", "j3", "filtering", 1)
    assert approved_judges(lake) == ["a:b", "cards/new.yaml"]
