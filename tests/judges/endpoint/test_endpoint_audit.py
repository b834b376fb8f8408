"""Whole audits of an endpoint: every probe ends in a value or a named state, the budget holds, the key is nowhere."""

from __future__ import annotations

import csv
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import yaml
from chat_server import Raw, answer, error, serving
from little_vlm import card
from PIL import Image

import judge_audit
from judge_audit.audits.context import AuditContext
from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.audits.stages.budget import close_budget, see_budget
from judge_audit.core.configuration import resolve
from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.calling.budget import BudgetReached
from judge_audit.lake import Lake

KEY = "sk-planted-1234567890"
SMALL = {"axes": ["blur"], "ladder_items": 4, "workers": 2}
PRICES = {"currency": "USD", "input": 1000, "output": 1000}


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    drawn = np.random.default_rng(4)
    rows = [("item_id", "source", "prompt", "image")]
    for number in range(24):
        Image.fromarray(drawn.integers(0, 255, (40, 40, 3)).astype(np.uint8)).save(folder / f"{number}.png")
        rows.append((f"i{number:02}", f"s{number % 2}", f"prompt {number}", f"{number}.png"))
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return folder / "items.csv"


def write_card(folder, url, **fields):
    path = folder / "vlm.yaml"
    path.write_text(yaml.safe_dump(card(url, batch_size=8, **fields)), encoding="utf-8")
    return path


@pytest.fixture
def asked(items, tmp_path):
    """Ask an endpoint all that an audit asks; what is measured of it is not this file's business."""

    def run(url, *, lake="lake", options=None, **fields):
        path = write_card(tmp_path, url, **fields)
        told = {"items": str(items), "lake": str(tmp_path / lake), **SMALL, **(options or {})}
        executor = LocalExecutor(AuditContext(resolve(None, told), load_judge(str(path))))
        prepared = executor.prepare()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda block: executor.score_blocks(prepared, block), prepared.blocks))
        see_budget(executor.context.setup(prepared), prepared)
        close_budget(executor.context.setup(prepared), prepared)

    return run


def canaries(folder):
    return Lake.open(folder, create=False).read("canaries").to_pylist()


def contrast(request, pixels, number):
    return f"Score: {pixels.std() / 12:.3f}"


def judged(folder, table="calls"):
    """The rows of the endpoint, leaving the instruments out."""
    lake = Lake.open(folder, create=False)
    (judge,) = lake.read("judges", kind="endpoint").to_pylist()
    return lake.read(table, judge_id=judge["judge_id"]).to_pylist()


MOODS = (
    answer("Score: 6"),
    answer("I'm sorry, I can't rate this."),
    answer("Charming. Three cats, no dogs."),
    answer("Score: 810"),
    answer('{"overall": 7'),
    answer(""),
    error(400, "filtered", code="content_filter"),
    Raw(200, b'{"choices": [{"mess'),
)


def moody(request, pixels, number):
    mood = int(pixel_digest(pixels)[:4], 16) % 40
    if mood == 39:
        return error(429, "slow", {"Retry-After": "0"}) if number % 3 else answer("Score: 4")
    if mood == 38:
        return {**answer(f"Score: 5 (asked by {KEY})"), "model": f"vlm for {KEY}"}
    if mood == 37:
        return error(400, f"no picture for {KEY}")
    return MOODS[mood] if mood < len(MOODS) else contrast(request, pixels, number)


