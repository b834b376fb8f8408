from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from gate_lake import (
    add_answers,
    add_audit,
    add_judge,
    add_plan,
    drift_rows,
    night,
    standing_rows,
    verdict_rows,
)

from judge_audit.audits.plugins import find_suites
from judge_audit.audits.stages.gate import approve_candidate
from judge_audit.core.digests import text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.decisions.gate.approvals import Approver
from judge_audit.decisions.gate.suites import builtin_suites
from judge_audit.decisions.signoffs import Signoff
from judge_audit.lake.audits import audit_digest


def states(told, *, only=None):
    return {
        f"{row['suite']}/{row['expectation']}": row["state"]
        for row in told.answer.rows
        if only is None or row["state"] == only
    }


def test_with_none_approved_the_gate_is_shut_and_says_how_to_approve_the_first(lake, ask):
    told = ask(lake, use="filtering")
    assert (told.answer.state, told.code) == ("shut", 1)
    assert states(told, only="shut") == {"gate/approved": "shut"}
    assert "approve --first --candidate first --for filtering" in "\n".join(told.lines)


def test_an_equal_candidate_of_an_approved_judge_finds_the_gate_open(approved, ask):
    add_audit(approved, "second", at=2)
    told = ask(approved)
    assert told.answer.question.candidate == "second"
    assert told.answer.question.baseline == "first"
    assert told.answer.question.use == "filtering"
    assert (told.answer.state, told.code) == ("open", 0)
    assert set(states(told).values()) == {"open"}
    assert {suite.partition("/")[0] for suite in states(told)} == {"gate", *builtin_suites()}
    held = approved.read("gates", audit_id="second")
    assert held.num_rows == len(told.answer.rows)
    assert set(held["state"].to_pylist()) == {"open"}


def test_every_asking_is_a_record_of_its_own_with_its_time(approved, ask):
    add_audit(approved, "second", at=2)
    first, second = ask(approved), ask(approved, now=night(20))
    assert first.answer.gate_id != second.answer.gate_id
    rows = approved.read("gates", audit_id="second")
    assert set(rows["asked_at"].to_pylist()) == {night(9), night(20)}


def test_a_new_conviction_shuts_and_names_fault_owner_and_remedy(approved, ask):
    add_audit(approved, "second", at=2, failing=("top_response",))
    told = ask(approved)
    assert told.code == 1
    assert states(told, only="shut") == {"convictions/nothing_new": "shut"}
    said = "\n".join(told.lines)
    assert "On blur top_response fails." in said
    assert "judge owner: Mend the judge" in said


def test_a_conviction_that_was_approved_does_not_block_again(lake, ask):
    add_audit(lake, "second", at=2, failing=("top_response",))
    approver = Approver("Ada", "ada", "known and bearable", first=True)
    approve_candidate(lake, candidate="second", use="filtering", approver=approver, now=night(3))
    add_audit(lake, "third", at=4, failing=("top_response",))
    assert ask(lake).answer.state == "open"
    rows = verdict_rows("fourth", "j1", failing=("top_response",))
    other = [{**row, "finding": "another"} if row["verdict"] == "fail" else row for row in rows]
    add_audit(lake, "fourth", at=5, verdicts=other)
    assert ask(lake).answer.state == "shut"


def test_on_fresh_pictures_the_same_judge_must_be_convicted_twice(approved, ask):
    for number, plan in enumerate(("fresh", "fresher"), start=2):
        add_answers(approved, "j1", add_plan(approved, plan))
        add_audit(approved, plan, at=number, plan=plan, failing=("jitter",))
    once, twice = ask(approved, candidate="fresh"), ask(approved, candidate="fresher")
    assert once.code == 0
    assert "convictions/nothing_new_on_fresh_pictures" in states(once, only="shut")
    assert "Said, and stopping nothing" in "\n".join(once.lines)
    assert twice.code == 1


