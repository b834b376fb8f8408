"""Whole audits of a judge that leans on its batch, and of one asked again."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image
from sight_evidence import picture

import judge_audit

pytestmark = pytest.mark.long


def own_score(image, prompt):
    return float(image[::2].std() + image[:15].mean() + 7 * int(prompt.split()[-1]) % 31)


def leaning(images, prompts):
    """A judge with a share of its company."""
    own = [own_score(image, prompt) for image, prompt in zip(images, prompts, strict=True)]
    return [score + 0.1 * (sum(own) / len(own) - score) for score in own]


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sight")
    rng = np.random.default_rng(4)
    with (folder / "items.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "source", "topic", "prompt", "image"])
        for number in range(40):
            Image.fromarray(picture(rng)).save(folder / f"{number}.png")
            writer.writerow([f"i{number:02d}", "one", number % 3, f"prompt {number}", f"{number}.png"])
    return folder / "items.csv"


def test_a_judge_that_leans_on_its_batch_is_named_first_with_the_size_and_barred_as_a_reward(items, tmp_path):
    done = judge_audit.audit(leaning, items, axes=["blur"], ladder_items=8, lake=tmp_path / "lake")
    (row,) = [row for row in done.document["sight"]["answers"] if row["question"] == "batch"]
    assert (row["verdict"], row["finding"]) == ("fail", "batch_dependent")
    assert row["largest_points"] > row["median_points"] > 0
    assert f"{row['largest_points']:.2g}" in row["reason"]
    assert done.document["fix_first"]["faults"][0]["finding"] == "batch_dependent"
    standing = {use["use"]: use["standing"] for use in done.document["uses"]}
    assert standing["reward"] == standing["acceptance"] == "barred"
    assert row["reason"] in done.report.read_text(encoding="utf-8")


def test_an_audit_made_again_asks_nothing_again(items, tmp_path):
    counts = []
    for _ in range(2):
        done = judge_audit.audit(leaning, items, axes=["blur"], ladder_items=2, lake=tmp_path / "lake")
        with done.connect() as connection:
            counts.append(connection.execute("SELECT count(*) FROM calls").fetchone())
    assert counts[0] == counts[1]
