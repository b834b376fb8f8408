from __future__ import annotations

import pytest
from gate_lake import add_audit, night, standing_rows

from judge_audit.audits.stages.gate import approve_candidate
from judge_audit.core.errors import UsageError
from judge_audit.decisions.gate.approvals import Approver


def approver(**parts):
    return Approver(**{"signer": "Ada", "account": "ada", "reason": "it works", **parts})


def test_the_first_approval_asks_for_the_word_and_keeps_who_why_and_what(lake):
    with pytest.raises(UsageError, match="add --first"):
        approve_candidate(lake, candidate="first", use="filtering", approver=approver())
    row = approve_candidate(
        lake, candidate="first", use="filtering", approver=approver(first=True), now=night(1)
    )
    (held,) = lake.read("approvals").to_pylist()
    assert held == {**row, "anchor_head": None}
    assert (held["signer"], held["reason"], held["audit_id"], held["first"]) == (
        "Ada",
        "it works",
        "first",
        True,
    )
    assert len(held["audit_digest"]) == 32
    assert lake.read("gates", audit_id="first", gate_id=held["gate_id"]).num_rows


def test_a_second_first_is_refused(approved):
    with pytest.raises(UsageError, match="leave --first out"):
        approve_candidate(approved, candidate="first", use="filtering", approver=approver(first=True))


def test_an_approval_for_one_use_is_none_for_another(approved):
    with pytest.raises(UsageError, match="never approved for ranking"):
        approve_candidate(approved, candidate="first", use="ranking", approver=approver())


@pytest.mark.parametrize("parts", [{"signer": " "}, {"reason": ""}])
def test_a_name_and_a_reason_are_asked_for(lake, parts):
    with pytest.raises(UsageError, match="is empty"):
        approve_candidate(lake, candidate="first", use="filtering", approver=approver(first=True, **parts))


def test_first_lets_nothing_be_but_what_would_compare(lake):
    with pytest.raises(UsageError, match="standings/allowed") as refused:
        approve_candidate(lake, candidate="first", use="acceptance", approver=approver(first=True))
    assert "convictions" not in str(refused.value)


def test_what_is_not_met_is_taken_on_by_name_or_not_at_all(approved):
    add_audit(approved, "second", at=2, failing=("jitter",))
    with pytest.raises(UsageError, match="--despite convictions/nothing_new"):
        approve_candidate(approved, candidate="second", use="filtering", approver=approver())
    with pytest.raises(UsageError, match="stands in nobody's way"):
        approve_candidate(
            approved, candidate="second", use="filtering", approver=approver(despite=("standings/allowed",))
        )
    taken = approver(despite=("convictions/nothing_new",))
    row = approve_candidate(approved, candidate="second", use="filtering", approver=taken, now=night(3))
    assert row["despite"] == ["convictions/nothing_new"]
    assert not row["first"]


@pytest.mark.parametrize(("use", "changed"), [("reward", "reward"), ("screening", "position")])
def test_missing_evidence_can_be_taken_on_by_name_and_a_conviction_cannot(lake, use, changed):
    standing = "none" if changed == "position" else "barred"
    rows = [
        row | ({"standing": standing, "reasons": ["It is reversed."]} if row["use"] == changed else {})
        for row in standing_rows("second", "j1")
    ]
    add_audit(lake, "second", at=2, standings=rows)
    with pytest.raises(UsageError, match=r"cannot be taken on by name.*It is reversed"):
        approve_candidate(
            lake,
            candidate="second",
            use=use,
            approver=approver(first=True, despite=("standings/allowed",)),
            now=night(3),
        )
    assert lake.read("approvals").num_rows == 0
