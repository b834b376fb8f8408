"""Coverage of a sample of real traffic: known answers, silence, and what is said of it."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow as pa
import pytest
from planted_items import evidence

import judge_audit
from judge_audit.checks.scale.coverage import run
from judge_audit.core.errors import InputError
from judge_audit.core.tables import from_rows
from judge_audit.inputs.traffic import read_traffic
from judge_audit.measures.coverage import apart, bare, by_name, by_value


def test_groups_without_items_are_bare_and_the_mixes_are_apart_by_half_the_differences():
    parts = by_name(["a"] * 50 + ["b"] * 30 + ["c"] * 20, ["a"] * 60 + ["b"] * 40)
    assert [(part.name, part.traffic, part.audit) for part in parts] == [
        ("a", 50, 60),
        ("b", 30, 40),
        ("c", 20, 0),
    ]
    assert [part.name for part in bare(parts, 100, 0.2)] == ["c"]
    assert apart(parts, 100) == pytest.approx(0.5 * (0.1 + 0.1 + 0.2))


def test_the_same_mix_is_nowhere_bare_and_not_apart():
    names = ["a", "b", "c"] * 40
    parts = by_name(names, names)
    assert not bare(parts, 120, 0.2)
    assert apart(parts, 120) == 0


def test_the_stretches_of_values_that_the_audit_lacks_are_named_by_their_ends():
    traffic = np.linspace(0, 100, 1001)
    parts = by_value(traffic, np.linspace(0, 69.9, 300))
    lost = bare(parts, 300, 0.2)
    assert [part.name for part in lost] == ["70 to 80", "80 to 90", "90 to 100"]
    assert sum(part.traffic for part in parts) == 1001


def test_values_that_never_differ_are_one_stretch():
    parts = by_value(np.full(50, 3.0), np.array([3.0, 4.0]))
    assert [(part.traffic, part.audit) for part in parts] == [(50, 1)]
    assert apart(parts, 2) == pytest.approx(0.5)


def _verdicts(findings):
    return {row["kind"]: row for row in findings.verdicts}


def test_a_source_and_a_range_of_scores_that_the_audit_lacks_are_found_and_named():
    rng = np.random.default_rng(2)
    traffic = pa.table(
        {
            "source": ["a"] * 200 + ["b"] * 200 + ["novel"] * 100,
            "overall": [*rng.uniform(0, 10, 400), *rng.uniform(12, 14, 100)],
            "luma": rng.normal(100, 10, 500),
        }
    )
    found = _verdicts(run(evidence(traffic, luma=rng.normal(100, 10, 200))))
    assert found["source"]["verdict"] == "fail"
    assert found["source"]["value"] == pytest.approx(0.2)
    assert "novel" in found["source"]["reason"]
    assert found["overall"]["finding"] == "uncovered"
    assert "14" in found["overall"]["reason"]
    assert found["luma"]["verdict"] == "pass"
    assert {row["subject"] for row in found.values()} == {"images"}


@pytest.mark.parametrize("seed", range(20))
def test_traffic_drawn_as_the_items_were_is_never_called_uncovered(seed):
    rng = np.random.default_rng(seed)
    traffic = pa.table({"source": rng.choice(["a", "b"], 300), "overall": rng.uniform(0, 10, 300)})
    found = _verdicts(run(evidence(traffic, seed=seed)))
    assert {row["verdict"] for row in found.values()} <= {"pass", "inconclusive"}


def test_without_a_sample_nothing_is_asserted_and_controls_are_not_asked():
    assert run(evidence(None)).verdicts == ()
    assert run(evidence(pa.table({"source": ["a"]}), is_control=True)).measures == ()


def test_rows_fit_the_tables_and_their_order_changes_nothing():
    rng = np.random.default_rng(1)
    traffic = pa.table({"source": rng.choice(["a", "b", "c"], 90), "overall": rng.normal(5, 2, 90)})
    found = run(evidence(traffic))
    assert found == run(evidence(traffic.take(rng.permutation(90))))
    assert from_rows("measures", found.measures).num_rows == 4
    assert from_rows("verdicts", found.verdicts).num_rows == 2


def test_a_sample_with_faults_is_refused_with_all_of_them(tmp_path):
    path = tmp_path / "traffic.csv"
    path.write_text("source,overall,luma\na,3,x\nb,,90\nc,nan,80\n")
    with pytest.raises(InputError) as caught:
        read_traffic(path, ("overall",))
    assert [(fault.row, fault.column) for fault in sorted(caught.value.faults)] == [
        (1, "luma"),
        (3, "overall"),
    ]
    path.write_text("colour\nred\n")
    with pytest.raises(InputError, match="at least one of the columns"):
        read_traffic(path, ("overall",))


def test_an_audit_given_a_sample_says_what_is_missing(tmp_path):
    from PIL import Image

    rng = np.random.default_rng(5)
    rows = [("item_id", "source", "prompt", "image")]
    for number in range(40):
        pixels = np.clip(rng.normal(90 + number, 20, (32, 32, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{number}.png")
        rows.append((f"i{number}", "ab"[number % 2], "p", f"{number}.png"))
    with (tmp_path / "items.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    (tmp_path / "traffic.csv").write_text("source\n" + "a\nb\nunheard-of\n" * 60)
    audit = judge_audit.audit(
        judge=lambda images, prompts: [float(image.mean()) for image in images],
        items=tmp_path / "items.csv",
        axes=["crop"],
        ladder_items=8,
        lake=tmp_path / "lake",
        traffic=str(tmp_path / "traffic.csv"),
    )
    (row,) = [row for row in audit.verdicts.to_pylist() if row["check"] == "coverage"]
    assert (row["verdict"], row["finding"]) == ("fail", "uncovered")
    assert any("unheard-of" in text for text in audit.document["caveats"])
    assert not [fault for fault in audit.document["fix_first"]["faults"] if fault["check"] == "coverage"]
