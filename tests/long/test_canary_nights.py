"""Many nights: false alarms and power of the rule by simulation, and a server that wavers."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from canary_judges import ALARM, JUDGES, RETEST_SD, changed_nights, same, shuffled
from night_server import nights_in, write_items

from judge_audit.core.digests import row_digest
from judge_audit.judges import load_judge
from judge_audit.judges.canaries import history as past

pytestmark = pytest.mark.long


@pytest.fixture
def nights(tmp_path):
    with nights_in(tmp_path) as found:
        yield found


def unsteady(seed=1, shift=0.0):
    drawn = np.random.default_rng(seed)
    return lambda pixels, number: 3 + pixels.mean() / 60 + shift + 0.2 * drawn.normal()


@pytest.mark.parametrize("name", sorted(JUDGES))
def test_hardly_any_night_without_change_is_called_one(name):
    """At most one night in a hundred was asked for; the rule allows one in five hundred."""
    told = [
        moved
        for seed in range(60)
        for moved in changed_nights(
            JUDGES[name], lambda q, _: same(q), seed=seed, nights=10, every_night=True
        )
    ]
    print(f"{name}: {sum(told)} of {len(told)} nights")
    assert len(told) > 550
    assert sum(told) <= 2 + 2 * ALARM * len(told)


@pytest.mark.parametrize("name", sorted(JUDGES))
@pytest.mark.parametrize(("first", "least"), [(2, 0.5), (4, 0.7)])
def test_power_against_a_shift_by_the_judges_own_noise_and_another_order(name, first, least):
    shift = RETEST_SD[name]
    moved, turned = (
        np.mean([changed_nights(JUDGES[name], becomes, seed=seed, first=first)[-1] for seed in range(40)])
        for becomes in (lambda q, _: q + shift, lambda q, _: shuffled(q))
    )
    print(f"{name}, {first} answers before: shift {moved:.2f}, another order {turned:.2f}")
    assert moved >= least
    assert turned >= 0.8


def test_a_server_that_wavers_is_not_taken_for_another(nights):
    nights.model.score = unsteady()
    nights.glance()
    told = [nights.glance(nights.plan_id)[0].answer for _ in range(4)]
    assert told == ["unchanged"] * 4


def test_a_server_that_wavers_and_moves_by_its_own_noise_is_caught(nights):
    nights.model.score = unsteady()
    nights.glance()
    nights.glance(nights.plan_id)
    nights.glance(nights.plan_id)
    nights.model.score = unsteady(2, shift=0.35)
    watched, asked = nights.glance(nights.plan_id)
    assert (watched.answer, asked) == ("changed", 64)
    assert "on overall they score" in watched.lines[0]
    assert "higher than before" in watched.lines[0]


def test_a_slow_drift_is_caught_although_every_night_is_like_the_one_before(nights):
    """A fifth of its noise a night, by a judge that wavers."""
    drawn = np.random.default_rng(6)
    at = {"night": 0}
    nights.model.score = lambda pixels, number: (
        3 + pixels.mean() / 60 + 0.04 * at["night"] + 0.2 * drawn.normal()
    )
    nights.glance()
    answers = []
    for night in range(1, 20):
        at["night"] = night
        watched, _ = nights.glance(nights.plan_id)
        answers.append(watched.answer)
        if watched.answer == "changed":
            break
    assert answers[-1] == "changed"
    assert len(answers) > 3
    assert nights.lake.read("canary_nights", answer="changed").to_pylist()[0]["epoch"] == 1


def test_answers_from_before_there_were_canaries_are_compared_too(nights):
    first, _ = nights.night()
    for record in (nights.folder / "lake" / "commits").iterdir():
        if '"canar' in record.read_text():
            record.unlink()
    nights.model.score = lambda pixels, number: 2 + pixels.mean() / 50
    second, _ = nights.night()
    assert (second.canaries.asking, second.canaries.answer) == (1, "changed")
    assert second.judge_id != first.judge_id


@pytest.fixture
def known(nights):
    """Nights of which the first is over."""
    nights.glance()
    return nights


def test_the_same_answers_in_the_lake_give_the_same_row(known):
    """What was decided can be decided again: only the time and the audit are the run's own."""
    from judge_audit.core.limits import read_limits
    from judge_audit.judges.canaries.history import answers_of, read_history, services_of
    from judge_audit.judges.canaries.verdict import compared, night_row

    known.model.score = lambda pixels, number: 2 + pixels.mean() / 50
    known.glance(known.plan_id)
    row = known.lake.read("canary_nights", asking=2).to_pylist()[0]
    base = load_judge(str(known.folder / "vlm.yaml")).card
    held = read_history(known.lake, base)
    probes = sorted({entry["probe_id"] for entry in held.asked if entry["asking"] == 2})
    before = {number: entry for number, entry in held.nights.items() if number < 2}
    held = past.CanaryHistory(held.lineage_id, before, held.asked, held.scores, held.ended)
    answers = answers_of(known.lake, base, held, 2, probes)
    found = compared(answers, base.dimensions, read_limits(), base.lineage_id, 2)
    told = (services_of(held, [1]), services_of(held, [2]))
    again = night_row(
        found, "changed", 1, sure=True, alarm=read_limits()["canaries.false_alarm"], services=told
    )
    assert {name: row[name] for name in again} == again


def test_canaries_are_the_same_whatever_the_order_of_the_items_and_spread_over_the_sources(known):
    asked = known.lake.read("canaries").to_pylist()
    assert sorted([row["source"] for row in asked if not row["repeat"]]) == ["s0"] * 8 + ["s1"] * 8
    digest = row_digest(known.lake.read("canaries").select(["probe_id", "repeat"]))
    lines = known.items.read_text().splitlines()
    known.items.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    known.folder.joinpath("lake").rename(known.folder / "before")
    known.glance()
    assert row_digest(known.lake.read("canaries").select(["probe_id", "repeat"])) == digest


def test_canaries_of_a_run_that_died_long_ago_are_asked_afresh(known, monkeypatch):
    known.glance(known.plan_id, ended=False)
    monkeypatch.setattr(past, "FRESH", timedelta(0))
    watched, asked = known.glance(known.plan_id)
    assert (watched.asking, watched.answer, asked) == (3, "unchanged", 16)


def test_other_items_are_watched_by_the_canaries_known_before_as_long_as_they_lie_there(known):
    known.items = write_items(known.folder, seed=9)
    watched, asked = known.glance()
    assert (watched.answer, asked) == ("unchanged", 16)
    known.model.score = lambda pixels, number: 2 + pixels.mean() / 50
    watched, _ = known.glance()
    assert watched.answer == "changed"
