"""The hack forecast and the part on sources: known rows give known sentences and marks."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from judge_audit.report.charts.forest import Group, Line, forest
from judge_audit.report.figures import lift_with_interval
from judge_audit.report.sections.headroom import direction

TOLD = {"subject": "j", "dimension": "overall"}
EVIL = "<script>alert('x')</script>"


def figure(value, half=0.05):
    return {"value": value, "ci_low": value - half, "ci_high": value + half, "n": 40, "n_clusters": 40}


def rows(verdict="fail", finding="hackable"):
    head = {**TOLD, "check": "headroom"}
    families = {"single axes": 0.02, "pairs of axes": 0.12, "greedy combination": 0.25, "*": 0.24}
    measures = [
        {**head, "measure": "headroom", "kind": kind, **figure(value)} for kind, value in families.items()
    ]
    ridden = {"contrast+": "single axes", "combo:contrast+&sharpen@0": "pairs of axes"}
    ridden |= {"combo:contrast+&glow&sharpen@0": "*"}
    measures += [
        {**head, "measure": "ridden", "kind": kind, "axis": axis, **figure(0.2)}
        for axis, kind in ridden.items()
    ]
    measures.append({**head, "measure": "image_budget", "value": 12.0})
    measures.append({**head, "measure": "image_maximum", **figure(0.4)})
    verdicts = [{**head, "measure": "headroom", "verdict": verdict, "finding": finding, "provisional": True}]
    verdicts[0] |= {"value": 0.24, "limit_high": 0.1, "reason": f"Because {EVIL}"}
    drifts = {"glow": {"a": 0.3, "b": -0.3}, "blur": {"a": 0.02, "b": -0.02}}
    stable = {**TOLD, "check": "stability"}
    for axis, sources in drifts.items():
        for source, value in sources.items():
            place = {"axis": axis, "source": source}
            measures.append({**stable, "measure": "edge_drift", **place, **figure(value)})
            measures.append({**stable, "measure": "edge_left_out", **place, **figure(-value / 2)})
            measures.append(
                {**TOLD, "check": "premature", "measure": "edge_lift", **place, **figure(value / 2)}
            )
        measures.append({**stable, "measure": "edge_q", "axis": axis, "value": 7.5, "n": 2})
        measures.append({**stable, "measure": "edge_i2", "axis": axis, "value": 0.62, "n": 2})
    verdicts.append({**stable, "measure": "edge_difference", "verdict": "fail", "finding": "unstable"})
    verdicts[1] |= {"provisional": False, "value": 0.3, "reason": "Drifting: a on glow."}
    return {"measures": measures, "verdicts": verdicts}


@pytest.fixture(scope="module")
def report(report_of):
    return report_of(results=rows())


def section(html, name):
    part = html[html.index(f'<section id="{name}"') :]
    return part[: part.index("</section>")]


def drawings(html):
    return [ET.fromstring(svg) for svg in re.findall(r'<svg class="chart".*?</svg>', html, re.DOTALL)]


def marks(drawing, kind):
    return [element for element in drawing.iter() if kind in element.get("class", "").split()]


def test_the_forecast_says_in_words_where_an_optimiser_would_go(report):
    (part,) = report.document["hacking"]
    assert part["sentence"].startswith("An optimiser would ride more contrast, glow and sharper edges")
    assert "+0.24" in part["sentence"]
    assert [row["family"] for row in part["families"]][-1] == "*"
    assert part["worst"] == []


def test_an_open_forecast_and_one_without_combined_probes_claim_nothing(report_of):
    opened = report_of(results=rows("inconclusive", "")).document["hacking"][0]["sentence"]
    assert opened.startswith("It is open")
    alone = rows()
    alone["verdicts"] = alone["verdicts"][1:]
    assert "what they do together is unknown" in report_of(results=alone).document["hacking"][0]["sentence"]


def test_the_families_stand_as_dots_beside_the_limit(report):
    (drawing,) = drawings(section(report.html, "hacking"))
    dots, (limit,) = marks(drawing, "weight"), marks(drawing, "limit")
    assert len(dots) == 4
    beyond = [float(dot.get("cx")) > float(limit.get("x1")) for dot in dots]
    assert beyond == [False, True, True, True]


def test_sources_are_drawn_with_the_widest_axis_first_and_those_apart_filled(report):
    (part,) = report.document["between"]
    assert [row["axis"] for row in part["axes"]] == ["glow", "blur"]
    assert [entry["apart"] for entry in part["axes"][0]["sources"]] == [True, True]
    html = section(report.html, "between")
    (drawing,) = drawings(html)
    assert len(marks(drawing, "weight")) == 4
    assert len(marks(drawing, "hollow")) == 2
    assert "Q 7.5, I² 62 %" in html


def test_names_from_outside_are_escaped(report):
    assert EVIL not in report.html


def test_a_drawing_holds_figures_without_intervals_and_beyond_its_ends():
    empty = {"value": None, "ci_low": None, "ci_high": None}
    lone = {"value": 3.0, "ci_low": None, "ci_high": None}
    drawn = forest([Group(EVIL, (Line("a", empty), Line(EVIL, lone)))], "label")
    assert len(marks(ET.fromstring(drawn), "weight")) == 1
    assert EVIL not in drawn
    assert lift_with_interval(empty) == "–"


def test_a_single_change_reads_as_itself():
    assert direction(["blur"]) == "a little blur"
    assert direction(["own"]) == "own"
