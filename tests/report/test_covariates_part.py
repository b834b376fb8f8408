"""The covariate part of the report: known rows give known sentences and marks."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from judge_audit.core.messages import say
from judge_audit.report.charts.covariate_charts import share_chart, weight_chart
from judge_audit.report.charts.forest import STEPS, reach, round_values
from judge_audit.report.sections.covariates import fresh

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
WHOLE = {"value": 0.34, "ci_low": 0.29, "ci_high": 0.4, "n": 80}


def rows_of(weights, *, whole=WHOLE, verdict="inconclusive", finding="", ci=0.05, needed=None):
    """Rows of an audit: one share and one weight per source and statistic."""
    told = {"subject": "j", "check": "covariates", "dimension": "overall"}
    sources = sorted({source for row in weights.values() for source in row})
    measures = [{**told, "measure": "explained_share", "source": "*", **whole}]
    measures += [{**told, "measure": "explained_share", "source": source, **whole} for source in sources]
    for place, (name, row) in enumerate(weights.items()):
        share = 0.2 / (1 + place)
        figure = {"value": share, "ci_low": share - 0.03, "ci_high": share + 0.03, "n": 80}
        measures.append({**told, "measure": "covariate_share", "source": "*", "kind": name, **figure})
        mean = sum(row.values()) / len(row)
        for source, value in {**row, "*": mean}.items():
            figure = {"value": value, "ci_low": value - ci, "ci_high": value + ci, "n": 40}
            measures.append({**told, "measure": "covariate_weight", "source": source, "kind": name, **figure})
    verdicts = [
        {
            **told,
            "measure": "explained_share",
            "verdict": verdict,
            "finding": finding,
            "provisional": False,
            "reason": "Because of it. Not known for enough pictures: number of faces.",
            "limit_high": 0.5,
            "n_needed": needed,
        },
        {
            **told,
            "measure": "weight_difference",
            "verdict": "inconclusive",
            "finding": "",
            "provisional": False,
            "reason": "It is open. Not known for enough pictures: number of faces.",
        },
    ]
    return {"measures": measures, "verdicts": verdicts}


TURNING = {
    "sharpness": {"a": 0.12, "b": -0.17},
    "luma": {"a": 0.11, "b": 0.13},
    "chroma": {"a": 0.01, "b": 0.0},
}


@pytest.fixture(scope="module")
def turned(report_of):
    return report_of(results=rows_of(TURNING))


def drawings(html):
    section = html[html.index('id="surface"') :]
    section = section[: section.index("</section>")]
    return [ET.fromstring(svg) for svg in re.findall(r'<svg class="chart".*?</svg>', section, re.DOTALL)]


def marks(drawing, kind):
    return [element for element in drawing.iter() if kind in element.get("class", "").split()]


def test_one_plain_sentence_says_how_much_is_explained(turned):
    sentence = (
        "Surface statistics alone explain 34 % of this judge's score differences within a source (29–40 %)."
    )
    assert turned.document["covariates"][0]["sentence"] == sentence
    assert sentence.replace("'", "&#39;") in turned.html


def test_bars_stand_for_all_together_each_source_and_each_statistic(turned):
    shares, _ = drawings(turned.html)
    whole, *single = marks(shares, "bar")
    assert whole.get("class") == "bar all"
    assert [bar.findtext("title") for bar in (whole, *single)] == [
        "all together: 34 % (29 % … 40 %)",
        "a: 34 % (29 % … 40 %)",
        "b: 34 % (29 % … 40 %)",
        "sharpness: 20 % (17 % … 23 %)",
        "brightness: 10 % (7 % … 13 %)",
        "colour: 7 % (4 % … 10 %)",
    ]
    widths = [float(bar.get("width")) for bar in (whole, single[2])]
    assert widths[1] / widths[0] == pytest.approx(0.2 / 0.34, abs=0.01)
    assert len(marks(shares, "limit")) == 1


def test_a_weight_that_turns_round_is_marked_and_told(turned):
    (part,) = turned.document["covariates"]
    assert {row["statistic"]: row["turns"] for row in part["statistics"]}["sharpness"] == {
        "up": ["a"],
        "down": ["b"],
    }
    assert say("surface.turns", name="sharpness", up="a", down="b") in part["advice"]
    _, weights = drawings(turned.html)
    assert len(marks(weights, "turned")) == 1
    kinds = [dot.get("class").replace("weight ", "") for dot in marks(weights, "weight")]
    assert kinds == ["up", "down", "up", "up", "up hollow", "down hollow"]
    first, second = (float(dot.get("cx")) for dot in marks(weights, "weight")[:2])
    (zero,) = (float(line.get("x1")) for line in marks(weights, "zero"))
    assert second < zero < first


def test_an_unsure_change_of_sign_is_not_called_one(report_of):
    report = report_of(results=rows_of(TURNING, ci=0.2))
    assert not marks(drawings(report.html)[1], "turned")
    assert not any("sharpness" in sentence for sentence in report.document["covariates"][0]["advice"])


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"verdict": "fail", "finding": "echoes"}, "report.fix.echoes"),
        ({"verdict": "pass"}, "surface.fine"),
        ({}, "surface.partly"),
        ({"whole": {**WHOLE, "ci_high": 0.6}, "needed": 90}, "surface.settle"),
        ({"whole": {**WHOLE, "ci_high": 0.6}}, "surface.open"),
    ],
)
def test_what_to_do_follows_from_the_verdict(report_of, changes, key):
    (part,) = report_of(results=rows_of(TURNING, **changes)).document["covariates"]
    assert part["advice"][0] == say(key, limit="50 %", n=90)


def test_next_to_nothing_is_said_without_a_number_below_nothing(report_of):
    whole = {"value": -0.02, "ci_low": -0.08, "ci_high": 0.04, "n": 80}
    (part,) = report_of(results=rows_of(TURNING, whole=whole)).document["covariates"]
    assert part["sentence"] == say("surface.lead_little", share="0 %", high="4 %")


def test_what_is_missing_is_said_once_and_faces_with_what_to_do(turned):
    missing = "Not known for enough pictures: number of faces."
    assert turned.html.count(missing) == 1
    (part,) = turned.document["covariates"]
    assert {"face_count", "file_bytes"} < set(part["unasked"])
    assert say("surface.faces", column="face_count") in part["advice"]


def test_surfaces_that_nobody_measured_are_said_to_be_missing(report_of):
    rows = rows_of(TURNING)
    report = report_of(results={"verdicts": [{**rows["verdicts"][0], "verdict": "missing"}]})
    (part,) = report.document["covariates"]
    assert (part["sentence"], part["explained"], part["advice"]) == (say("surface.lead_none"), None, [])
    assert say("surface.lead_none").replace("'", "&#39;") in report.html
    assert drawings(report.html) == []


def test_without_rows_there_is_no_part(report):
    assert report.document["covariates"] == []
    assert 'id="surface"' not in report.html


def test_names_from_outside_stay_words(report_of):
    results = rows_of({HOSTILE: {HOSTILE: 0.2, "b": -0.2}, "luma": {HOSTILE: 0.1, "b": 0.1}})
    html = report_of(results=results).html
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert len(drawings(html)) == 2


def test_many_sources_become_ticks_on_one_line():
    weights = [{"source": f"s{n}", "value": 0.01 * n, "ci_low": None, "ci_high": None} for n in range(9)]
    row = {
        "name": "colour",
        "share": None,
        "weight": weights[0],
        "weights": weights,
        "turns": {"up": [], "down": []},
    }
    drawing = ET.fromstring(weight_chart({"statistics": [row]}))
    assert len(marks(drawing, "whisker")) == 9
    assert len(marks(drawing, "weight")) == 1


def test_a_share_of_less_than_nothing_is_drawn_as_nothing():
    figure = {"value": -0.1, "ci_low": -0.2, "ci_high": None}
    part = {"explained": figure, "sources": [], "statistics": [], "verdicts": {}}
    (bar,) = marks(ET.fromstring(share_chart(part)), "bar")
    assert float(bar.get("width")) < 1
    assert bar.findtext("title") == "all together: 0 %"


def test_ticks_are_round_and_end_where_the_drawing_does():
    assert all(round_values(limit)[-1] == limit for limit in STEPS)
    assert [reach([0.04, None]), reach([-0.31]), reach([7.0]), reach([])] == [0.1, 0.5, 1.0, 0.1]


def test_a_sentence_said_before_is_not_said_again():
    assert fresh("New. Old one.", "First. Old one.") == "New."
    assert fresh("Old one.", "Old one.") == ""


def test_the_gravest_fault_is_told_without_what_was_left_out(report_of):
    rows = rows_of(TURNING, verdict="fail", finding="echoes")
    left_out = (
        say("covariates.few", list="photographs") + " " + say("covariates.unknown", list="number of faces")
    )
    rows["verdicts"][0]["reason"] = f"It echoes. {left_out}"
    html = report_of(results=rows).html
    card = html[html.index('class="card fix') :]
    card = card[: card.index("</section>")]
    assert '<p class="lead">It echoes.</p>' in card
    assert html.count("photographs") == 1


def test_too_few_images_are_said_with_how_many_it_takes(report_of):
    (part,) = report_of(results={"verdicts": rows_of(TURNING)["verdicts"]}).document["covariates"]
    assert (part["sentence"], part["advice"]) == (say("surface.lead_none"), [say("surface.more")])
