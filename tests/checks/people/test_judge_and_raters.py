"""A judge beside people: one of them passes, noise is worse, and neither names nor order nor scale matter."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from labelled_evidence import crowd, only, table

from judge_audit.checks.people import judge_and_raters as beside_people
from judge_audit.core.tables import from_rows
from judge_audit.judges.cards.card import Card


def asked(evidence):
    return beside_people.run(evidence)


def verdict_of(evidence, **parts):
    return only(asked(evidence).verdicts, "judge_beside_people", **parts)


@pytest.mark.parametrize("kind", ["copy of a rater", "mean of people", "continuous", "integer"])
def test_a_judge_as_good_as_a_rater_is_not_worse(kind):
    quality, ratings = crowd(600)
    rng = np.random.default_rng(5)
    scores = {
        "copy of a rater": ratings[:, 0],
        "mean of people": ratings.mean(axis=1),
        "continuous": quality + 0.75 * rng.normal(size=600),
        "integer": np.round(5 + 2 * (quality + 0.7 * rng.normal(size=600))),
    }[kind]
    row = verdict_of(table({"overall": scores}, {"overall": ratings}))
    assert row["verdict"] == "pass", row["reason"]


@pytest.mark.parametrize("n", [60, 600])
def test_a_judge_of_noise_is_worse_than_people(n):
    _, ratings = crowd(n, noise=0.5)
    noise = np.random.default_rng(6).normal(size=n)
    row = verdict_of(table({"overall": noise}, {"overall": ratings}))
    assert (row["verdict"], row["finding"]) == ("fail", "worse_than_people")


def test_a_constant_judge_agrees_with_nobody():
    _, ratings = crowd(100)
    evidence = table({"overall": np.full(100, 5.0)}, {"overall": ratings})
    assert only(asked(evidence).measures, "judge_agreement")["value"] == 0.0
    assert verdict_of(evidence)["finding"] == "worse_than_people"


def test_a_copy_of_a_rater_differs_from_that_rater_by_nothing():
    _, ratings = crowd(200)
    rows = asked(table({"overall": ratings[:, 1]}, {"overall": ratings})).measures
    row = only(rows, "judge_beside_people", rater="r1")
    assert row["value"] == row["ci_low"] == row["ci_high"] == 0.0


def test_neither_the_scale_nor_the_order_nor_the_names_change_a_figure():
    quality, ratings = crowd(150)
    scores = np.round(quality + 0.6 * np.random.default_rng(7).normal(size=150), 1)
    plain = asked(table({"overall": scores}, {"overall": ratings}))
    scaled = asked(table({"overall": np.exp(scores)}, {"overall": ratings}))
    turned = table({"overall": scores}, {"overall": ratings})
    order = np.random.default_rng(1).permutation(150)
    turned = dataclasses.replace(
        turned,
        responses=turned.responses.take(pa.array(order)),
        labels=turned.labels.take(pa.array(np.random.default_rng(2).permutation(450))),
        _cache={},
    )
    raters = asked(table({"overall": scores}, {"overall": ratings[:, ::-1]}))
    card = Card(kind="table", name="j", higher_is_better=False)
    below = asked(table({"overall": -scores}, {"overall": ratings}, card=card))
    held = only(plain.measures, "judge_beside_people")
    for other in (scaled, asked(turned), below):
        assert only(other.measures, "judge_beside_people") == pytest.approx(held)
    assert only(raters.measures, "judge_beside_people")["value"] == pytest.approx(held["value"], abs=1e-12)


def test_two_raters_are_held_against_each_other():
    _, ratings = crowd(120, raters=2)
    rows = asked(table({"overall": ratings[:, 0]}, {"overall": ratings})).measures
    assert only(rows, "rater_agreement")["value"] == pytest.approx(
        only(rows, "between_raters")["value"], abs=1e-12
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda labels: None, "Nobody has labelled"),
        (lambda labels: labels.slice(0, 0), "Nobody has labelled"),
        (lambda labels: labels.filter(pa.compute.equal(labels["annotator_id"], "r0")), "Only one person"),
        (lambda labels: _column(labels, "annotator_id", ""), "annotator ids"),
        (lambda labels: _column(labels, "item_id", "elsewhere"), "None of the images"),
    ],
)
def test_what_is_missing_is_said(change, words):
    _, ratings = crowd(40)
    evidence = table({"overall": ratings[:, 0]}, {"overall": ratings})
    changed = dataclasses.replace(evidence, labels=change(evidence.labels), _cache={})
    for row in asked(changed).verdicts:
        assert row["verdict"] == "missing"
        assert words in row["reason"]


def _column(labels, name, value):
    at = labels.schema.get_field_index(name)
    return labels.set_column(at, name, pa.array([value] * labels.num_rows))


def test_without_annotators_the_correlation_with_the_mean_is_still_told():
    _, ratings = crowd(40)
    evidence = table({"overall": ratings[:, 0]}, {"overall": ratings[:, :1]})
    labels = _column(evidence.labels, "annotator_id", "")
    rows = asked(dataclasses.replace(evidence, labels=labels, _cache={})).measures
    assert only(rows, "judge_on_mean")["value"] == pytest.approx(1.0)


def test_dimensions_are_paired_by_name_and_overall_with_the_mean():
    _, ratings = crowd(100)
    evidence = table(
        {"overall": ratings.mean(axis=1), "quality": ratings[:, 0], "taste": ratings[:, 0]},
        {"quality": ratings, "alignment": ratings[:, ::-1]},
    )
    found = asked(evidence).verdicts
    assert "alignment, quality" in only(found, "judge_beside_people")["reason"]
    assert "Held against" not in only(found, "judge_beside_people", dimension="quality")["reason"]
    row = only(found, "judge_beside_people", dimension="taste")
    assert row["verdict"] == "missing"
    assert "taste" in row["reason"]


def test_sources_that_differ_make_a_pooled_value_and_no_verdict():
    _, ratings = crowd(400)
    sources = np.where(np.arange(400) % 2, "good", "bad")
    shift = np.where(np.arange(400) % 2, 2.0, -2.0)
    ratings = np.clip(ratings + shift[:, None], 1, 5)
    noise = np.random.default_rng(4).normal(size=400)
    rows = asked(table({"overall": shift + 0.2 * noise}, {"overall": ratings}, sources=sources)).measures
    assert only(rows, "judge_on_mean", kind="pooled")["value"] > 0.7
    assert abs(only(rows, "judge_on_mean")["value"]) < 0.15


def test_a_rater_of_one_label_and_a_small_source_are_left_out():
    quality, ratings = crowd(200)
    ratings[:, 2] = 3
    sources = ["small"] * 5 + ["large"] * 195
    evidence = table({"overall": quality}, {"overall": ratings}, sources=sources)
    found = asked(evidence)
    assert "small" in only(found.verdicts, "judge_beside_people")["reason"]
    assert {row.get("rater") for row in found.measures if row.get("rater")} == {"r0", "r1"}


def test_refusals_decide_when_they_could_turn_the_verdict():
    quality, ratings = crowd(300)
    scores = quality + 0.5 * np.random.default_rng(3).normal(size=300)
    scores[np.random.default_rng(8).random(300) < 0.3] = np.nan
    row = verdict_of(table({"overall": scores}, {"overall": ratings}))
    assert row["verdict"] == "inconclusive"
    assert "Refusals decide" in row["reason"]


def test_a_steady_judge_of_something_else_is_steadily_wrong():
    quality, ratings = crowd(400, noise=1.0)
    rng = np.random.default_rng(9)
    other = 0.3 * quality + rng.normal(size=400)
    twice = np.column_stack([other, other + 0.02 * rng.normal(size=400)])
    row = only(asked(table({"overall": twice}, {"overall": ratings})).verdicts, "validity")
    assert (row["verdict"], row["finding"]) == ("fail", "steadily_wrong")
    close = np.column_stack([quality, quality])
    row = only(asked(table({"overall": close}, {"overall": ratings})).verdicts, "validity")
    assert (row["verdict"], row["finding"]) == ("pass", "")


def test_a_noisy_judge_is_not_called_steady():
    quality, ratings = crowd(400, noise=0.4)
    rng = np.random.default_rng(10)
    twice = quality[:, None] + 2.0 * rng.normal(size=(400, 2))
    row = only(asked(table({"overall": twice}, {"overall": ratings})).verdicts, "validity")
    assert row["finding"] == ""


def test_copies_of_one_picture_count_once():
    _, ratings = crowd(50)
    whole = np.repeat(ratings, 4, axis=0)
    clusters = np.repeat([f"c{at}" for at in range(50)], 4)
    rows = asked(table({"overall": whole[:, 0]}, {"overall": whole}, clusters=clusters)).measures
    one = asked(table({"overall": ratings[:, 0]}, {"overall": ratings})).measures
    held, single = (only(found, "rater_agreement") for found in (rows, one))
    assert held["n_clusters"] == 50
    assert held["value"] == pytest.approx(single["value"])
    assert held["ci_high"] - held["ci_low"] == pytest.approx(single["ci_high"] - single["ci_low"], rel=0.1)


def test_the_rows_fit_the_tables():
    _, ratings = crowd(60)
    found = asked(table({"overall": ratings[:, 0]}, {"overall": ratings}))
    assert from_rows("measures", found.measures).num_rows == len(found.measures) > 0
    assert from_rows("verdicts", found.verdicts).num_rows == 2
