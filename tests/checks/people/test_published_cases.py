"""Figures that others published, or that were computed from the same files elsewhere, come out of the checks."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from labelled_evidence import only

from judge_audit.checks.evidence import Evidence
from judge_audit.checks.people import judge_and_raters as beside_people
from judge_audit.checks.people import subscores
from judge_audit.core.limits import read_limits
from judge_audit.judges.cards.card import Card
from judge_audit.measures.correlation import correlation
from judge_audit.measures.within_prompt import groups, inside_correlations

GENERATORS = ("DALLE2", "DeepFloydIF", "OpenJourney", "SD", "SDXL")


def evidence(scores, labels, ends, *, low=0.0, high=10.0):
    """Make evidence of long tables: item, source, prompt, dimension, value (NaN: no answer) and rater."""
    scores = scores.assign(item=scores["source"] + "/" + scores["item"].astype(str))
    labels = labels.assign(item=labels["source"] + "/" + labels["item"].astype(str))

    def both(given):
        return {
            "item_id": given["item"].tolist(),
            "source": given["source"].tolist(),
            "topic": [""] * len(given),
            "prompt_id": given["prompt"].astype(str).tolist(),
            "cluster": given["item"].tolist(),
            "dimension": given["dimension"].tolist(),
        }

    value = scores["value"].to_numpy(float)
    n = len(scores)
    responses = both(scores) | {"axis": ["original"] * n, "rung": [0] * n, "strength": [0.0] * n}
    responses |= {"repeat": [0] * n, "value": pa.array(value, mask=np.isnan(value))}
    responses |= {"state": ["ok" if np.isfinite(x) else "unparsable" for x in value]}
    told = both(labels) | {"annotator_id": labels["rater"].tolist(), "value": labels["value"].tolist()}
    n = len(labels)
    told |= {"level": ["ordinal"] * n, "low": [ends[0]] * n, "high": [ends[1]] * n}
    told |= {"higher_is_better": [True] * n}
    dimensions = tuple(dict.fromkeys(scores["dimension"]))
    return Evidence(
        audit_id="x",
        judge_id="j",
        is_control=False,
        card=Card(kind="table", name="j", scale_low=low, scale_high=high, dimensions=dimensions),
        seed=1,
        responses=pa.table(responses),
        zones=pa.table({"item_id": []}),
        axes={},
        limits=read_limits(),
        labels=pa.table(told),
    )


@pytest.fixture(scope="module")
def imagenhub(shared_cases):
    """Raters of ImagenHub, long, and the judges' sub-scores of VIEScore."""
    told = pd.read_csv(shared_cases / "imagenhub_ratings.csv")
    told = told[told["task"] == "Text-To-Image"]
    told = told.assign(source=told["generator"].replace({"DALLE": "DALLE2"}), prompt=told["item"])
    told = told.melt(["item", "source", "prompt", "rater"], ["SC", "PQ"], "dimension")
    given = pd.read_csv(shared_cases / "viescore_t2i_judges.csv")
    given = given.assign(source=given["generator"], prompt=given["item"], dimension=given["dim"])
    given["parts"] = given["raw_scores"].map(_parts)
    return told, given


def _parts(text):
    try:
        found = json.loads(text)
    except (TypeError, ValueError):
        return []
    return [float(value) for value in found]


def _judge(given, name, *, complete):
    """Scores of one judge as published: the smallest sub-score, on items answered in both dimensions."""
    mine = given[given["judge"] == name].assign(
        value=given["parts"].map(lambda parts: min(parts) if parts else np.nan)
    )
    if complete:
        counts = mine.dropna(subset="value").groupby(["source", "item"])["dimension"].nunique()
        held = mine.set_index(["source", "item"]).index.map(counts.to_dict())
        mine = mine[held == 2]
    return mine


PUBLISHED = {
    ("gemini_0shot", "SC"): (0.478, 0.553, 0.590, 0.610, 0.597),
    ("gemini_0shot", "PQ"): (0.134, 0.066, 0.252, 0.188, 0.292),
    ("gpt4v_0shot", "SC"): (0.505, 0.518, 0.484, 0.596, 0.568),
}


@pytest.mark.parametrize(("judge", "dimension"), sorted(PUBLISHED))
def test_viescore_judges_beside_people_per_generator(imagenhub, judge, dimension):
    told, given = imagenhub
    rows = beside_people.run(evidence(_judge(given, judge, complete=True), told, (0.0, 1.0))).measures
    for source, value in zip(GENERATORS, PUBLISHED[judge, dimension], strict=True):
        row = only(rows, "judge_on_mean", dimension=dimension, source=source)
        assert round(row["value"], 3) == pytest.approx(value, abs=1e-9), source


@pytest.mark.parametrize("judge", ["gemini_0shot", "gpt4v_0shot"])
def test_two_famous_judges_agree_less_with_people_than_people_do(imagenhub, judge):
    told, given = imagenhub
    found = beside_people.run(evidence(_judge(given, judge, complete=False), told, (0.0, 1.0)))
    for dimension in ("SC", "PQ"):
        row = only(found.verdicts, "judge_beside_people", dimension=dimension)
        assert (row["verdict"], row["finding"]) == ("fail", "worse_than_people")


