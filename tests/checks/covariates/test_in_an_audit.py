"""Covariates in a real audit: measured once a picture, kept in the lake, and told."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image

from judge_audit import audit
from judge_audit.judges.instruments.covariates import MEASURED

pytestmark = pytest.mark.parts  # whole audits


def luma_judge(images, prompts):
    """A judge that only echoes mean luma."""
    return [float(image.mean()) for image in images]


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    with (folder / "items.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "source", "prompt", "image", "face_count"])
        for index in range(60):
            level, spread, tint = rng.uniform(60, 190), rng.uniform(5, 40), rng.uniform(-30, 30, 3)
            pixels = level + tint + rng.normal(0, spread, (40, 40 + index % 7, 3))
            Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(folder / f"{index}.png")
            writer.writerow([index, "one", "p", f"{index}.png", index % 4])
    return folder / "items.csv"


def test_an_audit_names_a_judge_of_luma_and_measures_each_picture_once(items, tmp_path):
    done = audit(luma_judge, items, axes=["brightness+"], ladder_items=2, lake=tmp_path / "lake")
    (row,) = [
        r for r in done.verdicts.to_pylist() if r["measure"] == "explained_share" and not r["is_control"]
    ]
    assert (row["verdict"], row["finding"]) == ("fail", "echoes")
    assert "most of all brightness" in row["reason"]
    with done.connect() as connection:
        surveyed = connection.execute(
            "SELECT dimension, count(*) FROM scores JOIN judge_labels USING (judge_id) "
            "WHERE name = 'surveyor' GROUP BY 1 ORDER BY 1"
        ).fetchall()
        assert surveyed == [(name, 60) for name in sorted(MEASURED)]
        told = connection.execute(
            "SELECT statistic, share, weight FROM covariate_weights WHERE source = '*'"
        ).fetchall()
        assert {"luma", "face_count", "aspect_ratio", "file_bytes"} <= {name for name, _, _ in told}
        assert told[0][0] == "luma"
        assert told[0][1] > 0.8
        before = connection.execute("SELECT count(*) FROM calls").fetchone()
    again = audit(luma_judge, items, axes=["brightness+"], ladder_items=2, lake=tmp_path / "lake")
    with again.connect() as connection:
        assert connection.execute("SELECT count(*) FROM calls").fetchone() == before
    own = [r for r in again.verdicts.to_pylist() if r["measure"] == "explained_share"]
    assert [(r["value"], r["ci_low"]) for r in own] == [(row["value"], row["ci_low"])]


def test_controls_answer_a_hidden_quality_and_echo_no_surface(items, tmp_path):
    done = audit(luma_judge, items, axes=["brightness+"], ladder_items=2, lake=tmp_path / "lake")
    with done.connect() as connection:
        told = connection.execute(
            """SELECT verdict, count(*) FROM verdicts WHERE "check" = 'covariates' AND is_control GROUP BY 1"""
        ).fetchall()
        wrong = connection.execute(
            """SELECT count(*) FROM verdicts WHERE "check" = 'controls' AND verdict = 'fail'"""
        ).fetchone()
    assert sum(count for _, count in told) >= 10
    assert "fail" not in dict(told)
    assert wrong == (0,)
