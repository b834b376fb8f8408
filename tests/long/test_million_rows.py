"""A million rows of scores: what a night costs in which nothing is new, and what checks and report cost.

Seconds are of the processor, of all threads together: on a quiet machine no more than that passes. The judge's own
time in the first night is that of the default judge, measured here picture by picture and taken once for each answer.
"""

from __future__ import annotations

import pytest
from big_lake import night_apart, pictures, rows, seconds_of_the_default_judge

pytestmark = pytest.mark.long

ITEMS, LADDERS = 5_000, 1_000


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("million") / "team"
    pictures(folder, ITEMS)
    first = night_apart(folder, LADDERS, new=True)
    return folder, first, night_apart(folder, LADDERS)


def test_there_are_a_million_rows(nights):
    folder, _, _ = nights
    assert rows(folder, LADDERS) >= 1_000_000


def test_a_night_with_nothing_new_takes_a_twentieth_of_the_first(nights):
    _, first, second = nights
    judge = first["calls"] * seconds_of_the_default_judge()
    whole, again = judge + sum(first["seconds"].values()), sum(second["seconds"].values())
    print(f"judge {judge:.0f} s, first night {whole:.0f} s, nothing new {again:.0f} s: {again / whole:.3f}")
    assert second["calls"] == 0
    assert again <= 0.05 * whole


@pytest.mark.parametrize("which", [1, 2])
def test_checks_and_report_take_under_a_minute_and_three_gibibytes(nights, which):
    told = nights[which]
    taken = told["seconds"]["check"] + told["seconds"]["report"]
    print(f"checks and report {taken:.1f} s, {told['peak']:.2f} GiB")
    assert taken < 60
    assert told["peak"] < 3


def test_checks_cost_at_most_in_proportion(nights, tmp_path):
    _, first, _ = nights
    pictures(tmp_path / "quarter", ITEMS // 4)
    quarter = night_apart(tmp_path / "quarter", LADDERS // 4, new=True)
    grown = {
        name: first["seconds"][name] / quarter["seconds"][name] for name in ("prepare", "check", "report")
    }
    print({name: round(value, 2) for name, value in grown.items()})
    assert max(grown.values()) <= 4.5
