"""The agreement check: planted faults of people's columns are named, sound columns are not."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from labelled_people import examined, found, label, labels_of, value_of

from judge_audit.core.vocabulary import WITHIN


def people(rng, n=200, validity=(0.5, 0.5, 0.5, 0.5), levels=5):
    """Ratings of a truth, each rater's squared correlation with it given."""
    shares = np.array(validity)
    truth = rng.normal(size=(n, 1))
    heard = np.sqrt(shares) * truth + np.sqrt(1 - shares) * rng.normal(size=(n, len(shares)))
    return 1.0 + np.digitize(heard, np.linspace(-1.2, 1.2, levels - 1))


def with_copy(rng, table, slips=0.05):
    """Add a rater who copies the first but for a few slips."""
    slip = rng.random(len(table)) < slips
    copied = np.where(slip, rng.integers(1, 6, len(table)), table[:, 0])
    return np.column_stack([table, copied])


def test_without_labels_or_for_a_control_nothing_is_said():
    rows = labels_of(people(np.random.default_rng(0)))
    for nothing in (examined(None), examined([]), examined(rows, is_control=True)):
        assert (nothing.measures, nothing.verdicts, nothing.curves) == ((), (), ())


def test_every_figure_is_about_people_and_stands_in_the_closed_list(request):
    rng = np.random.default_rng(1)
    table = with_copy(rng, people(rng))
    findings = examined(labels_of(table, sources=("a", "b"), topics=("t", "u", "v"), low=1.0, high=5.0))
    path = request.config.rootpath / "schemas" / "measures.yaml"
    listed = yaml.safe_load(path.read_text(encoding="utf-8"))
    names = ("source", "topic", "dimension", "kind", "rater")
    for rows in (findings.measures, findings.verdicts):
        assert {row["subject"] for row in rows} == {"people"}
        assert all(listed[row["measure"]]["check"] == "agreement" for row in rows)
        keys = [(row["measure"], *(row.get(name, "*") for name in names)) for row in rows]
        assert len(set(keys)) == len(keys)


def test_sound_columns_pass():
    rows = labels_of(people(np.random.default_rng(2), n=400), sources=("a", "b"), low=1.0, high=5.0)
    verdicts = examined(rows).verdicts
    assert {row["verdict"] for row in verdicts} == {"pass"}
    assert {row["measure"] for row in verdicts} == {
        *("unnamed_share", "beyond_ends", "distinct_values"),
        *("rated_share", "near_copies", "rater_to_others"),
    }


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_a_planted_near_copy_is_named_and_both_ceilings_are_shown(level):
    rng = np.random.default_rng(3)
    table = with_copy(rng, people(rng, n=300))
    findings = examined(labels_of(table, level=level, sources=("a", "b")))
    (row,) = found(findings, "near_copies")
    assert (row["verdict"], row["finding"], row["rater"]) == ("fail", "near_copies", "r0 / r4")
    assert "Nobody was removed" in row["reason"]
    if level != "nominal":
        both = [
            value_of(findings, name, source=WITHIN, dimension="d", kind="spearman")["value"]
            for name in ("ceiling", "ceiling_without_copies")
        ]
        assert both[0] > both[1] + 0.02


def test_two_careful_raters_among_sloppy_ones_are_no_copies():
    for seed in range(5):
        table = people(np.random.default_rng(seed), n=400, validity=(0.95, 0.95, 0.3, 0.3, 0.3))
        findings = examined(labels_of(table, level="interval"))
        lead = value_of(findings, "pair_lead", source=WITHIN, dimension="d", rater="r0 / r1")
        assert lead["ci_low"] > 0.25
        assert {row["finding"] for row in found(findings, "near_copies")} == {""}
        assert not [row for row in findings.measures if row["measure"] == "ceiling_without_copies"]


def test_three_copies_of_one_rater_do_not_hide_one_another():
    rng = np.random.default_rng(4)
    table = people(rng, n=300)
    table = with_copy(rng, with_copy(rng, table, slips=0.02), slips=0.02)
    pairs = {row["rater"] for row in found(examined(labels_of(table)), "near_copies")}
    assert pairs == {"r0 / r4", "r0 / r5", "r4 / r5"}


def test_of_three_raters_a_pair_far_above_the_other_is_named_but_not_convicted():
    rng = np.random.default_rng(5)
    table = with_copy(rng, people(rng, n=300, validity=(0.5, 0.5)))
    (row,) = found(examined(labels_of(table)), "near_copies")
    assert (row["verdict"], row["finding"], row["rater"]) == ("inconclusive", "near_copies", "r0 / r2")
    assert "nobody can tell" in row["reason"]


