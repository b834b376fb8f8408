"""The part about a change of judge: identity in words, noise beside τ, places, and turned pairs as pictures."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from judged_anchors import anchor_set, card, side

from judge_audit.decisions.judge_change import compare_judges
from judge_audit.report.page import environment
from judge_audit.report.sections.changes import PAIRS_SHOWN, changes_of, changes_part

HOSTILE = "<script>alert('x')</script>"
N = 60


def broken():
    quality = np.arange(N, dtype=float)
    quality[5::6] += 30
    return quality


def noisy(seed, quality, noise=0.05):
    return quality[:, None] + noise * np.random.default_rng(seed).normal(size=(N, 2))


def change(**parts):
    told = card(preprocessing={"backend": HOSTILE, "resize": 224, "dtype": "float32"})
    new = side(noisy(2, parts.pop("quality", broken())), f"new {HOSTILE}", card=told)
    return compare_judges(side(noisy(1, np.arange(N, dtype=float))), new, anchor_set(), **parts)


def grey(name):
    if name == "anchor-005":
        raise OSError("gone")
    return np.full((20, 30, 3), 90, np.uint8)


@pytest.fixture(scope="module")
def part():
    return changes_part(change(), environment(), grey)


def drawings(html):
    return [ET.fromstring(svg) for svg in re.findall(r'<svg class="chart".*?</svg>', html, re.DOTALL)]


def test_nothing_from_outside_stands_unescaped(part):
    assert HOSTILE not in part.html
    assert "&lt;script&gt;" in part.html


def test_the_document_is_json_and_names_what_changed(part):
    told = json.loads(json.dumps(part.document, allow_nan=False))
    assert told["identity"]["changed"] == ["preprocessing"]
    assert told["identity"]["fields"][0]["field"] == "preprocessing.backend"
    assert told["real"] is True
    assert told["replay"] is None


def test_tau_stands_beside_what_noise_leaves(part):
    tau, _ = drawings(part.html)[:2]
    marks = [mark for mark in tau.iter() if "mark" in mark.get("class", "").split()]
    square, ring = marks
    assert float(square.get("x")) + 4 < float(ring.get("cx"))
    assert square.findtext("title").startswith("τ, old with new: 0.")


def test_every_anchor_has_a_line_and_those_of_the_pairs_are_named(part):
    _, slopes = drawings(part.html)[:2]
    lines = [line for line in slopes.iter() if "slope" in line.get("class", "").split()]
    assert len(lines) == N
    (dimension,) = part.document["versions"][0]["dimensions"]
    members = {row[key] for row in dimension["pairs"] for key in ("anchor_first", "anchor_second")}
    strong = {line.findtext("title").split(":")[0] for line in lines if "against" in line.get("class")}
    assert strong == members
    down = next(line for line in lines if line.findtext("title").startswith("anchor-011"))
    assert float(down.get("y2")) < float(down.get("y1"))


def test_the_gravest_pairs_are_shown_as_pictures_and_no_anchor_fills_the_page(part):
    (dimension,) = part.document["versions"][0]["dimensions"]
    pairs = dimension["pairs"]
    assert len(pairs) == PAIRS_SHOWN
    assert all(row["direction"] == "against_people" and row["across_tiers"] for row in pairs)
    names = [row[key] for row in pairs for key in ("anchor_first", "anchor_second")]
    assert max(names.count(name) for name in names) == 2
    assert part.html.count("data:image/jpeg") + names.count("anchor-005") == 2 * PAIRS_SHOWN
    assert part.html.count("picture not at hand") == names.count("anchor-005") > 0
    assert part.html.count("people too") == PAIRS_SHOWN


def test_without_pictures_the_part_says_so():
    part = changes_part(change(), environment())
    assert "data:image" not in part.html
    assert part.html.count("picture not at hand") == 2 * PAIRS_SHOWN


def test_no_change_shows_no_pair(part):
    same = changes_part(change(quality=np.arange(N) * 10.0), environment(), grey)
    (dimension,) = same.document["versions"][0]["dimensions"]
    assert dimension["pairs"] == []
    assert "turned round:" not in same.html
    assert "passes" in same.html


def test_two_versions_that_answer_differently_are_said_first():
    anchors = anchor_set(version="2", tier=["good"] * 20 + ["bad"] * 40)
    sides = [side(noisy(1, np.arange(N, dtype=float))), side(noisy(2, broken()), "new")]
    told = compare_judges(*sides, anchors, anchor_set(version="1"))
    assert told.answers_differ
    part = changes_part(told, environment())
    assert "hold to the old version" in part.html
    assert "On the old anchors, 1" in part.html


def test_what_cannot_be_compared_is_said_without_a_figure():
    empty = compare_judges(side(np.empty((0, 1))), side(np.empty((0, 1)), "new"), anchor_set())
    part = changes_part(empty, environment())
    assert "no scores of anchors" in part.html
    few = changes_part(
        compare_judges(side(np.ones((2, 2))), side(np.ones((2, 2)), "new"), anchor_set(2)), environment()
    )
    assert "there is no order to compare" in few.html
    once = changes_of(compare_judges(side(np.arange(40.0)), side(-np.arange(40.0), "new"), anchor_set(40)))
    assert once["real"] is None
    constant = changes_part(
        compare_judges(side(np.arange(80.0).reshape(40, 2)), side(np.ones((40, 2)), "n"), anchor_set(40)),
        environment(),
    )
    assert "same score" in constant.html
