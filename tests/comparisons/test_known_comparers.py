"""Planted judges that compare are convicted of what was planted and of nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from planted_comparers import AXES, answered, by_quality, coin, corpus, evidence, saturated

from judge_audit.checks import position_bias, premature, scale, top_response

CHECKS = (position_bias, scale, premature, top_response)


@pytest.fixture(scope="module")
def pictures():
    return corpus(ladders=30)


def found(prefer, items, probes, **more):
    """Give what every check says: (check, axis) to (verdict, finding), questions of no scale left out."""
    held = evidence(prefer, items, probes, **more)
    rows = [row for check in CHECKS for row in check.run(held).verdicts if row["finding"] != "not_asked"]
    return {(row["check"], row.get("axis", "*")): (row["verdict"], row["finding"]) for row in rows}


def everywhere(check, verdict, finding=""):
    return {(check, axis): (verdict, finding) for axis in AXES}


@pytest.mark.parametrize("seed", [1, 2])
def test_an_honest_judge_is_cleared(pictures, seed):
    items, probes, qualities = pictures
    told = found(by_quality(qualities, np.random.default_rng(seed)), items, probes)
    assert told == {
        ("position_bias", "*"): ("pass", ""),
        ("scale", "*"): ("pass", ""),
        **everywhere("premature", "pass"),
        **everywhere("top_response", "pass"),
    }


def test_a_judge_that_always_says_left_is_named_and_orders_nothing(pictures):
    items, probes, _ = pictures
    told = found(lambda left, right: "left", items, probes)
    assert told == {
        ("position_bias", "*"): ("fail", "prefers_left"),
        ("scale", "*"): ("fail", "no_order"),
        **everywhere("premature", "pass"),
        **everywhere("top_response", "fail", "dead"),
    }


def test_the_right_is_named_too_and_how_often_it_won(pictures):
    items, probes, _ = pictures
    held = evidence(lambda left, right: "right", items, probes)
    (row,) = position_bias.run(held).verdicts
    assert (row["verdict"], row["finding"], row["kind"], row["value"]) == (
        "fail",
        "prefers_right",
        "untouched",
        0.0,
    )
    assert "144 of 144" in row["reason"]


def test_a_lean_to_the_left_is_named_and_spoils_no_order(pictures):
    items, probes, qualities = pictures
    told = found(by_quality(qualities, np.random.default_rng(3), lean=0.7, tied=0.2), items, probes)
    assert told["position_bias", "*"] == ("fail", "prefers_left")
    assert told["scale", "*"] == ("pass", "")
    assert {told["premature", axis][0] for axis in AXES} == {"pass"}


def test_a_liking_for_saturation_that_nobody_sees_is_convicted_alone(pictures):
    items, probes, qualities = pictures
    told = found(by_quality(qualities, np.random.default_rng(4), loss=saturated), items, probes)
    assert told["premature", "saturation+"] == ("fail", "climbs")
    assert told["premature", "blur"] == ("pass", "")
    assert told["position_bias", "*"] == told["scale", "*"] == ("pass", "")


def test_a_coin_orders_nothing_and_prefers_nothing(pictures):
    items, probes, _ = pictures
    told = found(coin(np.random.default_rng(6)), items, probes)
    assert told["scale", "*"] in {("fail", "no_order"), ("inconclusive", "")}
    assert told["position_bias", "*"][0] != "fail"
    assert {told["premature", axis][0] for axis in AXES} <= {"pass", "inconclusive"}
    assert {told["top_response", axis][1] for axis in AXES} <= {"erratic", ""}
    assert "pass" not in {told["top_response", axis][0] for axis in AXES}


def test_always_a_tie_is_no_order_and_no_place(pictures):
    items, probes, _ = corpus(prompts=24, ladders=30)
    told = found(lambda left, right: "tie", items, probes)
    assert told["scale", "*"] == ("fail", "no_order")
    assert told["position_bias", "*"] == ("pass", "")
    assert {told["top_response", axis] for axis in AXES} == {("fail", "dead")}


def test_a_judge_that_refuses_everything_is_silent(pictures):
    items, probes, _ = pictures
    told = found(coin(np.random.default_rng(0)), items, probes, state=lambda asked: "refused")
    assert told["scale", "*"] == ("fail", "silent")
    assert told["position_bias", "*"] == ("missing", "")
    assert "pass" not in {verdict for verdict, _ in told.values()}


def test_refusing_one_order_leaves_no_preference_and_no_pass(pictures):
    items, probes, qualities = pictures
    prefer = by_quality(qualities, np.random.default_rng(8))
    told = found(prefer, items, probes, state=lambda asked: "refused" if asked.flipped else "ok")
    assert "pass" not in {verdict for verdict, _ in told.values()}


def test_without_candidates_of_one_prompt_nothing_is_known_of_an_order(pictures):
    items, probes, qualities = pictures
    alone = [item | {"prompt_id": item["item_id"]} for item in items]
    told = found(by_quality(qualities, np.random.default_rng(1)), alone, probes)
    assert told["scale", "*"] == ("missing", "")
    assert told["position_bias", "*"][0] == "pass"


def test_strengths_recover_the_planted_order_of_every_prompt(pictures):
    items, probes, qualities = pictures
    prefer = by_quality(qualities, np.random.default_rng(0), noise=0.0, tied=0.0, lean=0.3)
    _, _, told = answered(prefer, items, [probe for probe in probes if not probe["rung"]])
    honest = by_quality(qualities, np.random.default_rng(0), noise=0.0, tied=0.0)
    _, _, clean = answered(honest, items, [probe for probe in probes if not probe["rung"]])
    for row in clean.strengths:
        mates = [item["item_id"] for item in items if item["prompt_id"] == row["prompt_id"]]
        better = sum(qualities[name] > qualities[row["item_id"]] for name in mates)
        assert row["place"] == 1 + better
        assert row["ci_low"] < row["value"] < row["ci_high"]
    places = {row["item_id"]: row["place"] for row in told.strengths}
    assert all(abs(places[row["item_id"]] - row["place"]) <= 1.5 for row in clean.strengths)


def test_what_was_not_joined_has_no_place(pictures):
    items, probes, qualities = pictures
    lonely = items[0]["item_id"]
    _, _, told = answered(
        by_quality(qualities, np.random.default_rng(0)),
        items,
        probes,
        state=lambda asked: "failed" if lonely in {asked.first["item_id"], asked.second["item_id"]} else "ok",
    )
    lost = [row for row in told.strengths if row["place"] is None]
    assert {row["prompt_id"] for row in lost} == {items[0]["prompt_id"]}
    assert len(lost) == 4
