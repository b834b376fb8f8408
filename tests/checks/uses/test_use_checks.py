"""The uses' evidence: known answers, and each missing piece is missing and never a pass."""

from __future__ import annotations

import numpy as np
import pytest
from use_evidence import OWNED, appealed, decided, given, item, measured, packed, seen, verdict

from judge_audit.checks.uses.acceptance import run as acceptance
from judge_audit.checks.uses.appeals import run as appeals
from judge_audit.checks.uses.choices import run as choices
from judge_audit.checks.uses.review import run as review
from judge_audit.checks.uses.separation import run as separation

ALL = (review, choices, separation, acceptance, appeals)


def ends(top_bad=0, bottom_bad=20, n=20, **more):
    """Review n items at either end, some of them bad."""
    entries = [seen("top", 59 - at, "bad" if at < top_bad else "good", **more) for at in range(n)]
    return entries + [seen("bottom", at, "bad" if at < bottom_bad else "good", **more) for at in range(n)]


def sampled(accept_bad=1, reject_good=1, n=30, unseen=0, stratum=""):
    """Decide 60 items, the upper half accepted; review n of either side, each drawn for sure."""
    decisions = [decided(at, "accept" if at >= 30 else "reject", stratum=stratum) for at in range(60)]
    entries = []
    for side, first, wrong, odd in (("accept", 30, "bad", accept_bad), ("reject", 0, "good", reject_good)):
        right = {"bad": "good", "good": "bad"}[wrong]
        for at in range(n):
            said = () if at < unseen else (wrong if at - unseen < odd else right,)
            where = {"decision": f"d{first + at}", "stratum": side, "inclusion": 1.0}
            entries.append(seen("beyond", first + at, *said, **where))
    return {**packed(entries), "decisions": decisions}


def test_without_evidence_every_check_says_missing():
    for run in ALL:
        found = run(given())
        assert found.verdicts
        assert {row["verdict"] for row in found.verdicts} == {"missing"}
        assert all(row.get("value") is None for row in found.verdicts)


def test_a_control_has_no_production_and_no_people():
    for run in ALL:
        assert not run(given(is_control=True)).verdicts


def test_pass_rates_of_both_ends_and_their_difference():
    found = review(given(**packed(ends(top_bad=2, bottom_bad=15))))
    assert measured(found, "pass_rate", "top")["value"] == pytest.approx(0.9)
    assert measured(found, "pass_rate", "bottom")["value"] == pytest.approx(0.25)
    assert verdict(found, "quantile_difference")["value"] == pytest.approx(0.65)
    assert verdict(found, "quantile_difference")["verdict"] == "pass"


def test_cutting_that_does_not_help_fails():
    found = review(given(n=200, **packed(_wide(top_bad=55, bottom_bad=40))))
    row = verdict(found, "quantile_difference")
    assert (row["verdict"], row["finding"]) == ("fail", "cuts_no_better")
    assert verdict(found, "top_pass_rate")["verdict"] in {"fail", "inconclusive"}


def _wide(top_bad, bottom_bad):
    entries = [seen("top", 199 - at, "bad" if at < top_bad else "good") for at in range(80)]
    return entries + [seen("bottom", at, "bad" if at < bottom_bad else "good") for at in range(80)]


def test_one_end_alone_is_missing():
    found = review(given(**packed(ends()[:20])))
    assert verdict(found, "quantile_difference")["verdict"] == "missing"


def test_the_middle_takes_no_part():
    middle = [seen("boundary", at, "bad") for at in range(25, 35)]
    one = review(given(**packed(ends()))).measures
    other = review(given(**packed([*ends(), *middle]))).measures
    assert [row for row in one if row["measure"] == "pass_rate"] == [
        row for row in other if row["measure"] == "pass_rate"
    ]


def test_sources_are_weighted_by_their_items_and_a_half_reviewed_one_is_named():
    sources = ["a"] * 40 + ["b"] * 20
    found = review(given(sources=sources, **packed(ends())))
    assert verdict(found, "quantile_difference")["verdict"] == "missing"
    both = [seen("top", at, "good") for at in range(10, 20)] + [seen("bottom", at, "bad") for at in range(10)]
    found = review(
        given(sources=sources, **packed([*both, *[seen("top", at, "good") for at in range(50, 60)]]))
    )
    assert (
        "Left out, because only one end was reviewed there: b"
        in verdict(found, "quantile_difference")["reason"]
    )