def test_two_raters_cannot_be_checked_for_copies():
    (row,) = found(examined(labels_of(people(np.random.default_rng(6), validity=(0.5, 0.5)))), "near_copies")
    assert row["verdict"] == "missing"
    assert "cannot be checked" in row["reason"]


def test_raters_who_never_share_an_item_with_a_third_cannot_be_checked_for_copies():
    table = people(np.random.default_rng(6))
    table[:100, 2:] = table[100:, :2] = np.nan
    (row,) = found(examined(labels_of(table)), "near_copies")
    assert row["verdict"] == "missing"


def test_a_reversed_rater_is_named():
    table = people(np.random.default_rng(7))
    table[:, 2] = 6 - table[:, 2]
    (row,) = found(examined(labels_of(table, sources=("a", "b"))), "rater_to_others")
    assert (row["verdict"], row["finding"], row["rater"]) == ("fail", "reversed", "r2")
    assert row["ci_high"] < -0.1


def test_of_two_that_contradict_one_another_nobody_says_which_is_reversed():
    table = people(np.random.default_rng(8), validity=(0.6, 0.6))
    table[:, 1] = 6 - table[:, 1]
    (row,) = found(examined(labels_of(table)), "rater_to_others")
    assert (row["verdict"], row["finding"], row["rater"]) == ("inconclusive", "reversed", "r0 / r1")


def test_raters_who_agree_on_nothing_are_not_called_reversed():
    rng = np.random.default_rng(9)
    for _ in range(10):
        rows = found(examined(labels_of(rng.integers(1, 6, (60, 4)).astype(float))), "rater_to_others")
        assert {row["finding"] for row in rows} == {""}


def test_a_constant_rater_is_named_and_has_no_correlation():
    table = people(np.random.default_rng(10))
    table[:, 1] = 3
    findings = examined(labels_of(table))
    (row,) = found(findings, "distinct_values")
    assert (row["verdict"], row["finding"], row["rater"]) == ("fail", "constant", "r1")
    assert value_of(findings, "rater_to_others", dimension="d", kind="spearman", rater="r1")["value"] is None
    assert value_of(findings, "ceiling", dimension="d", kind="spearman")["value"] > 0.5


def test_values_beyond_the_declared_ends_are_counted_and_enter_no_figure():
    table = people(np.random.default_rng(11))
    clean = examined(labels_of(np.where(np.arange(200)[:, None] < 5, np.nan, table)))
    table[:5] = 50.0
    findings = examined(labels_of(table, low=1.0, high=5.0))
    rows = found(findings, "beyond_ends")
    assert [(row["rater"], row["value"], row["verdict"]) for row in rows] == [
        (f"r{at}", 5 / 200, "fail") for at in range(4)
    ]
    one, other = (value_of(each, "alpha", dimension="d", kind="ordinal") for each in (findings, clean))
    assert (one["value"], one["n"]) == (other["value"], 195)


def test_ratings_without_annotator_ids_count_for_alpha_and_are_named_as_a_limitation():
    table = people(np.random.default_rng(12))
    named, blank = examined(labels_of(table)), examined(labels_of(table, raters=["", "", "", ""]))
    one, other = (value_of(each, "alpha", dimension="d", kind="ordinal") for each in (named, blank))
    assert one["value"] == other["value"]
    (row,) = found(blank, "unnamed_share")
    assert (row["verdict"], row["finding"], row["value"]) == ("missing", "unnamed", 1.0)
    assert "leave them out" in row["reason"]
    assert {row["measure"] for row in blank.measures}.isdisjoint({"ceiling", "rater_to_others"})


def test_a_second_rating_of_the_same_item_by_the_same_rater_is_no_second_rater():
    rows = labels_of(people(np.random.default_rng(13)))
    once, twice = examined(rows), examined(rows + rows)
    one, other = (value_of(each, "alpha", dimension="d", kind="ordinal") for each in (once, twice))
    assert one == other
    assert "800 ratings were left out" in found(twice, "unnamed_share")[0]["reason"]


def test_a_source_that_a_rater_hardly_rated_is_named():
    table = people(np.random.default_rng(14), n=400)
    table[(np.arange(400) % 2 == 0) & (np.arange(400) % 10 < 6), 2] = np.nan
    findings = examined(labels_of(table, sources=("a", "b")))
    (row,) = found(findings, "rated_share")
    assert (row["verdict"], row["finding"]) == ("fail", "unequal")
    assert "r2" in row["reason"]
    assert value_of(findings, "rated_share", source="a", dimension="d", rater="r2")["value"] == 0.4
    assert value_of(findings, "paired_share", source="a", dimension="d")["value"] == 1