def test_a_suspicion_nobody_has_read_shuts_for_the_reward_use_and_bars_nothing_else(lake, ask):
    standings = standing_rows("first", "j1", allowed=("filtering", "ranking", "reward"))
    add_audit(lake, "second", at=2, provisional=("premature",), standings=standings_of("second", standings))
    reward = ask(lake, candidate="second", use="reward")
    assert states(reward)["verdicts/nothing_suspected"] == "shut"
    assert "likely fault, not yet read" in "\n".join(reward.lines)
    filtering = ask(lake, candidate="second", use="filtering")
    assert states(filtering)["verdicts/nothing_suspected"] == "open"


def standings_of(audit, rows):
    return [{**row, "audit_id": audit} for row in rows]


def test_a_use_that_is_not_earned_shuts_and_screening_needs_only_an_order(lake, ask):
    told = ask(lake, use="acceptance")
    assert states(told)["standings/allowed"] == "shut"
    assert "Nobody has shown that acceptance works." in "\n".join(told.lines)
    assert states(ask(lake, use="screening"))["standings/allowed"] == "open"
    add_audit(lake, "lost", at=2, standings=standing_rows("lost", "j1", position="none"))
    assert states(ask(lake, use="screening"))["standings/allowed"] == "shut"


def test_a_control_convicted_of_what_nobody_planted_shuts(approved, ask):
    rows = verdict_rows("second", "j1")
    wrong = [{**row, "verdict": "fail", "reason": "Convicted of blur."} if row.get("kind") == "lover" else row for row in rows]  # fmt: skip # noqa: E501
    add_audit(approved, "second", at=2, verdicts=wrong)
    told = ask(approved)
    assert "controls/none_wrongly_convicted" in states(told, only="shut")
    assert "lover: Convicted of blur." in "\n".join(told.lines)


def test_every_night_inside_the_margin_and_the_sum_outside_is_caught(approved, ask):
    for number, drift in enumerate((0.05, 0.09, 0.13), start=2):
        add_audit(approved, f"night{number}", at=number, drift={"a": 0.01 + drift, "b": -0.01})
    assert [ask(approved, candidate=f"night{n}").code for n in (2, 3, 4)] == [0, 0, 1]
    said = "\n".join(ask(approved).lines)
    assert "blur in a, edge response: +0.13 lift since the approved judge" in said
    assert "since the night before" not in said


def test_on_other_pictures_a_change_counts_only_beyond_both_intervals(approved, ask):
    add_answers(approved, "j1", add_plan(approved, "other"))
    add_audit(approved, "noisy", at=2, plan="other", drift={"a": 0.14, "b": -0.01})
    assert ask(approved).code == 0
    add_audit(approved, "moved", at=3, plan="other", drift={"a": 0.16, "b": -0.01})
    assert ask(approved).code == 1


def test_the_history_tells_each_night_against_the_night_before_and_the_approved_judge(approved):
    from judge_audit.lake.connect import connect

    add_audit(approved, "second", at=2, drift={"a": 0.05, "b": -0.01})
    add_audit(approved, "third", at=3, drift={"a": 0.08, "b": -0.01})
    question = """
        SELECT audit_id, before, approved, round(since_before, 6), round(since_approved, 6), since_before_low
        FROM source_stability_history WHERE source = 'a' ORDER BY night
    """
    with connect(approved) as connection:
        rows = connection.execute(question).fetchall()
    assert [row[:5] for row in rows] == [
        ("first", None, None, None, None),
        ("second", "first", "first", 0.04, 0.04),
        ("third", "second", "first", 0.03, 0.07),
    ]
    assert rows[2][5] == pytest.approx(0.03)


def test_a_judge_of_another_name_is_not_held_against_the_approved_one(approved, ask):
    add_judge(approved, "other", name="colour")
    add_answers(approved, "other", add_plan(approved, "plan"))
    add_audit(approved, "theirs", judge="other", at=3)
    told = ask(approved, use="filtering")
    assert states(told, only="shut") == {"gate/approved": "shut"}
    assert "first (2026-01-02, Ada)" in "\n".join(told.lines)
    against = ask(approved, use="filtering", baseline="first")
    assert states(against)["gate/approved"] == "shut"


