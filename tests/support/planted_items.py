"""Evidence of two hundred items in two sources, scored evenly from 0 to 10."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from judge_audit.checks.evidence import Evidence
from judge_audit.core.limits import read_limits
from judge_audit.judges.cards.card import Card
from judge_audit.judges.instruments.covariates import COVARIATES


def evidence(traffic, *, seed=0, luma=None, is_control=False):
    scores = np.random.default_rng([seed, 9]).permutation(np.linspace(0.02, 9.98, 200))
    rows = [
        {"item_id": f"i{at:03}", "source": "ab"[at % 2], "topic": "", "cluster": f"i{at:03}"}
        | {"axis": "original", "rung": 0, "strength": 0.0, "repeat": 0}
        | {"dimension": "overall", "value": float(score), "state": "ok"}
        for at, score in enumerate(scores)
    ]
    columns = {"item_id": [row["item_id"] for row in rows]}
    known = {name: pa.nulls(200, pa.float64()) for name in COVARIATES}
    if luma is not None:
        known["luma"] = pa.array(luma)
    zones = {"item_id": [], "axis": [], "perceptible_low": [], "basis": []}
    return Evidence(
        audit_id="x",
        judge_id="j",
        is_control=is_control,
        card=Card(kind="k", name="n"),
        seed=1,
        responses=pa.Table.from_pylist(rows),
        zones=pa.table(zones),
        axes={},
        limits=read_limits(),
        covariates=pa.table(columns | known),
        traffic=traffic,
    )
