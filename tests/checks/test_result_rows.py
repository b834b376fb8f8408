"""The rows that checks write: one key, one figure, one limit."""

import math

import pytest

from judge_audit.checks.one_limit import answer, however_filled
from judge_audit.checks.result_rows import RowWriter, Share, deciding_level, interval_words, point
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import NOTHING, PASS_LEVEL, corrected_level, wilson

WRITER = RowWriter({"audit_id": "a", "subject": "j", "check": "c"})


def test_rows_share_their_key_and_may_say_more_of_it():
    row = WRITER.at(dimension="overall").share("m", 1, 4, source="s")
    low, high = wilson(1, 4)
    key = {
        "audit_id": "a",
        "subject": "j",
        "check": "c",
        "measure": "m",
        "dimension": "overall",
        "source": "s",
    }
    assert row == {**key, "value": 0.25, "ci_low": low, "ci_high": high, "n": 4}
    assert WRITER.shared == {"audit_id": "a", "subject": "j", "check": "c"}


def test_rows_fit_their_tables():
    figure = WRITER.figure("m", Share(3, 9))
    rows = {
        "curves": point(figure, 2, 0.5),
        "measures": figure,
        "verdicts": WRITER.verdict("m", Verdict.PASS, "because", "", Share(3, 9), limit_low=0.1),
    }
    for name, row in rows.items():
        assert from_rows(name, [row]).num_rows == 1


def test_nothing_has_a_count_and_no_number():
    row = WRITER.verdict("m", Verdict.INCONCLUSIVE, "few", "", NOTHING)
    assert (row["value"], row["ci_low"], row["ci_high"], row["n"]) == (None, None, None, 0)
    assert "n" not in WRITER.verdict("m", Verdict.MISSING, "nobody asked")
    assert "n" not in WRITER.count("m", 1.0)
    assert WRITER.share("m", 0, 0)["value"] is None
    assert math.isnan(Share(0, 0).value)


def test_a_fault_is_shown_with_the_interval_that_convicted():
    assert deciding_level(Verdict.FAIL, 4) == corrected_level(4)
    assert deciding_level(Verdict.PASS, 4) == deciding_level(Verdict.INCONCLUSIVE, 4) == PASS_LEVEL
    assert interval_words(Share(1, 2), write="{:.1f}".format) == {"value": "0.5", "low": "0.1", "high": "0.9"}


@pytest.mark.parametrize(
    ("hits", "low", "high"),
    [(95, Verdict.PASS, Verdict.FAIL), (5, Verdict.FAIL, Verdict.PASS), (50, *[Verdict.INCONCLUSIVE] * 2)],
)
def test_a_whole_interval_is_held_against_one_limit(hits, low, high):
    assert answer(Share(hits, 100), low=0.5, claims=1) == low
    assert answer(Share(hits, 100), high=0.5, claims=1) == high


def test_what_nobody_has_seen_may_only_open_an_answer():
    good, bad = Share(95, 100), Share(5, 100)
    assert however_filled(good, [good, good], low=0.5, claims=1) == (Verdict.PASS, False)
    assert however_filled(good, [good, bad], low=0.5, claims=1) == (Verdict.INCONCLUSIVE, True)
    assert however_filled(Share(50, 100), [good, bad], low=0.5, claims=1) == (Verdict.INCONCLUSIVE, False)
    assert answer(Share(0, 0), low=0.5, claims=1) == Verdict.INCONCLUSIVE
