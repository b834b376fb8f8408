from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.prefetch import ahead
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Reply
from judge_audit.stimuli.axes import builtin_axes, fingerprint

AXES = builtin_axes()
NOISE = np.random.default_rng(5)


class Answers:
    """A judge of a function of one picture, which counts what it was shown."""

    def __init__(self, rule, **card):
        self.card = Card(**{"kind": "callable", "name": "test", "weights": "w", **card})
        self.rule, self.shown = rule, 0

    def score(self, stimuli):
        self.shown += len(stimuli)
        return [Reply({"overall": self.rule(stimulus.image)}) for stimulus in stimuli]


def _item(number):
    pixels = NOISE.integers(0, 255, (24, 24, 3)).astype(np.uint8)
    return {"item_id": f"i{number}", "source": "s", "pixel_digest": pixel_digest(pixels), "pixels": pixels}


def _probe(item, axis="original", strength=0.0):
    name = f"{item['item_id']}/{axis}/{strength}"
    return {"probe_id": name, "repeat": 0, "axis": axis, "strength": strength, "prompt": ""}


def _work(count=6):
    items = [_item(number) for number in range(count)]
    return [(item, [_probe(item)]) for item in items]


def _run(judge, work, answered=None):
    loaded = {"axes": AXES, "load": lambda item: item["pixels"], "answered": answered or {}}
    return list(score_block(judge, work, **loaded))


def _calls(results):
    return {call["probe_id"]: call for result in results for call in result.calls}


def _answered(results):
    return {(call["probe_id"], call["repeat"]): call for call in _calls(results).values()}


def _failing_on(*items):
    bad = {item["pixel_digest"] for item in items}

    def rule(image):
        if pixel_digest(image) in bad:
            raise ValueError("unreadable")
        return float(image.mean())

    return rule


def test_every_planned_probe_is_answered_once_and_batches_follow_the_plan():
    judge = Answers(np.mean, batch_size=4)
    results = _run(judge, _work(6))
    assert [result.probes for result in results] == [4, 2]
    assert len(_calls(results)) == judge.shown == 6


def test_an_inert_rung_is_a_row_and_is_not_bought():
    item = _item(0)
    item["pixels"][:] = 128
    item["pixel_digest"] = pixel_digest(item["pixels"])
    judge = Answers(np.mean)
    results = _run(judge, [(item, [_probe(item), _probe(item, "blur", AXES["blur"].strengths[-1])])])
    assert sorted(call["state"] for call in _calls(results).values()) == ["inert", "ok"]
    assert judge.shown == sum(len(result.scores) for result in results) == 1


def test_an_answer_in_the_lake_is_not_bought_again():
    judge, work = Answers(np.mean), _work()
    first = _run(judge, work)
    again = _run(judge, work, _answered(first))
    assert judge.shown == 6
    assert _calls(again) == {}
    assert sum(result.probes for result in again) == 6


def test_after_a_change_of_libraries_only_changed_pixels_are_bought():
    judge, work = Answers(np.mean), _work(3)
    held = _answered(_run(judge, work))
    for call in held.values():
        assert call["renderer"] == fingerprint()
        call["renderer"] = "older"
    next(iter(held.values()))["pixel_digest"] = "other"
    judge.shown = 0
    assert len(_calls(_run(judge, work, held))) == judge.shown == 1


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (math.nan, "unparsable"),
        (math.inf, "unparsable"),
        (11.0, "out_of_scale"),
        (-0.1, "out_of_scale"),
        (10.0, "ok"),
    ],
)
def test_a_number_that_is_no_answer_is_a_state_and_never_clipped(value, state):
    (result,) = _run(Answers(lambda image: value, scale_low=0.0, scale_high=10.0), _work(1))
    (score,) = result.scores
    assert score["state"] == state
    assert score["value"] == (value if state == "ok" else None)
    if state == "out_of_scale":
        assert repr(value) in result.calls[0]["raw_reply"]


def test_one_unreadable_picture_fails_alone_with_its_reason():
    work = _work()
    calls = _calls(_run(Answers(_failing_on(work[2][0])), work))
    failed = [call for call in calls.values() if call["state"] == "failed"]
    assert [call["probe_id"] for call in failed] == [work[2][1][0]["probe_id"]]
    assert "unreadable" in failed[0]["raw_reply"]
    assert len(calls) == 6


@pytest.mark.parametrize("batch_size", [1, 2, 32])
@pytest.mark.parametrize("bad", [[0], [5], [0, 1], [4, 5]])
def test_unreadable_pictures_stop_neither_the_audit_nor_its_resumption(batch_size, bad):
    work = _work()
    judge = Answers(_failing_on(*(work[number][0] for number in bad)), batch_size=batch_size)
    first = _run(judge, work)
    assert sum(call["state"] == "failed" for call in _calls(first).values()) == len(bad)
    assert sum(result.probes for result in first) == 6
    again = _run(judge, work, _answered(first))
    assert [call["state"] for call in _calls(again).values()] == ["failed"] * len(bad)


