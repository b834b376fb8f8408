"""Planted judges that compare, without pictures: qualities and recipes in, evidence out."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa

from judge_audit.checks.evidence import Evidence
from judge_audit.checks.pairwise.answers import heard
from judge_audit.core.limits import read_limits
from judge_audit.core.tables import empty
from judge_audit.judges.cards.card import Card
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.planning.comparisons import plan_comparisons

AXES = ("saturation+", "blur")
SEEN, OVERDONE = 0.3, 1.5
"""Where people first see a change, and where it is too much, in shares of the axis's overdone strength."""


DOSES = (0.05, 0.12, 0.25, 0.6, 1.0)
"""Rungs in the same shares: fewer than an audit climbs, so that many judges are asked quickly."""


@cache
def axes():
    whole = builtin_axes()
    return {
        name: replace(whole[name], strengths=tuple(dose * whole[name].overdone for dose in DOSES))
        for name in AXES
    }


def corpus(prompts=12, each=4, ladders=48):
    """List items with a hidden quality each, and their probes."""
    items, probes, qualities = [], [], {}
    rng = np.random.default_rng(11)
    for number in range(prompts * each):
        name, prompt = f"i{number:03}", f"p{number // each:02}"
        items.append(
            {"item_id": name, "source": f"s{number % 2}", "topic": "t", "prompt_id": prompt, "cluster": name}
        )
        qualities[name] = float(rng.normal())
        told = {"item_id": name, "repeat": 0, "prompt": prompt}
        probes.append({**told, "probe_id": name, "axis": "original", "rung": 0, "strength": 0.0})
        if number < ladders:
            probes += [
                {
                    **told,
                    "probe_id": f"{name} {axis.name} {rung}",
                    "axis": axis.name,
                    "rung": rung,
                    "strength": strength,
                }
                for axis in axes().values()
                for rung, strength in enumerate(axis.strengths, start=1)
            ]
    return items, probes, qualities


def honest_loss(probe):
    """Give what an honest judge takes off: nothing while nobody sees it, then ever more."""
    axis = axes().get(probe["axis"])
    if axis is None:
        return 0.0
    dose = probe["strength"] / axis.overdone
    return 0.0 if dose < SEEN else 1.5 * min(1.0, math.log(dose / SEEN) / math.log(1 / SEEN))


def saturated(probe):
    """Give the same with a liking for saturation that nobody can see."""
    liked = 2.0 * min(1.0, probe["strength"] / (SEEN * axes()["saturation+"].overdone))
    return honest_loss(probe) - (liked if probe["axis"] == "saturation+" else 0.0)


def by_quality(qualities, rng, loss=honest_loss, noise=0.15, tied=0.4, lean=0.0):
    """Make a judge that names the better of two; `lean` is what the left one gains for its place."""

    def prefer(left, right):
        values = [qualities[probe["item_id"]] - loss(probe) for probe in (left, right)]
        seen = values[0] - values[1] + lean + noise * rng.normal()
        return "tie" if abs(seen) < tied else "left" if seen > 0 else "right"

    return prefer


def coin(rng):
    return lambda left, right: "left" if rng.random() < 0.5 else "right"


def answered(prefer, items, probes, repeats=1, state=lambda asked: "ok", mismatches=()):
    """Ask a planted judge everything."""
    plan = plan_comparisons(items, probes, mismatches, repeats=repeats, seed=1)
    rows = {}
    for asked in plan.asked:
        became = state(asked)
        choice = prefer(asked.left, asked.right) if became == "ok" else None
        rows[asked.key] = {"choice": choice, "state": became}
    return plan, rows, heard(plan, rows, items)


def evidence(prefer, items, probes, **more):
    """Give what checks are handed; people have read every ladder."""
    _, _, told = answered(prefer, items, probes, **more)
    climbing = sorted({probe["item_id"] for probe in probes if probe["axis"] in axes()})
    zones = [
        {
            "item_id": name,
            "axis": axis.name,
            "perceptible_low": SEEN * axis.overdone,
            "perceptible_high": SEEN * axis.overdone * 1.2,
            "objectionable": axis.overdone,
            "basis": "readings",
        }
        for name in climbing
        for axis in axes().values()
    ]
    return Evidence(
        audit_id="a",
        judge_id="j",
        is_control=False,
        card=Card(kind="callable", name="planted", compares=True),
        seed=1,
        responses=told.responses,
        zones=pa.Table.from_pylist(zones) if zones else empty("zones"),
        axes=axes(),
        limits=read_limits({}),
        compared=told.compared,
    )
