"""Evidence made from a scoring rule: three sources, every item untouched, some with ladders."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from judge_audit.axes.axis import Axis
from judge_audit.checks import builtin_checks
from judge_audit.checks.evidence import Evidence, Findings
from judge_audit.judges.protocol import Recipe
from judge_audit.limits import read_limits

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


def make(
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
    **rest,
):
    """Score a corpus; `score(recipe)` gives a number, or None for a refusal.

    `labeller` is a control whose invented people label the items.
    `basis` says what the zone of a source's n-th item rests on.
    """
    rng = np.random.default_rng(seed)
    rows, zones = [], []

    def ask(source, item, axis, rung, strength, repeat, seen):
        recipe = Recipe(f"{seed}-{item}", source, axis, strength, seen, OVERDONE, repeat)
        value = score(recipe)
        state = "ok" if value is not None else "refused"
        rows.append(
            {"item_id": item, "source": source, "topic": "", "cluster": item, "axis": axis, "rung": rung}
            | {"strength": strength, "repeat": repeat, "dimension": "overall", "value": value, "state": state}
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
    columns = ("item_id", "axis", "perceptible_low", "perceptible_high", "objectionable", "basis")
    table = pa.table({name: [zone[at] for zone in zones] for at, name in enumerate(columns)})
    given = {name: _axis(name) for name in axes}
    responses = pa.Table.from_pylist(rows)
    if labeller is not None:
        untouched = [row for row in rows if row["axis"] == "original" and row["repeat"] == 0]
        named = [row | {"item_id": f"{seed}-{row['item_id']}"} for row in untouched]
        told = [row | {"item_id": row["item_id"].split("-", 1)[1]} for row in labeller.labels(named)]
        rest["labels"] = pa.Table.from_pylist(told)
    parts = {"audit_id": "x", "judge_id": "j", "is_control": False, "seed": 1, "limits": read_limits()} | rest
    return Evidence(card=card, responses=responses, zones=table, axes=given, **parts)


def examine(evidence):
    """Run every shipped check."""
    findings = Findings()
    for run in builtin_checks().values():
        findings += run(evidence)
    return findings


def verdicts(findings, check, axis="*", measure=None):
    """Give the verdict rows of a check and axis."""
    return [
        row
        for row in findings.verdicts
        if row["check"] == check and row.get("axis", "*") == axis and measure in (None, row["measure"])
    ]