@pytest.mark.parametrize("batch_size", [1, 32])
@pytest.mark.parametrize("count", [1, 3, 20])
def test_a_judge_that_answers_nothing_is_an_error_and_leaves_no_rows(batch_size, count):
    work = _work(count)
    kept = []
    loaded = {"axes": AXES, "load": lambda item: item["pixels"], "answered": {}}
    judge = Answers(_failing_on(*(item for item, _ in work)), batch_size=batch_size)
    with pytest.raises(UsageError, match="unreadable"):
        kept.extend(score_block(judge, work, **loaded))
    assert kept == []


def test_a_judge_that_dies_midway_is_an_error_and_keeps_what_it_answered():
    work = _work(30)
    judge = Answers(_failing_on(*(item for item, _ in work[10:])), batch_size=5)
    kept = []
    with pytest.raises(UsageError, match="unreadable"):
        kept.extend(score_block(judge, work, axes=AXES, load=lambda item: item["pixels"], answered={}))
    assert {call["state"] for call in _calls(kept).values()} == {"ok"}
    assert len(_calls(kept)) == 10


def test_too_few_answers_are_refused_in_plain_words():
    judge = Answers(np.mean)
    judge.score = lambda stimuli: [Reply({"overall": 1.0})]
    with pytest.raises(UsageError, match="1 answers to 6 pictures"):
        _run(judge, _work())


def test_a_dimension_that_the_card_does_not_name_is_refused():
    judge = Answers(np.mean)
    judge.score = lambda stimuli: [Reply({"beauty": 1.0}) for _ in stimuli]
    with pytest.raises(UsageError, match="beauty"):
        _run(judge, _work())


def test_an_error_while_drawing_is_raised_where_the_batch_is_taken():
    def load(item):
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(score_block(Answers(np.mean), _work(), axes=AXES, load=load, answered={}))


def test_leaving_early_ends_the_drawing_thread():
    before = threading.active_count()
    with ahead(iter(range(10**9))) as things:
        assert next(things) == 0
    assert threading.active_count() == before


def test_a_probe_that_keeps_to_a_mask_is_drawn_with_the_item_s_own():
    items = [_item(90), _item(91)]
    masks = {item["item_id"]: np.zeros((24, 24), np.bool_) for item in items}
    masks["i90"][:12] = True
    masks["i91"][:, :12] = True
    work = [
        (item, [_probe(item), _probe(item, "background_blur", 4.0) | {"region": "mask"}]) for item in items
    ]
    seen = []
    judge = Answers(lambda image: float(not seen.append(image)), batch_size=8)
    list(
        score_block(
            judge,
            work,
            axes=AXES,
            load=lambda item: item["pixels"],
            answered={},
            mask=lambda item: masks[item["item_id"]],
        )
    )
    for item, changed in zip(items, seen[1::2], strict=True):
        kept = masks[item["item_id"]]
        assert np.array_equal(changed[kept], item["pixels"][kept])
        assert (changed[~kept] != item["pixels"][~kept]).mean() > 0.9


def test_a_mask_that_nobody_reads_is_an_error_and_never_the_salient_region():
    item = _item(92)
    work = [(item, [_probe(item, "background_blur", 4.0) | {"region": "mask"}])]
    with pytest.raises(MachineryError, match="i92"):
        _run(Answers(np.mean), work)


def _looked_at(item):
    names = ["alone", "alone", "border", "copy", "stretched", "swapped_prompt", "upside_down"]
    return [
        _probe(item),
        *({**_probe(item, name), "repeat": names[:at].count(name)} for at, name in enumerate(names)),
    ]


def test_a_probe_asked_alone_is_a_request_of_its_own_and_cuts_no_batch_short():
    work = [(item, _looked_at(item)) for item, _ in _work(5)]
    sizes = []

    class Counting(Answers):
        def score(self, stimuli):
            sizes.append(len(stimuli))
            return super().score(stimuli)

    results = _run(Counting(np.mean, batch_size=4), work)
    # Six probes of each item are asked in company, two alone.
    assert sorted(sizes) == [1] * 10 + [2] + [4] * 7
    assert sum(result.probes for result in results) == 40


def test_the_same_plan_has_the_same_batches_whatever_is_answered():
    work = [(item, _looked_at(item)) for item, _ in _work(5)]
    whole = _run(Answers(np.mean, batch_size=4), work)
    held = {key: call for at, (key, call) in enumerate(_keyed(whole).items()) if at % 3}
    again = _run(Answers(np.mean, batch_size=4), work, held)
    assert [result.probes for result in again] == [result.probes for result in whole]
    for one, two in zip(whole, again, strict=True):
        left = [(call["probe_id"], call["repeat"]) for call in one.calls]
        assert [(call["probe_id"], call["repeat"]) for call in two.calls] == [
            k for k in left if k not in held
        ]


def _keyed(results):
    return {(call["probe_id"], call["repeat"]): call for result in results for call in result.calls}


def test_what_leaves_the_pixels_alone_is_bought_and_what_changes_nothing_is_inert():
    item = _item(0)
    item["pixels"][:] = 128
    item["pixel_digest"] = pixel_digest(item["pixels"])
    states = {
        key[0].split("/")[1]: call["state"]
        for key, call in _keyed(_run(Answers(np.mean), [(item, _looked_at(item))])).items()
    }
    assert {name for name, state in states.items() if state == "inert"} == {"border", "upside_down"}
    assert {name for name, state in states.items() if state == "ok"} == {
        *("original", "alone", "copy", "stretched", "swapped_prompt")
    }