@pytest.fixture(scope="module")
def whole(items, tmp_path_factory):
    """One whole audit of an endpoint of many moods that repeats the key it was sent."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "endpoint.key").write_text(f"{KEY}\n")
    with serving(moody) as server:
        path = write_card(folder, server.url, key_file="endpoint.key")
        audit = judge_audit.audit(str(path), items, lake=folder / "lake", **SMALL)
    (folder / "endpoint.key").unlink()
    return folder, audit, server


def test_every_probe_ends_in_a_value_or_a_named_state(whole):
    folder, _, server = whole
    asked = {
        (row["probe_id"], row["repeat"]) for row in Lake.open(folder / "lake").read("probes").to_pylist()
    }
    held = judged(folder / "lake")
    assert {(row["probe_id"], row["repeat"]) for row in held} == asked
    states = Counter(row["state"] for row in held)
    assert {"ok", "refused", "unparsable", "empty", "failed", "out_of_scale"} <= set(states)
    assert all(row["raw_reply"] for row in held if row["state"] in {"refused", "unparsable", "failed"})
    scored = {(row["probe_id"], row["repeat"]): row for row in judged(folder / "lake", "scores")}
    for row in held:
        if row["state"] != State.INERT:
            score = scored[row["probe_id"], row["repeat"]]
            assert (score["value"] is not None) == (score["state"] == "ok")
    asked_first = canaries(folder / "lake")
    assert len(asked_first) > 16
    failed = 2 * 16 - len(asked_first)
    attempts = sum(row["attempts"] for row in (*held, *asked_first))
    assert attempts <= len(server.requests) <= attempts + 3 * failed


def test_pixels_on_the_wire_are_the_pixels_in_the_lake(whole):
    folder, _, server = whole
    held = [row for row in judged(folder / "lake") if row["state"] != State.INERT]
    assert {row["pixel_digest"] for row in held} == set(server.seen)
    sent, kept = Counter(server.seen), Counter()
    asked_first = canaries(folder / "lake")
    assert {row["pixel_digest"] for row in asked_first} <= set(server.seen)
    for row in (*held, *asked_first):
        kept[row["pixel_digest"]] += row["attempts"]
    lost = {row["pixel_digest"] for row in held if row["state"] == State.FAILED}
    assert {name: n for name, n in sent.items() if name not in lost} == {
        name: n for name, n in kept.items() if name not in lost
    }


def test_the_key_is_sent_and_stands_nowhere_else(whole):
    folder, audit, server = whole
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 20
    for path in written:
        assert KEY.encode() not in path.read_bytes(), path
    assert KEY not in json.dumps(audit.document, default=str)
    kept = judged(folder / "lake")
    assert KEY not in json.dumps(kept, default=str)
    assert any("[key]" in (row["raw_reply"] or "") for row in kept)
    assert any("[key]" in (row["served_by"] or "") for row in kept)


def test_cost_stops_at_the_cap_and_going_on_buys_nothing_twice(asked, tmp_path):
    with serving(contrast) as server:
        with pytest.raises(BudgetReached, match="the budget is used up: 50 pictures were shown") as caught:
            asked(server.url, options={"max_calls": 50})
        assert caught.value.exit_code == 1
        assert len(server.requests) == 50
        assert len(canaries(tmp_path / "lake")) == 32
        assert sum(row["state"] == "ok" for row in judged(tmp_path / "lake")) == 18
        asked(server.url, options={"max_calls": 500})
        through_two = Counter(server.seen)
        server.restart()
        asked(server.url, lake="other")
        assert through_two == Counter(server.seen)
    assert not (tmp_path / "lake" / "budget").exists()


def test_a_sum_of_money_is_never_exceeded_and_every_call_says_what_it_cost(asked, tmp_path):
    each = 105 * 1000 / 1_000_000
    with serving(contrast) as server:
        with pytest.raises(BudgetReached, match=r"for 5\.\d\d USD, up to \d+ are left to show, about"):
            asked(server.url, prices=PRICES, decoding={"max_tokens": 5}, options={"max_cost": 6.0})
        spent = sum(row["cost"] for row in (*judged(tmp_path / "lake"), *canaries(tmp_path / "lake")))
        assert spent == pytest.approx(each * len(server.requests))
    # What it may cost at most is a tenth above the largest seen: less than one more answer is left unspent.
    assert 6.0 - 1.25 * each < spent <= 6.0


def test_an_endpoint_that_says_nothing_of_tokens_is_counted_at_the_most_it_may_cost(asked, tmp_path):
    with serving(lambda *_: answer("5", usage=None)) as server, pytest.raises(BudgetReached):
        asked(server.url, prices=PRICES, options={"max_cost": 6.0})
    rows = canaries(tmp_path / "lake")
    assert sum(row["cost"] for row in rows) <= 6.0
    assert min(row["cost"] for row in rows) > 512 / 1000


def test_a_cap_in_money_without_prices_is_refused(asked):
    with serving(contrast) as server, pytest.raises(UsageError, match="names no prices"):
        asked(server.url, options={"max_cost": 1.0})


def test_calls_of_any_judge_can_be_capped(items, tmp_path):
    shown = []

    def score(images, prompts):
        shown.extend(prompts)
        return [float(image.std()) for image in images]

    score.identity = "contrast"
    with pytest.raises(BudgetReached):
        judge_audit.audit(score, items, lake=tmp_path / "lake", max_calls=7, **SMALL)
    assert len(shown) == 7


def test_a_card_that_holds_the_key_itself_is_refused(asked, monkeypatch):
    monkeypatch.setenv("THE_ENDPOINT_KEY", KEY)
    body = {"extra_body": {"auth": KEY}}
    with pytest.raises(UsageError, match="the card holds the key itself") as caught:
        asked("http://127.0.0.1:9/v1", key_env="THE_ENDPOINT_KEY", decoding=body)
    assert KEY not in str(caught.value)
