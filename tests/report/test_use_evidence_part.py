"""The part on the uses' evidence: known rows give known figures, words and marks."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"


def figure(check, measure, value, *, half=0.05, **parts):
    ends = {"ci_low": value - half, "ci_high": value + half, "n": 40, "n_clusters": 40}
    return {"subject": "j", "check": check, "measure": measure, "value": value, **ends, **parts}


def judged(check, measure, verdict, reason="Because.", **parts):
    told = {"subject": "j", "check": check, "measure": measure, "verdict": verdict, "finding": ""}
    return {**told, "provisional": False, "reason": reason, **parts}


def rows():
    measures = [
        figure("review", "pass_rate", 0.9, kind="top"),
        figure("review", "pass_rate", 0.95, kind="top", source=HOSTILE),
        figure("review", "pass_rate", 0.2, kind="bottom"),
        figure("review", "pass_rate", 0.8, kind="top", dimension="structure"),
        figure("review", "axis_share", 0.3, kind="top", axis="blur"),
        figure("review", "quantile_difference", 0.7),
        figure("acceptance", "false_accept_rate", 0.03, half=0.01, kind="bad_given_accepted"),
        figure("acceptance", "false_accept_rate", 0.2, kind="accepted_given_bad"),
        figure("separation", "separated", 0.12, dimension="overall"),
        figure("appeals", "appeal_rate", 0.1),
    ]
    verdicts = [
        judged("review", "quantile_difference", "pass", limit_low=0.1),
        judged("review", "top_pass_rate", "pass", limit_low=0.5),
        judged("acceptance", "false_accept_rate", "pass", limit_high=0.05, kind="bad_given_accepted"),
        judged("acceptance", "false_reject_rate", "missing", reason=HOSTILE, kind="good_given_rejected"),
        judged("separation", "separated", "fail", limit_high=0.05, dimension="overall"),
        judged("appeals", "appeal_trend", "fail"),
    ]
    curves = [
        figure("appeals", "appeal_rate", 0.1 + 0.1 * at, kind=f"2026-W{at:02d}", rung=at, strength=float(at))
        for at in range(3)
    ]
    return {"measures": measures, "verdicts": verdicts, "curves": curves}


@pytest.fixture(scope="module")
def told(report_of):
    return report_of(results=rows())


def section_of(html):
    section = html[html.index('id="use-evidence"') :]
    return section[: section.index("</section>")]


def drawings(html):
    return [
        ET.fromstring(svg) for svg in re.findall(r'<svg class="chart".*?</svg>', section_of(html), re.DOTALL)
    ]


def test_each_check_with_figures_has_a_part_with_limits_and_n(told):
    parts = {part["check"]: part for part in told.document["use_evidence"]}
    assert list(parts) == ["review", "separation", "acceptance", "appeals"]
    top, source, *_ = parts["review"]["rows"]
    assert (top["value"], top["limit_low"], top["n"]) == (0.9, 0.5, 40)
    assert source["word"] == HOSTILE
    assert "limit_low" not in source
    conditioned = {row["word"]: row.get("limit_high") for row in parts["acceptance"]["rows"]}
    assert conditioned == {"bad among the accepted": 0.05, "accepted among the bad": None}


def test_every_figure_is_drawn_with_its_interval_and_its_limit(told):
    found = drawings(told.html)
    assert len(found) == 5
    review = found[0]
    space = review.tag.removesuffix("svg")
    kinds = [element.get("class") for element in review.iter()]
    assert sum("point" in (kind or "") for kind in kinds) == 4
    assert sum((kind or "").startswith("reach") for kind in kinds) == 4
    assert kinds.count("limit") == 2
    assert review.find(f".//{space}text") is not None


def test_names_from_outside_are_escaped(told):
    assert "<script>alert" not in told.html
    assert "&lt;script&gt;" in section_of(told.html)


def test_weeks_are_drawn_where_there_are_several(told):
    (part,) = [part for part in told.document["use_evidence"] if part["check"] == "appeals"]
    (series,) = part["weeks"]
    assert [point["week"] for point in series["points"]] == ["2026-W00", "2026-W01", "2026-W02"]
    assert series["rises"]


def test_what_reviewers_named_is_told_with_n(told):
    section = section_of(told.html)
    assert "structure 80 % (n = 40)" in section
    assert "blur 30 % (n = 40)" in section


def test_nothing_is_shown_where_nobody_has_said_anything(report_of):
    made = report_of(results={"verdicts": [judged("review", "quantile_difference", "missing")]})
    assert made.document["use_evidence"] == []
    assert 'id="use-evidence"' not in made.html
