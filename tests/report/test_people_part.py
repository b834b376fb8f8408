"""The part about people: known rows give known sentences, marks and cells."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from people_rows import TWO, figure, judge_row, people_results, people_row, verdict

from judge_audit.core.messages import say
from judge_audit.report.charts.histograms import source_histogram
from judge_audit.report.charts.people_charts import agreement_chart
from judge_audit.report.figures import bounded, plain, signed, turned

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
CARD = {"dimensions": ["match", "look"]}


@pytest.fixture(scope="module")
def held(report_of):
    return report_of(results=people_results(), card=CARD, dimensions=("match", "look"))


def section_of(html):
    section = html[html.index('id="people"') :]
    return section[: section.index("</section>")]


def marks(drawing, kind):
    return [element for element in drawing.iter() if kind in element.get("class", "").split()]


def drawings(html):
    return [ET.fromstring(svg) for svg in re.findall(r'<svg class="chart".*?</svg>', html, re.DOTALL)]


def test_one_plain_sentence_per_dimension_in_the_order_of_the_card(held):
    match, look = held.document["people"]["dimensions"]
    assert match["sentence"] == (
        "match: people agree with one another 0.72 (0.68–0.76); the judge agrees with them 0.58 (0.54–0.62): "
        "worse than a person by 0.14 (0.10–0.18)."
    )
    assert look["sentence"].endswith("no worse than a person (difference 0.00 (−0.04 to 0.04)).")
    assert all(part["sentence"] in held.html for part in (match, look))


def test_what_is_thrown_together_stands_beside_and_is_called_so(held):
    match, _ = held.document["people"]["dimensions"]
    assert match["thrown_together"]["judge"]["value"] == pytest.approx(0.67)
    assert say("people.pooled", people="0.77", judge="0.67") in match["notes"]


def test_people_and_judge_stand_beside_one_another_in_every_source(held):
    first, *_ = drawings(section_of(held.html))
    people, judges = (
        [mark for mark in marks(first, kind) if "mark" in mark.get("class")] for kind in ("people", "judge")
    )
    assert [mark.findtext("title").split(":")[0] for mark in people] == [
        f"{source}, people, held against one another" for source in ("all sources", "a", "b")
    ]
    assert all(
        float(judge.get("x")) + 4 < float(mark.get("cx")) for mark, judge in zip(people, judges, strict=True)
    )


def test_a_reason_is_not_told_twice(held):
    section = section_of(held.html)
    assert "It agrees less" not in section
    assert "Left out: c." in section


def test_both_ceilings_are_drawn_where_near_copies_are_named(report_of):
    results = people_results()
    results["measures"] += [
        people_row("ceiling_without_copies", 0.65, kind="spearman", dimension="match", source=source)
        for source in ("(within sources)", "a")
    ]
    report = report_of(results=results, card=CARD)
    match, _ = report.document["people"]["dimensions"]
    assert say("people.copies", people="0.65 (0.61–0.69)") in match["notes"]
    first, *_ = drawings(section_of(report.html))
    assert len([mark for mark in marks(first, "mark") if "without_copies" in mark.get("class")]) == 2


def test_equal_answers_stand_beside_their_base_rate_and_pooled_beside_within(held):
    _, look = held.document["people"]["agreement"]
    assert [row["measure"] for row in look["figures"]] == [
        "percent_agreement",
        "agreement_by_chance",
        "alpha",
    ]
    assert all(
        row["pooled"] and row["within"] and set(row["sources"]) == {"a", "b"} for row in look["figures"]
    )


def test_places_where_people_certainly_disagree_are_named_and_coloured(held):
    shown = held.document["people"]["disagreement"]
    assert shown["sentence"] == (
        "Clearly more than elsewhere: a in look (+0.20, +0.16 … +0.24); look (+0.10, +0.06 … +0.14)."
    )
    assert [place["name"] for place in shown["places"]] == ["cats", "a", "b"]
    section = section_of(held.html)
    assert section.count('<td class="warm"') == 2
    assert "topic cats" in section


def test_nothing_is_named_where_nothing_is_clear(report_of):
    results = {"measures": [people_row("disagreement_excess", 0.02, dimension="look", source="a")]}
    report = report_of(results=results)
    assert report.document["people"]["disagreement"]["sentence"] == say("people.map_none")


def test_sub_scores_stand_beside_peoples_own(held):
    shown = held.document["people"]["subscores"]
    assert shown["judge"]["names"] == ["match", "look"]
    assert shown["people"]["names"] == ["match", "look"]
    assert shown["sentences"] == [
        "The judge's 2 sub-scores amount to 1.1 (1.1 to 1.1) independent dimensions within a source.",
        "People's 2 dimensions amount to 1.8 (1.8 to 1.8) on the same images.",
    ]
    section = section_of(held.html)
    assert re.search(r"0\.90<small>\+0\.86 … \+0\.94</small>", section)
    assert re.search(r"0\.30<small>\+0\.26 … \+0\.34</small>", section)


def test_names_with_a_stroke_are_told_apart(report_of):
    card = {"dimensions": ["a / b", "c"]}
    row = judge_row("subscores", "subscore_correlation", 0.4, kind="a / b / c")
    results = {"measures": [row, *people_results()["measures"]]}
    shown = report_of(results=results, card=card).document["people"]["subscores"]
    assert {(cell["one"], cell["other"]) for cell in shown["judge"]["cells"]} >= {("a / b", "c")}
    assert TWO not in shown["judge"]["names"]


def test_first_choices_stand_beside_chance_and_people(held):
    (part,) = held.document["people"]["choices"]
    assert part["sentence"] == (
        "match: among the candidates of one prompt the judge's first choice is one of people's in 55 % of 80 "
        "prompts, a random one in 25 %, an annotator's in 70 %. It gives two candidates the same score in 10 % "
        "of the pairs."
    )
    bars = marks(drawings(section_of(held.html))[-1], "choice")
    told = [bar.findtext("title") for bar in bars if bar.tag == "rect"]
    assert told == [
        "the judge: 55 % (51–59)",
        "an annotator: 70 % (66–74)",
        "a random choice: 25 % (21–29)",
    ]


def test_each_limitation_is_named_once_with_its_dimensions(held):
    assert held.document["people"]["limitations"] == [
        "match: ann / bob agree far.",
        "look, match: Ids are missing.",
        "match: Silent on some.",
    ]


def test_faults_of_peoples_columns_are_not_the_judges(held):
    assert {row["finding"] for row in held.document["fix_first"]["faults"]} == {
        "worse_than_people",
        "silent_on_some",
    }


def test_without_labels_one_sentence_says_what_is_missing_and_how_to_give_it(report):
    shown = report.document["people"]
    assert (shown["labelled"], shown["missing"]) == (False, say("people.nobody"))
    assert "judge-audit import labels FILE" in section_of(report.html)
    assert "<h2>" not in section_of(report.html)
    assert not any(shown[name] for name in set(shown) - {"labelled", "missing"})


def test_a_dimension_only_people_know_has_a_ceiling_and_no_judge(report_of):
    results = {"measures": [row for row in people_results()["measures"] if row["subject"] == "people"]}
    report = report_of(results=results)
    parts = {part["dimension"]: part for part in report.document["people"]["dimensions"]}
    assert parts["match"]["sentence"] == say(
        "people.lead_ceiling", dimension="match", people="0.72 (0.68–0.76)", why=say("people.no_score")
    )
    assert not marks(drawings(section_of(report.html))[0], "judge")


def test_labels_without_annotators_leave_the_mean_label_and_say_why(report_of):
    told = {"dimension": "match", "baseline": "people"}
    measures = [
        people_row("alpha", 0.4, kind="ordinal", dimension="match"),
        judge_row("beside_people", "judge_on_mean", 0.3, **told),
        judge_row("retest", "retest_spearman", 0.9, dimension="match"),
    ]
    why = say("beside.no_ids")
    verdicts = [verdict("beside_people", "judge_beside_people", "missing", why, finding="ceiling_unknown")]
    report = report_of(results={"measures": measures, "verdicts": verdicts})
    (part,) = report.document["people"]["dimensions"]
    assert part["sentence"] == say("people.lead_unknown", dimension="match", why=why)
    assert part["notes"] == [
        "With people's mean label the judge correlates 0.30 (0.26–0.34) within a source.",
        "Asked again, the judge agrees with itself 0.90 (0.86–0.94).",
    ]
    assert drawings(section_of(report.html)) == []
    assert section_of(report.html).count(why) == 1


def test_names_from_outside_stay_words(report_of):
    def hostile(row):
        swapped = {name: HOSTILE for name in ("dimension", "rater", "topic") if row.get(name, "*") != "*"}
        if row.get("source") == "a":
            swapped["source"] = HOSTILE
        if row.get("kind") == TWO:
            swapped["kind"] = f"{HOSTILE} / look"
        return {**row, **swapped, **({"reason": HOSTILE} if "reason" in row else {})}

    results = people_results()
    results = {
        "measures": list(
            {
                json.dumps(hostile(row), sort_keys=True): hostile(row)
                for row in results["measures"]
                if row.get("dimension") != "look"
            }.values()
        ),
        "verdicts": [hostile(row) for row in results["verdicts"] if row["dimension"] == "match"],
    }
    report = report_of(results=results, card={"dimensions": [HOSTILE]}, dimensions=(HOSTILE,))
    assert "<script>alert" not in report.html
    assert "<img src=x" not in report.html
    assert all(drawing.get("aria-label") for drawing in drawings(report.html))
    assert report.document["people"]["dimensions"][0]["dimension"] == HOSTILE


def test_the_same_rows_give_the_same_page_and_strict_json(report_of, held):
    again = report_of(results=people_results(), card=CARD, dimensions=("match", "look"))
    assert again.document["people"] == held.document["people"]
    assert section_of(again.html) == section_of(held.html)
    assert json.loads(json.dumps(held.document, allow_nan=False))["people"] == held.document["people"]


def test_every_source_has_a_histogram_of_its_own(held):
    assert held.html.count('<div class="multiples">') == 2
    histogram = held.document["scale"][0]["histogram"]
    drawing = ET.fromstring(source_histogram(histogram, "a"))
    assert sum(int(bar.findtext("title").split(": ")[1]) for bar in marks(drawing, "bar")) == sum(
        histogram["sources"]["a"]
    )


@pytest.mark.parametrize("word", ["pass", "missing"])
def test_averages_and_thresholds_are_refused_without_an_absolute_scale(report_of, word):
    row = {"subject": "j", "check": "scale", "measure": "absolute", "dimension": "overall"}
    row |= {"verdict": word, "reason": "Nobody labelled the ends.", "provisional": False}
    report = report_of(results={"verdicts": [row]})
    if word == "pass":
        assert report.document["refused"] is None
        assert say("people.refused_heading") not in report.html
    else:
        assert report.document["refused"] == {
            "what": ["averages", "thresholds"],
            "reasons": [{"dimensions": ["overall"], "reason": "Nobody labelled the ends."}],
        }
        assert "<li>Nobody labelled the ends.</li>" in report.html


def test_a_figure_below_nothing_widens_the_drawing():
    place = {"source": "*", "people": figure(0.4), "judge": figure(-0.3), "without_copies": None}
    drawing = ET.fromstring(agreement_chart({"dimension": "look", "places": [place]}))
    assert "−0.5" in "".join(drawing.itertext())


def test_long_names_get_a_line_and_many_places_share_lines():
    def drawn(names):
        places = [
            {"source": name, "people": figure(0.6), "judge": figure(0.4), "without_copies": None}
            for name in names
        ]
        return ET.fromstring(agreement_chart({"dimension": "look", "places": places}))

    long = "a generator with a name that no column would hold"
    assert any(text.text == long for text in marks(drawn(["*", long]), "tick"))
    few, many = drawn([f"s{n}" for n in range(7)]), drawn([f"s{n}" for n in range(14)])
    heights = [float(drawing.get("viewBox").split()[3]) for drawing in (few, many)]
    assert heights[1] < 1.5 * heights[0]
    assert len(marks(many, "value")) == 28


def test_figures_are_written_for_people():
    unknown = {"value": 0.5, "ci_low": None, "ci_high": None, "n": 3}
    assert [bounded(figure(0.72)), bounded(unknown), bounded(None)] == [
        "0.72 (0.68–0.76)",
        "0.50",
        "undefined",
    ]
    assert [plain(-0.001), plain(-0.2), signed(0.004), signed(-0.1)] == ["0.00", "−0.20", "0.00", "−0.10"]
    assert bounded(turned(figure(-0.13))) == "0.13 (0.09–0.17)"
