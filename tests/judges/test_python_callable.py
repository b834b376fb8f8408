from __future__ import annotations

import functools
import math
import threading

import numpy as np
import pytest

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.timeouts import Hangs, within
from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.cards.identity import code_digest
from judge_audit.judges.protocol import Stimulus

PICTURE = Stimulus(np.zeros((4, 4, 3), np.uint8), "a cat")


def _without_source(text):
    names: dict = {"__name__": "__main__"}
    exec(compile(text, "<typed>", "exec"), names)
    return names["score"]


def _answer(value):
    (reply,) = load_judge(lambda images, prompts: [value] * len(images)).score([PICTURE])
    return reply


def test_a_function_is_a_judge():
    judge = load_judge(lambda images, prompts: [len(prompt) for prompt in prompts])
    assert judge.score([PICTURE])[0].scores == {"overall": 5.0}


def test_a_module_in_the_project_is_found_and_its_text_is_its_identity(tmp_path):
    (tmp_path / "h3_first_judge.py").write_text(
        "def score(images, prompts):\n    return [1.0] * len(images)\n"
    )
    (tmp_path / "h3_second_judge.py").write_text(
        "def score(images, prompts):\n    return [2.0] * len(images)\n"
    )
    first, second = (load_judge(f"h3_{word}_judge:score", project=tmp_path) for word in ("first", "second"))
    assert first.score([PICTURE])[0].scores == {"overall": 1.0}
    assert first.card.judge_id != second.card.judge_id
    assert not first.card.pinned


def test_functions_without_source_that_differ_in_a_constant_differ_in_identity():
    one, two, inner, other = (
        _without_source(text)
        for text in (
            "score = lambda images, prompts: [1.0]",
            "score = lambda images, prompts: [2.0]",
            "score = lambda images, prompts: [(lambda: 3.0)()]",
            "score = lambda images, prompts: [(lambda: 4.0)()]",
        )
    )
    assert len({code_digest(function, "score") for function in (one, two, inner, other)}) == 4
    assert code_digest(one, "score") == code_digest(
        _without_source("score = lambda images, prompts: [1.0]"), "score"
    )


@pytest.mark.parametrize(
    ("value", "state"), [(None, State.EMPTY), ("good", State.UNPARSABLE), (math.nan, State.UNPARSABLE)]
)
def test_an_answer_that_is_no_number_is_a_state(value, state):
    reply = _answer(value)
    assert reply.state == state
    assert reply.scores == {}


def test_dimensions_come_through_by_name():
    assert _answer({"overall": 3, "structure": 4}).scores == {"overall": 3.0, "structure": 4.0}


@pytest.mark.parametrize("spec", ["no_such_module_at_all:score", "math:no_such_name", ":score"])
def test_a_target_that_is_not_there_is_refused_in_plain_words(spec):
    with pytest.raises(UsageError, match="judge"):
        load_judge(spec)


def test_a_number_is_not_a_judge():
    with pytest.raises(UsageError, match="callable"):
        load_judge(3)


def test_a_function_of_three_lists_is_told_that_a_judge_that_compares_needs_a_card():
    with pytest.raises(UsageError, match="compares: true"):
        load_judge(lambda lefts, rights, prompts: ["tie"] * len(lefts))


class Weighted:
    def __init__(self, weights, inner=None):
        self.weights, self.inner = weights, inner

    def __call__(self, images, prompts):
        return [float(self.weights[0])] * len(images)


def _ids(*judges):
    return [load_judge(judge).card.judge_id for judge in judges]


def test_objects_of_one_class_that_hold_other_weights_are_other_judges():
    one, same, other = _ids(Weighted(np.array([1.0])), Weighted(np.array([1.0])), Weighted(np.array([2.0])))
    assert one == same
    assert one != other


def test_weights_held_deep_inside_count_too():
    one, same, other = _ids(*(Weighted([1.0], {"layers": [Weighted([depth])]}) for depth in (1.0, 1.0, 2.0)))
    assert one == same
    assert one != other


def test_closures_defaults_and_partials_that_differ_in_what_they_hold_are_other_judges():
    def made(value):
        def score(images, prompts):
            return [value] * len(images)

        return score

    def asked(images, prompts, *, gain):
        return [gain] * len(images)

    assert len(set(_ids(made(1.0), made(2.0)))) == 2
    assert len(set(_ids(functools.partial(asked, gain=1.0), functools.partial(asked, gain=2.0)))) == 2
    assert len(set(_ids(made(1.0), made(1.0)))) == 1


def test_a_bound_method_is_known_by_the_object_it_is_bound_to():
    assert len(set(_ids(Weighted([1.0]).__call__, Weighted([2.0]).__call__))) == 2


def test_a_judge_that_holds_something_unreadable_is_refused_and_told_what_to_do():
    with pytest.raises(UsageError, match=r"inner \(lock\).*identity"):
        load_judge(Weighted([1.0], threading.Lock()))


def test_a_declared_identity_stands_for_all_that_a_judge_holds():
    locked = [Weighted([1.0], threading.Lock()) for _ in range(3)]
    for judge, version in zip(locked, ("a", "a", "b"), strict=True):
        judge.identity = version
    one, same, other = _ids(*locked)
    assert one == same
    assert one != other


def test_a_judge_that_holds_itself_is_read_to_the_end():
    judge = Weighted([1.0])
    judge.inner = judge
    assert _ids(judge)


def _hanging(images, prompts):
    threading.Event().wait(30)
    return [1.0] * len(images)


def test_a_function_that_hangs_ends_with_the_line_at_which_it_stands(tmp_path):
    (tmp_path / "hanging_judge.py").write_text(
        "import time\ndef score(images, prompts):\n    while True:\n        time.sleep(0.01)\n"
    )
    card = tmp_path / "hanging.yaml"
    card.write_text("kind: callable\nname: hanging\ntarget: hanging_judge:score\ntimeout: 0.2\n")
    judge = load_judge(str(card), project=tmp_path)
    with pytest.raises(MachineryError, match=r"within 0\.2 s: it hangs\. It stands at") as told:
        judge.score([PICTURE])
    assert "hanging_judge.py, line 4, in score" in str(told.value)
    assert "the same command goes on from there" in str(told.value)


def test_a_function_is_called_in_one_thread_of_its_own_and_another_one_after_it_hung():
    seen = []

    def answer():
        seen.append(threading.current_thread())
        return 1

    assert [within(5, answer), within(5, answer)] == [1, 1]
    with pytest.raises(Hangs):
        within(0.05, lambda: _hanging([], []))
    assert within(5, answer) == 1
    assert seen[0] is seen[1] is not seen[2]
    assert all(thread.daemon for thread in seen)
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)
