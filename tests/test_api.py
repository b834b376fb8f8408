"""An audit in one process, as from a notebook, on forty small pictures."""

from __future__ import annotations

import csv

import cv2
import numpy as np
import pytest

import judge_audit
from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import Position, Verdict

AXES = ["saturation+", "blur"]
SMALL = {"axes": AXES, "ladder_items": 10}


def write_corpus(folder, count=40, side=48):
    rng = np.random.default_rng(5)
    rows = []
    for number in range(count):
        rough = cv2.GaussianBlur(rng.normal(size=(side, side, 3)), (0, 0), 2)
        cv2.imwrite(str(folder / f"{number}.png"), np.clip(127 + 300 * rough, 0, 255).astype(np.uint8))
        rows.append((f"i{number:02}", f"s{number % 2}", f"prompt {number}", f"{number}.png"))
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("item_id", "source", "prompt", "image"), *rows])
    return folder / "items.csv"


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def counting():
    """Make a judge that says how contrasted pictures are, and how many it has been shown."""
    shown = []

    def contrast(images, prompts):
        shown.extend(prompts)
        return [float(image.std()) for image in images]

    # What it holds grows as it is asked, and is no part of what it answers.
    contrast.identity = "contrast 1"
    return contrast, shown


def tenfold(images, prompts):
    return [10.0 * float(image.std()) for image in images]


def calls(audit, state):
    with audit.connect() as connection:
        question = "SELECT count(*) FROM calls WHERE NOT is_control AND state = $1"
        return connection.execute(question, [state]).fetchone()[0]


@pytest.fixture(scope="module")
def first(items, tmp_path_factory):
    lake = tmp_path_factory.mktemp("first") / "lake"
    judge, shown = counting()
    audit = judge_audit.audit(judge=judge, items=items, lake=lake, **SMALL)
    return audit, judge, shown, lake, len(shown)


def test_an_audit_gives_a_position_verdicts_and_a_report(first):
    audit, *_ = first
    assert audit.position in {position.value for position in Position}
    verdicts = audit.verdicts.to_pylist()
    assert {"premature", "top_response", "scale"} <= {row["check"] for row in verdicts}
    assert {row["axis"] for row in verdicts if row["check"] == "premature"} == set(AXES)
    assert {row["verdict"] for row in verdicts} <= {verdict.value for verdict in Verdict}
    assert audit.report.is_file()
    assert "<html" in audit.report.read_text(encoding="utf-8")


CANARIES = 2 * 16


def test_every_picture_shown_is_an_answer_in_the_lake(first):
    audit, _, _, _, bought = first
    assert bought > 40
    assert calls(audit, "ok") == bought - CANARIES
    with audit.connect() as connection:
        assert connection.execute("SELECT count(*) FROM canaries").fetchone()[0] == CANARIES


def test_a_second_audit_in_the_same_lake_buys_nothing_but_the_canaries(first, items):
    audit, judge, shown, lake, bought = first
    again = judge_audit.audit(judge=judge, items=items, lake=lake, **SMALL)
    assert len(shown) == bought + 16
    assert again.document["canaries"]["answer"] == "unchanged"
    assert again.audit_id != audit.audit_id
    for name in ("verdicts", "measures", "curves"):
        tables = [getattr(one, name).drop_columns(["audit_id"]).to_pylist() for one in (audit, again)]
        assert sorted(map(repr, tables[0])) == sorted(map(repr, tables[1]))


def test_a_changed_function_is_another_judge(first, items):
    audit, _, _, lake, bought = first
    other = judge_audit.audit(judge=tenfold, items=items, lake=lake, **SMALL)
    with other.connect() as connection:
        found = connection.execute("SELECT audit_id, judge_id FROM audits").fetchall()
    judge_of = dict(found)
    assert judge_of[audit.audit_id] != judge_of[other.audit_id]
    assert calls(other, "ok") == 2 * (bought - CANARIES)


def test_a_function_that_says_it_is_pinned_is_not_watched(items, tmp_path):
    judge, shown = counting()
    judge.pinned = True
    audit = judge_audit.audit(judge=judge, items=items, lake=tmp_path / "lake", axes=["blur"], ladder_items=2)
    assert calls(audit, "ok") == len(shown)
    assert audit.document["canaries"] is None


def test_a_picture_the_judge_fails_on_is_a_failed_call_and_the_others_are_scored(items, tmp_path):
    def picky(images, prompts):
        if "prompt 7" in prompts:
            raise ValueError("cannot read this one")
        return [float(image.std()) for image in images]

    lake = tmp_path / "lake"
    audit = judge_audit.audit(judge=picky, items=items, lake=lake, axes=["blur"], ladder_items=1)
    question = """
        SELECT DISTINCT state, item_id, raw_reply FROM calls JOIN probes USING (probe_id, repeat)
        WHERE NOT is_control AND axis = 'original' AND repeat = 0"""
    with audit.connect() as connection:
        found = connection.execute(question).fetchall()
    failed = [row for row in found if row[0] == "failed"]
    assert [item_id for _, item_id, _ in failed] == ["i07"]
    assert "cannot read this one" in failed[0][2]
    assert sum(state == "ok" for state, _, _ in found) == 39


def test_a_judge_that_gives_the_wrong_number_of_answers_is_refused(items, tmp_path):
    def short(images, prompts):
        return [1.0] * (len(images) - 1)

    with pytest.raises(UsageError, match="must give one per picture"):
        judge_audit.audit(judge=short, items=items, lake=tmp_path / "lake", **SMALL)


def test_a_judge_that_answers_nothing_is_refused_with_its_own_error(items, tmp_path):
    def broken(images, prompts):
        raise RuntimeError("no weights")

    with pytest.raises(UsageError, match="no weights"):
        judge_audit.audit(judge=broken, items=items, lake=tmp_path / "lake", **SMALL)


def test_a_row_without_its_picture_is_refused_by_row_and_column(tmp_path):
    path = write_corpus(tmp_path, count=4)
    (tmp_path / "2.png").unlink()
    with pytest.raises(UsageError) as refused:
        judge_audit.audit(judge=tenfold, items=path, lake=tmp_path / "lake", **SMALL)
    assert "image" in str(refused.value)
    assert "row 3" in str(refused.value)


@pytest.mark.parametrize(
    ("options", "named"),
    [({"axes": ["sepia"]}, "sepia"), ({"ladder_itens": 3}, "ladder_itens"), ({"judge": "nobody"}, "nobody")],
)
def test_what_cannot_be_used_is_refused_by_name(items, tmp_path, options, named):
    given = {"judge": tenfold, "items": items, "lake": tmp_path / "lake", **options}
    with pytest.raises(UsageError, match=named):
        judge_audit.audit(**given)
