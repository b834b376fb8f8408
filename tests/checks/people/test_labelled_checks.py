"""Within a prompt, with itself, missing on purpose, copies, and a scale held against labels."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from labelled_evidence import SCALE, crowd, only, rated, table

from judge_audit.checks.people import missingness, retest, subscores, within_prompt
from judge_audit.checks.scale import scale
from judge_audit.decisions.standings import builtin_uses, stand
from judge_audit.judges.cards.card import Card


def test_a_judge_that_only_knows_the_prompt_is_blind_within_it():
    rng = np.random.default_rng(0)
    prompts = np.repeat([f"p{at}" for at in range(200)], 4)
    easy, own = np.repeat(rng.normal(size=200), 4), rng.normal(size=800)
    ratings = rated(0.7 * easy + own, 3, 0.5, rng)
    blind = table({"overall": easy + 0.01 * rng.normal(size=800)}, {"overall": ratings}, prompts=prompts)
    row = only(within_prompt.run(blind).verdicts, "top1_gain")
    assert (row["verdict"], row["finding"]) == ("fail", "blind_within_prompt")
    sees = table({"overall": own}, {"overall": ratings}, prompts=prompts)
    found = within_prompt.run(sees)
    assert only(found.verdicts, "top1_gain")["verdict"] == "pass"
    assert only(found.measures, "within_share")["value"] > 0.9
    assert only(found.measures, "top1_one_over_size")["value"] == 0.25


def test_without_groups_or_labels_nothing_is_said_about_choices():
    _, ratings = crowd(40)
    alone = table({"overall": ratings[:, 0]}, {"overall": ratings}, prompts=[f"p{at}" for at in range(40)])
    assert "share a prompt" in only(within_prompt.run(alone).verdicts, "top1_gain")["reason"]
    bare = table({"overall": ratings[:, 0]}, {}, prompts=["p"] * 20 + ["q"] * 20)
    found = within_prompt.run(bare)
    assert only(found.verdicts, "top1_gain")["verdict"] == "missing"
    assert only(found.measures, "tie_rate")["value"] > 0


def test_two_answers_are_compared_exactly_in_size_and_in_rank():
    rng = np.random.default_rng(1)
    first = rng.normal(size=300)
    again = np.where(np.arange(300) < 150, first, first + 0.5 * rng.normal(size=300))
    again[250:] = np.nan
    found = retest.run(table({"overall": np.column_stack([first, again])}, {}))
    assert found.verdicts == ()
    exact = only(found.measures, "retest_exact")
    assert exact["value"] == pytest.approx(150 / 250)
    assert exact["ci_low"] < 0.6 < exact["ci_high"]
    gap = np.abs(first - again)[:250].mean() / (1.4826 * np.median(np.abs(first - np.median(first))))
    assert only(found.measures, "retest_difference")["value"] == pytest.approx(gap)
    assert 0.9 < only(found.measures, "retest_spearman")["value"] < 1
    row = only(retest.run(table({"overall": first}, {})).verdicts, "retest_spearman")
    assert (row["verdict"], row["finding"]) == ("missing", "never_repeated")


def test_refusing_what_people_find_bad_is_not_at_random():
    quality, ratings = crowd(600)
    rng = np.random.default_rng(2)
    chance = rng.random(600) < 0.2
    biased = np.where(chance & (ratings.mean(axis=1) < 2.5), np.nan, quality)
    row = only(
        missingness.run(table({"overall": biased}, {"overall": ratings})).verdicts, "missing_difference"
    )
    assert (row["verdict"], row["finding"]) == ("fail", "silent_on_some")
    fair = np.where(rng.random(600) < 0.01, np.nan, quality)
    row = only(missingness.run(table({"overall": fair}, {"overall": ratings})).verdicts, "missing_difference")
    assert row["verdict"] == "pass"


def two(kind, rng, n=400):
    one, other = rng.normal(size=n), rng.normal(size=n)
    people = {"semantic": rated(one, 3, 0.6, rng), "quality": rated(other, 3, 0.6, rng)}
    judge = {
        "sound": (one, other),
        "copies": (one + other, one + other + 0.3 * rng.normal(size=n)),
        "rounded copies": (np.round(one + other), np.round(one + other + 0.3 * rng.normal(size=n))),
        "half": (one + 0.2 * other, other + 0.2 * one),
    }[kind]
    return {"semantic": judge[0], "quality": judge[1]}, people


@pytest.mark.parametrize(
    ("kind", "answer"),
    [("sound", "pass"), ("half", "pass"), ("copies", "fail"), ("rounded copies", "fail")],
)
def test_copies_are_named_and_moderate_halo_is_not(kind, answer):
    scores, people = two(kind, np.random.default_rng(3))
    found = subscores.run(table(scores, people))
    row = only(found.verdicts, "effective_dimensions", dimension="*")
    assert (row["verdict"], row["finding"]) == (answer, "copies" if answer == "fail" else "")
    theirs = [row for row in found.measures if row["subject"] == "people"]
    assert {row["measure"] for row in theirs} >= {"subscore_correlation", "effective_dimensions"}


def test_copies_are_not_named_where_people_say_one_thing_too():
    rng = np.random.default_rng(4)
    scores, _ = two("copies", rng)
    whole = scores["semantic"] / 1.4
    people = {name: rated(whole, 3, 0.3, rng) for name in ("semantic", "quality")}
    row = only(subscores.run(table(scores, people)).verdicts, "effective_dimensions", dimension="*")
    assert (row["verdict"], row["finding"]) == ("inconclusive", "")
    alone = only(subscores.run(table(scores, {})).verdicts, "effective_dimensions", dimension="*")
    assert "unknown" in alone["reason"]


def test_a_total_has_no_dimensions_and_a_constant_one_is_silent():
    _, ratings = crowd(60)
    row = only(
        subscores.run(table({"overall": ratings[:, 0]}, {})).verdicts, "effective_dimensions", dimension="*"
    )
    assert (row["verdict"], row["finding"]) == ("missing", "no_dimensions")
    three = {"a": ratings[:, 0], "b": ratings[:, 1], "c": np.ones(60)}
    row = only(subscores.run(table(three, {})).verdicts, "effective_dimensions", dimension="*")
    assert "c" in row["reason"].split("do not vary")[1]


def verdict_of(evidence, measure, **parts):
    return only(scale.run(evidence).verdicts, measure, **parts)


def test_a_pile_is_the_judges_fault_only_if_people_spread():
    quality, ratings = crowd(300)
    squeezed = 7 + 0.2 * quality
    row = verdict_of(table({"overall": squeezed}, {"overall": ratings}), "pile")
    assert (row["verdict"], row["finding"]) == ("fail", "stacked")
    narrow = np.clip(np.round(4 + 0.1 * ratings), 1, 5)
    row = verdict_of(table({"overall": squeezed}, {"overall": narrow}), "pile")
    assert (row["verdict"], row["finding"]) == ("inconclusive", "narrow_traffic")
    row = verdict_of(table({"overall": squeezed}, {}), "pile")
    assert (row["verdict"], row["finding"]) == ("inconclusive", "narrow_traffic")


def test_on_a_coarse_label_scale_bad_images_that_stay_in_the_pile_convict():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, 400).astype(float)[:, None]
    evidence = table({"overall": 6 + rng.random(400)}, {"overall": labels}, ends=(0.0, 2.0))
    row = verdict_of(evidence, "pile")
    assert (row["verdict"], row["finding"]) == ("fail", "stacked")
    assert "call bad" in row["reason"]


@pytest.mark.parametrize("higher", [True, False])
def test_an_absolute_scale_needs_spread_leaving_and_both_ends(higher):
    quality, ratings = crowd(900, noise=0.4)
    scores = np.clip(5 + 2.6 * quality, 0, 10)
    card = Card(kind="table", name="j", higher_is_better=higher, **SCALE)
    given = scores if higher else 10 - scores
    assert (
        verdict_of(table({"overall": given}, {"overall": ratings}, card=card), "absolute")["verdict"]
        == "pass"
    )
    assert verdict_of(table({"overall": given}, {}, card=card), "absolute")["verdict"] == "missing"
    middle = 5 + (given - 5) * 0.75
    row = verdict_of(table({"overall": middle}, {"overall": ratings}, card=card), "absolute")
    assert row["verdict"] == "fail"
    reach = verdict_of(table({"overall": middle}, {"overall": ratings}, card=card), "reach", kind="upper end")
    assert (reach["verdict"], reach["finding"]) == ("fail", "unreachable")


def test_an_end_nobody_showed_is_not_unreachable():
    quality, ratings = crowd(300)
    ratings = np.clip(ratings, 2, 4)
    row = verdict_of(
        table({"overall": np.clip(5 + quality, 2, 8)}, {"overall": ratings}), "reach", kind="upper end"
    )
    assert row["verdict"] == "inconclusive"


def test_a_reversed_judge_holds_no_position():
    quality, ratings = crowd(200)
    evidence = table({"overall": 5 - 1.5 * quality}, {"overall": ratings})
    row = verdict_of(evidence, "capability")
    assert (row["verdict"], row["finding"]) == ("fail", "reversed")
    standings = {row["use"]: row for row in stand(builtin_uses(), scale.run(evidence).verdicts)}
    assert standings["position"]["standing"] == "none"
    card = dataclasses.replace(evidence.card, higher_is_better=False)
    turned = dataclasses.replace(evidence, card=card, _cache={})
    assert verdict_of(turned, "capability")["verdict"] == "pass"


def test_a_judge_of_noise_is_not_called_reversed():
    _, ratings = crowd(300)
    for seed in range(20):
        noise = 5 + np.random.default_rng(seed).normal(size=300)
        assert verdict_of(table({"overall": noise}, {"overall": ratings}), "capability")["verdict"] == "pass"


def test_answers_beyond_the_declared_ends_are_counted():
    quality, ratings = crowd(200)
    scores = 5 + quality
    scores[:30] = 810.0
    row = verdict_of(table({"overall": scores}, {"overall": ratings}), "beyond_scale")
    assert (row["verdict"], row["finding"]) == ("fail", "out_of_scale")
    assert row["value"] == pytest.approx(0.15)
