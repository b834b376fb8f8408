"""Planted judges that compare are convicted of what was planted and of nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from planted_comparers import AXES, answered, by_quality, coin, corpus, evidence, saturated

from judge_audit.checks.ladders import premature, top_response
from judge_audit.checks.mismatches import mismatch
from judge_audit.checks.pairwise import position_bias
from judge_audit.checks.people import within_prompt
from judge_audit.checks.scale import scale
from judge_audit.checks.uses import choices

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


def test_an_honest_judge_is_cleared(pictures):
    items, probes, qualities = pictures
    told = found(by_quality(qualities, np.random.default_rng(1)), items, probes)
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


def test_one_answer_that_strays_does_not_hide_the_place(pictures):
    items, probes, _ = pictures
    said = iter(["right", *["left"] * 10_000])
    held = evidence(lambda left, right: next(said), items, probes)
    (row,) = position_bias.run(held).verdicts
    assert (row["verdict"], row["finding"]) == ("fail", "prefers_left")
    assert "it won 143 of 144 comparisons" in row["reason"]


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


def chosen(items, qualities, rng, noise=1.2, people=3):
    """Let people choose among the candidates of every prompt."""
    rows = []
    for prompt in sorted({item["prompt_id"] for item in items}):
        names = [item["item_id"] for item in items if item["prompt_id"] == prompt]
        for number in range(people):
            best = max(names, key=lambda name: qualities[name] + noise * rng.normal())
            rows.append(
                {"group_id": prompt, "item_id": best, "candidates": names, "annotator_id": f"p{number}"}
            )
    return pa.Table.from_pylist(rows)


def test_first_choices_by_strength_are_held_beside_peoples(pictures):
    items, probes, qualities = corpus(prompts=120, ladders=0)
    picks = chosen(items, qualities, np.random.default_rng(1))
    said = {}
    for name, prefer in (
        ("good", by_quality(qualities, np.random.default_rng(2))),
        ("blind", coin(np.random.default_rng(3))),
    ):
        held = replace(evidence(prefer, items, probes), choices=picks)
        (row,) = choices.run(held).verdicts
        said[name] = row["verdict"], row["finding"]
    assert said == {"good": ("pass", ""), "blind": ("fail", "chooses_unlike_people")}


def test_a_group_of_several_prompts_has_no_common_order(pictures):
    items, probes, qualities = corpus(prompts=12, ladders=0)
    mixed = [item["item_id"] for item in items[:5]]
    rows = [
        {"group_id": "g", "item_id": mixed[0], "candidates": mixed, "annotator_id": name}
        for name in ("p1", "p2")
    ]
    held = evidence(by_quality(qualities, np.random.default_rng(2)), items, probes)
    found = choices.run(replace(held, choices=pa.Table.from_pylist(rows)))
    assert [row["verdict"] for row in found.verdicts] == ["missing"]


def test_choices_within_a_prompt_are_told_from_a_random_one():
    items, probes, qualities = corpus(prompts=40, ladders=0)
    rng = np.random.default_rng(4)
    labels = [
        {
            **{name: item[name] for name in ("item_id", "source", "topic", "prompt_id", "cluster")},
            "dimension": "overall",
            "annotator_id": f"p{number}",
            "level": "interval",
            "value": qualities[item["item_id"]] + 0.5 * float(rng.normal()),
            "low": None,
            "high": None,
            "higher_is_better": True,
        }
        for item in items
        for number in range(3)
    ]
    held = evidence(by_quality(qualities, np.random.default_rng(2)), items, probes)
    found = within_prompt.run(replace(held, labels=pa.Table.from_pylist(labels)))
    assert [row["verdict"] for row in found.verdicts] == ["pass"]
    assert "within_share" not in {row["measure"] for row in found.measures}


def test_damages_are_judged_kind_by_kind():
    items, probes, qualities = corpus(prompts=24, each=1, ladders=0)
    pairs = []
    for kind in ("poor_quality", "structural_error"):
        for item in items:
            name = item["item_id"]
            told = {"item_id": name, "axis": f"pair:{kind}", "rung": 1, "repeat": 0, "strength": 1.0}
            probes.append({**told, "prompt": item["prompt_id"], "probe_id": f"{name} {kind}"})
            pairs.append(
                {"pair_id": f"{name} {kind}", "kind": kind, "intact": name, "damaged": name, "rung": 1}
            )
    loss = {"pair:poor_quality": 1.5, "pair:structural_error": -1.5}
    prefer = by_quality(qualities, np.random.default_rng(2), loss=lambda probe: loss.get(probe["axis"], 0.0))
    held = evidence(prefer, items, probes, mismatches=pairs)
    found = {
        row["kind"]: (row["verdict"], row["finding"]) for row in mismatch.run(held).verdicts if "kind" in row
    }
    assert found == {"poor_quality": ("pass", ""), "structural_error": ("fail", "prefers_damaged")}
