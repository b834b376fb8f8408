"""The covariate check: planted surface judges are named, silent ones are not, and nothing missing is zero."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from judge_audit.checks.covariates.covariates import run
from judge_audit.checks.evidence import Evidence
from judge_audit.core.limits import read_limits
from judge_audit.judges.cards.card import Card
from judge_audit.judges.instruments.covariates import COVARIATES

CARD = Card(kind="test", name="t", version="1", pinned=True, weights="w")
LOWER = Card(kind="test", name="t", version="1", pinned=True, weights="w", higher_is_better=False)
LIVE = ("luma", "contrast", "chroma", "sharpness", "background_blur", "text_area", "file_bytes")
FLAT = ("aspect_ratio", "megapixels")


def evidence(score, *, sources=("a", "b"), n=120, seed=0, card=CARD, scales=None, order=None, **rest):
    """Score pictures by their covariates; `score(source, features, rng)` gives a value each, NaN refused."""
    rng = np.random.default_rng(seed)
    rows, table = [], []
    for source in sources:
        features = rng.normal(size=(n, len(LIVE))) * (scales or {}).get(source, 1.0)
        values = score(source, features, rng)
        for index in range(n):
            item = f"{source}{index:04d}"
            refused = not np.isfinite(values[index])
            rows.append(
                {
                    "item_id": item,
                    "source": source,
                    "topic": "",
                    "cluster": item,
                    "axis": "original",
                    "rung": 0,
                }
                | {"strength": 0.0, "repeat": 0, "dimension": "overall"}
                | {
                    "value": None if refused else float(values[index]),
                    "state": "refused" if refused else "ok",
                }
            )
            known = dict(zip(LIVE, features[index].tolist(), strict=True)) | dict.fromkeys(FLAT, 1.0)
            table.append({"item_id": item} | {name: known.get(name) for name in COVARIATES})
    if order is not None:
        rows = [rows[at] for at in np.random.default_rng(order).permutation(len(rows))]
    schema = pa.schema([("item_id", pa.string()), *((name, pa.float64()) for name in COVARIATES)])
    parts = {"audit_id": "x", "judge_id": "j", "is_control": False, "seed": 1, "axes": {}}
    parts |= {"limits": read_limits(), "covariates": pa.Table.from_pylist(table, schema)} | rest
    return Evidence(card=card, responses=pa.Table.from_pylist(rows), zones=pa.table({"item_id": []}), **parts)


def linear(weight, at=2, noise=1.0):
    return lambda source, features, rng: weight * features[:, at] + noise * rng.normal(size=len(features))


def silent(source, features, rng):
    return rng.normal(size=len(features))


def verdict(findings, measure):
    (row,) = [row for row in findings.verdicts if row["measure"] == measure]
    return row


def measures(findings, measure, **parts):
    return [
        row
        for row in findings.measures
        if row["measure"] == measure and all(row.get(key, "*") == value for key, value in parts.items())
    ]


def test_a_judge_of_chroma_is_said_to_echo_the_surface_and_chroma_is_named():
    findings = run(evidence(linear(2.0)))
    row = verdict(findings, "explained_share")
    assert (row["verdict"], row["finding"]) == ("fail", "echoes")
    assert "most of all colour" in row["reason"]
    assert row["value"] == pytest.approx(0.8, abs=0.08)
    (share,) = measures(findings, "covariate_share", kind="chroma", source="*")
    assert share["value"] == pytest.approx(0.8, abs=0.08)
    assert max(row["value"] for row in measures(findings, "covariate_share", kind="luma")) < 0.05


@pytest.mark.parametrize("shape", ["continuous", "integer", "binary"])
def test_a_judge_that_ignores_the_surface_is_not_convicted(shape):
    def score(source, features, rng):
        values = silent(source, features, rng)
        return {"continuous": values, "integer": np.round(values), "binary": np.sign(values) + (values > 1)}[
            shape
        ]

    passed = []
    for seed in range(8):
        findings = run(evidence(score, seed=seed))
        row = verdict(findings, "explained_share")
        assert row["verdict"] == "pass"
        passed.append(row["ci_low"] <= 0 <= row["ci_high"])
        assert verdict(findings, "weight_difference")["verdict"] != "fail"
    assert np.mean(passed) >= 0.75


def test_a_constant_judge_is_left_open():
    findings = run(evidence(lambda source, features, rng: np.full(len(features), 3.0)))
    row = verdict(findings, "explained_share")
    assert (row["verdict"], row["value"], row["ci_low"]) == ("inconclusive", None, None)
    assert "nothing can pass for it: a, b" in row["reason"]
    assert findings.measures == ()


def test_pictures_nobody_measured_are_missing_evidence():
    findings = run(evidence(linear(2.0), covariates=None))
    assert {row["verdict"] for row in findings.verdicts} == {"missing"}
    assert findings.measures == ()


def test_statistics_that_do_not_vary_and_those_nobody_knows_are_named():
    reason = verdict(run(evidence(silent)), "explained_share")["reason"]
    assert "hardly vary: width to height, number of pixels" in reason
    assert "Not known for enough pictures: number of faces" in reason


def test_shares_add_up_to_what_is_explained_in_each_source_and_over_all():
    findings = run(evidence(linear(0.7)))
    for source in ("a", "b", "*"):
        (whole,) = measures(findings, "explained_share", source=source)
        parts = measures(findings, "covariate_share", source=source)
        assert len(parts) == len(LIVE)
        assert sum(row["value"] for row in parts) == pytest.approx(whole["value"], abs=1e-9)


def test_a_weight_that_turns_round_between_sources_is_unstable():
    def score(source, features, rng):
        return (1.5 if source == "a" else -1.5) * features[:, 0] + rng.normal(size=len(features))

    findings = run(evidence(score, n=200))
    row = verdict(findings, "weight_difference")
    assert (row["verdict"], row["finding"]) == ("fail", "unstable")
    assert "brightness between a and b" in row["reason"]
    (apart,) = measures(findings, "weight_difference", kind="luma", source="a", baseline="b")
    (first,) = measures(findings, "covariate_weight", kind="luma", source="a")
    (second,) = measures(findings, "covariate_weight", kind="luma", source="b")
    assert apart["value"] == pytest.approx(first["value"] - second["value"], abs=1e-9)
    assert measures(findings, "weight_q", kind="luma")[0]["value"] > 50
    assert measures(findings, "weight_i2", kind="luma")[0]["value"] > 0.9


def test_a_judge_that_is_the_same_everywhere_is_steady_given_enough_pictures():
    row = verdict(run(evidence(linear(0.5), n=900)), "weight_difference")
    assert (row["verdict"], row["finding"]) == ("pass", "")
    few = verdict(run(evidence(linear(0.5), n=60)), "weight_difference")
    assert few["verdict"] == "inconclusive"


def test_the_same_response_in_sources_of_different_spread_is_no_fault():
    scales = {"a": 1.0, "b": 0.15}
    findings = run(evidence(linear(1.0, noise=0.6), n=400, scales=scales))
    row = verdict(findings, "weight_difference")
    assert row["verdict"] == "inconclusive"
    assert "In lift alone" in row["reason"]
    (raw,) = measures(findings, "weight_difference_raw", kind="chroma")
    assert raw["ci_low"] < 0.25


def test_one_source_cannot_be_compared():
    findings = run(evidence(linear(2.0), sources=("a",)))
    assert verdict(findings, "weight_difference")["verdict"] == "missing"
    assert verdict(findings, "explained_share")["finding"] == "echoes"
    assert measures(findings, "weight_difference") == []


def test_a_source_with_too_few_pictures_keeps_the_others_from_passing_for_it():
    both = evidence(silent)
    few = evidence(silent, sources=("c",), n=20)
    merged = evidence(silent)
    object.__setattr__(merged, "responses", pa.concat_tables([both.responses, few.responses]))
    object.__setattr__(merged, "covariates", pa.concat_tables([both.covariates, few.covariates]))
    row = verdict(run(merged), "explained_share")
    assert row["verdict"] == "inconclusive"
    assert "so many statistics, so that nothing can pass for it: c" in row["reason"]


def test_refusals_decide_when_filling_them_changes_the_verdict():
    def score(source, features, rng):
        values = 1.3 * features[:, 2] + rng.normal(size=len(features))
        values[rng.random(len(values)) < 0.3] = np.nan
        return values

    row = verdict(run(evidence(score, n=400)), "explained_share")
    assert row["verdict"] == "inconclusive"
    assert "Refusals decide" in row["reason"]


def test_too_many_missing_scores_leave_weights_open():
    def score(source, features, rng):
        values = (1.5 if source == "a" else -1.5) * features[:, 0] + rng.normal(size=len(features))
        values[::10] = np.nan
        return values

    row = verdict(run(evidence(score, n=200)), "weight_difference")
    assert (row["verdict"], row["finding"]) == ("inconclusive", "")
    assert "10 % of the scores are missing" in row["reason"]


def test_orientation_turns_weights_and_no_share():
    up, down = run(evidence(linear(1.0))), run(evidence(linear(1.0), card=LOWER))
    for one, other in zip(up.measures, down.measures, strict=True):
        sign = -1 if one["measure"].startswith(("covariate_weight", "weight_difference")) else 1
        assert one["value"] == pytest.approx(sign * other["value"], abs=1e-9)


def test_row_order_and_monotone_rescaling_change_nothing():
    plain = run(evidence(linear(1.0)))
    mixed = run(evidence(linear(1.0), order=5))
    bent = run(evidence(lambda *given: np.exp(linear(1.0)(*given))))
    assert plain == mixed
    for one, other in zip(plain.measures, bent.measures, strict=True):
        if not one["measure"].endswith("_raw"):
            assert one["value"] == pytest.approx(other["value"], abs=1e-9)
            assert one.get("ci_low") == pytest.approx(other.get("ci_low"), abs=1e-9)


def test_every_row_has_its_columns_and_its_own_key():
    from judge_audit.core.tables import from_rows

    findings = run(evidence(linear(1.0), sources=("a", "b", "c")))
    for name, rows in (("measures", findings.measures), ("verdicts", findings.verdicts)):
        table = from_rows(name, rows)
        keys = ["check", "measure", "source", "baseline", "dimension", "kind"]
        assert table.group_by(keys).aggregate([]).num_rows == len(rows)
    assert len(measures(findings, "weight_difference")) == 3 * len(LIVE)
