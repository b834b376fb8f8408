"""A program that is handed two pictures and says which is better."""

from __future__ import annotations

import sys

import pytest
import yaml
from little_vlm import pictures

from judge_audit.core.vocabulary import Choice, State
from judge_audit.judges import load_judge
from judge_audit.judges.pairwise.protocol import Comparison, Undecided

PROGRAM = """
import json, sys
import numpy as np
from PIL import Image
for line in sys.stdin:
    asked = json.loads(line)
    answer = {}
    if "hello" not in asked:
        left, right = (float(np.asarray(Image.open(asked[name])).mean()) for name in ("left", "right"))
        answer = ANSWER
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
"""
BRIGHTER = '{"choice": "left" if left > right else "right"}'


@pytest.fixture
def judge_of(tmp_path):
    made = []

    def make(answer, **more):
        (tmp_path / "compare.py").write_text(PROGRAM.replace("ANSWER", answer), encoding="utf-8")
        fields = {
            "kind": "command",
            "name": "program",
            "command": [sys.executable, "compare.py"],
            "compares": True,
        }
        (tmp_path / "card.yaml").write_text(yaml.safe_dump({**fields, **more}), encoding="utf-8")
        made.append(load_judge(str(tmp_path / "card.yaml")))
        return made[-1]

    yield make
    for judge in made:
        judge.close()


def pairs(count=3):
    drawn = pictures(2 * count)
    return [Comparison(drawn[2 * at], drawn[2 * at + 1], "a cat") for at in range(count)]


def test_a_program_is_handed_both_pictures_and_names_the_better(judge_of):
    asked = pairs()
    told = judge_of(BRIGHTER, prices={"currency": "USD", "picture": 0.01}).compare(asked)
    better = [Choice.LEFT if pair.left.mean() > pair.right.mean() else Choice.RIGHT for pair in asked]
    assert [entry.choice for entry in told] == better
    assert {entry.cost for entry in told} == {0.02}


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ('{"text": "I would say it depends"}', State.UNPARSABLE),
        ('{"refused": "no people"}', State.REFUSED),
        ('{"choice": None}', State.EMPTY),
        ('{"choice": 1}', State.UNPARSABLE),
        ('{"score": 7}', State.EMPTY),
    ],
)
def test_anything_else_is_a_named_state(judge_of, answer, state):
    (found,) = judge_of(answer).compare(pairs(1))
    assert (found.choice, found.state) == (None, state)


def test_a_text_is_read_as_a_choice_and_kept(judge_of):
    (found,) = judge_of('{"text": "My verdict: [[B > A]]"}').compare(pairs(1))
    assert found.choice == Choice.RIGHT
    assert "[[B > A]]" in found.raw


def test_a_program_that_breaks_on_a_pair_fails_alone(judge_of):
    breaking = '{"choice": "left"} if asked["id"] != 2 else sys.exit(3)'
    with pytest.raises(Undecided) as lost:
        judge_of(breaking).compare(pairs(3))
    states = [entry.state for entry in lost.value.preferences]
    assert states.count(State.OK) >= 1
    assert State.FAILED in states
