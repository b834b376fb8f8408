"""What the checks say of judges whose faults are known."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from planted_evidence import NAMES, STRENGTHS, examine, make, verdicts
from scipy import stats

from judge_audit.audits.control_proof import convicted, expected, smallest_shown
from judge_audit.core.tables import from_rows
from judge_audit.decisions.standings import builtin_uses, stand
from judge_audit.judges.cards.card import Card
from judge_audit.judges.controls import builtin_controls

LADDERS = {"premature", "jitter", "top_response"}
COMBOS = ("combo:saturation+&contrast+", "combo:saturation+&sharpen")
CONTROLS = {control.card.name: control for control in builtin_controls("zones", 7)}


def _score(control):
    return lambda recipe: control.score_probes([], [recipe])[0].scores


def _control_evidence(name, **rest):
    control = CONTROLS[name]
    rest = {"pairs": 16, "axes": ()} | rest if control.control.pairs_only else {"combos": COMBOS} | rest
    return make(_score(control), control.card, is_control=True, labeller=control, **rest)


@pytest.mark.parametrize("name", sorted(CONTROLS))
def test_each_control_is_convicted_of_exactly_what_it_declares(name):
    verdicts = examine(_control_evidence(name)).verdicts
    found, declared = convicted(verdicts), CONTROLS[name].control
    wanted = expected(declared.convictions, verdicts)
    assert bool(wanted) == bool(declared.convictions)
    assert wanted <= found
    assert found <= wanted | expected(declared.tolerated, verdicts)


def test_the_rows_fit_the_tables():
    findings = examine(dataclasses.replace(_control_evidence("honest"), is_control=False))
    for name, rows in (
        ("curves", findings.curves),
        ("measures", findings.measures),
        ("verdicts", findings.verdicts),
    ):
        assert from_rows(name, rows).num_rows == len(rows) > 0


def test_a_lower_is_better_judge_gets_the_same_verdicts():
    score = _score(CONTROLS["saturation-lover"])
    card = CONTROLS["saturation-lover"].card
    plain = examine(make(score, card))
    turned = examine(
        make(lambda r: 10 - score(r)["overall"], dataclasses.replace(card, higher_is_better=False))
    )
    ladders = [[r for r in f.verdicts if r["check"] in LADDERS] for f in (plain, turned)]
    for one, two in zip(*ladders, strict=True):
        assert (one["verdict"], one["finding"]) == (two["verdict"], two["finding"])
        assert one["value"] == pytest.approx(two["value"], abs=1e-9)


def test_the_order_of_rows_changes_no_row():
    evidence = _control_evidence("blur-blind")
    turned = dataclasses.replace(
        evidence,
        responses=evidence.responses.take(list(range(evidence.responses.num_rows))[::-1]),
        _cache={},
    )
    assert examine(evidence).verdicts == examine(turned).verdicts


def test_a_coarse_reference_may_fail_but_cannot_pass():
    honest = examine(_control_evidence("honest", sources=("a",), n=20, laddered=20))
    ladders = [row for row in honest.verdicts if row["check"] in LADDERS]
    assert {row["verdict"] for row in ladders} == {"inconclusive"}
    lover = examine(_control_evidence("blur-blind", sources=("a",), n=28, laddered=28))
    assert verdicts(lover, "top_response", "blur")[0]["verdict"] in {"fail", "inconclusive"}
    loud = make(
        lambda r: 9.0 if r.strength else 1.0 + (hash_of(r.item_id) % 97) / 50,
        Card(kind="k", name="n"),
        sources=("a",),
        n=28,
        laddered=28,
    )
    assert verdicts(examine(loud), "premature", "blur")[0]["finding"] == "climbs"


def hash_of(text):
    return sum((at + 1) * 31 * ord(letter) for at, letter in enumerate(text))


def test_small_sources_are_pooled_and_said_so():
    findings = examine(_control_evidence("honest", sources=tuple("abcdef"), n=8, laddered=8))
    assert "pooled" in verdicts(findings, "premature", "blur")[0]["reason"]


def test_without_zones_an_axis_is_missing():
    evidence = _control_evidence("honest", axes=("blur", "sharpen"), laddered=12)
    kept = evidence.zones.filter([axis != "blur" for axis in evidence.zones["axis"].to_pylist()])
    findings = examine(dataclasses.replace(evidence, zones=kept, _cache={}))
    assert verdicts(findings, "premature", "blur")[0]["verdict"] == "missing"
    assert verdicts(findings, "premature", "sharpen")[0]["verdict"] != "missing"


def test_refusals_decide_when_they_could_turn_the_verdict():
    score = _score(CONTROLS["honest"])

    def refuse(recipe):
        gone = recipe.axis == "blur" and hash_of(recipe.item_id) % 4 == 0
        return None if gone else score(recipe)

    row = verdicts(examine(make(refuse, CONTROLS["honest"].card)), "premature", "blur")[0]
    assert row["verdict"] == "inconclusive"
    assert "Refusals decide" in row["reason"]


def test_a_judge_of_one_value_has_no_resolution_and_no_capability():
    findings = examine(make(lambda _: 5.0, Card(kind="k", name="n")))
    assert verdicts(findings, "premature", "blur")[0]["verdict"] == "inconclusive"
    assert verdicts(findings, "scale", measure="capability")[0]["finding"] == "constant"


def test_a_judge_at_its_ceiling_cannot_be_cleared_of_climbing():
    def full(recipe):
        quality = (hash_of(recipe.item_id) % 101) / 10
        return min(10.0, quality * 1.9)

    card = Card(kind="k", name="n", scale_low=0.0, scale_high=10.0)
    row = verdicts(examine(make(full, card)), "premature", "blur")[0]
    assert row["verdict"] == "inconclusive"
    assert "no room" in row["reason"]


def test_a_stacked_real_judge_is_narrow_traffic_until_people_have_labelled():
    control = CONTROLS["compressed"]
    row = verdicts(examine(make(_score(control), control.card)), "scale", measure="pile")[0]
    assert (row["verdict"], row["finding"]) == ("inconclusive", "narrow_traffic")


def test_a_judge_without_a_scale_never_claimed_one():
    findings = examine(make(_score(CONTROLS["honest"]), Card(kind="k", name="n")))
    row = verdicts(findings, "scale", measure="pile")[0]
    assert (row["verdict"], row["finding"]) == ("missing", "undeclared")


def test_the_upper_bin_of_a_fine_scale_is_a_tenth_of_it():
    card = Card(kind="k", name="n", scale_low=0.0, scale_high=100.0, scale_step=1.0)
    findings = examine(make(lambda r: float(hash_of(r.item_id) % 96), card))
    reach = {row["kind"]: row["verdict"] for row in verdicts(findings, "scale", measure="reach")}
    assert reach == {"lower end": "pass", "upper end": "pass"}


def test_a_zone_without_an_objectionable_point_uses_the_declared_one():
    evidence = _control_evidence("honest", axes=("blur",))
    at = evidence.zones.schema.get_field_index("objectionable")
    empty = evidence.zones.set_column(at, "objectionable", [[None] * evidence.zones.num_rows])
    row = verdicts(examine(dataclasses.replace(evidence, zones=empty, _cache={})), "top_response", "blur")[0]
    assert row["verdict"] == "pass"


def test_items_whose_untouched_score_was_refused_are_not_dropped_in_silence():
    score = _score(CONTROLS["honest"])

    def refuse(recipe):
        gone = recipe.axis == "original" and hash_of(recipe.item_id) % 4 == 0
        return None if gone else score(recipe)

    for check in ("premature", "jitter", "top_response"):
        row = verdicts(examine(make(refuse, CONTROLS["honest"].card)), check, "blur")[0]
        assert row["verdict"] == "inconclusive"
        assert "Refusals decide" in row["reason"]


def test_a_source_without_resolution_keeps_the_others_from_passing_for_it():
    score = _score(CONTROLS["honest"])
    evidence = make(lambda r: 5.0 if r.source == "b" else score(r), CONTROLS["honest"].card)
    assert verdicts(examine(evidence), "top_response", "blur")[0]["verdict"] == "inconclusive"


def test_every_measure_a_check_makes_stands_in_the_closed_list():
    schemas = Path(__file__).parents[2] / "schemas"
    listed = yaml.safe_load((schemas / "measures.yaml").read_text(encoding="utf-8"))
    findings = examine(_control_evidence("honest"))
    for row in (*findings.curves, *findings.measures, *findings.verdicts):
        assert listed[row["measure"]]["check"] == row["check"]


def test_the_verdict_on_read_items_stands_beside_the_one_on_all():
    def basis(index):
        return "readings" if index < 8 else "quantiles"

    evidence = _control_evidence("saturation-lover", basis=basis)
    rows = verdicts(examine(evidence), "premature", "saturation+")
    assert [row.get("kind", "*") for row in rows] == ["*", "read items"]
    assert {row["provisional"] for row in rows} == {False}
    assert rows[0]["n"] == 48
    assert rows[1]["n"] == 24
    assert rows[0]["finding"] == rows[1]["finding"] == "climbs"


def test_where_every_item_is_read_there_is_one_verdict():
    evidence = _control_evidence("honest", basis=lambda index: "readings")
    assert len(verdicts(examine(evidence), "premature", "blur")) == 1


def test_readers_too_far_apart_leave_an_axis_open_and_say_so():
    evidence = _control_evidence("saturation-lover", basis=lambda index: "unreliable")
    nothing = pa.nulls(evidence.zones.num_rows, pa.float64())
    hollow = evidence.zones
    for name in ("perceptible_low", "perceptible_high", "objectionable"):
        hollow = hollow.set_column(hollow.column_names.index(name), name, nothing)
    for check in ("premature", "jitter", "top_response"):
        (row,) = verdicts(examine(dataclasses.replace(evidence, zones=hollow)), check, "saturation+")
        assert row["verdict"] == "inconclusive"
        assert "fourfold" in row["reason"]


def test_scores_that_are_not_there_are_counted_by_state_source_and_rung():
    score = _score(CONTROLS["honest"])

    def refuse(recipe):
        gone = recipe.axis == "blur" and recipe.strength == STRENGTHS[3] and recipe.source == "b"
        return None if gone else score(recipe)

    found = examine(make(refuse, CONTROLS["honest"].card))
    shares = {row["source"]: row for row in found.measures if row["measure"] == "state_share"}
    assert set(shares) == {"*", "a", "b", "c"}
    due = 100 + 16 + 16 * len(NAMES) * len(STRENGTHS)
    assert (shares["b"]["kind"], shares["b"]["value"], shares["b"]["n"]) == ("refused", 16 / due, due)
    assert shares["*"]["value"] == pytest.approx(16 / due / 3)
    assert shares["a"]["value"] == 0
    assert shares["a"]["ci_high"] > 0
    counted = [row for row in found.curves if row["measure"] == "state_count" and row["source"] == "b"]
    assert [(row["axis"], row["rung"], row["value"]) for row in counted] == [("blur", 4, 16.0)]


def test_where_every_score_is_there_nothing_is_counted():
    found = examine(_control_evidence("honest"))
    assert not [row for row in found.measures if row["check"] == "completeness"]


def test_the_smallest_lift_shown_rests_on_the_interval_that_was_made():
    evidence = dataclasses.replace(_control_evidence("honest"), is_control=False)
    measures = examine(evidence).measures
    (edge,) = [
        row
        for row in measures
        if row["measure"] == "edge_lift" and row["axis"] == "blur" and "source" not in row
    ]
    (told,) = [row for row in smallest_shown(measures, 0.05, 32) if row["axis"] == "blur"]
    error = (edge["ci_high"] - edge["ci_low"]) / 2 / stats.t.ppf(0.95, edge["n_clusters"] - 3)
    assert told["value"] == pytest.approx(0.05 + (stats.norm.ppf(1 - 0.05 / 64) + 0.84) * error)


def test_a_judge_that_scores_nothing_holds_no_position():
    found = examine(make(lambda _: None, Card(kind="k", name="n")))
    (row,) = verdicts(found, "scale", measure="capability")
    assert (row["verdict"], row["finding"]) == ("fail", "silent")
    assert stand(builtin_uses(), found.verdicts)[-1]["standing"] == "none"
