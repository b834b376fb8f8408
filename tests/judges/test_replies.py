"""Replies in words: never a guess, never nothing, never a number beyond the scale."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge_audit.core.vocabulary import State
from judge_audit.judges.cards.card import Card
from judge_audit.judges.cards.reply_rules import ReplyRule, rule_of
from judge_audit.judges.reply_parser import combined, read_reply

TEN = ReplyRule(low=0, high=10, words={"outstanding": 9.0})
PARTS = ReplyRule(
    dimensions=("semantic", "naturalness", "artifacts"),
    low=0,
    high=10,
    lists={"SC": ("semantic",), "PQ": ("naturalness", "artifacts")},
    names={"text match": "semantic"},
)


def overall(text, rule=TEN):
    return read_reply(text, rule)["overall"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        (" 7.5\n", 7.5),
        ("8/10", 8),
        ("8 out of 10.", 8),
        ("Score: 7", 7),
        ("**Score: 7**", 7),
        ("The final score is 8 out of 10.", 8),
        (" Outstanding\n", 9),
        ("Rating: Outstanding", 9),
        ('{"score": 7}', 7),
        ('{"score": ["7"], "reasoning": "two cats"}', 7),
        ('Sure! {"reasoning": "a", "score": 7}', 7),
        ("```json\n[7]\n```", 7),
        ("Alignment Score (1-5): 4", 4),
        ("Composition: 3\nOverall score: 7", 7),
        ("0", 0),
        ("1e1", 10),
    ],
)
def test_a_score_that_is_plainly_one_is_read(text, value):
    assert overall(text) == (value, State.OK)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("", State.EMPTY),
        (" \n", State.EMPTY),
        ("nan", State.EMPTY),
        ("null", State.EMPTY),
        ("810", State.OUT_OF_SCALE),
        ("66", State.OUT_OF_SCALE),
        ("-1", State.OUT_OF_SCALE),
        ("Score: 810", State.OUT_OF_SCALE),
        ("[[A > B]]", State.UNPARSABLE),
        ("[[A]]", State.UNPARSABLE),
        ("3/5", State.UNPARSABLE),
        ("80/100", State.UNPARSABLE),
        ("I see two of three cats, fine work", State.UNPARSABLE),
        ("7 or 8", State.UNPARSABLE),
        ("Score: 7\nScore: 8", State.UNPARSABLE),
        ('{"score": 7, "rating": 3}', State.UNPARSABLE),
        ('{"score": true}', State.UNPARSABLE),
        ("[7, 8]", State.UNPARSABLE),
        ("inf", State.UNPARSABLE),
        ("1e999", State.UNPARSABLE),
        ('{"score": 1e999}', State.UNPARSABLE),
        ("7,5", State.UNPARSABLE),
        ("７", State.UNPARSABLE),
        ("1_0", State.UNPARSABLE),
        ("[" * 100_000, State.UNPARSABLE),
        ("{" * 15_000, State.UNPARSABLE),
        ("9" * 30_000, State.UNPARSABLE),
        ("I'm sorry, but I can't rate this image. 1 of our rules forbids it.", State.REFUSED),
        ("I am unable to do that: content policy.", State.REFUSED),
        ("I cannot evaluate real people.", State.REFUSED),
    ],
)
def test_what_is_no_score_is_a_state(text, state):
    assert overall(text) == (None, state)


def test_lists_of_sub_scores_belong_to_their_dimensions():
    found = read_reply("[8, 10]", PARTS, "PQ")
    assert found == {"naturalness": (8.0, State.OK), "artifacts": (10.0, State.OK)}
    assert read_reply("[9]", PARTS, "SC") == {"semantic": (9.0, State.OK)}
    short = read_reply("[9]", PARTS, "PQ")
    assert set(short.values()) == {(None, State.UNPARSABLE)}
    mixed = read_reply("[8, 810]", PARTS, "PQ")
    assert mixed == {"naturalness": (8.0, State.OK), "artifacts": (None, State.OUT_OF_SCALE)}


def test_a_whole_reply_speaks_of_every_dimension():
    whole = read_reply('{"PQ": [1, 2], "text match": 3}', PARTS)
    assert {name: value for name, (value, _) in whole.items()} == {
        "naturalness": 1.0,
        "artifacts": 2.0,
        "semantic": 3.0,
    }
    lines = read_reply("Naturalness: 8/10\nArtifacts: 7\nText match score: 3", PARTS)
    assert {name: value for name, (value, _) in lines.items()} == {
        "naturalness": 8.0,
        "artifacts": 7.0,
        "semantic": 3.0,
    }


def test_a_combined_dimension_is_missing_where_a_part_is():
    rule = ReplyRule(dimensions=("a", "b", "q"), combine={"q": (("a", "b"), "least")})
    assert combined({"a": (3.0, State.OK), "b": (2.0, State.OK)}, rule) == {"q": (2.0, State.OK)}
    lost = combined({"a": (3.0, State.OK), "b": (None, State.REFUSED)}, rule)
    assert lost == {"q": (None, State.REFUSED)}
    assert combined({}, rule) == {}


def test_the_parsers_version_holds_what_the_card_tells_it():
    bare = rule_of(Card(kind="table", name="x"))
    wordy = rule_of(Card(kind="table", name="x", settings={"replies": {"words": {"good": 1}}}))
    assert bare.version != wordy.version
    assert (
        wordy.version
        == rule_of(Card(kind="table", name="y", settings={"replies": {"words": {"good": 1}}})).version
    )


TEXTS = st.one_of(
    st.text(),
    st.text(alphabet="0123456789.,-+eE/[]{}:\"' \nscoreOverallNaturalness", max_size=60),
    st.floats().map(str),
    st.integers().map(str),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["score", "overall", "PQ", "a"]), inner, max_size=3)
        ),
    ).map(lambda value: __import__("json").dumps(value)),
)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(["", "PQ", "SC", "semantic", "stranger"]))
@example("Score: " + "9" * 500, "")
@example("\ud800", "")
def test_no_text_breaks_the_parser_and_no_number_beyond_the_scale_is_ever_ok(text, given_under):
    for rule in (TEN, PARTS):
        for name, (value, state) in read_reply(text, rule, given_under).items():
            assert name in rule.dimensions
            assert (state == State.OK) == (value is not None)
            if value is not None:
                assert math.isfinite(value)
                assert 0 <= value <= 10


@pytest.mark.parametrize(
    "text", ["a" + " " * 19_000, "Score" * 3_900, "a (" * 6_000, '{"a":' * 3_900, "`" * 19_000, "is " * 6_000]
)
def test_a_long_reply_is_read_to_a_state(text):
    """How long it may take stands among the benchmarks."""
    for value, state in read_reply(text, PARTS).values():
        assert (value is None) == (state != State.OK)
