"""An audit of judges that compare, on pictures: killed, gone on with, and told of."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass

import cv2
import numpy as np
import pytest

import judge_audit
from judge_audit.audits.modes import mode_of
from judge_audit.core.errors import UsageError
from judge_audit.decisions.gate.certificate import Rests, evidence_tables
from judge_audit.decisions.gate.suites import builtin_suites
from judge_audit.judges import load_judge
from judge_audit.judges.calling.budget import BudgetReached
from judge_audit.judges.cards.card import Card, card_of
from judge_audit.judges.protocol import Reply
from judge_audit.lake import Lake

SMALL = {"axes": ["saturation+"], "ladder_items": 9, "pairs_per_kind": 0}


def write_corpus(folder, prompts=9, each=3, side=32):
    rng = np.random.default_rng(5)
    rows = []
    for number in range(prompts * each):
        rough = cv2.GaussianBlur(rng.normal(size=(side, side, 3)), (0, 0), 2)
        contrast = 200 + 80 * (number % each)
        cv2.imwrite(str(folder / f"{number}.png"), np.clip(127 + contrast * rough, 0, 255).astype(np.uint8))
        rows.append((f"i{number:02}", f"s{number % 2}", f"prompt {number // each}", f"{number}.png"))
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("item_id", "source", "prompt", "image"), *rows])
    return folder / "items.csv"


class AlwaysLeft:
    """Names the left picture; may be killed after some batches."""

    identity = "always left"

    def __init__(self, dies_after=10**9):
        self.shown = 0
        self.dies_after = dies_after

    def compare(self, lefts, rights, prompts):
        if self.shown >= self.dies_after:
            raise KeyboardInterrupt
        self.shown += len(lefts)
        return ["[[A > B]]"] * len(lefts)


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def told(items, tmp_path_factory):
    """Run the audit twice: the first run is killed, the second is told to stop by its budget, the third ends."""
    lake = tmp_path_factory.mktemp("compared") / "lake"
    killed, stopped, ending = AlwaysLeft(dies_after=60), AlwaysLeft(), AlwaysLeft()
    with pytest.raises(KeyboardInterrupt):
        judge_audit.audit(judge=killed, items=items, lake=lake, **SMALL)
    with pytest.raises(BudgetReached):
        judge_audit.audit(judge=stopped, items=items, lake=lake, max_calls=40, **SMALL)
    audit = judge_audit.audit(judge=ending, items=items, lake=lake, **SMALL)
    return audit, lake, [judge.shown for judge in (killed, stopped, ending)]


def test_a_killed_run_buys_nothing_twice_and_the_budget_counts_comparisons(told):
    _, lake, shown = told
    rows = Lake.open(lake).read("comparisons", is_control=False).to_pylist()
    bought = [row for row in rows if row["state"] != "inert"]
    assert shown[1] == 40
    assert len(bought) == sum(shown)
    assert {row["choice"] for row in bought} == {"left"}
    keys = {(row["left_probe"], row["right_probe"]) for row in bought}
    assert {(right, left) for left, right in keys} == keys
    assert {row["raw_reply"] for row in bought} == {"[[A > B]]"}


def test_it_is_named_first_and_orders_nothing(told):
    audit, *_ = told
    assert audit.position == "none"
    verdicts = {row["check"]: row for row in audit.verdicts.to_pylist() if row["verdict"] == "fail"}
    assert verdicts["position_bias"]["finding"] == "prefers_left"
    assert verdicts["scale"]["finding"] == "no_order"
    assert any("picture shown first (left)" in reason for reason in audit.document["comparisons"]["failed"])
    page = audit.report.read_text(encoding="utf-8")
    assert "it won 54 of 54 comparisons" in page
    assert "percentile" not in page.split("Fix this first")[0]


def test_what_needs_scores_is_not_asked_and_never_passes(told):
    audit, *_ = told
    rows = audit.verdicts.to_pylist()
    silent = {row["check"]: row["verdict"] for row in rows if row["finding"] == "not_asked"}
    assert {"jitter", "headroom", "review", "sight", "acceptance", "separation"} <= set(silent)
    assert set(silent.values()) == {"missing"}
    with audit.connect() as connection:
        assert connection.execute("SELECT count(*) FROM scores WHERE NOT is_control").fetchone() == (0,)
        (filtering,) = connection.execute("SELECT missing FROM standings WHERE use = 'filtering'").fetchone()
    assert any("no worst tenth" in text for text in filtering)


def test_the_controls_that_compare_prove_the_audit(told):
    audit, *_ = told
    with audit.connect() as connection:
        question = "SELECT kind, verdict FROM verdicts WHERE \"check\" = 'controls' AND measure = 'convicted'"
        found = dict(connection.execute(question).fetchall())
    assert set(found) == {"always left", "honest comparer", "saturation-chooser"}
    assert found["honest comparer"] == "pass"
    assert "fail" not in found.values()


def test_places_are_shared_where_nothing_is_told_apart(told):
    audit, *_ = told
    with audit.connect() as connection:
        ranks = connection.execute("SELECT DISTINCT place, strength FROM pairwise_ranks").fetchall()
        places = connection.execute(
            'SELECT kind, "left", "right", tie, left_share FROM comparisons_by_position WHERE kind = \'untouched\''
        ).fetchall()
    assert ranks == [(2.0, 0.0)]
    assert places == [("untouched", 54, 0, 0, 1.0)]


def test_the_document_is_plain_json(told):
    audit, *_ = told
    assert json.loads(json.dumps(audit.document["comparisons"]))["kinds"][0]["kind"] == "untouched"


class Broken:
    """Answers nothing."""

    identity = "broken"

    def compare(self, lefts, rights, prompts):
        raise RuntimeError("no such model")


def test_a_judge_that_fails_on_pair_after_pair_is_given_up_and_nothing_of_it_is_kept(items, tmp_path):
    with pytest.raises(UsageError, match="no such model"):
        judge_audit.audit(judge=Broken(), items=items, lake=tmp_path / "lake", **SMALL)
    assert not Lake.open(tmp_path / "lake").read("comparisons").num_rows


def test_a_comparing_judge_says_that_it_gives_no_score():
    judge = load_judge(AlwaysLeft())
    assert judge.card.compares
    with pytest.raises(UsageError, match="gives no score"):
        judge.score([])


def test_comparing_is_part_of_the_identity():
    told = {"kind": "callable", "name": "x", "target": "m:f"}
    assert card_of(told, "c").judge_id != card_of({**told, "compares": True}, "c").judge_id


@pytest.mark.parametrize(
    ("field", "value"),
    [("scale_low", 0), ("higher_is_better", False), ("dimensions", ["semantic", "aesthetic"])],
)
def test_a_card_that_compares_has_no_scale_direction_or_sub_scores(field, value):
    with pytest.raises(UsageError, match=field):
        card_of({"kind": "callable", "name": "x", "target": "m:f", "compares": True, field: value}, "c")


def test_a_kind_that_cannot_compare_says_so():
    @dataclass(frozen=True)
    class Scoring:
        card: Card

        def score(self, stimuli):
            return [Reply({"overall": 1.0}) for _ in stimuli]

    with pytest.raises(UsageError, match="onnx do not do"):
        mode_of(Scoring(Card(kind="onnx", name="x", compares=True)))


def test_the_gate_counts_its_comparisons_as_answers(told):
    audit, *_ = told
    suite = builtin_suites()["completeness"]
    with audit.connect() as connection:
        parts = {"candidate": audit.audit_id, "baseline": ""}
        found = [
            connection.execute(
                query, {name: value for name, value in parts.items() if f"${name}" in query}
            ).fetchall()
            for query in (suite.frame, suite.keys)
        ]
    frame, keys = found
    assert {row[:3] for row in frame} == set(keys)
    assert {row[4:] for row in frame} == {(0, 0)}
    assert {row[1] for row in frame} == {"original", "saturation+"}


def test_its_certificate_would_rest_on_the_comparisons(told):
    audit, lake, _ = told
    rows = evidence_tables(Lake.open(lake), Rests(audit.audit_id, "", "", ""))
    assert rows["comparisons"]().num_rows == len(
        Lake.open(lake).read("comparisons", is_control=False)["choice"].to_pylist()
    )
    assert rows["strengths"]().num_rows == 4 * 27
