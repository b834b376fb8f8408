"""What is sent: the pixels, the text, the key; how often, how many at a time, and what is never tried again."""

from __future__ import annotations

import io
import threading
import time
from dataclasses import replace
from email.utils import formatdate

import numpy as np
import pytest
from chat_server import answer, decoded, error, serving
from little_vlm import pictures, stimuli
from PIL import Image

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import InputError, UsageError
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.judges.chat.chat_requests import ChatRequest, png
from judge_audit.judges.protocol import Stimulus, Unanswered
from judge_audit.stimuli.axes import builtin_axes


def fine(request, pixels, number):
    return answer("Score: 5")


@pytest.mark.parametrize("shape", [(1, 1), (7, 300), (64, 64), (129, 33)])
def test_the_picture_that_arrives_is_the_picture_pixel_by_pixel(judge_at, shape):
    image = np.random.default_rng(8).integers(0, 255, (*shape, 3)).astype(np.uint8)
    with serving(fine) as server:
        judge_at(server.url).score([Stimulus(image, "x")])
        assert server.seen == [pixel_digest(image)]
    assert pixel_digest(image) == pixel_digest(np.asarray(Image.open(io.BytesIO(png(image)))))


def test_a_bound_on_the_size_is_kept_and_makes_another_judge(judge_at):
    (image,) = pictures(1, side=100)
    with serving(fine) as server:
        whole, bounded = judge_at(server.url), judge_at(server.url, picture={"most_side": 50})
        bounded.score([Stimulus(image, "x"), Stimulus(image[:40, :40], "x")])
        sizes = sorted(decoded(request).shape[:2] for request in server.requests)
    assert sizes == [(40, 40), (50, 50)]
    assert whole.card.judge_id != bounded.card.judge_id


def test_the_prompt_goes_into_the_template_and_its_braces_mean_nothing(judge_at):
    with serving(fine) as server:
        judge = judge_at(
            server.url, prompt_template="Is {this} {prompt}?", system="Be strict.", picture={"place": "after"}
        )
        judge.score([Stimulus(pictures(1)[0], "a {0} {prompt} {cat}")])
        (request,) = server.requests
    system, user = request["messages"]
    assert system == {"role": "system", "content": "Be strict."}
    assert user["content"][0] == {"type": "text", "text": "Is {this} a {0} {prompt} {cat}?"}
    assert user["content"][1]["type"] == "image_url"


def test_a_template_from_a_file_is_the_same_judge_as_its_text(judge_at, tmp_path):
    (tmp_path / "prompt.txt").write_text("Rate: {prompt}\n", encoding="utf-8")
    written = judge_at("http://127.0.0.1:9/v1")
    from_file = judge_at("http://127.0.0.1:9/v1", prompt_template=None, prompt_file="prompt.txt")
    assert from_file.card.judge_id == written.card.judge_id
    assert from_file.card.prompt_template == "Rate: {prompt}"


@pytest.mark.parametrize(
    "change",
    [
        {"prompt_template": "Judge: {prompt}"},
        {"system": "x"},
        {"decoding": {"temperature": 0.7}},
        {"decoding": {"max_tokens": 99}},
        {"answer": "json"},
        {"answer": "expected", "scale_high": 5},
        {"model": "other"},
        {"base_url": "http://127.0.0.1:10/v1"},
        {"picture": {"detail": "low"}},
        {"picture": {"place": "after"}},
        {"replies": {"words": {"good": 8}}},
        {"epoch": 1},
    ],
)
def test_what_changes_the_answer_changes_the_judge(judge_at, change):
    assert (
        judge_at("http://127.0.0.1:9/v1", **change).card.judge_id
        != judge_at("http://127.0.0.1:9/v1").card.judge_id
    )


@pytest.mark.parametrize(
    "change",
    [
        {"prices": {"currency": "USD", "input": 1}},
        {"timeout": 9},
        {"retries": {"attempts": 1}},
        {"concurrency": 1},
        {"name": "other"},
    ],
)
def test_what_leaves_the_answer_alone_leaves_the_judge_alone(judge_at, change):
    one, other = judge_at("http://127.0.0.1:9/v1"), judge_at("http://127.0.0.1:9/v1", **change)
    assert one.card.judge_id == other.card.judge_id


def test_pinned_weights_are_the_same_judge_wherever_they_are_served(judge_at):
    pinned = {"pinned": True, "weights": "sha256:12"}
    ids = {judge_at(f"http://127.0.0.1:{port}/v1", **pinned).card.judge_id for port in (9, 10)}
    assert len(ids) == 1
    assert not judge_at("http://127.0.0.1:9/v1").card.pinned


def test_each_repeat_is_a_fresh_request_and_may_be_answered_otherwise(judge_at):
    (image,) = pictures(1)
    item = {"item_id": "i", "source": "s", "pixel_digest": pixel_digest(image)}
    probes = [
        {"probe_id": "p", "repeat": repeat, "axis": "original", "strength": 0.0, "prompt": "x"}
        for repeat in range(4)
    ]
    with serving(lambda request, pixels, number: f"Score: {number}") as server:
        judge = judge_at(server.url)
        results = list(
            score_block(judge, [(item, probes)], axes=builtin_axes(), load=lambda item: image, answered={})
        )
        assert len(server.requests) == 4
        assert server.requests[0] == server.requests[3]
    assert sorted(score["value"] for result in results for score in result.scores) == [0, 1, 2, 3]


