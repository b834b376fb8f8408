"""A model behind an endpoint that is shown two pictures and says which is better."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import chat_server
import numpy as np
import pytest
from chat_server import Raw, answer, error, serving
from little_vlm import pictures
from PIL import Image

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import Choice, State
from judge_audit.judges import load_judge
from judge_audit.judges.calling.budget import Budget
from judge_audit.judges.calling.comparison_calls import compare_block
from judge_audit.judges.pairwise.protocol import ComparingJudge, Comparison, Undecided
from judge_audit.judges.protocol import PricedJudge

PAIR = {
    "compares": True,
    "scale_low": None,
    "scale_high": None,
    "prompt_template": "Which suits “{prompt}”? A or B?",
}


def shown_in(request):
    """Decode both pictures of a request."""
    urls = [p["image_url"]["url"] for p in request["messages"][-1]["content"] if p["type"] == "image_url"]
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))) for url in urls]


@pytest.fixture(autouse=True)
def two_pictures(monkeypatch):
    """Let the little server decode two pictures, side by side where their sizes differ."""
    monkeypatch.setattr(chat_server, "decoded", lambda request: shown_in(request)[0])


def brighter(request, pixels, number):
    left, right = (float(picture.mean()) for picture in shown_in(request))
    return "[[A > B]]" if left > right else "[[B > A]]"


def comparisons(count=2, prompt="a cat"):
    drawn = pictures(2 * count)
    return [Comparison(drawn[2 * at], drawn[2 * at + 1], prompt) for at in range(count)]


def test_both_pictures_arrive_pixel_for_pixel_in_order_with_their_labels(judge_at):
    with serving(brighter) as server:
        judge = judge_at(server.url, **PAIR, concurrency=1, picture={"labels": ["Image A:", "Image B:"]})
        pairs = comparisons()
        told = judge.compare(pairs)
        for pair, request in zip(pairs, server.requests, strict=True):
            left, right = shown_in(request)
            assert np.array_equal(left, pair.left)
            assert np.array_equal(right, pair.right)
            content = request["messages"][-1]["content"]
            assert [part.get("text", "picture") for part in content] == [
                "Image A:",
                "picture",
                "Image B:",
                "picture",
                "Which suits “a cat”? A or B?",
            ]
    expected = [Choice.LEFT if pair.left.mean() > pair.right.mean() else Choice.RIGHT for pair in pairs]
    assert [entry.choice for entry in told] == expected
    assert {(entry.tokens, entry.served_by) for entry in told} == {(105, "little-vlm-0107 fp_12ab")}
    assert isinstance(judge, ComparingJudge)
    assert isinstance(judge, PricedJudge)


@pytest.mark.parametrize(
    ("body", "choice", "state"),
    [
        ("B", Choice.RIGHT, State.OK),
        ("tie", Choice.TIE, State.OK),
        ('{"choice": "A"}', Choice.LEFT, State.OK),
        ("Both have their charm.", None, State.UNPARSABLE),
        (answer("A", ending="length"), None, State.UNPARSABLE),
        (answer("", refusal="I won't"), None, State.REFUSED),
        (answer("", ending="content_filter"), None, State.REFUSED),
        (answer(""), None, State.EMPTY),
        (answer("[[A]]", usage=None), Choice.LEFT, State.OK),
    ],
)
def test_every_answer_is_a_choice_or_a_named_state(judge_at, body, choice, state):
    with serving(lambda request, pixels, number: body) as server:
        (found,) = judge_at(server.url, **PAIR).compare(comparisons(1))
    assert (found.choice, found.state) == (choice, state)


def test_rate_limits_are_waited_for_and_lost_requests_fail_alone(judge_at):
    def rule(request, pixels, number):
        return error(429, headers={"Retry-After": "0"}) if number == 0 else "A"

    with serving(rule) as server:
        (found,) = judge_at(server.url, **PAIR, concurrency=1).compare(comparisons(1))
    assert (found.choice, found.attempts) == (Choice.LEFT, 2)
    with serving(lambda request, pixels, number: Raw(500)) as server, pytest.raises(Undecided) as lost:
        judge_at(server.url, **PAIR).compare(comparisons(2))
    assert {entry.state for entry in lost.value.preferences} == {State.FAILED}


def test_a_json_answer_is_demanded_as_a_choice(judge_at):
    with serving(lambda request, pixels, number: '{"choice": "tie"}') as server:
        (found,) = judge_at(server.url, **PAIR, answer="json").compare(comparisons(1))
        schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["choice"]["enum"] == ["A", "B", "tie"]
    assert found.choice == Choice.TIE


def test_labels_and_comparing_are_part_of_the_identity(judge_at):
    with serving(brighter) as server:
        labelled = {"picture": {"labels": ["1:", "2:"]}}
        cards = [judge_at(server.url, **more).card for more in ({}, PAIR, PAIR | labelled)]
    assert len({told.judge_id for told in cards}) == 3
    assert json.loads(cards[1].as_json())["compares"]


def test_expectations_over_tokens_do_not_compare(judge_at):
    with pytest.raises(UsageError, match="text or json"):
        judge_at("http://127.0.0.1:9/v1", **PAIR, answer="yes_probability")


def test_a_comparison_costs_two_pictures_and_the_budget_stops_it(judge_at, tmp_path):
    prices = {"currency": "USD", "input": 1, "output": 1, "picture": 0.25}
    with serving(brighter) as server:
        judge = judge_at(server.url, **PAIR, prices=prices)
        told = judge.compare(comparisons(1))
        assert told[0].cost == pytest.approx(0.5 + 105e-6)
        server.restart()
        budget = Budget(tmp_path / "budget.sqlite", max_cost=1.2, currency="USD")
        asked = Renderer(comparisons(4))
        batches = list(compare_block(judge, asked.work, asked, {}, budget))
        assert len(server.requests) == 2
    assert budget.spent().stopped
    assert sum(row["cost"] for batch in batches for row in batch.rows) <= 1.2


class Renderer:
    """Hands out pictures that are drawn already."""

    def __init__(self, pairs):
        from judge_audit.stimuli.planning.comparisons import Asked

        self.pixels = {}
        self.work = []
        for number, pair in enumerate(pairs):
            names = [f"{number} left", f"{number} right"]
            self.pixels |= dict(zip(names, (pair.left, pair.right), strict=True))
            rows = [{"probe_id": name, "item_id": name, "prompt": pair.prompt} for name in names]
            self.work.append(Asked(rows[0], rows[1], False, 0, "untouched", "p"))

    def drawn(self, probe):
        from judge_audit.stimuli.rendering import Drawn

        return Drawn(probe, self.pixels[probe["probe_id"]], probe["probe_id"], inert=False)


def test_the_documented_card_is_one_of_a_judge_that_compares(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "pairwise.md").read_text(encoding="utf-8")
    cards = [part.partition("```")[0] for part in page.split("```yaml\n")[1:]]
    (block,) = [text for text in cards if "kind: endpoint" in text]
    (tmp_path / "card.yaml").write_text(block, encoding="utf-8")
    (tmp_path / "which.txt").write_text("Which shows “{prompt}” better?", encoding="utf-8")
    judge = load_judge(str(tmp_path / "card.yaml"))
    assert isinstance(judge, ComparingJudge)
    assert judge.inner.request.labels == ("Picture A:", "Picture B:")
