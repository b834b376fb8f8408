"""What becomes of every kind of answer, by a server that reads the pixels it was sent."""

from __future__ import annotations

import json

import numpy as np
import pytest
from chat_server import Raw, answer, error, serving, tokens
from little_vlm import stimuli

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.protocol import Unanswered

PROSE = "What a lovely picture of two cats, 7 of them perhaps."


def brightness(request, pixels, number):
    return f"Score: {pixels.mean() / 25.5:.3f}"


def test_a_score_comes_from_the_pixels_that_were_sent(judge_at):
    shown = stimuli(5)
    with serving(brightness) as server:
        replies = judge_at(server.url).score(shown)
    for stimulus, reply in zip(shown, replies, strict=True):
        assert reply.scores["overall"] == pytest.approx(stimulus.image.mean() / 25.5, abs=1e-3)
        assert (reply.tokens, reply.attempts, reply.served_by) == (105, 1, "little-vlm-0107 fp_12ab")
        assert reply.raw.startswith("Score: ")


@pytest.mark.parametrize(
    ("told", "state", "kept"),
    [
        (answer("", refusal="I will not rate people."), "refused", "I will not rate people."),
        (answer("I'm sorry, but I can't help with that."), "refused", "I'm sorry"),
        (answer(None, ending="content_filter"), "refused", "content_filter"),
        (error(400, "filtered", code="content_filter"), "refused", "HTTP 400: filtered"),
        (error(403, "Your input was flagged by moderation"), "refused", "flagged"),
        (answer(PROSE), "unparsable", "two cats"),
        (answer('{"overall": 7'), "unparsable", '{"overall": 7'),
        (answer("Score: 1", ending="length"), "unparsable", "cut off by max_tokens"),
        (answer("Score: 810"), "out_of_scale", "810"),
        (answer("-1"), "out_of_scale", "-1"),
        (answer("  \n"), "empty", "stop"),
        (answer(None), "empty", "stop"),
        (answer("Score: nan"), "unparsable", "nan"),
        ({"error": {"message": "model overloaded"}}, "failed", "model overloaded"),
        ({"choices": []}, "failed", "no answer"),
        ({"choices": "soon"}, "failed", "no answer"),
        (Raw(200, b"[1, 2]"), "failed", "no answer"),
        (Raw(200, b'{"choices": [{"mess'), "failed", "not valid JSON"),
        (Raw(200, b"<html>busy</html>"), "failed", "not valid JSON"),
        (Raw(200, b'{"choices": []', cut=True), "failed", "connection failed"),
        (Raw(200, b"1" * (5 << 20)), "failed", "longer than"),
        (Raw(200, b"[" * 100_000), "failed", "not valid JSON"),
        (Raw(302, b"", {"Location": "http://127.0.0.1:9/v1"}), "failed", "HTTP 302"),
        (error(400, "the image is too large"), "failed", "too large"),
        (error(429, "You exceeded your quota", code="insufficient_quota"), "failed", "quota"),
        (error(500, "oops"), "failed", "HTTP 500: oops"),
        (error(503, "x" * 90_000), "failed", "HTTP 503"),
    ],
)
def test_every_answer_that_is_no_score_is_a_named_state_with_its_reason(judge_at, told, state, kept):
    with serving(lambda request, pixels, number: told) as server:
        judge = judge_at(server.url)
        try:
            (reply,) = judge.score(stimuli(1))
        except Unanswered as unanswered:
            (reply,) = unanswered.replies
    assert reply.state == state
    assert not reply.scores
    assert kept in reply.raw
    assert len(reply.raw) < 4_100


@pytest.mark.timeout(45)
def test_a_hanging_endpoint_fails_in_time_and_the_others_are_answered(judge_at):
    shown = stimuli(4)

    def rule(request, pixels, number):
        stuck = np.array_equal(pixels, shown[1].image)
        return Raw(200, json.dumps(answer("5")).encode(), hang=30 if stuck else 0)

    with serving(rule) as server, pytest.raises(Unanswered, match=r"no answer within 0\.5 s") as caught:
        judge_at(server.url, timeout=0.5, retries={"attempts": 2, "first_wait": 0}).score(shown)
    assert [reply.state for reply in caught.value.replies] == ["ok", "failed", "ok", "ok"]
    assert caught.value.replies[1].attempts == 2


def test_an_answer_that_drips_is_given_up_when_its_time_is_over(judge_at):
    body = json.dumps(answer("5")).encode()
    with serving(lambda *_: Raw(200, body, drip=4)) as server, pytest.raises(Unanswered) as caught:
        judge_at(server.url, timeout=0.6, retries={"attempts": 1}).score(stimuli(1))
    assert caught.value.replies[0].raw == "the reply did not end in time"


def test_sub_scores_by_schema_are_asked_for_by_name_and_read(judge_at):
    def rule(request, pixels, number):
        schema = request["response_format"]["json_schema"]["schema"]
        assert schema["additionalProperties"] is False
        return json.dumps(
            {
                name: round(float(pixels[..., at].mean()) / 25.5, 2)
                for at, name in enumerate(schema["required"])
            }
        )

    shown = stimuli(2)
    with serving(rule) as server:
        replies = judge_at(
            server.url, answer="json", dimensions=["semantic", "structure", "aesthetic"]
        ).score(shown)
    for stimulus, reply in zip(shown, replies, strict=True):
        wanted = (stimulus.image.reshape(-1, 3).mean(axis=0) / 25.5).round(2)
        assert list(reply.scores.values()) == pytest.approx(list(wanted), abs=0.011)


