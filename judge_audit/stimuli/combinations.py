"""Combined probes: several changes that nobody sees, laid over one another on one picture.

Two rounds. *Soundings* are planned with the zones and know no score: every pair of axes, on a few items of
each half of the clusters. What is *chosen* by a judge's own scores on one half (see
`checks.ladders.headroom`) is then planned for all ladder items. Each round is a plan of its own in the table
`probes`, named by what it rests on, so that a killed audit finds it again.

Each axis stands at 1/√k of the item's last imperceptible rung: visibilities add in quadrature (an assumption),
so the whole stays below the visible point. Axes that keep to a part of the picture take no part.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.measures.headroom import Named, combo_axis, half_of
from judge_audit.stimuli.axes.axis import strength_text
from judge_audit.stimuli.planning.probes import choose_ladder_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import ItemsRow, ProbesRow, ZonesRow

    from judge_audit.stimuli.axes.axis import Axis, Pixels
    from judge_audit.stimuli.axes.image_buffers import Scratch


VERSION = 1
"""Raised whenever the same zones and scores would give other combined probes."""

SOUNDED_SHARE = 0.10
"""Soundings may cost this share of what the ladders ask; with at most four chosen recipes on every ladder item
(some nine axes have 90 rungs) combined probes stay below 15 % of an audit."""

SOUNDED_LEAST = 8
"""Items on which every pair is sounded at the least, half of them in each half."""

ORDER = ("tone", "blur", None, "noise", "jpeg")
"""Kinds of change in the order they are laid over one another: as a picture is made, noise and storage last."""


@dataclass(frozen=True, slots=True)
class Dose:
    """One axis of a recipe, with its strength on one item."""

    axis: str
    strength: float
    recipe_version: int


@dataclass(frozen=True, slots=True)
class Visible:
    """Where an item's ladder turns visible.

    Attributes:
        unseen: The strongest rung that nobody sees.
        point: The smaller visible point; the strongest rung if nobody ever notices.
    """

    unseen: float
    point: float


def soundings_id(plan_id: str, zones_id: str) -> str:
    """Name the plan of the soundings of an audit's plan under its zones."""
    return text_digest("soundings", str(VERSION), plan_id, zones_id)


def chosen_id(plan_id: str, zones_id: str, judge_id: str) -> str:
    """Name the plan of what a judge's scores chose."""
    return text_digest("chosen", str(VERSION), plan_id, zones_id, judge_id)


def combinable(axes: Mapping[str, Axis]) -> list[str]:
    """Name the axes that can be combined, in the order they are laid over one another."""
    whole = [axis for axis in axes.values() if not axis.local]
    ordered = sorted(whole, key=lambda axis: (ORDER.index(axis.visibility), axis.name))
    return [axis.name for axis in ordered]


def compatible(axes: Iterable[str]) -> bool:
    """Tell whether no two axes turn one knob in opposite directions."""
    knobs = [axis.rstrip("+-") for axis in axes]
    return len(set(knobs)) == len(knobs)


def visible_points(zones: Iterable[ZonesRow], axes: Mapping[str, Axis]) -> dict[tuple[str, str], Visible]:
    """Give by item and axis where a ladder turns visible.

    Left out are axes that cannot be combined, items nobody can say it of, and those whose first rung is seen.
    """
    allowed = set(combinable(axes))
    found = {}
    for row in zones:
        low = row["perceptible_low"]
        if low is None or row["axis"] not in allowed:
            continue
        strengths = axes[row["axis"]].strengths
        unseen = [strength for strength in strengths if strength < low]
        if unseen:
            found[row["item_id"], row["axis"]] = Visible(unseen[-1], min(low, strengths[-1]))
    return found


