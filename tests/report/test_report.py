from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from judge_audit.core.errors import UsageError
from judge_audit.core.messages import say
from judge_audit.lake import Lake
from judge_audit.lake.connect import connect
from judge_audit.report import build_report, write_report

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """Tags with their attributes, and the visible words."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.words, self._hidden = [], [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._hidden = tag in {"style", "title", "script"}

    def handle_endtag(self, tag):
        self._hidden = False

    def handle_data(self, data):
        if data.strip() and not self._hidden:
            self.words.append(data.strip())


def test_the_position_is_the_first_line(report):
    assert Page(report.html).words[0] == say("report.position.screening")
    assert report.document["position"] == "screening"


def test_sections_follow_in_the_order_a_newcomer_needs(report):
    headings = [
        "meaning.heading",
        "fix.heading",
        "caveats.heading",
        "uses.heading",
        "ladders.heading",
        "movers.heading",
        "scale.heading",
        "controls.heading",
        "purity.heading",
        "provenance.heading",
    ]
    value = report.document["meaning"][0]["headline"]
    places = [report.html.index(say(f"report.{name}", value=f"{value:g}")) for name in headings]
    assert places == sorted(places)


def test_names_from_outside_cannot_break_out_of_the_page(report_of):
    hostile = f"{HOSTILE}{{{{ 7*7 }}}}"
    page = Page(
        report_of(
            sources=(hostile, "b"), name=hostile, card={"description": hostile}, warnings=[hostile]
        ).html
    )
    assert "script" not in {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert all(
        attributes["src"].startswith("data:image/jpeg") for tag, attributes in page.tags if tag == "img"
    )
    assert any("{{ 7*7 }}" in word for word in page.words)


def test_the_page_needs_nothing_from_elsewhere(report):
    tags = Page(report.html).tags
    assert not {"link", "script", "iframe", "object"} & {tag for tag, _ in tags}
    assert all(attributes["href"].startswith("#") for _, attributes in tags if "href" in attributes)
    assert "@import" not in report.html
    assert "url(" not in report.html


def test_every_drawing_is_well_formed_and_described(report):
    drawings = re.findall(r'<svg class="chart".*?</svg>', report.html, re.DOTALL)
    assert len(drawings) == 4
    assert all(ET.fromstring(drawing).get("aria-label") for drawing in drawings)


def test_a_proved_fault_comes_before_a_suspected_one(report):
    assert [fault["finding"] for fault in report.document["fix_first"]["faults"]] == [
        "climbs",
        "jitters",
        "rewarded",
    ]


def test_without_a_fault_the_first_missing_evidence_is_named(report_of):
    told = {
        "judge_id": "j",
        "use": "position",
        "standing": "screening",
        "reasons": [],
        "missing": ["Nobody looked."],
    }
    report = report_of(results={"standings": [told]})
    assert say("report.fix.nothing", missing="Nobody looked.") in report.html


def test_an_audit_without_any_result_holds_no_position(report_of):
    report = report_of(results={}, pixels=None)
    assert report.document["position"] == "none"
    assert say("report.controls.none") in report.document["caveats"]


def test_rises_are_told_apart_by_who_could_see_them(report):
    found = {row["group"]: row for row in report.document["movers"]}
    assert {group: row["rung"] for group, row in found.items()} == {"unseen": 1, "seen": 2, "overdone": 3}
    # Item 0 of 40 goes from 0 to 12: it passes 11 of the other 39 and ties with one.
    assert found["overdone"]["lift"] == pytest.approx(11.5 / 39)


def test_pictures_that_cannot_be_read_are_left_out_and_said(report_of):
    def broken(item_id):
        raise OSError(item_id)

    for report in (report_of(pixels=broken), report_of(pixels=None)):
        assert say("report.movers.no_pictures") in report.html
        assert len(report.document["movers"]) == 3
        assert "<img" not in report.html


def test_the_json_holds_the_same_and_no_number_that_is_none(report, tmp_path):
    path = write_report(report, tmp_path / "out")
    held = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    assert held == json.loads(json.dumps(report.document))
    assert held["ladders"][0]["zones"]["seen_from"] is None
    assert path == tmp_path / "out" / "report.html"


def test_writing_again_replaces_the_report_and_leaves_nothing_beside_it(report, tmp_path):
    (tmp_path / "report.html").write_text("old")
    write_report(report, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html


def test_the_same_audit_gives_the_same_page(report_of, report):
    assert report_of().html == report.html


def test_an_audit_that_is_not_there_is_refused_by_name(tmp_path, axes):
    with connect(Lake.open(tmp_path / "lake")) as con, pytest.raises(UsageError, match="nowhere"):
        build_report(con, "nowhere", pixels=None, axes=axes)


def test_a_change_that_leaks_is_named_before_the_numbers(report):
    assert any("glow: colour" in caveat for caveat in report.document["caveats"])


def test_several_dimensions_are_each_explained(report_of):
    report = report_of(
        dimensions=("semantic", "structure"), card={"dimensions": ["semantic", "structure"]}, results={}
    )
    assert [part["dimension"] for part in report.document["meaning"]] == ["semantic", "structure"]


def test_a_piece_of_advice_is_given_once(report_of, axes):
    told = {"subject": "j", "check": "jitter", "measure": "jitter", "dimension": "overall", "verdict": "fail"}
    told |= {"finding": "jitters", "provisional": True}
    rows = [
        {**told, "axis": axis, "value": size, "reason": f"On {axis} it shakes. {say('notes.provisional')}"}
        for axis, size in (("glow", 0.5), ("blur", 0.4), ("crop", 0.3))
    ]
    html = report_of(results={"verdicts": rows}).html
    card = html[html.index('class="card fix') :]
    card = card[: card.index("</section>")]
    assert card.count(say("report.fix.jitters")) == 1
    assert say("notes.provisional").replace("'", "&#39;") not in card
    assert card.count(f"{say('report.fix.suspected')} On ") == 3
