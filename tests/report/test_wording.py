from __future__ import annotations

import re
from importlib.resources import files

import pytest

from judge_audit.core.errors import MachineryError
from judge_audit.core.formatting import lift_text, number_text
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import Position, Standing, State, Verdict


def test_every_sentence_the_page_asks_for_is_there():
    text = (files("judge_audit.report") / "templates" / "report.html").read_text(encoding="utf-8")
    asked = set(re.findall(r"say\('([a-z_.]+)'[,)]", text))
    assert len(asked) > 60
    assert sorted(key for key in asked if not knows(f"report.{key}")) == []


def test_every_sentence_the_parts_of_the_page_ask_for_is_there():
    folder = files("judge_audit.report") / "templates"
    text = "".join(
        part.read_text(encoding="utf-8") for part in folder.iterdir() if part.name.endswith(".html")
    )
    asked = set(re.findall(r"tell\('([a-z_.]+)'[,)]", text))
    assert len(asked) > 15
    assert sorted(key for key in asked if not knows(key)) == []
    zones = ("original", "unseen", "unsure", "seen", "bad", "declared", "inert", "unknown")
    assert [zone for zone in zones if not knows(f"strips.zone.{zone}")] == []


def test_every_word_of_the_closed_lists_has_its_wording():
    wanted = [f"report.position.{word}" for word in Position] + [f"report.may.{word}" for word in Position]
    wanted += [f"report.verdict.{word}" for word in Verdict] + [f"report.uses.{word}" for word in Standing]
    wanted += [f"report.states.{word}" for word in set(State) - {State.OK, State.INERT}]
    wanted += [f"report.controls.{word}" for word in Verdict]
    assert [key for key in wanted if not knows(key)] == []


def test_a_sentence_without_its_value_is_an_error_that_names_both():
    with pytest.raises(MachineryError, match=r"report\.title.*judge"):
        say("report.title")
    with pytest.raises(MachineryError, match="no message"):
        say("report.nonsense")


def test_numbers_are_written_for_people():
    assert [number_text(value) for value in (0.00004, 1234.5, -2.5, 20.0, None)] == [
        "0.00004",
        "1234",
        "−2.5",
        "20",
        "–",
    ]
    assert [lift_text(value) for value in (-0.001, 0.126, -0.2, None)] == ["0.00", "+0.13", "−0.20", "–"]
