"""Which pairs of pictures a judge is shown, each in both orders.

Candidates of one prompt against each other; every rung of a ladder against its own original; the damaged member
of a pair against the intact one, where both were made for the same prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from judge_audit.core.digests import text_digest
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS
from judge_audit.measures.headroom import is_combined
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from judge_audit_schemas.rows import ItemsRow, MismatchesRow, ProbesRow

    Key = tuple[str, str, int]

UNTOUCHED, LADDERS, PAIRS = "untouched", "ladders", "pairs"
"""What a comparison is about: candidates of one prompt, a rung and its original, a deliberate mismatch."""

ALL_PAIRS = 8
"""Candidates of one prompt up to which every pair of them is compared."""

SPREAD = 4
"""Pairs per candidate in a larger group: with the next one in a drawn circle, and with three farther on."""

MOST_PAIRS = 1_000
"""Pairs of candidates that are compared at most; prompts are taken whole, in a drawn order."""

NO_PROMPT = text_digest("")[:12]
"""The prompt_id of items that came without a prompt: no candidates of one another."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One comparison in one order.

    Attributes:
        first: Probe of the member that the other is held against: a candidate, the original, the intact one.
        second: Probe of the other member.
        flipped: Whether the second is shown first (left).
        repeat: Which repeat this is.
        about: UNTOUCHED, LADDERS or PAIRS.
        group: The prompt, or the item or pair it is about.
    """

    first: ProbesRow
    second: ProbesRow
    flipped: bool
    repeat: int
    about: str
    group: str

    @property
    def left(self) -> ProbesRow:
        """Probe of the picture shown first."""
        return self.second if self.flipped else self.first

    @property
    def right(self) -> ProbesRow:
        """Probe of the picture shown second."""
        return self.first if self.flipped else self.second

    @property
    def key(self) -> Key:
        """What names it among all comparisons of a judge."""
        return str(self.left["probe_id"]), str(self.right["probe_id"]), self.repeat


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """All comparisons of an audit.

    Attributes:
        asked: The comparisons, both orders of a pair one after another.
        groups: Items of every prompt that is compared, by prompt_id.
        left_out: Prompts with several candidates that were left out, lest there be too many pairs.
    """

    asked: tuple[Asked, ...]
    groups: Mapping[str, tuple[str, ...]]
    left_out: int


def plan_comparisons(
    items: Sequence[ItemsRow],
    probes: Sequence[ProbesRow],
    mismatches: Sequence[MismatchesRow],
    *,
    repeats: int,
    seed: int,
    most_pairs: int = MOST_PAIRS,
) -> ComparisonPlan:
    """List what a judge is asked to compare; the same plan gives the same list.

    Args:
        items: Rows of `items`.
        probes: Rows of `probes`.
        mismatches: Rows of `mismatches`.
        repeats: How often each comparison is asked.
        seed: The audit's seed.
        most_pairs: Pairs of candidates at most.
    """
    untouched = {row["item_id"]: row for row in probes if row["axis"] == ORIGINAL and row["repeat"] == 0}
    pairs, groups, left_out = _candidates(items, untouched, seed, most_pairs)
    asked: list[Asked] = []
    for group, first, second in pairs:
        asked += _both_orders(first, second, repeats, UNTOUCHED, group)
    rungs = [row for row in probes if _is_rung(row) and row["item_id"] in untouched]
    for row in sorted(rungs, key=lambda entry: (entry["item_id"], entry["axis"], entry["rung"])):
        asked += _both_orders(untouched[row["item_id"]], row, repeats, LADDERS, row["item_id"])
    for name, intact, damaged in _damages(probes, mismatches, untouched):
        asked += _both_orders(intact, damaged, repeats, PAIRS, name)
    return ComparisonPlan(tuple(asked), groups, left_out)


def _is_rung(probe: ProbesRow) -> bool:
    """Tell whether a probe is a rung of a ladder, once whatever its repeats."""
    axis = str(probe["axis"])
    other = axis in {ORIGINAL, ANCHOR, *SIGHT} or axis.startswith(PAIR_AXIS) or is_combined(axis)
    return not other and probe["repeat"] == 0


def _both_orders(
    first: ProbesRow, second: ProbesRow, repeats: int, about: str, group: str
) -> Iterator[Asked]:
    """Ask one pair in both orders, as often as told; a picture is not held against itself."""
    if first["probe_id"] == second["probe_id"]:
        return
    for repeat in range(repeats):
        for flipped in (False, True):
            yield Asked(first, second, flipped, repeat, about, group)


def _candidates(
    items: Sequence[ItemsRow], untouched: Mapping[str, ProbesRow], seed: int, most: int
) -> tuple[list[tuple[str, ProbesRow, ProbesRow]], dict[str, tuple[str, ...]], int]:
    """Pair the candidates of every prompt, until there are enough pairs."""
    of_prompt: dict[str, list[str]] = {}
    for item in items:
        if item["item_id"] in untouched and item["prompt_id"] != NO_PROMPT:
            of_prompt.setdefault(str(item["prompt_id"]), []).append(str(item["item_id"]))
    several = {name: held for name, held in of_prompt.items() if len(held) > 1}
    found: list[tuple[str, ProbesRow, ProbesRow]] = []
    groups: dict[str, tuple[str, ...]] = {}
    for name in sorted(several, key=lambda entry: text_digest("prompts", str(seed), entry)):
        drawn = sorted(several[name], key=lambda entry: text_digest("candidates", str(seed), entry))
        pairs = design(len(drawn))
        if groups and len(found) + len(pairs) > most:
            continue
        groups[name] = tuple(sorted(drawn))
        for one, other in pairs:
            first, second = sorted((drawn[one], drawn[other]))
            found.append((name, untouched[first], untouched[second]))
    found.sort(key=lambda entry: (entry[1]["item_id"], entry[2]["item_id"]))
    return found, dict(sorted(groups.items())), len(several) - len(groups)


def design(count: int) -> list[tuple[int, int]]:
    """Choose which of some candidates are compared: all pairs, or a connected few of a large group.

    In a large group each is compared with the next in a circle, and with those a half, a quarter and an eighth
    of the way round: every two are then joined by a few steps.

    Args:
        count: How many candidates there are.

    Returns:
        Pairs of their numbers, the smaller first, sorted.
    """
    if count <= ALL_PAIRS:
        return list(combinations(range(count), 2))
    steps = [1, *(max(2, count // 2**power) for power in range(1, SPREAD))]
    made = {tuple(sorted((at, (at + step) % count))) for at in range(count) for step in steps}
    return sorted((one, other) for one, other in made)


def _damages(
    probes: Sequence[ProbesRow], mismatches: Sequence[MismatchesRow], untouched: Mapping[str, ProbesRow]
) -> Iterable[tuple[str, ProbesRow, ProbesRow]]:
    """Give the pairs whose members can be shown side by side: two pictures for one prompt."""
    held = {(row["item_id"], row["axis"], row["rung"]): row for row in probes if row["repeat"] == 0}
    for pair in sorted(mismatches, key=lambda row: str(row["pair_id"])):
        damaged = held.get((pair["damaged"], PAIR_AXIS + pair["kind"], pair["rung"]))
        intact = untouched.get(pair["intact"])
        if damaged is not None and intact is not None and damaged["prompt"] == intact["prompt"]:
            yield str(pair["pair_id"]), intact, damaged
