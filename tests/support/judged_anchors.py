"""Anchors, judges and a lake with two audits that scored them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from judge_audit.core.tables import from_rows
from judge_audit.decisions.judge_change import ANCHOR, SCORES, AnchorSet, Side

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TIERS = ("bad", "middling", "good")


def card(**parts):
    told = {"kind": "callable", "name": "ours", "version": "1", "target": "m:f", "weights": "sha256:a"}
    told |= {"prompt_template": "", "preprocessing": {"backend": "pillow", "resize": 224, "dtype": "float32"}}
    told |= {"decoding": {}, "parser_version": "1", "epoch": 0, "dimensions": ["overall"]}
    told |= {
        "higher_is_better": True,
        "scale_low": None,
        "scale_high": None,
        "scale_step": None,
        "pinned": True,
    }
    return {**told, **parts}


def anchor_set(n=60, version="1", prompts=6, **columns):
    """n anchors, the first third bad, the last third good; four anchors of each prompt."""
    rows = [
        {
            "anchor_id": f"anchor-{at:03}",
            "tier": TIERS[min(3 * at // n, 2)],
            "kind": "hidden structural error" if at % 6 == 5 else None,
            "source": "ab"[at % 2],
            "cluster": None,
            "prompt_id": f"prompt-{at % prompts}",
        }
        for at in range(n)
    ]
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return AnchorSet(version, pa.Table.from_pylist(rows))


def side(values, name="old", dimension="overall", **parts):
    """A judge with scores (n, repeats) of the first n anchors; NaN: no answer."""
    values = np.asarray(values, float)
    values = values[:, None] if values.ndim == 1 else values
    rows = [
        {
            "anchor_id": f"anchor-{at:03}",
            "dimension": dimension,
            "repeat": repeat,
            "value": None if np.isnan(value) else float(value),
            "state": "refused" if np.isnan(value) else "ok",
        }
        for (at, repeat), value in np.ndenumerate(values)
    ]
    settings = {"card": card(dimensions=[dimension]), **parts}
    return Side(name, scores=pa.Table.from_pylist(rows, schema=SCORES), name=name, **settings)


def commit_audit(lake, audit_id, judge_id, told, answers, plan="plan", *, verdicts=()):
    """Commit a judge, its audit, and its answers: item to list of values by repeat (None: refused)."""
    items = [{"plan_id": plan, "item_id": item, "source": "s", "cluster": item} for item in sorted(answers)]
    probes, calls, scores = [], [], []
    for item, values in sorted(answers.items()):
        for repeat, value in enumerate(values):
            key = {"probe_id": f"p-{item}", "repeat": repeat}
            axis = ANCHOR if item.startswith("anchor") else "original"
            probes.append({**key, "plan_id": plan, "item_id": item, "axis": axis, "rung": 0, "strength": 0.0})
            state = "ok" if value is not None else "refused"
            calls.append({**key, "judge_id": judge_id, "state": state, "called_at": NOON})
            if value is not None:
                row = {**key, "judge_id": judge_id, "dimension": "overall", "value": value, "state": state}
                scores.append(row)
    lake.commit({"items": from_rows("items", items), "probes": from_rows("probes", probes)})
    lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})
    row = {"judge_id": judge_id, "kind": "callable", "card": json.dumps(told)}
    lake.commit({"judges": from_rows("judges", [row])})
    label = {"judge_id": judge_id, "name": told["name"], "version": told["version"]}
    lake.commit({"judge_labels": from_rows("judge_labels", [label])})
    audit = {"audit_id": audit_id, "status": "complete", "judge_id": judge_id, "plan_id": plan, "seed": 3}
    audit |= {"started_at": NOON, "configuration": json.dumps({"limits": {"change.min_anchors": 10}})}
    lake.commit({"audits": from_rows("audits", [audit])})
    if verdicts:
        lake.commit({"verdicts": from_rows("verdicts", [{"audit_id": audit_id, **one} for one in verdicts])})