def sounded_items(items: Sequence[ItemsRow], pairs: int, rungs: int, seed: int) -> list[str]:
    """Draw the ladder items on which every pair is sounded, evenly over halves and sources.

    Args:
        items: The ladder items: item_id, source and cluster.
        pairs: How many pairs there are.
        rungs: Rungs of all ladders of one item.
        seed: The audit's seed.
    """
    count = max(SOUNDED_LEAST, int(SOUNDED_SHARE * len(items) * rungs / max(1, pairs)))
    halves = [[row for row in items if half_of(row["cluster"], seed) == half] for half in (0, 1)]
    return sorted(item for rows in halves for item in choose_ladder_items(rows, count // 2, seed))


def soundings(
    items: Sequence[ItemsRow], zones: Sequence[ZonesRow], axes: Mapping[str, Axis], *, repeats: int, seed: int
) -> list[ProbesRow]:
    """Plan every pair of axes on a few items; no score is looked at.

    Args:
        items: The ladder items, rows of `items`.
        zones: Rows of `zones`.
        axes: The axes climbed.
        repeats: How often each probe is asked.
        seed: The audit's seed.

    Returns:
        Rows of `probes` without plan_id.
    """
    visible = visible_points(zones, axes)
    zoned = [axis for axis in combinable(axes) if any(name == axis for _, name in visible)]
    pairs = [Named(pair) for pair in combinations(zoned, 2) if compatible(pair)]
    drawn = set(sounded_items(items, len(pairs), sum(len(axis.strengths) for axis in axes.values()), seed))
    return combined_rows([row for row in items if row["item_id"] in drawn], pairs, visible, axes, repeats)


CHOSEN_MOST = 4
"""Recipes that a judge's scores may choose: a pair and a larger combination on each half."""


def combined_rows(
    items: Sequence[ItemsRow],
    recipes: Sequence[Named],
    visible: Mapping[tuple[str, str], Visible],
    axes: Mapping[str, Axis],
    repeats: int,
) -> list[ProbesRow]:
    """Write the probes of recipes on items; an item without zones on an axis of a recipe is left out of it.

    Returns:
        Rows of `probes` without plan_id. The id is made of the picture, every axis with its strength and
        version, and the prompt: not of who chose the recipe, so nothing is bought twice.
    """
    found: list[ProbesRow] = []
    for item in items:
        for recipe in recipes:
            points = [visible.get((item["item_id"], axis)) for axis in recipe.axes]
            known = [point for point in points if point is not None]
            if len(known) < len(points):
                continue
            doses = [
                Dose(axis, float(strength_text(recipe.share * point.unseen)), axes[axis].recipe_version)
                for axis, point in zip(recipe.axes, known, strict=True)
            ]
            text = recipe_text(doses)
            joint = math.sqrt(
                sum((dose.strength / at.point) ** 2 for dose, at in zip(doses, known, strict=True))
            )
            row: ProbesRow = {
                "probe_id": text_digest(str(item["pixel_digest"]), "combined", text, item["prompt"]),
                "item_id": item["item_id"],
                "axis": combo_axis(recipe),
                "rung": 1,
                "strength": float(strength_text(joint)),
                "recipe_version": VERSION,
                "prompt": item["prompt"],
                "region": None,
                "recipe": text,
            }
            found += [{**row, "repeat": repeat} for repeat in range(repeats)]
    return found


def recipe_text(doses: Iterable[Dose]) -> str:
    """Write a recipe as the table holds it."""
    return canonical_json([[dose.axis, dose.strength, dose.recipe_version] for dose in doses])


def read_recipe(text: str) -> tuple[Dose, ...]:
    """Read a recipe as the table holds it."""
    return tuple(
        Dose(str(axis), float(strength), int(version)) for axis, strength, version in json.loads(text)
    )


def draw_combined(
    image: Pixels, doses: Sequence[Dose], axes: Mapping[str, Axis], scratch: Scratch, further: Scratch
) -> Pixels:
    """Lay the changes of a recipe over one another, in its order.

    Args:
        image: 8-bit sRGB, shape (height, width, 3).
        doses: The recipe.
        axes: The axes by name.
        scratch: Working memory that knows the picture.
        further: Working memory of its own for every change after the first, so that what is kept of the picture
            itself stays.
    """
    drawn = image
    for place, dose in enumerate(doses):
        memory = further if place else scratch
        if place:
            memory.begin(drawn)
        drawn = axes[dose.axis].draw(drawn, dose.strength, memory)
    return drawn
