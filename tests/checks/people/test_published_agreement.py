"""Agreement that others published, from their own tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from labelled_people import examined, found, label, read, value_of

from judge_audit.core.vocabulary import WITHIN


@pytest.fixture(scope="module")
def imagenhub(shared_cases):
    """The check on every task of ImagenHub; `overall` is rounded as its authors round it."""
    rows = {}
    for row in read(shared_cases / "imagenhub_ratings.csv"):
        scores = {name: float(row[name]) for name in ("SC", "PQ")}
        scores["overall"] = round(math.sqrt(scores["SC"] * scores["PQ"]), 2)
        rows.setdefault(row["task"], []).extend(
            label(
                f"{row['generator']}/{row['item']}",
                row["rater"],
                value,
                source=row["generator"],
                dimension=name,
                level="interval",
                low=0.0,
                high=1.0,
            )
            for name, value in scores.items()
        )
    return {task: examined(given) for task, given in rows.items()}


def test_every_published_figure_of_imagenhub_is_reproduced(imagenhub, shared_cases):
    published = read(shared_cases / "imagenhub_agreement_published.csv")
    assert len(published) == 39
    for row in published:
        findings, key = imagenhub[row["task"]], {"source": row["model"], "dimension": row["attr"]}
        kappa = value_of(findings, "fleiss_kappa", **key)
        made = [kappa["value"]] + [
            value_of(findings, "alpha", kind=kind, **key)["value"] for kind in ("ordinal", "interval")
        ]
        theirs = [float(row[name]) for name in ("fleiss", "kripp_ordinal", "kripp_interval")]
        assert made == pytest.approx(theirs, abs=5.1e-5), row
        assert kappa["n"] == int(row["n"])


def test_the_pooled_alpha_of_imagenhub_stands_beside_the_much_lower_one_within_generators(imagenhub):
    findings = imagenhub["Text-To-Image"]
    pooled, inside = (
        value_of(findings, "alpha", source=source, dimension="PQ", kind="ordinal") for source in ("*", WITHIN)
    )
    assert (round(pooled["value"], 3), round(inside["value"], 3)) == (0.442, 0.254)
    assert inside["ci_high"] < pooled["ci_low"]
    sloppy = value_of(findings, "alpha", source="Midjourney", dimension="PQ", kind="ordinal")
    assert sloppy["ci_low"] < 0 < sloppy["ci_high"]
    assert {row["finding"] for row in findings.verdicts} == {""}


def test_a_copy_planted_among_the_raters_of_imagenhub_is_named(shared_cases):
    rng = np.random.default_rng(0)
    rows = []
    for row in read(shared_cases / "imagenhub_ratings.csv"):
        if row["task"] != "Text-To-Image":
            continue
        parts = {"source": row["generator"], "dimension": "SC", "level": "ordinal"}
        item, value = f"{row['generator']}/{row['item']}", float(row["SC"])
        rows.append(label(item, row["rater"], value, **parts))
        if row["rater"] == "rater2":
            copied = value if rng.random() < 0.95 else float(rng.choice([0, 0.5, 1]))
            rows.append(label(item, "copy", copied, **parts))
    (row,) = found(examined(rows), "near_copies")
    assert (row["verdict"], row["rater"]) == ("fail", "copy / rater2")


def test_the_two_raters_of_tifa_agree_as_computed_elsewhere(shared_cases):
    rows = [
        label(row["image"], row["rater"], float(row["score"]), source=row["generator"], level="interval")
        for row in read(shared_cases / "tifa160_ratings.csv")
    ]
    findings = examined(rows)
    made = [
        round(value_of(findings, "alpha", dimension="d", kind=kind)["value"], 4)
        for kind in ("nominal", "ordinal", "interval")
    ]
    assert made == [0.3750, 0.7186, 0.6795]
    assert found(findings, "near_copies")[0]["verdict"] == "missing"
