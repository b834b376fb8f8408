"""Drawing items for people to review: both ends of the judge's order, its decisions, and pairs around optimisation.

Each stratum is drawn from at random without replacement, and the probability of every draw is recorded. Decisions fall
into strata that cover all of them: appealed (all are drawn), close to the boundary, and beyond it; the same number is
drawn from either, so that the boundary, which holds fewer, is drawn from more densely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import draw_seed, text_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

QUEUES = ("top", "bottom", "boundary", "beyond", "appeal", "before", "after")


@dataclass(frozen=True, slots=True)
class Draw:
    """An item drawn for a queue.

    Attributes:
        queue: The queue.
        stratum: What it was drawn from.
        item_id: The item.
        decision_id: The decision it was drawn by, "" if none.
        partner: The other member of its pair, "" if none.
        inclusion: Probability with which it was drawn.
        stratum_size: How many the stratum held.
    """

    queue: str
    stratum: str
    item_id: str
    decision_id: str = ""
    partner: str = ""
    inclusion: float = 1.0
    stratum_size: float = 1.0


def draw_order(
    scored: Mapping[str, tuple[str, float]], *, quantile: float, each: int, seed: int
) -> list[Draw]:
    """Draw from the top and the bottom quantile of each source; the middle takes no part.

    Where scores tie across the edge of a quantile, a draw decides who is inside, as it would if one cut there.

    Args:
        scored: Source and oriented score of each item.
        quantile: Share of a source at each end, at most ½.
        each: How many to draw from each end of each source.
        seed: Seed.
    """
    by_source: dict[str, list[str]] = {}
    for item, (source, _) in scored.items():
        by_source.setdefault(source, []).append(item)
    draws = []
    for source, items in sorted(by_source.items()):
        ordered = sorted(items, key=lambda item: (scored[item][1], text_digest(str(seed), "tie", item)))
        count = min(max(1, math.ceil(quantile * len(ordered))), len(ordered) // 2)
        for queue, end in (("top", ordered[len(ordered) - count :]), ("bottom", ordered[:count])):
            units = [Draw(queue, f"{queue} / {source}", item) for item in sorted(end)]
            draws += _from(units, each, seed)
    return draws


def draw_decisions(
    decisions: Sequence[Row], appealed: frozenset[str], *, boundary: float, each: int, seed: int
) -> list[Draw]:
    """Draw from all decisions, densely at the boundary, and every one that was appealed against.

    Args:
        decisions: Mappings with decision_id, item_id, decision, source and value (oriented; None if unknown).
        appealed: Ids of decisions that somebody appealed against.
        boundary: Share of the accepted, and of the rejected, of a source that counts as close to the boundary.
        each: How many to draw from each stratum.
        seed: Seed.
    """
    sides: dict[tuple[str, str], list[Row]] = {}
    strata: dict[tuple[str, str], list[Draw]] = {}
    for row in decisions:
        if row["decision_id"] in appealed:
            _put(strata, "appeal", row)
        else:
            sides.setdefault((row["source"], row["decision"]), []).append(row)
    for (_, decision), rows in sides.items():
        known = sorted(
            (row for row in rows if row["value"] is not None),
            key=lambda row: (row["value"], row["decision_id"]),
            reverse=decision == "reject",
        )
        close = {row["decision_id"] for row in known[: math.ceil(boundary * len(known))]}
        for row in rows:
            _put(strata, "boundary" if row["decision_id"] in close else "beyond", row)
    draws = []
    for (queue, _), units in sorted(strata.items()):
        ordered = sorted(units, key=lambda unit: unit.decision_id)
        draws += _from(ordered, len(ordered) if queue == "appeal" else each, seed)
    return draws


def _put(strata: dict[tuple[str, str], list[Draw]], queue: str, row: Row) -> None:
    name = f"{queue} / {row['decision']} / {row['source']}"
    strata.setdefault((queue, name), []).append(Draw(queue, name, row["item_id"], row["decision_id"]))


def draw_pairs(
    prompts: Mapping[str, tuple[str, str]], *, before: str, after: str, each: int, seed: int
) -> list[Draw]:
    """Draw pairs of items of the same prompt, one of the source before optimisation and one of that after.

    Args:
        prompts: Source and prompt_id of each item.
        before: The source before.
        after: The source after.
        each: How many pairs to draw.
        seed: Seed.
    """
    by_prompt: dict[str, dict[str, list[str]]] = {}
    for item, (source, prompt) in sorted(prompts.items()):
        if prompt and source in {before, after}:
            by_prompt.setdefault(prompt, {before: [], after: []})[source].append(item)
    couples = [
        couple for parts in by_prompt.values() for couple in zip(parts[before], parts[after], strict=False)
    ]
    units = [Draw("before", f"before / {before}", first, "", second) for first, second in sorted(couples)]
    draws = []
    for unit in _from(units, each, seed):
        chance = {"inclusion": unit.inclusion, "stratum_size": unit.stratum_size}
        draws += [unit, Draw("after", f"after / {after}", unit.partner, "", unit.item_id, **chance)]
    return draws


def _from(units: Sequence[Draw], each: int, seed: int) -> list[Draw]:
    """Draw some units of one stratum, each with the same probability."""
    if not units:
        return []
    rng = np.random.default_rng(draw_seed(seed, "review", units[0].stratum))
    count = min(each, len(units))
    chosen = sorted(rng.choice(len(units), count, replace=False).tolist())
    chance = {"inclusion": count / len(units), "stratum_size": float(len(units))}
    return [
        Draw(unit.queue, unit.stratum, unit.item_id, unit.decision_id, unit.partner, **chance)
        for unit in (units[at] for at in chosen)
    ]
