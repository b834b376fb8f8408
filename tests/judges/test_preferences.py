"""Replies that name one of two pictures: a choice or a state, never a guess."""

from __future__ import annotations

import pytest

from judge_audit.core.vocabulary import Choice, State
from judge_audit.judges.pairwise.preference_parser import read_preference

LEFT = [
    "A",
    "a",
    "A.",
    "[[A]]",
    "[[A > B]]",
    "[[A>B]]",
    "[[A>>B]]",
    "[[B < A]]",
    "left",
    "First",
    "1",
    "Image A",
    "Answer: A",
    "**Answer:** A",
    "The better image is A because it is sharper.",
    '{"choice": "A"}',
    '{"winner": "left", "reason": "B is blurred"}',
    '```json\n{"better": "Image 1"}\n```',
    "Both are fine. A is sharper than B.\n\nMy final verdict is: [[A>B]]",
]
RIGHT = ["B", "[[B]]", "[[B > A]]", "[[A<B]]", "<B>", " right\n", "2", "Winner: Image B (sharper)"]
TIE = ["tie", " Tie\n", "[[C]]", "[[A=B]]", "The verdict is a tie.", '{"answer": "equal"}']
UNREADABLE = [
    "I think the left one is nicer",
    "The better image is a bit brighter",
    "[[A]] or [[B]]",
    "A cat on a mat",
    "Answer: A. No, answer: B",
    '{"choice": null}',
    '{"score": 7}',
    "3",
    "x" * 30_000,
]


@pytest.mark.parametrize(
    ("text", "choice"),
    [(t, Choice.LEFT) for t in LEFT] + [(t, Choice.RIGHT) for t in RIGHT] + [(t, Choice.TIE) for t in TIE],
)
def test_what_is_said_plainly_is_a_choice(text, choice):
    found = read_preference(text)
    assert (found.choice, found.state) == (choice, State.OK)
    assert found.raw == text


@pytest.mark.parametrize("text", UNREADABLE)
def test_anything_else_is_unparsable(text):
    found = read_preference(text)
    assert (found.choice, found.state) == (None, State.UNPARSABLE)
    assert len(found.raw) < 4_100


def test_what_no_table_can_hold_is_replaced():
    assert read_preference("A \ud800 \0").raw == "A ? \N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    "text", ["I'm sorry, I can't help with that.", "I cannot judge these people. As an AI"]
)
def test_a_refusal_is_refused(text):
    assert read_preference(text).state == State.REFUSED


@pytest.mark.parametrize("text", ["", "  \n", "null", "N/A"])
def test_nothing_is_empty(text):
    assert read_preference(text).state == State.EMPTY
