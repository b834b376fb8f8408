"""Missing evidence is unknown, never pass, and unknown demotes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_audit.core.errors import MachineryError
from judge_audit.core.messages import say
from judge_audit.decisions.standings import (
    Scope,
    builtin_uses,
    capability_of,
    not_applicable,
    parse_use,
    stand,
)


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
    asked = {(one.check, one.measure) for use in builtin_uses() for one in (*use.requires, *use.bars)}
    return [verdict(check, measure, answer) for check, measure in sorted(asked)]


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
    kept.append(verdict("choices", "first_choice", "missing"))
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


QUESTIONS = sorted({(one.check, one.measure) for use in builtin_uses() for one in (*use.requires, *use.bars)})
ONCE = {(one.check, one.measure) for use in builtin_uses() for one in use.bars if not one.each}
ONCE |= {
    (one.check, one.measure) for use in builtin_uses() for one in use.requires if "dimensions" not in one.over
}
"""Questions that are answered once for a judge, and not in every dimension."""
SCOPE = Scope(
    axes=frozenset({"blur", "crop"}),
    dimensions=frozenset({"overall", "look"}),
    kinds=frozenset({"semantic_miss"}),
)


def whole(scope=SCOPE):
    """Every question asked over a scope, and passed."""
    rows = []
    for check, measure in QUESTIONS:
        axes = sorted(scope.axes) if check in {"premature", "jitter", "top_response"} else ["*"]
        kind = "semantic_miss (constructed)" if measure == "response_lift" else "*"
        rows += [
            verdict(check, measure, "pass") | {"axis": axis, "dimension": name, "kind": kind}
            for axis in axes
            for name in (["*"] if (check, measure) in ONCE else sorted(scope.dimensions))
        ]
    return rows


def by_use(verdicts, scope=SCOPE, context="outside"):
    return {row["use"]: row for row in stand(builtin_uses(), verdicts, context, scope)}


def test_a_judge_that_passes_everything_over_the_whole_scope_may_accept():
    assert by_use(whole())["position"]["standing"] == "accept"


@pytest.mark.parametrize(("check", "measure"), QUESTIONS)
def test_no_use_that_names_a_question_is_allowed_when_it_was_never_asked_or_ends_in_a_conviction(
    check, measure
):
    touched = {
        use.name: any(
            (one.check, one.measure) == (check, measure) and not getattr(one, "of_comparers", False)
            for one in (*use.requires, *use.bars)
        )
        for use in builtin_uses()
    }
    without = [row for row in whole() if (row["check"], row["measure"]) != (check, measure)]
    kinds = check == "mismatch" and measure == "response_lift"
    for name, row in by_use(without).items():
        if touched.get(name) or (kinds and name in {"reward", "acceptance"}):
            assert row["standing"] == "unproven", name
    for use in builtin_uses():
        for one in use.bars:
            if (one.check, one.measure) == (check, measure):
                finding = one.finding or "fault"
                scope = replace(SCOPE, cannot=frozenset({"compares"})) if one.of_comparers else SCOPE
                convicted = [*whole(), verdict(check, measure, "fail", finding=finding)]
                assert by_use(convicted, scope)[use.name]["standing"] == "barred"
                suspected = [*whole(), verdict(check, measure, "fail", finding=finding, provisional=True)]
                assert by_use(suspected, scope)[use.name]["standing"] == "allowed"
                open_ = [*whole(), verdict(check, measure, "inconclusive")]
                assert by_use(open_, scope)[use.name]["standing"] == "allowed"


def test_a_ladder_that_was_not_judged_is_named_and_earns_nothing():
    rows = [row for row in whole() if row["axis"] != "crop"]
    found = by_use(rows)
    assert found["reward"]["standing"] == "unproven"
    assert any("There is no verdict on crop." in text for text in found["reward"]["missing"])


def test_a_source_that_earlier_audits_had_is_missing():
    scope = replace(SCOPE, dropped=frozenset({"sdxl"}))
    for row in by_use(whole(), scope).values():
        assert row["standing"] in {"unproven", "screening"}
    assert "sdxl" in " ".join(by_use(whole(), scope)["filtering"]["missing"])


def test_the_reason_that_is_there_is_named_and_not_another_one():
    rows = [row for row in whole() if (row["check"], row["measure"]) != ("mismatch", "selectivity")]
    rows.append(verdict("mismatch", "selectivity", "missing") | {"reason": "The judge returns one total."})
    (text,) = [text for text in by_use(rows)["reward"]["missing"] if "Separable" in text]
    assert "The judge returns one total." in text
    assert "never asked" not in text


def test_missing_evidence_is_waived_inside_the_team_and_a_conviction_never_is():
    gone = [row for row in whole() if row["check"] != "choices"]
    assert by_use(gone, context="internal")["ranking"]["standing"] == "unproven"
    without = [*gone, verdict("choices", "first_choice", "missing")]
    assert by_use(without, context="internal")["ranking"]["standing"] == "allowed"
    convicted = [*without, verdict("choices", "first_choice", "fail")]
    assert by_use(convicted, context="internal")["ranking"]["standing"] == "barred"


@pytest.mark.parametrize("case", ["table", "one_source", "no_prompt", "compares"])
def test_a_question_that_cannot_be_asked_is_left_out_by_the_list_and_this_is_said(case):
    uses, left_out = not_applicable()[case]
    rows = [row for row in whole() if f"{row['check']}.{row['measure']}" not in left_out]
    scope = replace(SCOPE, cannot=frozenset({case}), sources=("sdxl",))
    for name in uses & {"filtering", "ranking"}:
        assert by_use(rows)[name]["standing"] == "unproven"
        assert by_use(rows, scope)[name]["standing"] == "allowed"
        assert say(f"standings.not_applicable.{case}", sources="sdxl") in by_use(rows, scope)[name]["reasons"]


@pytest.mark.parametrize("finding", ["constant", "one_value", "silent", "reversed", "no_order"])
def test_a_judge_that_orders_nothing_has_no_position(finding):
    rows = [*whole(), verdict("scale", "capability", "inconclusive", finding=finding)]
    assert by_use(rows)["position"]["standing"] == "none"


def test_a_judge_that_is_worse_than_chance_has_no_position():
    rows = [*whole(), verdict("within_prompt", "top1_gain", "fail", finding="worse_than_chance")]
    found = by_use(rows)
    assert found["position"]["standing"] == "none"
    assert {found[use.name]["standing"] for use in builtin_uses()} == {"barred"}


def test_every_shipped_use_places_every_question_once():
    """A new question is entered in every checklist: as required, barring or shown."""
    named = {
        use.name: [
            *(f"{one.check}.{one.measure}" for one in use.requires),
            *(f"{one.check}.{one.measure}" for one in use.bars),
            *use.shows,
        ]
        for use in builtin_uses()
    }
    assert all(len(set(questions)) == len(questions) for questions in named.values())
    assert len({frozenset(questions) for questions in named.values()}) == 1


ANSWERS = st.sampled_from(["pass", "fail", "inconclusive", "missing"])
ORDER = {"none": 0, "screening": 1, "filter and rank": 2, "reward": 3, "accept": 4}


def grade(verdicts, context):
    """Give what is allowed, and how high the position is."""
    rows = by_use(verdicts, context=context)
    allowed = {use.name for use in builtin_uses() if rows[use.name]["standing"] == "allowed"}
    return allowed, ORDER[rows["position"]["standing"]]


def never_higher(before, after):
    return after[0] <= before[0] and after[1] <= before[1]


@st.composite
def evidence(draw):
    """Give verdicts: mostly passes, some rows turned or gone."""
    rows = whole()
    for place in draw(st.lists(st.integers(0, len(rows) - 1), max_size=4)):
        rows[place] = rows[place] | {"verdict": draw(ANSWERS), "provisional": draw(st.booleans())}
    gone = draw(st.sets(st.integers(0, len(rows) - 1), max_size=2))
    return [row for place, row in enumerate(rows) if place not in gone]


@given(rows=evidence(), data=st.data(), context=st.sampled_from(["outside", "internal"]))
@settings(max_examples=200, deadline=None)
def test_a_worse_verdict_or_a_row_less_never_raises_a_standing(rows, data, context):
    before = grade(rows, context)
    place = data.draw(st.integers(0, len(rows) - 1))
    if rows[place]["verdict"] == "pass":
        worse = data.draw(st.sampled_from(["fail", "inconclusive", "missing"]))
        turned = rows[place] | {"verdict": worse, "provisional": data.draw(st.booleans())}
        assert never_higher(before, grade([*rows[:place], turned, *rows[place + 1 :]], context))
    assert never_higher(before, grade([*rows[:place], *rows[place + 1 :]], context))
    again = rows[place] | {"verdict": data.draw(st.sampled_from(["fail", "inconclusive", "missing"]))}
    assert never_higher(before, grade([*rows, again | {"provisional": data.draw(st.booleans())}], context))


@given(rows=evidence(), data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_wider_scope_never_raises_a_standing(rows, data):
    wider = replace(
        SCOPE,
        axes=SCOPE.axes | data.draw(st.sets(st.sampled_from(["noise", "jpeg"]))),
        dimensions=SCOPE.dimensions | data.draw(st.sets(st.sampled_from(["semantic", "structure"]))),
        kinds=SCOPE.kinds | data.draw(st.sets(st.sampled_from(["poor_quality"]))),
        dropped=frozenset(data.draw(st.sets(st.sampled_from(["a", "b"])))),
    )
    narrow, wide = by_use(rows), by_use(rows, wider)
    for use in builtin_uses():
        assert not (wide[use.name]["standing"] == "allowed" and narrow[use.name]["standing"] != "allowed")
    assert ORDER[wide["position"]["standing"]] <= ORDER[narrow["position"]["standing"]]
