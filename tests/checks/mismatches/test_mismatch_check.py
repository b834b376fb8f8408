"""What the mismatch check says of judges whose sub-scores are known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from planted_pairs import DIMENSIONS, OWN, deaf, halo, make, sound

from judge_audit.checks.mismatches.mismatch import run
from judge_audit.core.tables import from_rows
from judge_audit.judges.cards.card import Card


def told(findings, dimension, measure="selectivity"):
    (row,) = [
        row
        for row in findings.verdicts
        if row.get("dimension", "*") == dimension and row["measure"] == measure
    ]
    return row


def value(findings, measure, **parts):
    (row,) = [
        row
        for row in findings.measures
        if row["measure"] == measure and all(row.get(name, "*") == wanted for name, wanted in parts.items())
    ]
    return row["value"]


def findings_of(found):
    return {(row.get("dimension", "*"), row["finding"]) for row in found.verdicts if row["verdict"] == "fail"}


def test_a_sound_judge_passes_in_every_dimension():
    found = run(make(sound))
    assert {row["verdict"] for row in found.verdicts} == {"pass"}
    assert 3.5 <= value(found, "n_eff") <= 4.0
    assert value(found, "response_lift", kind="semantic_miss", dimension="semantic") < -0.2
    assert abs(value(found, "response_sd", kind="semantic_miss", dimension="aesthetic")) < 0.2


def test_the_rows_fit_the_tables():
    found = run(make(sound, origins=(False, True)))
    for name, rows in (("measures", found.measures), ("verdicts", found.verdicts)):
        table = from_rows(name, rows)
        assert table.num_rows == len(rows) > 0
        keys = {tuple(row.get(k, "*") for k in ("measure", "dimension", "kind", "subject")) for row in rows}
        assert len(keys) == len(rows)


def test_a_strong_halo_is_named_with_the_damage_that_ate_the_score():
    found = run(make(halo(0.75)))
    assert ("semantic", "halo") in findings_of(found)
    assert "poor technical quality" in told(found, "semantic")["reason"]
    assert told(found, "*", "n_eff")["finding"] == "copies"


def test_a_mild_halo_is_not_convicted():
    found = run(make(halo(0.1)))
    assert findings_of(found) == set()


def test_one_score_four_times_is_copies():
    found = run(make(halo(1.0), copies=True))
    assert told(found, "*", "n_eff")["finding"] == "copies"
    assert value(found, "n_eff") == pytest.approx(1.0)
    assert "copies of one total" in told(found, "*", "n_eff")["reason"]


@pytest.mark.parametrize("name", DIMENSIONS)
def test_a_deaf_dimension_is_convicted_alone(name):
    found = run(make(deaf(name), pairs=24))
    assert findings_of(found) == {(name, "deaf")}
    assert "does not fall on" in told(found, name)["reason"]


def test_a_total_only_judge_has_no_dimensions_and_learns_what_moved_it_most():
    def loud(kind, severity, rng):
        return dict.fromkeys(DIMENSIONS, severity * (2.0 if kind == "compliance_breach" else 0.2))

    found = run(make(loud, dimensions=("overall",)))
    (row,) = found.verdicts
    assert (row["verdict"], row["finding"]) == ("missing", "no_dimensions")
    assert "a broken rule" in row["reason"]
    assert value(found, "response_lift", kind="compliance_breach", dimension="overall") < -0.2


def test_a_total_beside_sub_scores_is_shown_and_not_counted():
    found = run(make(sound, dimensions=(*DIMENSIONS, "overall")))
    assert value(found, "response_lift", kind="semantic_miss", dimension="overall") < 0
    assert "overall" not in {row.get("dimension") for row in found.verdicts}


def test_an_exchanged_prompt_that_changes_nothing_is_prompt_blindness():
    evidence = make(sound, dimensions=("overall",), kinds=("semantic_miss",), origins=(True,))
    rows = evidence.responses.to_pylist()
    untouched = {row["item_id"]: row["value"] for row in rows if row["axis"] == "original"}
    same = pa.Table.from_pylist([row | {"value": untouched[row["item_id"]]} for row in rows])
    (row,) = run(dataclasses.replace(evidence, responses=same, _cache={})).verdicts
    assert "prompt-blind" in row["reason"]


def test_without_pairs_one_verdict_is_missing():
    (row,) = run(make(sound, pairs=0, kinds=())).verdicts
    assert (row["verdict"], row["measure"]) == ("missing", "selectivity")


def test_constructed_and_hand_made_pairs_are_never_pooled():
    found = run(make(sound, origins=(False, True)))
    kinds = {row["kind"] for row in found.measures if row["measure"] == "response_lift"}
    assert kinds == {*OWN, *(f"{kind} (constructed)" for kind in OWN)}
    assert {row["kind"] for row in found.verdicts if row["measure"] == "n_eff"} == {"*", "constructed"}


def test_a_kind_that_was_not_scored_leaves_its_score_untried_and_the_others_open():
    found = run(make(sound, kinds=("semantic_miss", "poor_quality", "structural_error")))
    assert told(found, "compliance")["verdict"] == "missing"
    assert told(found, "semantic")["verdict"] == "inconclusive"


def test_a_sub_score_that_is_not_returned_is_missing():
    found = run(make(sound, dimensions=("semantic", "aesthetic", "structure")))
    row = told(found, "compliance")
    assert (row["verdict"], row["finding"]) == ("missing", "")


def test_a_pair_says_itself_what_must_hold():
    evidence = make(sound)
    rows = [
        row | {"holds": ["structure"] if row["kind"] == "poor_quality" else None}
        for row in evidence.pairs.to_pylist()
    ]
    schema = evidence.pairs.schema.append(pa.field("holds", pa.list_(pa.string())))
    found = run(dataclasses.replace(evidence, pairs=pa.Table.from_pylist(rows, schema), _cache={}))
    # Structure follows poor quality by a quarter, which only now is asked about; semantic is not asked any more.
    assert told(found, "structure")["value"] == pytest.approx(0.75, abs=0.08)
    assert told(found, "semantic")["verdict"] == "inconclusive"


def test_refusals_of_damaged_members_leave_it_open():
    def refuse(item, axis, dimension):
        return axis == "pair:compliance_breach" and int(item[1:]) % 4 == 0

    found = run(make(sound, refuse=refuse))
    assert told(found, "semantic")["verdict"] == "inconclusive"
    assert "Refusals decide" in told(found, "semantic")["reason"]


def test_coarse_lifts_cannot_pass():
    found = run(make(sound, n=20, sources=("a",), pairs=18))
    assert {row["verdict"] for row in found.verdicts if row["measure"] == "selectivity"} == {"inconclusive"}
    assert "coarse" in told(found, "semantic")["reason"]


def test_row_order_changes_no_row_and_monotone_rescaling_no_lift():
    plain, turned = run(make(sound)), run(make(sound, order=3))
    assert plain == turned
    bent = run(make(sound, transform=lambda v: np.exp(v / 3)))
    lifted = [
        [row["value"] for row in f.measures if row["measure"] == "response_lift"] for f in (plain, bent)
    ]
    assert lifted[0] == pytest.approx(lifted[1])


def test_a_lower_is_better_judge_gets_the_same_verdicts():
    card = Card(kind="t", name="t", dimensions=DIMENSIONS, higher_is_better=False)
    plain, turned = run(make(sound)), run(make(sound, transform=lambda v: -v, card=card))
    assert [row["verdict"] for row in plain.verdicts] == [row["verdict"] for row in turned.verdicts]


def test_peoples_labels_stand_beside():
    evidence = make(sound, origins=(True,))
    named = {(row["damaged"], "pair:" + row["kind"], row["rung"]): row for row in evidence.pairs.to_pylist()}
    labels = []
    for row in evidence.responses.to_pylist():
        pair = named.get((row["item_id"], row["axis"], row["rung"]))
        name = row["item_id"] if pair is None else pair["pair_id"]
        labels += [
            {"item_id": name, "dimension": row["dimension"], "value": row["value"], "annotator_id": rater}
            | {"higher_is_better": True}
            for rater in ("r1", "r2")
        ]
    found = run(dataclasses.replace(evidence, labels=pa.Table.from_pylist(labels)))
    people = [row for row in found.measures if row["subject"] == "people"]
    own = [row for row in found.measures if row["subject"] == "j"]
    assert [row["value"] for row in people if row["measure"] != "n_eff"] == pytest.approx(
        [row["value"] for row in own if row["measure"] != "n_eff"]
    )
    assert {row["subject"] for row in found.verdicts} == {"j"}


def test_two_damages_that_may_follow_one_another_convict_nobody_of_copies():
    two = ("poor_quality", "structural_error")
    found = run(make(deaf("aesthetic"), kinds=two, origins=(True,)))
    (row,) = [row for row in found.verdicts if row["measure"] == "n_eff"]
    assert (row["verdict"], row["finding"]) == ("inconclusive", "")
    assert row["value"] < 1.5
    (own,) = [
        row for row in found.verdicts if row["measure"] == "selectivity" and row["dimension"] == "aesthetic"
    ]
    assert own["finding"] == "deaf"