def test_a_judge_of_another_origin_opens_no_gate_under_the_approved_one_s_name(approved, ask):
    add_judge(approved, "other", name="taste")
    add_answers(approved, "other", add_plan(approved, "plan"))
    add_audit(approved, "theirs", judge="other", at=3, origin="callable:other_judge:score")
    assert states(ask(approved, use="filtering"), only="shut") == {"gate/approved": "shut"}


def test_a_new_version_of_the_same_origin_is_held_against_the_approved_one_whatever_it_is_called(
    approved, ask
):
    add_judge(approved, "new", name="taste two")
    add_answers(approved, "new", add_plan(approved, "plan"))
    add_audit(approved, "theirs", judge="new", at=3, origin="card:cards/taste.yaml")
    assert states(ask(approved, use="filtering"))["gate/approved"] == "open"


def test_a_judge_that_a_person_says_takes_over_is_of_the_lineage_from_then_on(approved, ask):
    for judge, audit, at in (("other", "theirs", 3), ("later", "latest", 5)):
        add_judge(approved, judge, name="taste")
        add_answers(approved, judge, add_plan(approved, "plan"))
        add_audit(approved, audit, judge=judge, at=at, origin="callable:other_judge:score")
    assert states(ask(approved, use="filtering"), only="shut") == {"gate/approved": "shut"}
    unscored = ("anchor_order/same_order_or_better", "anchor_order/old_anchors_agree")
    said = {"despite": unscored, "succeeds": "j1"}
    approver = Approver("Ada", "ada", "moved to a module of its own", **said)
    approve_candidate(approved, candidate="theirs", use="filtering", approver=approver, now=night(6))
    told = states(ask(approved, use="filtering"))
    assert told["gate/approved"] == "open"


@pytest.mark.parametrize(
    ("days", "state"), [(9, "open"), (31, "open"), (32.1, "shut"), (400, "shut"), (1, "shut")]
)
def test_evidence_older_than_its_certificate_would_last_or_from_the_future_shuts(approved, ask, days, state):
    add_audit(approved, "second", at=2)
    assert states(ask(approved, now=night(days)))["gate/fresh"] == state


def test_an_older_approval_of_the_same_judge_is_no_baseline(approved, ask):
    add_audit(approved, "second", at=2)
    approver = Approver("Ada", "ada", "newer")
    approve_candidate(approved, candidate="second", use="filtering", approver=approver, now=night(3))
    add_audit(approved, "third", at=4)
    told = ask(approved, use="filtering", baseline="first")
    assert states(told, only="shut") == {"gate/approved": "shut"}
    assert "that is audit second" in "\n".join(told.lines)
    assert states(ask(approved, use="filtering", baseline="second"))["gate/approved"] == "open"


def test_a_baseline_that_was_never_approved_is_compared_with_and_opens_nothing(approved, ask):
    add_audit(approved, "second", at=2)
    add_audit(approved, "third", at=3)
    told = ask(approved, baseline="second")
    assert states(told, only="shut") == {"gate/approved": "shut"}
    assert "is not the newest approval" in "\n".join(told.lines)


def test_the_approved_audit_must_hold_the_rows_that_were_approved(approved, ask):
    add_audit(approved, "second", at=2)
    late = [row | {"measure": "top_drift"} for row in drift_rows("first", "j1", {"a": 0.0})]
    approved.commit({"measures": from_rows("measures", late)})
    told = ask(approved)
    assert states(told)["gate/untouched"] == "shut"


