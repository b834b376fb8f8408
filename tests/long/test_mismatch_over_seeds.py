"""Halo, copies, deaf and sound judges over seeds, held to 19 of 20.

15 pairs of each kind, 100 untouched items a source.
"""

from __future__ import annotations

import pytest
from planted_pairs import DIMENSIONS, deaf, halo, make, sound

from judge_audit.checks.mismatches.mismatch import run

pytestmark = pytest.mark.long

SEEDS = 20
STYLES = ("continuous", "integer", "stochastic")


def faults(answer, seed, style, **rest):
    found = run(make(answer, seed=seed, style=style, n=100, **rest))
    rows = {(row.get("dimension", "*"), row["finding"]) for row in found.verdicts if row["verdict"] == "fail"}
    (n_eff,) = [row["value"] for row in found.measures if row["measure"] == "n_eff"]
    return rows, n_eff


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_a_sound_judge_and_a_mild_halo_are_convicted_of_nothing(style, share):
    answer = halo(share) if share else sound
    found = [faults(answer, seed, style) for seed in range(SEEDS)]
    wrong = [rows for rows, _ in found if rows]
    print(f"halo {share}, {style}: {len(wrong)} of {SEEDS} convicted; n_eff {_mean(found):.2f}; {wrong}")
    assert len(wrong) <= 1
    assert _mean(found) > 3.4


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("share", [0.5, 0.75])
def test_a_halo_of_a_half_or_more_is_convicted_with_fifteen_pairs_a_kind(style, share):
    found = [faults(halo(share), seed, style) for seed in range(SEEDS)]
    caught = sum(any(finding == "halo" for _, finding in rows) for rows, _ in found)
    copies = sum(("*", "copies") in rows for rows, _ in found)
    each = sum(finding == "halo" for rows, _ in found for _, finding in rows) / SEEDS
    print(f"halo {share}, {style}: {caught} halo, {copies} copies; {each:.1f} of 4; n_eff {_mean(found):.2f}")
    assert caught >= SEEDS - 1


@pytest.mark.parametrize("style", STYLES)
def test_copies_are_called_copies(style):
    found = [faults(halo(1.0), seed, style, copies=True) for seed in range(SEEDS)]
    apart = [faults(halo(1.0), seed, style) for seed in range(SEEDS)]
    print(f"copies, {style}: n_eff {_mean(found):.2f}; with own noise {_mean(apart):.2f}")
    assert sum(("*", "copies") in rows for rows, _ in found) >= SEEDS - 1
    assert sum(("*", "copies") in rows for rows, _ in apart) >= SEEDS - 1
    assert _mean(found) == pytest.approx(1.0)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", DIMENSIONS)
def test_a_deaf_dimension_is_convicted_and_no_other(name, style):
    more = {"pairs": 40, "repeats": 2} if style == "stochastic" else {"pairs": 24}
    found = [faults(deaf(name), seed, style, **more) for seed in range(SEEDS)]
    exact = sum(rows == {(name, "deaf")} for rows, _ in found)
    print(f"deaf {name}, {style}: {exact} of {SEEDS} exactly")
    assert exact >= SEEDS - 1


def _mean(found):
    return sum(value for _, value in found) / len(found)
