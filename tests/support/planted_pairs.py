"""Evidence made of sub-scores with a known answer to each kind of damage."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from judge_audit.checks.evidence import Evidence
from judge_audit.core.limits import read_limits
from judge_audit.judges.cards.card import Card
from judge_audit.stimuli.mismatches import mismatch_kinds

DIMENSIONS = ("semantic", "structure", "aesthetic", "compliance")
OWN = {name: kind.damages for name, kind in mismatch_kinds().items()}
FREE = {("poor_quality", "structure"), ("structural_error", "aesthetic")}


def sound(kind, severity, rng):
    """Each falls on its own damage; free cells follow a little."""
    del rng
    return {d: severity * ((OWN[kind] == d) + 0.25 * ((kind, d) in FREE)) for d in DIMENSIONS}


def halo(share):
    """Every other sub-score moves `share` times as far as the damaged one."""
    return lambda kind, severity, rng: {d: severity * (1.0 if OWN[kind] == d else share) for d in DIMENSIONS}


def deaf(name):
    """One sub-score answers nothing of its own."""

    def answer(kind, severity, rng):
        return sound(kind, severity, rng) | ({name: 0.0} if OWN[kind] == name else {})

    return answer


def make(  # noqa: C901 - one corpus, told in order
    answer,
    *,
    pairs=15,
    n=40,
    sources=("a", "b", "c"),
    seed=0,
    style="continuous",
    origins=(False,),
    kinds=tuple(OWN),
    dimensions=DIMENSIONS,
    refuse=lambda item, axis, dimension: False,
    shared=0.6,
    repeats=1,
    copies=False,
    order=None,
    transform=lambda value: value,
    **rest,
):
    """Score pairs; `answer(kind, severity, rng)` gives what each sub-score loses, in SDs of the untouched.

    Styles: continuous (no noise), integer (rounded to half SDs), stochastic (retest noise of .3 SD).
    """
    rng = np.random.default_rng(seed)
    rows, table = [], []
    items = [(source, f"{source}{index:03d}") for source in sources for index in range(n)]
    quality = {}
    for _, item in items:
        common = rng.normal()
        quality[item] = {
            d: shared * common + np.sqrt(1 - shared**2) * rng.normal() for d in (*DIMENSIONS, "overall")
        }
        if copies:
            quality[item] = dict.fromkeys(quality[item], common)

    def ask(source, item, axis, rung, losses):
        for repeat in range(repeats):
            noise = rng.normal(size=5) * (0.3 if style == "stochastic" else 0.0)
            if copies:
                noise[:] = noise[0]
            for at, dimension in enumerate(dimensions):
                value = quality[item][dimension] - losses.get(dimension, 0.0) + noise[at]
                value = np.round(2 * value) / 2 if style == "integer" else value
                gone = refuse(item, axis, dimension)
                rows.append(
                    {"item_id": item, "source": source, "topic": "", "cluster": item, "axis": axis}
                    | {"rung": rung, "strength": 0.0, "repeat": repeat, "dimension": dimension}
                    | {"value": None if gone else float(transform(value))}
                    | {"state": "refused" if gone else "ok"}
                )

    for source, item in items:
        ask(source, item, "original", 0, {})
    for constructed in origins:
        for kind in kinds:
            for at in rng.permutation(len(items))[:pairs]:
                source, item = items[at]
                severity = float(rng.lognormal(np.log(2.5), 0.25))
                losses = {d: loss + 0.15 * rng.normal() for d, loss in answer(kind, severity, rng).items()}
                if copies:
                    losses = dict.fromkeys(losses, losses[OWN[kind]])
                losses["overall"] = float(np.mean(list(losses.values())))
                rung = 1 + int(constructed)
                ask(source, item, f"pair:{kind}", rung, losses)
                table.append(
                    {"pair_id": f"{kind}-{item}-{rung}", "kind": kind, "source": source, "cluster": item}
                    | {"constructed": constructed, "intact": item, "damaged": item, "rung": rung}
                )
    if order is not None:
        turn = np.random.default_rng(order)
        rows = [rows[at] for at in turn.permutation(len(rows))]
        table = [table[at] for at in turn.permutation(len(table))]
    step = 0.5 if style == "integer" else None
    card = rest.pop("card", None) or Card(kind="t", name="t", dimensions=tuple(dimensions), scale_step=step)
    parts = {"audit_id": "x", "judge_id": "j", "is_control": False, "seed": 1, "axes": {}}
    parts |= {"limits": read_limits(), "pairs": pa.Table.from_pylist(table)} | rest
    zones = pa.table({"item_id": pa.array([], pa.string()), "axis": pa.array([], pa.string())})
    return Evidence(card=card, responses=pa.Table.from_pylist(rows), zones=zones, **parts)