def test_an_audit_or_use_that_does_not_exist_is_named(lake, ask):
    with pytest.raises(UsageError, match="no audit “none”"):
        ask(lake, candidate="none")
    with pytest.raises(UsageError, match="the uses are acceptance, filtering, ranking, reward, screening"):
        ask(lake, use="parties")


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "open"),
        ({"expires_at": night(8)}, "shut"),
        ({"audit_digest": "of other rows"}, "shut"),
        ({"use": "reward"}, "shut"),
        ({"judge_id": "another"}, "shut"),
    ],
)
def test_acceptance_needs_a_sign_off_on_these_very_rows_that_still_holds(lake, ask, change, state):
    allowed = ("filtering", "ranking", "reward", "acceptance")
    add_audit(lake, "second", at=2, standings=standing_rows("second", "j1", allowed, "accept"))
    if not change:
        assert states(ask(lake, use="acceptance"))["signoffs/signed"] == "shut"
    draft = Signoff(
        signoff_id="",
        audit_id="second",
        judge_id="j1",
        use="acceptance",
        signer="Ada",
        account="ci",
        reason="It holds.",
        signed_at=night(3),
        expires_at=night(30),
        audit_digest=audit_digest(lake, "second"),
    )
    draft = replace(draft, **change)
    made = replace(draft, signoff_id=text_digest("signoff", draft.words.decode()))
    lake.commit({"signoffs": from_rows("signoffs", [asdict(made)])})
    told = ask(lake, use="acceptance")
    assert states(told)["signoffs/signed"] == state
    assert states(told)["standings/allowed"] == "open"


def pile_rows(audit, verdict, number, **parts):
    row = {
        "audit_id": audit,
        "subject": "j1",
        "check": "scale",
        "measure": "capability",
        "dimension": "overall",
    }
    row |= {"verdict": verdict, "finding": "constant" if verdict == "fail" else "", "n": number}
    return [*verdict_rows(audit, "j1"), row | {"reason": "It piles up.", "provisional": False} | parts]


@pytest.mark.parametrize(
    ("later", "state"),
    [
        (None, "shut"),
        (("pass", 40), "open"),
        (("inconclusive", 40), "open"),
        (("pass", 39), "shut"),
        (("missing", 40), "shut"),
    ],
)
def test_a_conviction_stands_until_the_same_question_is_asked_again_on_as_much(approved, ask, later, state):
    add_audit(approved, "second", at=2, verdicts=pile_rows("second", "fail", 40))
    rows = pile_rows("third", *later) if later else verdict_rows("third", "j1")
    add_audit(approved, "third", at=3, verdicts=rows)
    told = ask(approved, candidate="third")
    assert states(told)["gate/convictions_lifted"] == state
    assert ("It piles up." in "\n".join(told.lines)) == (state == "shut")


def test_a_suspicion_and_a_fault_that_the_use_does_not_ask_about_stand_in_nobody_s_way(approved, ask):
    add_audit(approved, "second", at=2, verdicts=pile_rows("second", "fail", 40, provisional=True))
    add_audit(approved, "third", at=3)
    assert states(ask(approved, candidate="third"))["gate/convictions_lifted"] == "open"
    add_audit(approved, "fourth", at=4, verdicts=pile_rows("fourth", "fail", 40, measure="pile"))
    add_audit(approved, "fifth", at=5)
    assert states(ask(approved, candidate="fifth"))["gate/convictions_lifted"] == "open"


def test_the_team_s_suites_belong_to_the_audit_wherever_the_gate_is_asked(
    approved, ask, tmp_path, monkeypatch
):
    project = tmp_path / "team"
    (project / "suites").mkdir(parents=True)
    (project / "suites" / "never.sql").write_text(
        "-- Never.\nSELECT 'a' AS k, 1 AS v;\n-- keys: a.\nSELECT 'a' AS k;\n"
    )
    expectation = {
        "type": "expect_column_values_to_be_between",
        "kwargs": {"column": "v", "min_value": 0, "max_value": 0},
        "severity": "critical",
        "meta": {"name": "never", "reason": "No.", "remedy": "None."},
    }
    suite = {"owner": "team", "key": ["k"], "expectations": [expectation]}
    (project / "suites" / "never.json").write_text(json.dumps(suite))
    digests = {part.origin: part.digest for part in find_suites(str(project)).values() if part.digest}
    recorded = {"configuration": json.dumps({"project": str(project)}), "input_digests": json.dumps(digests)}
    add_audit(approved, "second", at=2, row=recorded)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert states(ask(approved, candidate="second"))["never/never"] == "shut"
    for change in (
        lambda: (project / "suites" / "never.json").write_text(json.dumps(suite | {"owner": "nobody"})),
        lambda: [path.unlink() for path in (project / "suites").iterdir()],
        lambda: project.rename(tmp_path / "moved"),
    ):
        change()
        told = ask(approved, candidate="second")
        assert states(told)["gate/suites_as_recorded"] == "cannot be asked"
        assert told.code != 0


