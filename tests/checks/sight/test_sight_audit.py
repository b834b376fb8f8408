"""A whole audit says first what the judge can see, and blames no ladder outside its view."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image
from sight_evidence import picture

import judge_audit
from judge_audit.core.messages import say
from judge_audit.report.sections.ladders import severity

SEEN = ["aspect", "batch", "border", "copy", "orientation", "prompt", "repeat"]


def middle(images, prompts):
    """A judge that crops to the middle half and adds what it makes of the prompt."""
    cuts = [
        image[len(image) // 4 : -len(image) // 4, image.shape[1] // 4 : -image.shape[1] // 4]
        for image in images
    ]
    words = [len(prompt) + 7 * int(prompt.split()[-1]) % 31 for prompt in prompts]
    return [float(cut[::2].std() + cut[:5].mean() + word) for cut, word in zip(cuts, words, strict=True)]


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


@pytest.fixture(scope="module")
def done(items, tmp_path_factory):
    lake = tmp_path_factory.mktemp("lake") / "lake"
    return judge_audit.audit(middle, items, axes=["watermark", "blur"], ladder_items=16, lake=lake)


def test_the_watermark_outside_its_view_is_unseen_and_blur_is_not(done):
    told = {(row["check"], row["axis"]): row for row in done.verdicts.to_pylist()}
    for check in ("premature", "jitter", "top_response"):
        row = told[check, "watermark"]
        assert (row["verdict"], row["finding"]) == ("missing", "unseen")
        assert told[check, "blur"]["finding"] != "unseen"
    assert told["sight", "border"]["finding"] == "border_blind"
    ladders = {row["axis"]: row for row in done.document["sight"]["ladders"]}
    assert ladders["watermark"]["unseen"]
    assert ladders["watermark"]["seen_from"] is None
    assert not ladders["blur"]["unseen"]
    assert ladders["blur"]["seen_from"] > 0


def test_the_report_says_what_it_can_see_before_any_fault_and_ladder(done):
    answers = done.document["sight"]["answers"]
    assert sorted(row["question"] for row in answers) == SEEN
    written = json.loads((done.report.parent / "report.json").read_text(encoding="utf-8"))
    assert written["sight"] == json.loads(json.dumps(done.document["sight"]))
    page = done.report.read_text(encoding="utf-8")
    places = [page.index(say(f"report.{name}.heading")) for name in ("sight", "fix", "caveats", "ladders")]
    assert places == sorted(places)
    assert say("report.finding.border_blind") in page
    assert say("report.sight.unseen", axis="watermark") in page


def test_the_controls_that_see_are_listed_and_come_out_as_planted(done):
    results = {row["control"]: row["verdict"] for row in done.document["controls"]["results"]}
    seeing = ("batch-dependent", "centre-crop-only", "orientation-blind", "prompt-blind", "sees-all")
    assert {name: results[name] for name in seeing} == dict.fromkeys(seeing, "pass")
    assert "fail" not in results.values()


def test_sight_probes_are_answered_and_no_instrument_measures_them(done):
    with done.connect() as connection:
        asked = connection.execute(
            """SELECT count(*) FROM responses JOIN judge_labels USING (judge_id)
            WHERE axis = 'alone' AND name LIKE '%:middle'"""
        ).fetchone()
        measured = connection.execute(
            """SELECT count(*) FROM all_responses JOIN judge_labels USING (judge_id)
            WHERE axis = 'alone' AND name IN ('ruler', 'surveyor')"""
        ).fetchone()
        movers = connection.execute("SELECT DISTINCT axis FROM worst_movers").fetchall()
    assert (asked, measured) == ((32,), (0,))
    assert {axis for (axis,) in movers} <= {"watermark", "blur"}


def test_blindness_comes_last_among_faults():
    def fault(finding, provisional):
        return {"finding": finding, "provisional": provisional, "value": 0.5}

    given = [fault("orientation_blind", False), fault("jitters", True), fault("batch_dependent", False)]
    order = [row["finding"] for row in sorted(given, key=severity)]
    assert order == ["batch_dependent", "jitters", "orientation_blind"]
