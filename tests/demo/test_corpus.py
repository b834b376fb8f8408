"""The demo's corpus on disk."""

from __future__ import annotations

import csv
from collections import Counter
from importlib.resources import files

import cv2
import pytest

from judge_audit.demo.corpus import PHOTOGRAPHS, cut_crops, write_demo_corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_demo_corpus(tmp_path_factory.mktemp("demo"), size=64)


def rows_of(listing):
    with listing.open(newline="") as file:
        return list(csv.DictReader(file))


def test_three_sources_hold_at_least_a_hundred_items_each(corpus):
    rows = rows_of(corpus)
    counts = Counter(row["source"] for row in rows)
    assert len(counts) == 3
    assert min(counts.values()) >= 100
    assert len({row["item_id"] for row in rows}) == len(rows)
    assert all(row["prompt"] for row in rows)


def test_every_source_has_enough_clusters_for_an_interval(corpus):
    rows = rows_of(corpus)
    for source in {row["source"] for row in rows}:
        assert len({row["cluster"] for row in rows if row["source"] == source}) >= 8


def test_every_listed_picture_is_there_and_no_two_are_equal(corpus):
    contents = [(corpus.parent / row["image"]).read_bytes() for row in rows_of(corpus)]
    assert len(set(contents)) == len(contents)
    assert cv2.imread(str(corpus.parent / rows_of(corpus)[0]["image"])).shape == (64, 64, 3)


def test_an_intact_corpus_is_left_untouched(corpus):
    before = {path: path.stat().st_mtime_ns for path in corpus.parent.rglob("*")}
    assert write_demo_corpus(corpus.parent, size=64) == corpus
    assert {path: path.stat().st_mtime_ns for path in corpus.parent.rglob("*")} == before


def test_a_damaged_picture_is_written_again(corpus):
    victim = corpus.parent / rows_of(corpus)[5]["image"]
    whole = victim.read_bytes()
    victim.write_bytes(whole[: len(whole) // 2])
    write_demo_corpus(corpus.parent, size=64)
    assert victim.read_bytes() == whole


def test_every_bundled_photograph_is_attributed_and_cropped():
    folder = files("judge_audit.demo") / "photos"
    attribution = (folder / "ATTRIBUTION.md").read_text()
    bundled = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".jpg"))
    assert bundled == sorted(f"{name}.jpg" for name in PHOTOGRAPHS)
    assert all(name in attribution for name in bundled)
    assert sum(len((folder / name).read_bytes()) for name in bundled) <= 1_200_000
    assert {crop.photograph for crop in cut_crops(9, 32, 1)} == set(PHOTOGRAPHS)
