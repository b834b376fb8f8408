"""How deployed audits end: who tries again, and what the last state says."""

from __future__ import annotations

import logging

import pytest
from judge_audit_flows.runtime.outcome import Ending, RunLog, persisted, slug, worst

from judge_audit.audits.run_summary import message
from judge_audit.core.errors import InputError, MachineryError, UsageError
from judge_audit.judges.calling.budget import BudgetReached

LOG = logging.getLogger("endings")
GOOD = Ending("mine", 0, "Position: screening")


def tried(*results, retries=2):
    """Attempt with given results; gives the ending, the number of attempts and the waits."""
    waits, left = [], list(results)

    def attempt():
        result = left.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    ending = persisted("mine", attempt, LOG, retries, 60.0, sleep=waits.append)
    return ending, len(results) - len(left), waits


def test_a_machine_that_fails_is_tried_again_and_waited_for_longer_each_time():
    ending, attempts, waits = tried(MachineryError("the disk is full."), ConnectionError("gone"), GOOD)
    assert ending == GOOD
    assert attempts == 3
    assert waits == [60.0, 120.0]


def test_what_keeps_failing_ends_with_the_last_reason_and_no_traceback():
    ending, attempts, _ = tried(*[MachineryError("the disk is full.")] * 3)
    assert attempts == 3
    assert ending.code == 3
    assert ending.text == "the machinery failed: the disk is full."
    ending, _, _ = tried(KeyError("x"), retries=0)
    assert ending.text.startswith("the machinery failed: unexpected KeyError: 'x'. ")
    assert "Traceback" not in ending.text


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (UsageError("no judge “x”."), 2, "wrong use or bad input: no judge “x”."),
        (InputError([], "row 3: no image."), 2, "wrong use or bad input: row 3: no image."),
        (BudgetReached("20 calls were bought."), 1, "the budget is spent: 20 calls were bought."),
    ],
)
def test_bad_input_and_a_spent_budget_are_not_tried_again(error, code, text):
    ending, attempts, waits = tried(error, GOOD)
    assert (ending.code, ending.text, attempts, waits) == (code, text, 1, [])


def test_a_shut_gate_and_a_cancelled_run_are_not_tried_again():
    shut = Ending("mine", 1, "The gate is shut: no.")
    assert tried(shut, GOOD)[:2] == (shut, 1)
    cancelled = Ending("mine", 3, "cancelled", final=True)
    assert tried(cancelled, GOOD)[:2] == (cancelled, 1)


def test_of_several_judges_the_worst_decides_and_each_has_its_say():
    bad, shut = Ending("b", 2, "no such card"), Ending("c", 1, "The gate is shut")
    broken = Ending("d", 3, "the disk is full")
    assert worst([GOOD]) == (0, "Position: screening")
    assert worst([GOOD, shut]) == (1, "mine: Position: screening\nc: The gate is shut")
    assert worst([GOOD, shut, bad])[0] == 2
    assert worst([shut, broken, bad])[0] == 3


def test_lines_of_progress_go_into_the_log_one_by_one_and_ends_of_lines_do_not():
    said = []
    print("planning …", file=RunLog(said.append), flush=True)
    print("a\n\nb", file=RunLog(said.append))
    assert said == ["planning …", "a", "b"]


def test_a_judge_has_a_name_that_an_artifact_may_bear():
    assert slug("mine:score") == "mine-score"
    assert slug("cards/My Judge_v2.yaml") == "my-judge-v2"
    assert slug("»«") == "judge"


def test_a_run_says_first_how_the_gate_stands_whatever_the_canaries_showed():
    gate = ["The gate is shut.", "✕ gate/approved: no."]
    said = "The gate is shut.\nPosition: none\nCanaries: changed.\n✕ gate/approved: no."
    assert message("none", ["changed."], gate) == said
    assert message("none", ["changed."]) == "Position: none\nCanaries: changed."