def limited(**limits):
    return {
        "configuration": json.dumps(
            {"limits": {name.replace("__", "."): value for name, value in limits.items()}}
        )
    }


@pytest.mark.parametrize(
    ("limits", "shut"),
    [
        ({}, None),
        ({"premature__margin": 0.04}, None),
        ({"premature__margin": 0.06}, "limit premature.margin"),
        ({"review__difference": 0.05}, "limit review.difference"),
        ({"review__difference": 0.2}, None),
        ({"scale__min_scores": 120}, "limit scale.min_scores"),
        ({"certificate__days": 60}, "limit certificate.days"),
        ({"certificate__days": 36500}, "limits_within_bounds"),
        ({"premature__margin": "x"}, "limits_within_bounds"),
    ],
)
def test_limits_looser_than_at_the_approval_shut_the_gate_and_are_named(approved, ask, limits, shut):
    add_audit(approved, "second", at=2, row=limited(**limits))
    told = ask(approved)
    assert set(states(told, only="shut")) >= ({f"gate/{shut}"} if shut else set())
    assert (told.code == 0) == (shut is None)
    if shut:
        assert next(iter(limits)).replace("__", ".") in "\n".join(told.lines)


def test_limits_beyond_their_bounds_cannot_be_approved_and_equal_ones_before_do_not_help(approved, ask):
    relaxed = limited(certificate__days=36500, premature__margin=0.9)
    add_audit(approved, "second", at=2, row=relaxed)
    despite = ("gate/limits_within_bounds", "gate/limit certificate.days", "gate/limit premature.margin")
    approver = Approver("Ada", "ada", "x", despite=despite)
    with pytest.raises(UsageError, match="nobody can approve"):
        approve_candidate(approved, candidate="second", use="filtering", approver=approver, now=night(3))


def test_nobody_lengthens_a_certificate_alone(approved, ask):
    add_audit(approved, "second", at=2, row=limited(certificate__days=80))
    told = ask(approved, candidate="second", now=night(40))
    assert states(told)["gate/fresh"] == "shut"


def test_each_looser_limit_is_taken_on_by_its_own_name(approved, ask):
    own = {"value": 0.08, "reason": "our raters see less", "owner": "Ada"}
    add_audit(approved, "second", at=2, row=limited(premature__margin=own, jitter__margin=0.2))
    assert "by Ada: our raters see less" in "\n".join(ask(approved).lines)
    one = Approver("Ada", "ada", "agreed", despite=("gate/limit premature.margin",))
    with pytest.raises(UsageError, match=r"jitter\.margin"):
        approve_candidate(approved, candidate="second", use="filtering", approver=one, now=night(3))
    both = replace(one, despite=("gate/limit premature.margin", "gate/limit jitter.margin"))
    approve_candidate(approved, candidate="second", use="filtering", approver=both, now=night(3))
    add_audit(approved, "third", at=4, row=limited(premature__margin=0.08))
    assert not [name for name in states(ask(approved, candidate="third"), only="shut") if "limit" in name]
    add_audit(approved, "fourth", at=5, row=limited(premature__margin=0.09))
    assert states(ask(approved, candidate="fourth"))["gate/limit premature.margin"] == "shut"


def test_the_first_approval_compares_the_limits_with_the_shipped_ones(lake):
    add_audit(lake, "second", at=2, row=limited(premature__margin=0.2))
    with pytest.raises(UsageError, match=r"gate/limit premature\.margin"):
        approve_candidate(
            lake,
            candidate="second",
            use="filtering",
            approver=Approver("Ada", "ada", "x", first=True),
            now=night(3),
        )
