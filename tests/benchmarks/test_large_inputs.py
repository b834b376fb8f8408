"""Large inputs cost what their size asks for: four times as much may cost six times as much, never sixteen."""

from __future__ import annotations

import numpy as np
import pytest
from labelled_evidence import rated, table
from planted_evidence import examine, make
from seconds import seconds
from table_files import CARD, card_of, labels, lake_of, write_csv

from judge_audit.checks.people.judge_and_raters import run
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.judges.controls import builtin_controls
from judge_audit.judges.reply_parser import read_reply

GROWTH = 6.0
"""What four times the rows may cost; a quadratic step would cost 16."""


def growth(work, small):
    """Cost of four times as much, as a multiple of the smaller work, which is long enough to be timed."""
    return seconds(lambda: work(4 * small)) / seconds(lambda: work(small))


@pytest.mark.parametrize("text", ["a" + " ", "Score", "a (", '{"a":', "`", "is "])
def test_a_reply_four_times_as_long_takes_no_sixteen_times_as_long(text):
    from judge_audit.judges.cards.reply_rules import ReplyRule

    rule = ReplyRule(dimensions=("overall", "semantic"), low=0.0, high=10.0)

    def read(length):
        for _ in range(20):
            read_reply((text * length)[:length], rule)

    assert growth(read, 4_700) < GROWTH


def test_checks_of_four_times_the_responses_cost_no_sixteen_times_as_much():
    control = next(one for one in builtin_controls("zones", 7) if one.card.name == "honest")

    def ask(items):
        evidence = make(
            lambda recipe: control.score_probes([], [recipe])[0].scores,
            control.card,
            is_control=True,
            labeller=control,
            n=items,
            laddered=items // 8,
        )
        examine(evidence)

    assert growth(ask, 150) < GROWTH


def test_four_times_the_items_beside_raters_cost_no_sixteen_times_as_much():
    def ask(items):
        rng = np.random.default_rng(0)
        quality = rng.normal(size=items)
        scores = np.clip(np.round(5 + 2 * quality + rng.normal(size=items)), 0, 10)
        sources = [f"s{at % 24:02d}" for at in range(items)]
        run(table({"overall": scores}, {"overall": rated(quality, 2, 0.8, rng)}, sources=sources))

    assert growth(ask, 5_000) < GROWTH


@pytest.mark.parametrize("kind", ["labels", "scores"])
def test_four_times_the_rows_of_an_import_cost_no_sixteen_times_as_much(kind, tmp_path):
    made = iter(range(1_000))

    def take(rows):
        folder = tmp_path / str(next(made))
        folder.mkdir()
        if kind == "labels":
            lines = [f"i{n // 4},s,r{n % 4},{n % 5 + 1}" for n in range(rows)]
            path = write_csv(folder / "big.csv", "item_id,source,annotator_id,value", lines)
            assert labels(lake_of(folder), path, low=1, high=5).rows == rows
        else:
            lines = [f"i{n},s{n % 7},{n % 11}" for n in range(rows)]
            path = write_csv(folder / "big.csv", "item_id,source,value", lines)
            done = import_file(
                lake_of(folder), "scores", path, card=card_of(folder, CARD), options={}, skip_bad=False
            )
            assert done.rows == rows

    assert seconds(lambda: take(40_000), runs=1) < GROWTH * seconds(lambda: take(10_000), runs=1)
