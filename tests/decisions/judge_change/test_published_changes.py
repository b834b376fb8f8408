"""Published judges in the place of old and new: τ is scipy's, and people's ratings say whom the change favours."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from judged_anchors import card
from scipy import stats

from judge_audit.decisions.judge_change import SCORES, AnchorSet, Side, compare_judges
from judge_audit.measures.orders import order_of, tau_b


def side(name, ids, values):
    n = len(ids)
    told = {"anchor_id": list(ids), "dimension": ["overall"] * n, "repeat": [0] * n, "value": list(values)}
    table = pa.Table.from_pydict(told | {"state": ["ok"] * n}, schema=SCORES)
    return Side(name, card(kind="table", name=name, weights=name), table, name=name, steady=True)


@pytest.fixture(scope="module")
def tifa(shared_cases):
    """Scores of ten judges and two raters, one row an image."""
    given = pd.read_csv(shared_cases / "tifa160_judges.csv")
    told = pd.read_csv(shared_cases / "tifa160_ratings.csv")
    wide = given.pivot_table(
        index=["image", "generator", "prompt_id"], columns="judge", values="score"
    ).reset_index()
    return wide, told


def tifa_change(tifa, old, new, generator=None):
    wide, told = tifa
    wide = wide if generator is None else wide[wide["generator"] == generator]
    anchors = pa.table(
        {
            "anchor_id": wide["image"].tolist(),
            "source": wide["generator"].tolist(),
            "prompt_id": wide["prompt_id"].tolist(),
        }
    )
    labels = {"anchor_id": told["image"].tolist(), "dimension": ["overall"] * len(told)}
    labels = pa.table(labels | {"value": told["score"].astype(float).tolist()})
    sides = [side(name, wide["image"], wide[name]) for name in (old, new)]
    return compare_judges(*sides, AnchorSet("tifa160", anchors, labels), seed=1), wide


def of(change, measure, **parts):
    wanted = {"kind": "*", "source": "*", **parts}
    (row,) = (
        row
        for row in change.measures
        if row["measure"] == measure and all(row.get(name, "*") == text for name, text in wanted.items())
    )
    return row


def test_tau_of_every_two_judges_of_tifa_is_scipys(tifa):
    wide, _ = tifa
    names = [name for name in wide.columns if name not in {"image", "generator", "prompt_id"}]
    orders = {name: order_of(wide[name].to_numpy(float)) for name in names}
    one = np.ones((len(wide), 1))
    assert len(wide) == 800
    for old, new in combinations(names, 2):
        expected = stats.kendalltau(wide[old].round(9), wide[new].round(9)).statistic
        assert tau_b(one, orders[old], orders[new])[0] == pytest.approx(expected, abs=1e-12), (old, new)


def test_a_better_judge_of_tifa_turns_more_pairs_with_people_than_against_them(tifa):
    change, wide = tifa_change(tifa, "clipscore_vitb32", "tifa_mplug-large", "stable_diffusion_v1_5")
    expected = stats.kendalltau(wide["clipscore_vitb32"], wide["tifa_mplug-large"]).statistic
    assert of(change, "tau")["value"] == pytest.approx(expected, abs=1e-12)
    words = {row["measure"]: (row["verdict"], row["finding"]) for row in change.verdicts}
    assert words == {"tau_drop": ("fail", "reordered"), "net_against_people": ("pass", "")}
    assert of(change, "net_against_people")["ci_high"] < 0
    back, _ = tifa_change(tifa, "tifa_mplug-large", "clipscore_vitb32", "stable_diffusion_v1_5")
    words = {row["measure"]: (row["verdict"], row["finding"]) for row in back.verdicts}
    assert words["net_against_people"] == ("fail", "reordered_against_people")
    assert of(back, "flips_against_people")["value"] == of(change, "flips_with_people")["value"]


def test_flips_of_tifa_by_direction_add_up_to_people_s_order_counted_otherwise(tifa):
    change, wide = tifa_change(tifa, "tifa_vilt", "tifa_ofa-large", "vq_diffusion")
    told = tifa[1].groupby("image")["score"].mean().reindex(wide["image"]).to_numpy()
    old, new = (wide[name].round(9).to_numpy() for name in ("tifa_vilt", "tifa_ofa-large"))
    counts = {"with_people": 0, "against_people": 0, "tie": 0}
    for i, j in combinations(range(len(wide)), 2):
        signs = [np.sign(values[i] - values[j]) for values in (old, new, told)]
        if signs[0] * signs[1] < 0:
            counts[{1.0: "with_people", -1.0: "against_people", 0.0: "tie"}[signs[1] * signs[2]]] += 1
    found = pd.Series([row["direction"] for row in change.rank_changes]).value_counts().to_dict()
    assert found == counts
    assert of(change, "flips")["value"] == sum(counts.values())


def test_tau_of_two_judges_of_t2iscorescore_is_scipys_with_prompts_as_clusters(shared_cases):
    told = pd.read_csv(shared_cases / "t2iscorescore_even.csv")
    told = told[told["id"] < 60]
    ids, prompts = told["file_name"].tolist(), told["id"].astype(str).tolist()
    anchors = pa.table(
        {"anchor_id": ids, "prompt_id": prompts, "cluster": prompts, "source": ["t2i"] * len(ids)}
    )
    labels = {"anchor_id": ids, "dimension": ["overall"] * len(ids), "higher_is_better": [False] * len(ids)}
    labels = pa.table(labels | {"value": told["error_count"].astype(float).tolist()})
    assert len(set(ids)) == len(ids)
    sides = [side(name, ids, told[name]) for name in ("clipscore", "alignscore")]
    change = compare_judges(*sides, AnchorSet("t2i", anchors, labels), seed=1)
    row = of(change, "tau")
    expected = stats.kendalltau(told["clipscore"].round(9), told["alignscore"].round(9)).statistic
    assert row["value"] == pytest.approx(expected, abs=1e-12)
    assert row["ci_low"] < expected < row["ci_high"]
    assert row["n_clusters"] == told["id"].nunique()
    assert of(change, "first_choice_churn")["n"] == told["id"].nunique()
    assert {row["people_basis"] for row in change.rank_changes} == {"labels"}