def test_sub_scores_in_words_are_read_by_the_parser_and_what_is_missing_is_named(judge_at):
    text = "Semantic: 8/10\nStructure: excellent\nAesthetic: 99"
    with serving(lambda *_: text) as server:
        judge = judge_at(server.url, dimensions=["semantic", "structure", "aesthetic", "compliance"])
        (reply,) = judge.score(stimuli(1))
    assert reply.state == State.OK
    assert reply.scores == {"semantic": 8.0}
    assert reply.states == {
        "structure": "unparsable",
        "aesthetic": "out_of_scale",
        "compliance": "unparsable",
    }


DIGITS = [("4", 0.5), (" 5", 0.3), ("3", 0.15), ("the", 0.05)]


def test_the_expectation_over_score_tokens_is_their_mean_by_probability(judge_at):
    told = answer("4", logprobs=tokens(DIGITS, [("<end>", 1.0)]))
    with serving(lambda *_: told) as server:
        judge = judge_at(server.url, answer="expected", scale_low=1, scale_high=5)
        (reply,) = judge.score(stimuli(1))
        (request,) = server.requests
    assert reply.scores["overall"] == pytest.approx((4 * 0.5 + 5 * 0.3 + 3 * 0.15) / 0.95)
    assert (request["logprobs"], request["top_logprobs"], request["max_tokens"]) == (True, 20, 4)


def test_words_may_be_score_tokens(judge_at):
    told = answer("Good", logprobs=tokens([("Good", 0.75), ("poor", 0.25)]))
    with serving(lambda *_: told) as server:
        judge = judge_at(server.url, answer="expected", tokens={"good": 4, "poor": 2})
        assert judge.score(stimuli(1))[0].scores == {"overall": pytest.approx(3.5)}


@pytest.mark.parametrize(
    ("told", "state"),
    [
        (answer("10", logprobs=tokens([("1", 0.9)], [("0", 0.9)])), "unparsable"),
        (answer("4.5", logprobs=tokens([("4", 0.9)], [(".", 0.9)], [("5", 0.9)])), "unparsable"),
        (answer("The", logprobs=tokens([("The", 0.9), ("4", 0.1)])), "unparsable"),
        (answer("I'm sorry, I can't help", logprobs=tokens([("I", 1.0)], [("'m", 1.0)])), "refused"),
        (answer("I'm sorry, I can't help"), "refused"),
        (answer("4", logprobs=tokens([("4", 0.9)], [(".", 0.9)])), "ok"),
        (answer("\n4", logprobs=tokens([("\n", 0.9)], [("4", 0.9)])), "ok"),
        (
            answer("4", logprobs={"content": [{"token": "4", "logprob": "low", "top_logprobs": 3}]}),
            "unparsable",
        ),
        (answer("4", logprobs={"content": [7, None]}), "unparsable"),
    ],
)
def test_a_token_counts_only_where_it_is_the_whole_score(judge_at, told, state):
    with serving(lambda *_: told) as server:
        judge = judge_at(server.url, answer="expected", scale_low=1, scale_high=5)
        assert judge.score(stimuli(1))[0].state == state


def test_an_endpoint_without_logprobs_is_an_error_and_no_score(judge_at):
    with serving(lambda *_: answer("4")) as server, pytest.raises(UsageError, match="answer: text"):
        judge_at(server.url, answer="expected", scale_low=1, scale_high=5).score(stimuli(1))


@pytest.mark.parametrize(
    ("listed", "value"),
    [
        ([("Yes", 0.6), (" yes", 0.1), ("No", 0.25)], 0.7),
        ([("No", 0.999), ("no", 0.0005)], 0.0),
        ([("No", 0.9), ("Never", 0.05)], None),
        ([("Maybe", 0.9), ("Yes", 0.05)], None),
    ],
)
def test_the_probability_of_yes_is_a_score_and_never_a_guess(judge_at, listed, value):
    told = answer(listed[0][0], logprobs=tokens(listed))
    with serving(lambda *_: told) as server:
        judge = judge_at(server.url, answer="yes_probability", scale_low=None, scale_high=None)
        (reply,) = judge.score(stimuli(1))
    assert (judge.card.scale_low, judge.card.scale_high) == (0.0, 1.0)
    assert reply.scores.get("overall") == (None if value is None else pytest.approx(value, abs=1e-9))
    assert reply.state == ("ok" if value is not None else "unparsable")


JUNK = [None, 7, "x", [], {}, [None], {"a": 1}, True, 1e308, "\ud800\0"]


@pytest.mark.parametrize("answer_form", ["text", "expected"])
def test_no_shape_of_a_reply_breaks_the_judge(judge_at, answer_form):
    def shaped(number):
        body = answer("4", logprobs=tokens([("4", 1.0)]))
        junk = JUNK[number % len(JUNK)]
        place = number // len(JUNK)
        choice = body["choices"][0]
        owners = [
            (body, "choices"),
            (body, "usage"),
            (body, "model"),
            (choice, "message"),
            (choice, "finish_reason"),
        ]
        owners += [
            (choice["message"], "content"),
            (choice["message"], "refusal"),
            (choice["logprobs"]["content"][0], "token"),
        ]
        owner, name = owners[place]
        owner[name] = junk
        return body

    with serving(lambda request, pixels, number: shaped(number)) as server:
        judge = judge_at(server.url, answer=answer_form, scale_low=1, scale_high=5, retries={"attempts": 1})
        seen = set()
        for _ in range(8 * len(JUNK)):
            try:
                seen.add(judge.score(stimuli(1))[0].state)
            except Unanswered as unanswered:
                seen.add(unanswered.replies[0].state)
        assert len(server.requests) == 8 * len(JUNK)
    assert {"ok", "failed", "empty"} <= seen
