"""Missing evidence is unknown, never pass, and unknown demotes."""

from __future__ import annotations

import pytest

from judge_audit.core.errors import MachineryError
from judge_audit.decisions.standings import builtin_uses, capability_of, parse_use, stand


def verdict(check, measure, answer, *, provisional=False, finding=""):
    return {
        "check": check,
        "measure": measure,
        "verdict": answer,
        "provisional": provisional,
        "finding": finding,
        "reason": f"{check} {measure} {answer}",
    }


def everything(answer="pass"):
    return [verdict(r.check, r.measure, answer) for use in builtin_uses() for r in use.requires]


def standings(verdicts):
    return {row["use"]: row for row in stand(builtin_uses(), verdicts)}


def test_without_evidence_every_use_is_unproven_and_the_position_is_screening():
    rows = standings([])
    assert {rows[use]["standing"] for use in ("filtering", "ranking", "reward", "acceptance")} == {"unproven"}
    assert rows["position"]["standing"] == "screening"
    assert all(rows[use]["missing"] for use in ("filtering", "ranking", "reward", "acceptance"))


def test_with_every_requirement_proved_the_judge_may_accept():
    rows = standings(everything())
    assert {row["standing"] for use, row in rows.items() if use != "position"} == {"allowed"}
    assert rows["position"]["standing"] == "accept"


@pytest.mark.parametrize("use", [use.name for use in builtin_uses()])
def test_each_missing_requirement_alone_makes_its_use_unproven(use):
    [wanted] = [found for found in builtin_uses() if found.name == use]
    for requirement in wanted.requires:
        kept = [
            row
            for row in everything()
            if (row["check"], row["measure"]) != (requirement.check, requirement.measure)
        ]
        assert standings(kept)[use]["standing"] == "unproven", requirement
        assert standings(kept)["position"]["standing"] != "accept"


@pytest.mark.parametrize("answer", ["inconclusive", "missing"])
def test_an_undecided_verdict_proves_nothing(answer):
    rows = standings([*everything(), verdict("premature", "edge_lift", answer)])
    assert rows["reward"]["standing"] == "unproven"
    assert rows["position"]["standing"] == "filter and rank"


def test_a_failed_requirement_bars_and_says_why():
    rows = standings([*everything(), verdict("premature", "edge_lift", "fail")])
    assert rows["reward"]["standing"] == "barred"
    assert rows["reward"]["reasons"] == ["premature edge_lift fail"]


def test_a_provisional_fail_bars_nothing_and_a_provisional_pass_supports_nothing():
    failed = standings([*everything(), verdict("premature", "edge_lift", "fail", provisional=True)])
    assert failed["reward"]["standing"] == "unproven"
    assert failed["reward"]["reasons"][0].startswith("Suspected")
    passed = standings([*everything(), verdict("premature", "edge_lift", "pass", provisional=True)])
    assert passed["reward"]["standing"] == "unproven"


def test_a_constant_judge_holds_no_position_at_all():
    rows = standings([*everything(), verdict("scale", "capability", "fail", finding="constant")])
    assert rows["position"]["standing"] == "none"
    assert capability_of([verdict("scale", "capability", "fail", finding="constant")]) == "none"


def test_a_higher_step_is_not_reached_over_a_missing_lower_one():
    without_choices = [row for row in everything() if row["check"] != "choices"]
    assert standings(without_choices)["position"]["standing"] == "screening"


def test_an_unknown_scale_demotes_to_ranker():
    assert capability_of([]) == "ranker"
    assert capability_of([verdict("scale", "absolute", "inconclusive")]) == "ranker"
    assert capability_of([verdict("scale", "absolute", "pass")]) == "absolute"


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"use": "x", "step": "accept", "question": "?", "requires": []},
        {"use": "x", "step": "accept", "question": "?", "requires": [{"check": "a"}]},
    ],
)
def test_a_malformed_checklist_is_refused_by_name(content):
    with pytest.raises(MachineryError, match=r"mine\.yaml"):
        parse_use("mine.yaml", content)


def test_a_judge_that_depends_on_its_batch_is_no_reward_and_accepts_nothing_but_may_still_rank():
    rows = standings([*everything(), verdict("sight", "batch_moved", "fail", finding="batch_dependent")])
    assert rows["reward"]["standing"] == rows["acceptance"]["standing"] == "barred"
    assert rows["filtering"]["standing"] == rows["ranking"]["standing"] == "allowed"
    assert rows["position"]["standing"] == "filter and rank"


def test_blindness_by_itself_bars_nothing():
    blind = [verdict("sight", f"{name}_moved", "fail") for name in ("border", "aspect", "orientation")]
    assert standings([*everything(), *blind])["position"]["standing"] == "accept"


def test_inside_the_team_ranking_is_a_sieve_without_peoples_choices_and_outside_it_is_not():
    kept = [row for row in everything() if row["check"] != "choices"]
    inside = {row["use"]: row for row in stand(builtin_uses(), kept, "internal")}
    assert inside["ranking"]["standing"] == "allowed"
    assert "Used inside only" in inside["ranking"]["reasons"][0]
    assert standings(kept)["ranking"]["standing"] == "unproven"


def test_evidence_against_bars_inside_too():
    rows = stand(builtin_uses(), [*everything(), verdict("choices", "first_choice", "fail")], "internal")
    assert {row["use"]: row["standing"] for row in rows}["ranking"] == "barred"


def test_an_open_question_says_how_many_would_settle_it():
    open_ = verdict("premature", "edge_lift", "inconclusive") | {"n_needed": 1520}
    rows = standings([row for row in everything() if row["check"] != "premature"] + [open_])
    assert any("About 1,520 items" in text for text in rows["reward"]["missing"])


def test_at_screening_it_is_said_that_a_person_signs():
    assert any("a person looks, and signs" in text for text in standings([])["position"]["reasons"])


def test_a_requirement_cannot_be_waived_outside():
    wanted = {"check": "c", "measure": "m", "missing": "x", "remedy": "y", "waived": "outside"}
    with pytest.raises(MachineryError, match="waived"):
        parse_use("u.yaml", {"use": "u", "step": "reward", "question": "?", "requires": [wanted]})
