"""History in the report: in words for one night, drawn for several, quick and whole for four hundred."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from judge_audit.core.tables import from_rows
from judge_audit.lake.connect import connect
from judge_audit.report import build_report
from judge_audit.report.charts.history_charts import (
    move_chart,
    order_chart,
    pile_chart,
    position_chart,
    spread_chart,
)
from judge_audit.report.page import environment
from judge_audit.report.sections.history import drift_margin

AUDIT = "20260101T000000Z-abc"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
CARD = '{"name": "k", "higher_is_better": true, "dimensions": ["overall"], "epoch": 1}'
CHARTS = (order_chart, move_chart, spread_chart, position_chart, pile_chart)


def figure(value, width=0.01):
    return {"value": value, "ci_low": value - width, "ci_high": value + width, "tau": value}


def history(nights, changes=(), **parts):
    rows = []
    for number in range(nights):
        at = datetime(2025, 1, 1, 2, tzinfo=UTC) + timedelta(days=number)
        move = figure(0.1 * number / nights) | {"axis": "blur", "source": HOSTILE}
        row = {
            "night": at.isoformat(),
            "audit_id": f"a{number}",
            "approved": "a0",
            "position": "filter and rank",
            "version": HOSTILE,
            "order": {
                "approved": figure(1 - 0.08 * number / nights),
                "before": figure(1.0) if number else None,
            },
            "move": {"approved": move, "before": move if number else None},
            "spread": {"value": 0.05, "axis": "blur"},
            "pile": 0.5,
        }
        rows.append(row | parts)
    told = [{"place": place, "word": {"kind": "version", "name": f"v{place}"}} for place in changes]
    margins = {"order": 0.05, "move": 0.1, "pile": 0.9}
    return {"nights": rows, "dimension": "overall", "changes": told, "margins": margins}


def section(past):
    page = environment().from_string('{% include "history.html" %}')
    return page.render(doc={"history": past})


def numbers(drawing, tag, *names):
    found = [element for element in ET.fromstring(drawing).iter() if element.tag == tag]
    return [tuple(element.get(name) for name in names) for element in found]


def test_every_drawing_is_whole_and_hostile_names_stay_words():
    past = history(5, [2])
    for chart in CHARTS:
        assert ET.fromstring(str(chart(past))).get("role") == "img"
    assert "<script>" not in section(past)


def test_the_margin_lies_where_the_verdict_has_it():
    drawing = str(order_chart(history(6)))
    lines = [e for e in ET.fromstring(drawing).iter("line") if e.get("class") == "limit"]
    (limit,) = lines
    dots = [e for e in ET.fromstring(drawing).iter("circle") if "approved judge" in e[0].text]
    heights = [float(e.get("cy")) for e in dots]
    assert heights == sorted(heights)  # lower and lower on the page
    below = [1 - 0.08 * n / 6 < 0.95 for n in range(6)]
    assert [height > float(limit.get("y1")) for height in heights] == below
    assert (
        len([e for e in ET.fromstring(str(move_chart(history(6)))).iter("line") if e.get("class") == "limit"])
        == 2
    )


def test_a_rule_stands_where_the_judge_is_another_one_with_its_name_where_there_is_room():
    drawing = str(order_chart(history(100, [20, 21, 60])))
    rules = [float(e.get("x1")) for e in ET.fromstring(drawing).iter("line") if e.get("class") == "change"]
    words = {e.text: float(e.get("x")) for e in ET.fromstring(drawing).iter("text")}
    assert len(rules) == 3
    assert words["v20"] == rules[0]
    assert words["v60"] == rules[2]
    assert "v21" not in words


def test_four_hundred_nights_are_drawn_within_the_frame():
    past = history(400, range(10, 400, 30))
    html = section(past)
    assert len(html) < 150_000
    assert html.count("<circle") == 0
    for chart in CHARTS:
        for points in re.findall(r'points="([^"]+)"', str(chart(past))):
            places = [tuple(map(float, point.split(","))) for point in points.split()]
            assert all(0 <= x <= 360 and 0 <= y <= 214 for x, y in places)


def test_what_is_unknown_on_every_night_is_said_and_not_drawn():
    nothing = {"approved": None, "before": None}
    html = section(history(3, order=nothing, move=nothing, spread=None, pile=None))
    assert html.count('<svg class="chart"') == 1  # the position is known
    assert "Unknown: no night was held against another on anchors." in html


def test_gaps_stay_gaps():
    past = history(3)
    past["nights"][1]["order"] = {"approved": None, "before": None}
    past["nights"][1]["pile"] = None
    past["nights"][2]["position"] = None
    for chart in CHARTS:
        ET.fromstring(str(chart(past)))
    assert str(pile_chart(past)).count("<circle") == 2


def built(lake, audit_id=AUDIT):
    with connect(lake) as connection:
        return build_report(connection, audit_id, pixels=None, axes={})


def test_from_one_night_to_the_next(lake_of_one_night):
    lake = lake_of_one_night
    first = built(lake)
    assert len(first.document["history"]["nights"]) == 1
    assert "This is the first audit of a judge of this name." in first.html
    lake.commit({"judges": from_rows("judges", [{"judge_id": "k", "kind": "k", "card": CARD}])})
    label = {"judge_id": "k", "name": "the judge", "version": "1"}
    lake.commit({"judge_labels": from_rows("judge_labels", [label])})
    row = {
        "audit_id": "later",
        "judge_id": "k",
        "plan_id": "plan",
        "status": "complete",
        "configuration": "{}",
    }
    row |= {"anchor_set": "set", "anchor_version": 1, "anchor_head": "f" * 64}
    at = NOON + timedelta(days=1)
    told = {"audit_id": "later", "subject": "k", "baseline": "j", "check": "change", "dimension": "overall"}
    measures = [
        {**told, "measure": "tau", "value": 0.9},
        {**told, "measure": "tau_drop", "value": 0.08, "ci_low": 0.06, "ci_high": 0.1},
        {
            "audit_id": "later",
            "subject": "k",
            "check": "scale",
            "measure": "pile",
            "dimension": "overall",
            "value": 0.4,
        },
    ]
    fault = {
        **told,
        "measure": "tau_drop",
        "verdict": "fail",
        "finding": "reordered",
        "reason": "Another order.",
    }
    stand = {"audit_id": "later", "judge_id": "k", "use": "position", "standing": "screening"}
    stand |= {"reasons": [], "missing": []}
    lake.commit({"audits": from_rows("audits", [{**row, "started_at": at, "ended_at": at}])})
    lake.commit(
        {
            "measures": from_rows("measures", measures),
            "verdicts": from_rows("verdicts", [fault]),
            "standings": from_rows("standings", [stand]),
        }
    )
    report = built(lake, "later")
    past = report.document["history"]
    last = past["nights"][-1]
    assert [entry["audit_id"] for entry in past["nights"]] == [AUDIT, "later"]
    assert last["order"]["before"]["value"] == pytest.approx(0.92)
    assert (last["order"]["approved"], last["position"], last["pile"]) == (None, "screening", 0.4)
    assert past["nights"][0]["order"] == {"approved": None, "before": None}
    assert past["changes"] == [{"place": 1, "word": {"kind": "epoch", "name": "1"}}]
    assert past["margins"]["move"] == drift_margin() == 0.1
    assert 'class="change"' in report.html
    assert "Another order." not in report.html  # what compares with other audits is told by the gate
    assert len(built(lake).document["history"]["nights"]) == 1  # an audit knows nothing of later ones
