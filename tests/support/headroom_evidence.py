"""Evidence of judges that a hidden mix of axes pushes."""

from __future__ import annotations

import dataclasses
import itertools

import pyarrow as pa
from planted_evidence import make

from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card import Card
from judge_audit.measures.headroom import Named, combo_axis

AXES = ("saturation+", "brightness-", "contrast+", "blur")


MIXED = ("saturation+", "contrast+", "brightness-")


CARD = Card(kind="k", name="n")


def draw(*words):
    return (int(text_digest(*words), 16) + 0.5) / 16**32


def evidence(
    push, *, seed=0, shake=0.0, chosen=True, repeats=1, laddered=30, refuse=lambda item, axes: False
):
    """Untouched items, ladders and every pair of axes; `push(shares)` is what seen shares of axes add.

    With `chosen`, also the three best axes of each half together, as a greedy search would find them.
    """

    def score(item, axes, share, repeat):
        moved = push(dict.fromkeys(axes, share)) if axes else 0.0
        noise = shake * (draw("shake", item, *axes, f"{share:.3f}", str(repeat), str(seed)) - 0.5)
        return draw("quality", item, str(seed)) + moved + (noise if axes or repeat else 0.0)

    def of_recipe(recipe):
        axes = () if recipe.axis == "original" else (recipe.axis,)
        seen = 0.0 if recipe.perceptible is None else min(1.0, recipe.strength / recipe.perceptible)
        return score(recipe.item_id, axes, seen, recipe.repeat)

    plain = make(of_recipe, CARD, axes=AXES, laddered=laddered, sources=("a", "b"))
    named = [Named(pair) for pair in itertools.combinations(AXES, 2)]
    named += [Named(MIXED, half) for half in (0, 1)] if chosen else []
    rows = plain.responses.to_pylist()
    carrying = sorted({(row["source"], row["item_id"]) for row in rows if row["axis"] == "blur"})
    if repeats > 1:
        rows += [
            row | {"repeat": 1, "value": row["value"] + shake * (draw(row["axis"], str(at)) - 0.5)}
            for at, row in enumerate(rows)
            if row["repeat"] == 0 and row["axis"] != "original"
        ]
    for recipe in named:
        for source, item in carrying:
            for repeat in range(repeats):
                name = f"{seed}-{item}"
                gone = refuse(item, recipe.axes)
                rows.append(
                    {"item_id": item, "source": source, "topic": "", "cluster": item, "rung": 1}
                    | {"axis": combo_axis(recipe), "strength": 1.0, "repeat": repeat}
                    | {"value": None if gone else score(name, recipe.axes, recipe.share, repeat)}
                    | {"dimension": "overall", "state": "refused" if gone else "ok"}
                )
    return dataclasses.replace(plain, responses=pa.Table.from_pylist(rows), _cache={})


def mixed(shares):
    """Nothing on a single axis; much where three point the same way."""
    held = [shares.get(axis, 0.0) for axis in MIXED]
    return 0.6 * max(0.0, sum(held) - 1.05)


def nothing(shares):
    return 0.0