@pytest.mark.parametrize(
    ("table", "sentence"), [(np.full((40, 3), 2.0), "same value"), (None, "two ratings")]
)
def test_what_is_undefined_has_no_number_and_a_reason(table, sentence):
    if table is None:
        table = np.where(np.arange(40)[:, None] % 3 == np.arange(3), 2.0, np.nan)
    findings = examined(labels_of(table, sources=("a", "b")))
    (row,) = found(findings, "alpha")
    assert (row["verdict"], row["finding"], row["value"]) == ("missing", "undefined", None)
    assert sentence in row["reason"]
    assert value_of(findings, "alpha", dimension="d", kind="ordinal")["value"] is None
    assert value_of(findings, "fleiss_kappa", dimension="d")["value"] is None
    assert value_of(findings, "alpha", source="a", dimension="d", kind="ordinal")["ci_low"] is None


def test_a_source_without_agreement_to_measure_is_left_out_of_the_mean_and_named():
    table = people(np.random.default_rng(15))
    table[1::2] = 3
    findings = examined(labels_of(table, sources=("a", "b")))
    inside = value_of(findings, "alpha", source=WITHIN, dimension="d", kind="ordinal")
    assert inside["value"] == value_of(findings, "alpha", source="a", dimension="d", kind="ordinal")["value"]
    assert "b" in found(findings, "alpha")[0]["reason"]


def test_where_disagreement_concentrates_is_shown_and_never_judged():
    rng = np.random.default_rng(16)
    table = people(rng, n=600)
    hard = np.arange(600) % 3 == 0
    table[hard] = rng.integers(1, 6, (200, 4))
    rows = labels_of(table, topics=("hands", "cats", "hats"), sources=("a", "b"))
    calm = np.round(table.mean(axis=1, keepdims=True) + rng.normal(0, 0.3, table.shape))
    rows += labels_of(calm, topics=("hands", "cats", "hats"), sources=("a", "b"), dimension="e")
    findings = examined(rows)
    places = {
        row["topic"]: row["ci_low"] > 0
        for row in findings.measures
        if row["measure"] == "disagreement_excess" and row["dimension"] == "d" and "topic" in row
    }
    assert places == {"hands": True, "cats": False, "hats": False}
    assert value_of(findings, "disagreement_excess", source=WITHIN, dimension="d")["ci_low"] > 0
    assert value_of(findings, "disagreement_excess", source=WITHIN, dimension="e")["ci_high"] < 0
    assert not found(findings, "disagreement_excess")


def test_pooling_sources_of_different_quality_raises_alpha_above_that_within():
    rng = np.random.default_rng(17)
    table = people(rng, n=400, validity=(0.2, 0.2, 0.2)) + 4 * (np.arange(400) % 2)[:, None]
    findings = examined(labels_of(table, sources=("a", "b"), level="interval"))
    pooled, inside = (
        value_of(findings, "alpha", source=source, dimension="d", kind="interval") for source in ("*", WITHIN)
    )
    assert pooled["ci_low"] > inside["ci_high"] + 0.3


def test_items_of_one_cluster_widen_the_interval():
    table = np.repeat(people(np.random.default_rng(18), n=50), 4, axis=0)
    rows = labels_of(table)
    hung = [{**row, "cluster": f"c{int(row['item_id'][1:]) // 4}"} for row in rows]
    free, held = (value_of(examined(each), "alpha", dimension="d", kind="ordinal") for each in (rows, hung))
    assert (free["n_clusters"], held["n_clusters"]) == (200, 50)
    assert held["ci_high"] - held["ci_low"] > 1.8 * (free["ci_high"] - free["ci_low"])


def test_the_order_of_rows_changes_nothing():
    rng = np.random.default_rng(19)
    table = with_copy(rng, people(rng))
    rows = labels_of(table, sources=("a", "b"), topics=("t", "u", "v"))
    one, other = examined(rows), examined([rows[at] for at in rng.permutation(len(rows))])
    assert one.verdicts == other.verdicts
    for row, same in zip(one.measures, other.measures, strict=True):
        assert row == pytest.approx(same, nan_ok=True)


def test_the_least_demanding_level_declared_is_used_and_too_few_items_have_no_interval():
    rows = [
        label(f"i{at}", rater, float(at % 3), level=level)
        for at in range(6)
        for rater, level in (("a", "nominal"), ("b", "interval"))
    ]
    findings = examined(rows)
    assert {row["kind"] for row in findings.measures if row["measure"] == "alpha"} == {"nominal"}
    row = value_of(findings, "alpha", dimension="d", kind="nominal")
    assert (row["value"], row["ci_low"], row["n"]) == (pytest.approx(1), None, 6)
