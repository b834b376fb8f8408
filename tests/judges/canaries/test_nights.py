"""Nights of an endpoint that changes, or does not, behind its name."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from night_server import card, write_items

from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.audits.stages.canaries import canaries_due, watch
from judge_audit.audits.stages.score import pace
from judge_audit.core.errors import UsageError
from judge_audit.judges.calling.budget import BudgetReached
from judge_audit.lake.connect import connect


def darker(pixels, number):
    return 2 + pixels.mean() / 50


@pytest.fixture
def known(nights):
    """Nights of which the first is over."""
    watched, asked = nights.glance()
    assert (watched.answer, watched.epoch, asked) == ("first", 0, 2 * 16)
    return nights


def test_a_silent_change_between_two_nights_is_caught_on_the_second_and_nothing_scored_before_is_reused(
    nights,
):
    first, asked = nights.night()
    assert asked == 32 + first.new_calls
    nights.model.score = darker
    second, asked = nights.night()
    assert (second.canaries.answer, second.canaries.epoch) == ("changed", 1)
    assert second.judge_id != first.judge_id
    assert (second.new_calls, second.reused_calls) == (first.new_calls, 0)
    assert asked == 64 + second.new_calls
    said = " ".join(second.canaries.lines)
    assert "has changed behind its name" in said
    assert "nothing scored before is reused" in said
    kept = nights.lake.read("scores", judge_id=second.judge_id)
    assert kept.num_rows == second.new_calls
    told = nights.lake.read("judges", judge_id=second.judge_id).to_pylist()[0]
    assert json.loads(told["card"])["epoch"] == 1
    third, asked = nights.night()
    assert (third.canaries.answer, third.judge_id, third.new_calls, asked) == (
        "unchanged",
        second.judge_id,
        0,
        16,
    )


def test_an_unchanged_one_costs_only_the_canaries_night_after_night(known):
    for number in range(2, 4):
        watched, asked = known.glance(known.plan_id)
        assert (watched.asking, watched.answer, watched.epoch, asked) == (number, "unchanged", 0, 16)
        assert watched.lines == ("16 canaries asked again: unchanged.",)
    with connect(known.lake) as connection:
        row = connection.execute(
            "SELECT judge, epoch, nights, canaries_asked, opened_by FROM epochs"
        ).fetchall()
    assert row == [("vlm 1", 0, 3, 32 + 2 * 16, "first")]


def test_another_fingerprint_alone_is_told_looked_into_and_no_other_judge(known):
    known.model.fingerprint = "fp_2"
    watched, asked = known.glance(known.plan_id)
    assert (watched.answer, watched.epoch, asked) == ("unchanged", 0, 64)
    assert "calls itself little-vlm-0107 fp_2 now, little-vlm-0107 fp_1 before" in watched.lines[0]
    watched, asked = known.glance(known.plan_id)
    assert (watched.answer, asked) == ("unchanged", 16)
    assert "calls itself" not in watched.lines[0]


def test_one_that_begins_to_refuse_is_another(known):
    known.model.refuses = lambda pixels: pixels.mean() > 120
    watched, _ = known.glance(known.plan_id)
    assert (watched.answer, watched.epoch) == ("changed", 1)
    assert "of their scores are missing, 0 % before" in watched.lines[0]


def test_one_that_answers_no_canary_at_all_ends_the_audit(known):
    known.fields = {"retries": {"attempts": 1}}
    known.server.rule = lambda *_: {"choices": []}
    with pytest.raises(UsageError, match="failed on picture after picture"):
        known.glance(known.plan_id)
    assert known.lake.read("canary_nights").num_rows == 1


class Killed(BaseException):
    """Stands for kill -9: nothing that handles errors sees it."""


def test_a_killed_run_goes_on_with_its_canaries_and_buys_none_twice(known, monkeypatch):
    from judge_audit.audits.stages import canaries as watching

    keep, kept = watching._keep, []

    def once(*arguments):
        if kept:
            raise Killed
        keep(*arguments)
        kept.append(1)

    monkeypatch.setattr(watching, "_keep", once)
    with pytest.raises(Killed):
        known.glance(known.plan_id)
    monkeypatch.setattr(watching, "_keep", keep)
    watched, asked = known.glance(known.plan_id)
    assert (watched.asking, watched.answer, asked) == (2, "unchanged", 8)
    assert known.lake.read("canaries", asking=2).num_rows == 16


def test_a_run_killed_after_its_canaries_asks_none_again_and_takes_what_they_showed(known):
    known.model.score = darker
    watched, _ = known.glance(known.plan_id, ended=False)
    assert (watched.answer, watched.epoch) == ("changed", 1)
    again, asked = known.glance(known.plan_id)
    assert (again.answer, again.epoch, again.asking, asked) == ("changed", 1, watched.asking, 0)
    assert again.lines[1] == "The 16 canaries of a run that did not end were taken over."
    after, asked = known.glance(known.plan_id)
    assert (after.answer, after.epoch, asked) == ("unchanged", 1, 16)


def test_two_audits_at_once_come_to_the_same_judge(known):
    known.model.score = darker
    contexts = [known.context() for _ in range(2)]
    tables = [[one.plans.table(name, known.plan_id) for name in ("items", "probes")] for one in contexts]
    setups = [context.setup() for context in contexts]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(watch, setup, *plan, f"at-once-{number}")
            for number, (setup, plan) in enumerate(zip(setups, tables, strict=True))
        ]
        told = [job.result() for job in jobs]
    assert {(one.asking, one.epoch, one.answer) for one in told} == {(2, 1, "changed")}
    judges = [setup.at_epoch(one.epoch).judge for setup, one in zip(setups, told, strict=True)]
    assert len({judge.card.judge_id for judge in judges}) == 1
    assert known.lake.read("canary_nights").num_rows == 2


def test_the_card_may_name_a_later_epoch_itself(known):
    known.fields = {"epoch": 4}
    watched, asked = known.glance(known.plan_id)
    assert (watched.answer, watched.epoch, asked) == ("declared", 4, 32)
    known.fields = {"epoch": 1}
    watched, asked = known.glance(known.plan_id)
    assert (watched.answer, watched.epoch, asked) == ("unchanged", 4, 16)


def test_where_no_canary_can_be_shown_again_nothing_is_taken_for_unchanged(known):
    known.items = write_items(known.folder, seed=9)
    for path in known.folder.glob("4-*.png"):
        path.unlink()
    watched, asked = known.glance()
    assert (watched.answer, watched.epoch, asked) == ("unknown", 1, 32)
    assert "unknown is not unchanged" in watched.lines[0]


def test_canaries_count_in_the_budget_and_a_run_that_goes_on_buys_the_rest(nights):
    with pytest.raises(BudgetReached, match="before all canaries were asked: 20 pictures"):
        nights.glance(max_calls=20)
    assert len(nights.server.requests) == 20
    watched, asked = nights.glance(nights.plan_id, max_calls=20)
    assert (watched.answer, watched.asking, asked) == ("first", 1, 12)
    assert (
        not (nights.folder / "lake" / "budget").exists() or not nights.glance(nights.plan_id)[0].bought > 16
    )


def test_what_canaries_cost_stands_with_every_answer(nights):
    nights.fields = {"prices": {"currency": "USD", "input": 1000, "output": 1000}}
    nights.glance()
    rows = nights.lake.read("canaries").to_pylist()
    assert {row["tokens"] for row in rows} == {105}
    assert sum(row["cost"] for row in rows) == pytest.approx(32 * 0.105)
    assert {row["served_by"] for row in rows} == {"little-vlm-0107 fp_1"}


def test_a_dry_run_asks_nothing_and_counts_them(nights):
    executor = LocalExecutor(nights.context())
    prepared = executor.prepare(dry=True)
    assert (prepared.canaries, len(nights.server.requests)) == (None, 0)
    assert canaries_due(nights.context().setup(), prepared) == (16, 32)
    nights.glance()
    assert canaries_due(nights.context().setup(), prepared) == (16, 16)


def test_pictures_that_a_dry_run_tried_do_not_make_the_first_asking_a_poor_second_one(nights):
    prepared = LocalExecutor(nights.context()).prepare(dry=True)
    _, tried = pace(nights.context().setup(), prepared)
    watched, asked = nights.glance()
    assert (watched.answer, asked) == ("first", 32)
    assert watched.lines[0].startswith("16 canaries were asked before everything else: the first answers")
    assert watched.lines[0].endswith(f" {tried} of these pictures had been scored before: unchanged.")


@pytest.mark.parametrize("count", [0, 7])
def test_too_few_canaries_are_refused_in_words(nights, count):
    with pytest.raises(UsageError, match="the weights of “vlm” are not pinned") as refused:
        nights.glance(canaries=count)
    assert "8 canaries at least" in str(refused.value)
    assert not nights.server.requests


def test_pinned_weights_are_not_watched_and_cost_nothing(nights):
    nights.fields = {"pinned": True, "weights": "sha256:9f86d0"}
    watched, asked = nights.glance(canaries=0)
    assert (watched, asked) == (None, 0)


def test_a_judge_loaded_elsewhere_is_of_the_epoch_the_lake_has_seen(known):
    known.model.score = darker
    known.glance(known.plan_id)
    assert known.context().judge.card.epoch == 1
    path = known.folder / "priced.yaml"
    prices = {"currency": "USD", "input": 1, "output": 1}
    path.write_text(yaml.safe_dump(card(known.server.url, prices=prices)), encoding="utf-8")
    known.fields = {"prices": prices}
    judge = known.context().judge
    assert (judge.card.epoch, judge.currency) == (1, "USD")
    assert judge.most_cost(24, 24, "a cat") > 0