def test_reviewers_who_disagree_count_in_parts_and_copies_of_one_picture_once():
    entries = [seen("top", at, "good", "bad") for at in range(40, 60)]
    entries += [seen("bottom", at, "bad", "bad") for at in range(20)]
    clusters = [item(at) for at in range(40)] + [f"c{at // 4}" for at in range(20)]
    found = review(given(clusters=clusters, **packed(entries)))
    row = measured(found, "pass_rate", "top")
    assert row["value"] == pytest.approx(0.5)
    assert row["n"] == 5


def test_what_nobody_has_looked_at_yet_can_decide():
    few = [
        *ends(n=10),
        *[seen("top", 40 + at) for at in range(9)],
        *[seen("bottom", 11 + at) for at in range(9)],
    ]
    row = verdict(review(given(**packed(few))), "quantile_difference")
    assert row["verdict"] == "inconclusive"
    assert "has reviewed yet decides" in row["reason"]


def test_ends_of_another_judges_order_are_no_evidence():
    made = packed(ends(pack=""))
    for row in made["reviews"]:
        row["judge"] = ""
    assert verdict(review(given(reviews=made["reviews"])), "quantile_difference")["verdict"] == "missing"


def test_rates_are_conditioned_both_ways_by_name():
    found = acceptance(given(declared=OWNED, **sampled(accept_bad=3, reject_good=6)))
    told = {
        ("false_accept_rate", "bad_given_accepted"): 3 / 30,
        ("false_accept_rate", "accepted_given_bad"): 3 / 27,
        ("false_reject_rate", "good_given_rejected"): 6 / 30,
        ("false_reject_rate", "rejected_given_good"): 6 / 33,
    }
    for (measure, kind), value in told.items():
        assert measured(found, measure, kind)["value"] == pytest.approx(value)


def test_few_wrong_decisions_pass_and_many_fail_the_declared_limit():
    good = acceptance(given(declared=OWNED, **sampled()))
    row = verdict(good, "false_accept_rate")
    assert (row["verdict"], row["limit_high"]) == ("pass", 0.2)
    assert "which Ada bears" in row["reason"]
    bad = acceptance(given(declared=OWNED, **sampled(accept_bad=15, reject_good=15)))
    assert verdict(bad, "false_accept_rate")["finding"] == "lets_bad_through"
    assert verdict(bad, "false_reject_rate")["finding"] == "turns_good_away"


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({}, "No limit and no owner"),
        ({"acceptance": {"false_accept": {"limit": 0.2}}}, "No owner"),
        ({"acceptance": {"false_accept": {"owner": "Ada"}}}, "No limit"),
        ({"acceptance": {"false_accept": {"limit": 0.2, "owner": "  "}}}, "No owner"),
    ],
)
def test_without_a_limit_or_an_owner_nothing_is_proved(declared, said):
    found = acceptance(given(declared=declared, **sampled(accept_bad=0)))
    row = verdict(found, "false_accept_rate")
    assert row["verdict"] == "missing"
    assert said in row["reason"]
    assert measured(found, "false_accept_rate", "bad_given_accepted")["value"] == 0


@pytest.mark.parametrize("lacks", ["decisions", "reviews", "side", "inclusion", "stratum"])
def test_each_missing_piece_of_acceptance_is_missing(lacks):
    made = sampled()
    if lacks == "decisions":
        made["decisions"] = []
    elif lacks == "reviews":
        made |= {"reviews": [], "draws": []}
    elif lacks == "side":
        made["reviews"] = [row for row in made["reviews"] if row["stratum"] == "accept"]
    elif lacks == "inclusion":
        made |= {
            "reviews": [{**row, "inclusion": None, "pack_id": ""} for row in made["reviews"]],
            "draws": [],
        }
    else:
        made["draws"] += [{**made["draws"][0], "stratum": "rare", "item_id": "i00029", "decision_id": "d59"}]
    found = acceptance(given(declared=OWNED, **made))
    assert verdict(found, "false_accept_rate")["verdict"] == "missing"
    assert verdict(found, "false_reject_rate")["verdict"] == "missing"