def test_no_more_requests_are_under_way_than_the_card_allows_whoever_asks(judge_at):
    def slow(request, pixels, number):
        time.sleep(0.05)
        return "5"

    with serving(slow) as server:
        judge = judge_at(server.url, concurrency=3)
        workers = [threading.Thread(target=judge.score, args=(stimuli(8),)) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(server.requests) == 24
        assert server.most == 3


@pytest.mark.parametrize("dated", [False, True])
def test_retry_after_holds_all_requests_back(judge_at, dated):
    def limited(request, pixels, number):
        wait = formatdate(time.time() + 2, usegmt=True) if dated else "1"
        return error(429, "slow down", {"Retry-After": wait}) if number == 0 else answer("5")

    with serving(limited) as server:
        judge = judge_at(server.url, concurrency=1)
        replies = judge.score(stimuli(3))
        first, *others = server.times
    assert [reply.state for reply in replies] == ["ok"] * 3
    assert sorted(reply.attempts for reply in replies) == [1, 1, 2]
    assert min(others) - first > 0.9


def test_a_wait_beyond_patience_is_not_waited(judge_at):
    with serving(lambda *_: error(429, "tomorrow", {"Retry-After": "86000"})) as server:
        with pytest.raises(Unanswered, match="asks to wait 86,000 s"):
            judge_at(server.url).score(stimuli(1))
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(judge_at, status):
    with serving(lambda request, pixels, number: error(status) if number < 2 else answer("5")) as server:
        (reply,) = judge_at(server.url).score(stimuli(1))
    assert (reply.state, reply.attempts) == ("ok", 3)


def test_a_server_that_goes_away_for_a_moment_is_asked_again(judge_at):
    from chat_server import Raw

    with serving(
        lambda request, pixels, number: Raw(200, b"{", cut=True) if number == 0 else answer("5")
    ) as server:
        (reply,) = judge_at(server.url).score(stimuli(1))
    assert (reply.state, reply.attempts) == ("ok", 2)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (error(401, "bad key"), ["does not take the key", "key_env"]),
        (error(404, "no model"), ["no such model or address", "base_url"]),
        (error(400, "response_format json_schema is not supported"), ["answer: text"]),
    ],
)
def test_what_can_never_be_answered_ends_the_audit_with_what_to_do(judge_at, told, words):
    with serving(lambda *_: told) as server:
        with pytest.raises(UsageError) as caught:
            judge_at(server.url, concurrency=1).score(stimuli(6))
        assert len(server.requests) < 6
    assert all(word in str(caught.value) for word in words)


def test_an_endpoint_that_is_dead_is_given_up_and_nothing_of_it_is_kept(judge_at):
    images = pictures(40)
    work = [
        (
            {"item_id": str(at), "source": "s", "pixel_digest": pixel_digest(image)},
            [{"probe_id": str(at), "repeat": 0, "axis": "original", "strength": 0.0, "prompt": "x"}],
        )
        for at, image in enumerate(images)
    ]
    loaded = {"axes": builtin_axes(), "load": lambda item: images[int(item["item_id"])], "answered": {}}
    kept = []
    with serving(lambda *_: error(500, "gone")) as server:
        judge = judge_at(server.url, concurrency=2, retries={"attempts": 1})
        with pytest.raises(UsageError, match=r"picture after picture.*HTTP 500: gone"):
            kept.extend(score_block(judge, work, **loaded))
        assert len(server.requests) <= 10
    assert kept == []


def test_nobody_listening_is_told_as_such(judge_at):
    with pytest.raises(Unanswered, match="the connection failed"):
        judge_at("http://127.0.0.1:9/v1", retries={"attempts": 1}).score(stimuli(1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": None}, 'field model: it is missing. For example: model: "Qwen'),
        ({"base_url": "localhost:8000"}, 'base_url: "http://localhost:8000/v1"'),
        ({"base_url": "https://me:secret77@host/v1"}, "not what belongs there"),
        ({"base_url": "https://host/v1?api-key=secret77"}, "not what belongs there"),
        ({"key_env": "sk-secret77"}, 'key_env: "OPENAI_API_KEY"'),
        ({"key_env": "NO_SUCH_KEY_ANYWHERE"}, "NO_SUCH_KEY_ANYWHERE is not set"),
        ({"key_file": "none.key"}, "key_file: none.key: there is no such file"),
        ({"prompt_template": None}, "prompt_file"),
        ({"prompt_file": "p.txt"}, "give the text or the file"),
        ({"answer": "number"}, 'answer: "json"'),
        ({"answer": "expected"}, "tokens: {A: 5"),
        ({"answer": "yes_probability", "dimensions": ["a", "b"]}, "name one dimension"),
        ({"tokens": {"a": 1, "b": 2}}, "belong to answer: expected"),
        ({"pinned": True}, "weights: sha256"),
        ({"decoding": {"messages": []}}, "messages"),
        ({"decoding": {"temperature": -1}}, "decoding.temperature: 0"),
        ({"picture": {"most_side": 2}}, "picture.most_side: 1024"),
        ({"prices": {"input": 1}}, "currency"),
        ({"retries": {"attempts": 0}}, "retries.attempts: 5"),
        ({"preprocessing": {"resize": 224}}, "see picture"),
    ],
)
def test_a_wrong_field_is_named_with_a_right_value_and_no_key_is_shown(judge_at, change, words):
    with pytest.raises(InputError) as caught:
        judge_at(
            **{
                "url": "http://127.0.0.1:9/v1",
                **({"url": change.pop("base_url")} if "base_url" in change else {}),
                **change,
            }
        )
    assert words in str(caught.value)
    assert "secret77" not in str(caught.value)


def test_a_card_says_how_many_requests_go_together_and_its_kind_says_it_if_not(judge_at):
    assert judge_at("http://127.0.0.1:9/v1").card.batch_size == 16
    assert judge_at("http://127.0.0.1:9/v1", batch_size=4).card.batch_size == 4
    assert replace(ChatRequest(model="m", template="t"), most_side=8).size(16, 4) == (8, 2)
