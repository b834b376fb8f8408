"""A new judge beside the old one on anchors: same order passes, planted turns are named, missing is missing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from judged_anchors import anchor_set, card, commit_audit, side
from scipy import stats

from judge_audit.core.errors import UsageError
from judge_audit.core.limits import read_limits
from judge_audit.decisions.judge_change import OLD_ANCHORS, AnchorSet, compare, compare_judges
from judge_audit.lake import Lake
from judge_audit.lake.connect import connect

N = 60
QUALITY = np.arange(N, dtype=float)


def noisy(seed, noise, repeats=2, quality=QUALITY):
    return quality[:, None] + noise * np.random.default_rng(seed).normal(size=(len(quality), repeats))


def words(change, kind="*"):
    return {
        row["measure"]: (row["verdict"], row["finding"]) for row in change.verdicts if row["kind"] == kind
    }


def value(change, measure, **parts):
    wanted = {"kind": "*", "source": "*", **parts}
    (row,) = (
        row
        for row in change.measures
        if row["measure"] == measure and all(row.get(name, "*") == text for name, text in wanted.items())
    )
    return row["value"]


def broken():
    """The order with every sixth anchor (the hidden structural errors) put on top."""
    quality = QUALITY.copy()
    quality[5::6] += N
    return quality


def test_a_harmless_change_of_preprocessing_is_named_as_such_and_passes():
    new = side(noisy(2, 0.4), "new", card=card(preprocessing={"backend": "cv2", "resize": 224}))
    change = compare_judges(side(noisy(1, 0.4)), new, anchor_set())
    assert change.difference.names == ("preprocessing",)
    assert words(change) == {"tau_drop": ("pass", ""), "net_against_people": ("pass", "")}
    assert change.real is False


def test_a_planted_break_of_the_order_fails_with_its_pairs_across_tiers_against_people():
    change = compare_judges(side(noisy(1, 0.4)), side(noisy(2, 0.4, quality=broken()), "new"), anchor_set())
    assert words(change) == {
        "tau_drop": ("fail", "reordered"),
        "net_against_people": ("fail", "reordered_against_people"),
    }
    assert change.real
    rows = change.rank_changes
    across = [row for row in rows if row["across_tiers"]]
    assert across
    assert {row["direction"] for row in across} == {"against_people"}
    assert {row["people_basis"] for row in across} == {"tiers"}
    assert all(row["kind_second"] == "hidden structural error" for row in across)
    assert {row["direction"] for row in rows if not row["across_tiers"]} == {"unknown"}
    assert value(change, "flips") == len(rows)
    assert value(change, "flips_across_tiers") == len(across)
    told = {row["measure"]: row["reason"] for row in change.verdicts}
    assert (
        f"{len(rows)} of 1770 pairs are turned round, {len(across)} of them across tiers." in told["tau_drop"]
    )
    assert "“anchor-005” moved furthest: from place 55 to" in told["tau_drop"]


def test_a_change_towards_people_is_another_order_and_does_not_go_against_them():
    change = compare_judges(side(noisy(1, 0.4, quality=broken())), side(noisy(2, 0.4), "new"), anchor_set())
    assert words(change) == {"tau_drop": ("fail", "reordered"), "net_against_people": ("pass", "")}
    assert {row["direction"] for row in change.rank_changes if row["across_tiers"]} == {"with_people"}


def test_a_much_noisier_judge_has_not_changed_the_order():
    change = compare_judges(side(noisy(1, 0.0)), side(noisy(2, 6.0), "new"), anchor_set())
    verdict, finding = words(change)["tau_drop"]
    assert verdict != "fail"
    assert not finding
    assert change.real is False
    assert value(change, "retest_tau", kind="old judge") == 1
    assert value(change, "retest_tau", kind="new judge") < 0.9


def test_direction_of_either_card_is_taken_before_comparing():
    upside_down = side(-noisy(2, 0.4), "new", card=card(higher_is_better=False))
    change = compare_judges(side(noisy(1, 0.4)), upside_down, anchor_set())
    assert words(change)["tau_drop"] == ("pass", "")
    assert any("another direction" in text for text in change.difference.sentences)


def test_labels_of_the_dimension_come_before_tiers():
    labels = {"anchor_id": [f"anchor-{at:03}" for at in range(N)] * 2, "dimension": ["overall"] * 2 * N}
    labels["value"] = [*(-QUALITY), *(-QUALITY + 0.5)]
    anchors = anchor_set()
    anchors = AnchorSet("1", anchors.anchors, pa.table(labels))
    change = compare_judges(side(noisy(1, 0.0)), side(noisy(2, 0.0, quality=broken()), "new"), anchors)
    assert words(change)["net_against_people"] == ("pass", "")
    assert {(row["direction"], row["people_basis"]) for row in change.rank_changes} == {
        ("with_people", "labels")
    }


def test_a_judge_asked_once_has_no_noise_floor_and_no_verdict_on_the_order():
    change = compare_judges(side(QUALITY), side(broken(), "new"), anchor_set())
    assert words(change)["tau_drop"] == ("missing", "never_repeated")
    assert change.real is None
    assert not any(row["firm"] for row in change.rank_changes)
    (reason,) = (row["reason"] for row in change.verdicts if row["measure"] == "tau_drop")
    assert "the old judge / the new judge was asked once only" in reason
    known = compare_judges(side(QUALITY, steady=True), side(broken(), "new", steady=True), anchor_set())
    assert words(known)["tau_drop"] == ("fail", "reordered")
    assert value(known, "tau") == pytest.approx(stats.kendalltau(QUALITY, broken()).statistic)


def test_few_anchors_clear_nothing_and_fewer_still_say_nothing():
    small = anchor_set(12)
    change = compare_judges(side(noisy(1, 0.0)[:12]), side(noisy(2, 0.0)[:12], "new"), small)
    assert words(change) == {"tau_drop": ("inconclusive", ""), "net_against_people": ("inconclusive", "")}
    assert all("Fewer than 20 anchors" in row["reason"] for row in change.verdicts)
    tiny = compare_judges(side(noisy(1, 0.0)[:5]), side(noisy(2, 0.0)[:5], "new"), anchor_set(5))
    assert words(tiny)["tau_drop"][0] == "inconclusive"
    none = compare_judges(side(noisy(1, 0.0)[:1]), side(noisy(2, 0.0)[:1], "new"), anchor_set(1))
    assert words(none)["tau_drop"][0] == "missing"


def test_missing_scores_are_counted_and_may_decide():
    lost = noisy(2, 0.4)
    lost[::6] = np.nan
    change = compare_judges(side(noisy(1, 0.4)), side(lost, "new"), anchor_set())
    assert words(change)["tau_drop"][0] == "inconclusive"
    told = {row["measure"]: row["reason"] for row in change.verdicts}
    assert "Missing scores decide this" in told["tau_drop"]
    assert "Left out: 10 anchors without enough scores (old judge: 0, new judge: 10)." in told["tau_drop"]
    assert value(change, "anchors_unscored") == pytest.approx(1 / 6)
    one = noisy(2, 0.4)
    one[0] = np.nan
    kept = compare_judges(side(noisy(1, 0.4)), side(one, "new"), anchor_set())
    assert words(kept)["tau_drop"] == ("pass", "")


def test_a_dimension_of_one_judge_alone_is_missing_and_nothing_shared_is_said():
    change = compare_judges(
        side(noisy(1, 0.4)), side(noisy(2, 0.4), "new", dimension="aesthetic"), anchor_set()
    )
    assert {(row["dimension"], row["verdict"]) for row in change.verdicts} == {
        ("aesthetic", "missing"),
        ("overall", "missing"),
    }
    empty = compare_judges(side(np.empty((0, 1))), side(np.empty((0, 1)), "new"), anchor_set())
    assert [row["verdict"] for row in empty.verdicts] == ["missing", "missing"]


def test_a_constant_judge_settles_nothing():
    change = compare_judges(side(noisy(1, 0.0)), side(np.ones((N, 2)), "new"), anchor_set())
    assert words(change)["tau_drop"] == ("inconclusive", "")
    assert "same score" in next(row["reason"] for row in change.verdicts)


def test_the_same_comparison_gives_the_same_rows_whatever_the_order_of_rows():
    sides = [side(noisy(1, 0.8)), side(noisy(2, 0.8, quality=broken()), "new")]
    change = compare_judges(*sides, anchor_set(), seed=4)
    mixed = [
        type(one)(
            one.judge_id,
            one.card,
            one.scores.take(np.random.default_rng(1).permutation(2 * N)),
            name=one.name,
        )
        for one in sides
    ]
    anchors = anchor_set()
    shuffled = AnchorSet("1", anchors.anchors.take(np.random.default_rng(2).permutation(N)))
    again = compare_judges(*mixed, shuffled, seed=4)
    for rows in ("measures", "verdicts", "rank_changes"):
        assert getattr(again, rows) == getattr(change, rows)


def test_changed_anchors_are_compared_version_by_version():
    old_anchors = anchor_set(50, version="1")
    tiers = ["good"] * 20 + ["bad"] * 40
    anchors = anchor_set(60, version="2", tier=tiers)
    quality = QUALITY.copy()
    quality[5::6] += 25
    change = compare_judges(
        side(noisy(1, 0.2)), side(noisy(2, 0.2, quality=quality)[:55], "new"), anchors, old_anchors
    )
    assert change.answers_differ
    assert words(change, OLD_ANCHORS)["net_against_people"][0] == "fail"
    assert words(change)["net_against_people"][0] != "fail"
    assert any("from 1 to 2" in note for note in change.notes)
    assert any("the anchors' doing alone" in note for note in change.notes)
    assert {row["anchors_used"] for row in change.rank_changes} == {"1", "2"}
    fewer = compare_judges(
        side(noisy(1, 0.2)), side(noisy(2, 0.2)[:40], "new"), anchor_set(40, version="2"), old_anchors
    )
    assert any("the new judge has no scores of 10 anchors of 1 (anchor-040" in note for note in fewer.notes)
    same = compare_judges(side(noisy(1, 0.2)), side(noisy(2, 0.2), "new"), anchors, anchors)
    assert len(same.versions) == 1


@pytest.fixture
def lake(tmp_path):
    lake = Lake.open(tmp_path / "lake")
    rows = {"old": noisy(1, 0.4), "new": noisy(2, 0.4, quality=broken())}
    for name, values in rows.items():
        answers = {f"anchor-{at:03}": [float(x) for x in row] for at, row in enumerate(values)}
        if name == "new":
            answers["anchor-000"] = [None, None]
        told = card(name="ours", version="12"[name == "new"], weights=f"sha256:{name}")
        commit_audit(lake, f"audit-{name}", name, told, answers)
    return lake


def test_two_audits_of_a_lake_are_compared_and_the_rows_come_back_by_sql(lake):
    change = compare(lake, "audit-new", "audit-old", anchor_set())
    assert (change.new.name, change.old.name) == ("ours 2", "ours 1")
    assert change.difference.names == ("weights",)
    assert words(change)["tau_drop"] == ("fail", "reordered")
    assert "new judge: 1" in next(row["reason"] for row in change.verdicts)
    lake.commit(change.tables())
    with connect(lake) as con:
        found = con.execute(
            "SELECT judge, judge_before, count(*), bool_and(firm) FROM rank_change_flips GROUP BY ALL"
        ).fetchall()
        first = con.execute("SELECT direction, across_tiers FROM rank_change_flips LIMIT 1").fetchone()
    assert found == [("ours 2", "ours 1", len(change.rank_changes), True)]
    assert first == ("against_people", True)
    assert (
        lake.read("measures", check="change", measure="tau", source="*").to_pylist()[0]["baseline"] == "old"
    )
    assert not lake.commit(compare(lake, "audit-new", "audit-old", anchor_set()).tables()).new


def test_limits_are_those_of_the_candidates_audit(lake):
    change = compare(lake, "audit-new", "audit-old", anchor_set())
    assert {row["limit_high"] for row in change.verdicts} == {0.05, 0.025}
    other = compare(
        lake, "audit-new", "audit-old", anchor_set(), limits=read_limits({"change.tau_drop": 0.9})
    )
    assert words(other)["tau_drop"] == ("pass", "")


def test_sight_tells_a_judge_asked_once_that_repeats_itself(tmp_path):
    lake = Lake.open(tmp_path / "lake")
    told = {"check": "sight", "measure": "repeat_moved", "provisional": False, "reason": ""}
    for name, finding in (("old", ""), ("new", "retest_noise")):
        answers = {f"anchor-{at:03}": [float(at)] for at in range(N)}
        verdict = {**told, "subject": name, "verdict": "pass", "finding": finding}
        commit_audit(lake, f"audit-{name}", name, card(), answers, verdicts=[verdict])
    change = compare(lake, "audit-new", "audit-old", anchor_set())
    assert (change.old.steady, change.new.steady) == (True, False)
    assert "but the new judge was asked once only" in next(row["reason"] for row in change.verdicts)


def test_an_audit_that_is_not_there_is_named(lake):
    with pytest.raises(UsageError, match="no audit “nowhere”"):
        compare(lake, "nowhere", "audit-old", anchor_set())