def test_reviews_that_no_pack_asked_for_must_reach_every_stratum_of_the_decisions():
    made = sampled()
    made |= {"draws": [], "reviews": [{**row, "pack_id": "", "queue": ""} for row in made["reviews"]]}
    assert verdict(acceptance(given(declared=OWNED, **made)), "false_accept_rate")["verdict"] == "pass"
    made["decisions"].append(decided(900, "accept", stratum="night"))
    row = verdict(acceptance(given(declared=OWNED, **made)), "false_accept_rate")
    assert row["verdict"] == "missing"
    assert "night" in row["reason"]


def test_recorded_probabilities_weigh_a_dense_boundary_back():
    decisions = [decided(at, "accept") for at in range(1000)] + [decided(1000, "reject")]
    entries = [
        seen(
            "boundary",
            at,
            "bad" if at < 25 else "good",
            decision=f"d{at}",
            stratum="near",
            inclusion=0.5,
            size=100,
        )
        for at in range(50)
    ]
    entries += [
        seen("beyond", at, "good", decision=f"d{at}", stratum="far", inclusion=1 / 18, size=900)
        for at in range(100, 150)
    ]
    entries += [seen("beyond", 1000, "bad", decision="d1000", stratum="no", inclusion=1.0, size=1)]
    found = acceptance(given(n=10, declared=OWNED, decisions=decisions, **packed(entries)))
    assert measured(found, "false_accept_rate", "bad_given_accepted")["value"] == pytest.approx(0.05)


def test_unreviewed_draws_that_could_turn_the_answer_leave_it_open():
    row = verdict(
        acceptance(given(declared=OWNED, **sampled(accept_bad=0, reject_good=0, unseen=8))),
        "false_accept_rate",
    )
    assert row["verdict"] == "inconclusive"
    assert "has reviewed yet decides" in row["reason"]


def against(outcomes, week=lambda at: at % 10):
    decisions = [decided(at, "reject", week(at)) for at in range(200)] + [decided(500, "accept")]
    return {
        "decisions": decisions,
        "appeals": [appealed(at, outcome, week(at)) for at, outcome in enumerate(outcomes)],
    }


def test_appeals_have_denominators_and_open_ones_are_in_no_rate_of_overturns():
    found = appeals(given(declared=OWNED, **against(["overturned"] * 5 + ["upheld"] * 15 + ["open"] * 20)))
    assert measured(found, "appeal_rate")["value"] == pytest.approx(40 / 200)
    assert measured(found, "settled_overturn_rate")["value"] == pytest.approx(5 / 20)
    assert measured(found, "overturned_share")["value"] == pytest.approx(5 / 200)
    assert measured(found, "open_share")["value"] == pytest.approx(20 / 40)
    assert measured(found, "settled_overturn_rate")["n"] == 20


def test_no_channel_is_missing_and_a_channel_without_appeals_proves_nothing_either():
    decisions = against([])["decisions"]
    bare = {
        "acceptance": {name: told for name, told in OWNED["acceptance"].items() if name != "appeal_channel"}
    }
    nobody = given(decisions=decisions, declared=bare)
    row = verdict(acceptance(nobody), "overturn_rate")
    assert row["verdict"] == "missing"
    assert "No channel" in row["reason"]
    assert {found["verdict"] for found in appeals(nobody).verdicts} == {"missing"}
    silent = given(decisions=decisions, declared=OWNED)
    row = verdict(acceptance(silent), "overturn_rate")
    assert row["verdict"] == "missing"
    assert "unknown, not none" in row["reason"]
    assert measured(appeals(silent), "appeal_rate")["value"] == 0
    assert verdict(appeals(silent), "overturn_trend")["verdict"] == "missing"


def test_overturn_rates_pass_fail_or_wait_for_open_appeals():
    for outcomes, answer in (
        (["upheld"] * 60 + ["overturned"] * 5, "pass"),
        (["upheld"] * 20 + ["overturned"] * 40, "fail"),
        (["upheld"] * 60 + ["overturned"] * 5 + ["open"] * 60, "inconclusive"),
        (["open"] * 5, "missing"),
    ):
        row = verdict(acceptance(given(declared=OWNED, **against(outcomes))), "overturn_rate")
        assert row["verdict"] == answer, outcomes