@pytest.mark.parametrize(
    ("judge", "first", "second"), [("gpt4v_0shot", 0.741, 0.767), ("gemini_0shot", 0.202, 0.764)]
)
def test_viescore_sub_scores(imagenhub, judge, first, second):
    told, given = imagenhub
    mine = given[given["judge"] == judge]
    parts = [
        mine[mine["dim"] == dim].assign(
            dimension=name,
            value=mine["parts"].map(
                lambda values, at=at, size=size: values[at] if len(values) == size else np.nan
            ),
        )
        for dim, name, at, size in (
            ("SC", "semantic", 0, 1),
            ("PQ", "naturalness", 0, 2),
            ("PQ", "artifacts", 1, 2),
        )
    ]
    rows = subscores.run(evidence(pd.concat(parts), told, (0.0, 1.0))).measures
    for kind, value in (("semantic / naturalness", first), ("naturalness / artifacts", second)):
        row = only(
            [row for row in rows if row["subject"] == "j"],
            "subscore_pearson_pooled",
            dimension="*",
            kind=kind,
        )
        assert round(row["value"], 3) == pytest.approx(value, abs=1e-9)


def test_people_keep_their_two_dimensions_apart(imagenhub):
    told, _ = imagenhub
    wide = told.pivot_table(index=["source", "item", "rater"], columns="dimension", values="value")
    assert round(correlation(wide["SC"].to_numpy(), wide["PQ"].to_numpy(), "pearson"), 3) == 0.268


@pytest.fixture(scope="module")
def tifa(shared_cases):
    """Raters of TIFA160, long, and its automatic judges."""
    told = pd.read_csv(shared_cases / "tifa160_ratings.csv")
    given = pd.read_csv(shared_cases / "tifa160_judges.csv")
    told = told.assign(
        item=told["image"],
        source=told["generator"],
        prompt=told["prompt_id"],
        value=told["score"],
        dimension="overall",
    )
    given = given.assign(
        item=given["image"], source=given["generator"], prompt=given["prompt_id"], value=given["score"]
    )
    return told, given.assign(dimension="overall")


@pytest.mark.parametrize(
    ("name", "pearson", "spearman", "kendall"),
    [("tifa_mplug-large", 0.5967, 0.5922, 0.4717), ("clipscore_vitb32", 0.3318, None, None)],
)
def test_tifa_judges_on_the_mean_rating(tifa, name, pearson, spearman, kendall):
    told, given = tifa
    rows = beside_people.run(evidence(given[given["judge"] == name], told, (1.0, 5.0))).measures
    for measure, value in (("_pearson", pearson), ("", spearman), ("_kendall", kendall)):
        if value is not None:
            row = only(rows, f"judge_on_mean{measure}", kind="pooled")
            assert row["value"] == pytest.approx(value, abs=5e-5)


def test_pooled_and_within_generators_tell_different_stories(shared_cases):
    told = pd.read_csv(shared_cases / "agiqa3k.csv")
    source = told["name"].str.split("_").str[0]
    parts = [
        pd.DataFrame(
            {"item": told["name"], "source": source, "prompt": "", "dimension": name, "value": told[column]}
        )
        for name, column in (("quality", "mos_quality"), ("alignment", "mos_align"))
    ]
    rows = subscores.run(evidence(pd.concat(parts), parts[0].assign(rater=""), (0.0, 5.0), high=5.0)).measures
    pooled = only(rows, "subscore_correlation_pooled", dimension="*", kind="quality / alignment")
    assert round(pooled["value"], 3) == 0.742
    within = [
        row["value"]
        for row in rows
        if row["measure"] == "subscore_correlation" and row.get("source", "*") != "*"
    ]
    assert len(within) == 6
    assert (round(min(within), 3), round(max(within), 3)) == (0.181, 0.595)


def walks(told):
    """Split a graph of ever more errors into walks: one node for each number of steps from the prompt."""
    for graph, rows in told.groupby("id"):
        node = rows["rank"].astype(str)
        step = node.str.extract(r"(\d+)")[0].astype(int)
        options = [sorted(node[step == at].unique()) for at in sorted(step.unique())]
        for number, nodes in enumerate(itertools.product(*options)):
            yield rows[node.isin(nodes)].assign(walk=f"{graph}/{number}")


@pytest.mark.parametrize(("name", "value"), [("clipscore", 0.684), ("alignscore", 0.706)])
def test_t2iscorescore_order_along_the_walks_of_a_graph(shared_cases, name, value):
    told = pd.concat(walks(pd.read_csv(shared_cases / "t2iscorescore_even.csv")))
    held = groups(told["walk"].to_numpy(str), np.arange(len(told)))
    found = inside_correlations(told[name].to_numpy(float), -told["error_count"].to_numpy(float), held)
    graph = told.groupby("walk")["id"].first()  # sorted by name, as the groups are numbered
    # Published over all graphs; the file holds every other one.
    mean = pd.Series(found, graph.index).groupby(graph).mean().mean()
    assert mean == pytest.approx(value, abs=0.01)
