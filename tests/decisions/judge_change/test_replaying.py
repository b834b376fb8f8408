"""Past decisions replayed from a lake: shares, numbers, samples, unknowns, other judges."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from judged_anchors import card, commit_audit

from judge_audit.core.tables import from_rows
from judge_audit.decisions.judge_change import draw_sample, replay
from judge_audit.lake import Lake

ABSOLUTE = {"check": "scale", "measure": "absolute", "verdict": "pass", "finding": "", "reason": ""}
SCALE = {"scale_low": 0, "scale_high": 10, "scale_step": None}


@pytest.fixture
def make(tmp_path):
    def made(new, *, absolute=False, judge="ours", extra=()):
        lake = Lake.open(tmp_path / "lake")
        verdicts = [{**ABSOLUTE, "provisional": False}] if absolute else []
        old = {f"item-{at}": [float(at)] for at in range(10)}
        for name, values in (("old", old), ("new", {f"item-{at}": [value] for at, value in enumerate(new)})):
            told = card(weights=name, **SCALE)
            mine = [{**row, "subject": name} for row in verdicts]
            commit_audit(lake, f"audit-{name}", name, told, values, plan=name, verdicts=mine)
        rows = [
            {
                "import_id": "i",
                "decision_id": f"d{at}",
                "item_id": f"item-{at}",
                "source": "s",
                "judge": judge,
                "value": float(at),
                "decision": "accept" if at >= 6 else "reject",
            }
            for at in range(10)
        ]
        about = {"import_id": "i", "kind": "decisions", "imported_at": datetime(2026, 1, 1, tzinfo=UTC)}
        lake.commit(
            {"decisions": from_rows("decisions", [*rows, *extra]), "imports": from_rows("imports", [about])}
        )
        return lake

    return made


def test_the_same_order_changes_nothing_whatever_the_numbers(make):
    found = replay(make([100.0 + at for at in range(10)]), "audit-new", "audit-old")
    assert found.rule == "share"
    assert {rate.changed for rate in found.rates.values()} == {0.0}
    assert "as large a share" in found.sentences[0]


def test_a_turned_pair_changes_one_of_each(make):
    new = [0, 1, 2, 3, 4, 6.5, 5.5, 7, 8, 9]
    found = replay(make(new), "audit-new", "audit-old")
    assert found.rates["accepted", "*"].changed == pytest.approx(1 / 4)
    assert found.rates["filtered", "*"].changed == pytest.approx(1 / 6)
    row = next(
        row for row in found.measures if row["kind"] == "accepted" and row["measure"] == "replay_changed"
    )
    assert (row["n"], row["check"], row["baseline"]) == (4, "replay", "old")
    assert row["ci_low"] < 0.25 < row["ci_high"]
    assert found.tables()["measures"].num_rows == len(found.measures)


def test_a_number_is_carried_over_only_between_absolute_scales(make):
    shifted = [at - 1.0 for at in range(10)]
    found = replay(make(shifted, absolute=True), "audit-new", "audit-old")
    assert found.rule == "number"
    assert found.rates["accepted", "*"].changed == pytest.approx(1 / 4)
    assert found.rates["filtered", "*"].changed == 0


def test_what_has_no_new_score_is_unknown_and_counted(make):
    found = replay(make([0, 1, 2, 3, 4, 5, 6, 7, 8]), "audit-new", "audit-old")
    rate = found.rates["accepted", "*"]
    assert (rate.n, rate.n_unknown) == (3, 1)
    assert any("1 more are unknown" in text for text in found.sentences)


def test_decisions_of_other_judges_are_left_out_and_none_is_said(make):
    found = replay(make(list(range(10)), judge="theirs"), "audit-new", "audit-old")
    assert found.others == 10
    assert "No past decision" in found.sentences[0]
    assert not found.rates


def test_a_sample_has_its_inclusion_and_rests_on_the_names_alone():
    rows = [
        {"decision_id": f"d{at}", "source": "ab"[at % 2], "decision": "accept" if at < 30 else "reject"}
        for at in range(300)
    ]
    drawn = draw_sample(rows, 1, 40)
    assert len(drawn) == 15 + 15 + 40 + 40
    assert drawn == draw_sample(rows[::-1], 1, 40)
    assert {drawn[name] for name in drawn if int(name[1:]) < 30} == {1.0}
    assert sum(1 / p for p in drawn.values()) == pytest.approx(300)
    assert len(draw_sample(rows, 1)) == 300


def test_a_sample_is_weighted_and_said(make):
    found = replay(
        make([0, 1, 2, 3, 4, 6.5, 5.5, 7, 8, 9]),
        "audit-new",
        "audit-old",
        sample={"d5": 0.5, "d0": 0.5, "d6": 1.0, "d9": 1.0},
    )
    assert any("A sample of 4 decisions" in text for text in found.sentences)
    assert found.rates["filtered", "*"].n == 2