def test_rising_appeals_and_rising_overturns_are_named_apart():
    late = [at for at in range(200) if at % 10 >= 5]
    made = against([])
    made["appeals"] = [appealed(at, "upheld", at % 10) for at in late[:60]]
    found = appeals(given(declared=OWNED, **made))
    assert verdict(found, "appeal_trend")["finding"] == "rising_appeals"
    assert verdict(found, "overturn_trend")["verdict"] != "fail"
    turned = against(["overturned" if at % 10 >= 5 else "upheld" for at in range(200)])
    found = appeals(given(declared=OWNED, **turned))
    assert verdict(found, "overturn_trend")["finding"] == "rising_overturns"
    assert verdict(found, "appeal_trend")["verdict"] == "pass"


def picks(group, names, candidates, *chosen):
    return [
        {"group_id": group, "item_id": item(at), "annotator_id": name, "repeat": 0, "candidates": candidates}
        for name, at in zip(names, chosen, strict=False)
    ]


def groups(n=30, judge_right=True):
    """Two annotators choose the same of two candidates; the second scores higher."""
    rows = []
    for at in range(n):
        best = 2 * at + (1 if judge_right else 0)
        rows += picks(f"g{at:02d}", ("ann", "bob"), [item(2 * at), item(2 * at + 1)], best, best)
    return rows


def test_a_judge_that_chooses_as_people_do_passes_and_one_that_chooses_the_other_fails():
    right = choices(given(choices=groups()))
    assert verdict(right, "first_choice")["verdict"] == "pass"
    assert measured(right, "judge_first_choice")["value"] == 1
    wrong = verdict(choices(given(choices=groups(judge_right=False))), "first_choice")
    assert (wrong["verdict"], wrong["finding"]) == ("fail", "chooses_unlike_people")


def test_a_tie_of_the_judge_is_half_a_choice():
    found = choices(given(scores=np.zeros(60), choices=groups()))
    assert measured(found, "judge_first_choice")["value"] == pytest.approx(0.5)


def test_candidates_may_be_those_of_the_prompt():
    rows = [{**row, "candidates": None} for row in groups()]
    prompts = [f"p{at // 2}" for at in range(60)]
    found = choices(given(choices=rows, prompts=prompts))
    assert verdict(found, "first_choice")["verdict"] == "pass"


@pytest.mark.parametrize("lacks", ["second annotator", "names", "candidates", "scores"])
def test_each_missing_piece_of_choices_is_missing(lacks):
    rows, scores = groups(), None
    if lacks == "second annotator":
        rows = rows[::2]
    elif lacks == "names":
        rows = [{**row, "annotator_id": ""} for row in rows]
    elif lacks == "candidates":
        rows = [{**row, "candidates": [*row["candidates"], "elsewhere"]} for row in rows]
    else:
        scores = np.full(60, np.nan)
    assert verdict(choices(given(scores=scores, choices=rows)), "first_choice")["verdict"] == "missing"


def test_too_few_groups_are_open():
    assert verdict(choices(given(choices=groups(5))), "first_choice")["verdict"] == "inconclusive"


def pairs(after_good, n=30, **more):
    entries = []
    for at in range(n):
        before = "good" if at % 2 else "bad"
        entries.append(seen("before", at, before, partner=item(at + 30), **more))
        entries.append(seen("after", at + 30, after_good(at), partner=item(at), **more))
    return entries


def test_judge_up_people_flat_is_separated_and_both_up_is_not():
    flat = separation(given(**packed(pairs(lambda at: "good" if at % 2 else "bad"))))
    assert verdict(flat, "separated")["finding"] == "separated"
    up = separation(given(**packed(pairs(lambda at: "good"))))
    assert verdict(up, "separated")["verdict"] == "pass"


def test_reviews_that_were_not_blind_or_have_no_partner_are_no_evidence():
    made = packed(pairs(lambda at: "good", pack=""))
    assert verdict(separation(given(reviews=made["reviews"])), "separated")["verdict"] == "missing"
    lonely = packed(pairs(lambda at: "good")[::2])
    assert verdict(separation(given(**lonely)), "separated")["verdict"] == "missing"


def test_pairs_without_scores_are_missing_and_a_few_missing_ones_decide():
    made = packed(pairs(lambda at: "good" if at % 2 else "bad"))
    none = separation(given(scores=np.full(60, np.nan), **made))
    assert verdict(none, "separated")["verdict"] == "missing"
    scores = np.arange(60.0)
    scores[30:45] = np.nan
    assert verdict(separation(given(scores=scores, **made)), "separated")["verdict"] == "inconclusive"
