"""Evidence made from a scoring rule: three sources, every item untouched, some with ladders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from judge_audit.checks import builtin_checks
from judge_audit.checks.evidence import Evidence, Findings
from judge_audit.core.limits import read_limits
from judge_audit.judges.protocol import Recipe
from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.mismatches import mismatch_kinds

KINDS = mismatch_kinds()

NAMES = (
    "saturation+",
    "saturation-",
    "brightness+",
    "brightness-",
    "contrast+",
    "contrast-",
    "sharpen",
    "blur",
)
STRENGTHS = tuple(float(x) for x in 0.02 * 1.65 ** np.arange(10))
OVERDONE = 1.0


def _axis(name):
    return Axis(name, "u", "d", STRENGTHS, OVERDONE, "tone", None, True, 1, lambda image, *_: image)


def make(  # noqa: C901 - one corpus, told in order
    score,
    card,
    *,
    basis=lambda index: "models",
    seed=0,
    sources=("a", "b", "c"),
    n=100,
    laddered=16,
    axes=NAMES,
    labeller=None,
    pairs=0,
    combos=(),
    **rest,
):
    """Score a corpus; `score(recipe)` gives a number, or None for a refusal.

    `labeller` is a control whose invented people label the items.
    `basis` says what the zone of a source's n-th item rests on.
    `pairs` says how many constructed pairs of each kind a source has, `combos` which axes are combined, unseen.
    A score may also be a mapping of sub-scores.
    """
    rng = np.random.default_rng(seed)
    rows, zones = [], []

    def ask(source, item, axis, rung, strength, repeat, seen):
        recipe = Recipe(f"{seed}-{item}", source, axis, strength, seen, OVERDONE, repeat)
        told = KINDS[axis.removeprefix("pair:")].expectations if axis.startswith("pair:") else {}
        given = score(replace(recipe, expectations=told, first_source=source == min(sources)))
        for dimension, value in (given if isinstance(given, dict) else {"overall": given}).items():
            state = "ok" if value is not None else "refused"
            rows.append(
                {"item_id": item, "source": source, "topic": "", "cluster": item, "axis": axis, "rung": rung}
                | {"strength": strength, "repeat": repeat, "dimension": dimension}
                | {"value": value, "state": state}
            )

    for source in sources:
        for index in range(n):
            item = f"{source}{index:03d}"
            climbs = index < laddered
            for repeat in range(2 if climbs else 1):
                ask(source, item, "original", 0, 0.0, repeat, None)
            for axis in axes if climbs else ():
                low = float(0.15 * rng.lognormal(0, 0.2))
                zones.append((item, axis, low, 1.4 * low, OVERDONE, basis(index)))
                for rung, strength in enumerate(STRENGTHS, 1):
                    ask(source, item, axis, rung, strength, 0, low)
            for axis in combos if climbs else ():
                ask(source, item, axis, 1, 1.0, 0, None)
            for kind in KINDS if index < pairs else ():
                ask(source, item, f"pair:{kind}", 1, 1.0, 0, None)
    columns = ("item_id", "axis", "perceptible_low", "perceptible_high", "objectionable", "basis")
    table = pa.table({name: [zone[at] for zone in zones] for at, name in enumerate(columns)})
    given = {name: _axis(name) for name in axes}
    responses = pa.Table.from_pylist(rows)
    if labeller is not None:
        untouched = [row for row in rows if row["axis"] == "original" and row["repeat"] == 0]
        named = [row | {"item_id": f"{seed}-{row['item_id']}"} for row in untouched]
        told = [row | {"item_id": row["item_id"].split("-", 1)[1]} for row in labeller.labels(named)]
        rest["labels"] = pa.Table.from_pylist(told)
    if pairs:
        rest["pairs"] = _pairs([f"{source}{index:03d}" for source in sources for index in range(pairs)])
    parts = {"audit_id": "x", "judge_id": "j", "is_control": False, "seed": 1, "limits": read_limits()} | rest
    return Evidence(card=card, responses=responses, zones=table, axes=given, **parts)


def _pairs(items):
    """Give each item a constructed pair of every kind."""
    return pa.Table.from_pylist(
        [
            {"pair_id": f"{kind}-{item}", "kind": kind, "source": item[0], "cluster": item}
            | {"constructed": True, "intact": item, "damaged": item, "rung": 1}
            for item in items
            for kind in KINDS
        ]
    )


def examine(evidence):
    """Run every shipped check."""
    findings = Findings()
    for check in builtin_checks().values():
        findings += check.ask(evidence)
    return findings


def verdicts(findings, check, axis="*", measure=None):
    """Give the verdict rows of a check and axis."""
    return [
        row
        for row in findings.verdicts
        if row["check"] == check and row.get("axis", "*") == axis and measure in (None, row["measure"])
    ]
