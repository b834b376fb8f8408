"""`judges try` with a judge that compares: both orders, once more, and what an audit would take."""

from __future__ import annotations

import json

import numpy as np
import pytest

from judge_audit.audits.smoke_test import try_comparer
from judge_audit.cli import run_command
from judge_audit.cli.smoke_test_lines import pair_lines
from judge_audit.core.errors import UsageError
from judge_audit.judges import load_judge
from judge_audit.judges.protocol import Stimulus
from judge_audit.stimuli.axes import builtin_axes

AXES = {"blur": builtin_axes()["blur"]}


def shown(count=3):
    rng = np.random.default_rng(1)
    return [
        (f"i{at}", Stimulus(rng.integers(0, 255, (16, 16, 3)).astype(np.uint8), f"prompt {at}"))
        for at in range(count)
    ]


class Judge:
    identity = "a judge"

    def __init__(self, answer):
        self.answer = answer

    def compare(self, lefts, rights, prompts):
        return [self.answer(one, other) for one, other in zip(lefts, rights, strict=True)]


def trial(answer):
    return try_comparer(load_judge(Judge(answer)), shown(), AXES)


def test_a_judge_that_follows_the_picture_is_told_from_one_that_follows_the_place():
    brighter = trial(lambda one, other: "left" if one.mean() > other.mean() else "right")
    assert all(pair.winner in {pair.first, pair.second} for pair in brighter.pairs)
    stuck = trial(lambda one, other: "[[A>B]]")
    assert {pair.winner for pair in stuck.pairs} == {"left"}
    assert "the left one both times, whichever it is" in "\n".join(pair_lines(stuck, 0.1))
    assert (stuck.asked, stuck.same) == (12, 6)
    assert stuck.ladders == 2 * 48 * len(AXES["blur"].strengths)
    assert json.loads(json.dumps(stuck.document()))["pairs"][0]["winner"] == "left"


def test_a_judge_that_names_nothing_is_said_to():
    nothing = trial(lambda one, other: "Both are lovely.")
    assert not nothing.answered
    assert "named neither" in pair_lines(nothing, 0.1)[-1]


def test_one_that_breaks_says_how():
    with pytest.raises(UsageError, match="no such model"):
        trial(lambda one, other: {}["no such model"])


def test_the_command_shows_three_pairs_and_its_exit_code(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = "def compare(lefts, rights, prompts):\n    return [None] * len(lefts)\n"
    (tmp_path / "silent_pairs.py").write_text(code, encoding="utf-8")
    (tmp_path / "card.yaml").write_text(
        "kind: callable\nname: silent\ntarget: silent_pairs:compare\ncompares: true\n", encoding="utf-8"
    )
    assert run_command(["judges", "try", "card.yaml"]) == 1
    told_ = capsys.readouterr().out
    assert "two pictures at a time, and gives no score" in told_
    assert "turned round empty" in told_
