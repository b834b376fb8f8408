"""Evidence made of a table: scores beside labels, no picture and no ladder."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from judge_audit.checks.evidence import Evidence
from judge_audit.core.limits import read_limits
from judge_audit.judges.cards.card import Card

SCALE = {"scale_low": 0.0, "scale_high": 10.0}


def table(scores, ratings, *, sources=None, clusters=None, prompts=None, card=None, ends=(1.0, 5.0), **rest):
    """Put scores beside labels.

    `scores` and `ratings` map dimensions to arrays: (n,) or (n, repeats), and (n, raters); NaN is missing.
    """
    n = len(next(iter(scores.values())))
    items = [f"i{at:05d}" for at in range(n)]
    sources = ["s"] * n if sources is None else list(sources)
    clusters = items if clusters is None else list(clusters)
    prompts = [""] * n if prompts is None else list(prompts)
    rows, labels = [], []
    for dimension, values in scores.items():
        given = np.asarray(values, float).reshape(n, -1)
        for at in range(n):
            for repeat in range(given.shape[1]):
                value = given[at, repeat]
                if repeat and np.isnan(value):
                    continue
                fine = np.isfinite(value)
                rows.append(
                    {"item_id": items[at], "source": sources[at], "topic": "", "prompt_id": prompts[at]}
                    | {"cluster": clusters[at], "axis": "original", "rung": 0, "strength": 0.0}
                    | {"repeat": repeat, "dimension": dimension, "value": float(value) if fine else None}
                    | {"state": "ok" if fine else "refused"}
                )
    for dimension, values in ratings.items():
        given = np.asarray(values, float).reshape(n, -1)
        for at, rater in zip(*np.nonzero(np.isfinite(given)), strict=True):
            labels.append(
                {"item_id": items[at], "source": sources[at], "topic": "", "prompt_id": prompts[at]}
                | {"cluster": clusters[at], "dimension": dimension, "annotator_id": f"r{rater}"}
                | {"value": float(given[at, rater]), "level": "ordinal", "low": ends[0], "high": ends[1]}
                | {"higher_is_better": True}
            )
    parts = {"audit_id": "x", "judge_id": "j", "is_control": False, "seed": 1, "limits": read_limits()} | rest
    return Evidence(
        card=card or Card(kind="table", name="j", dimensions=tuple(scores), **SCALE),
        responses=pa.Table.from_pylist(rows),
        zones=pa.table({"item_id": []}),
        axes={},
        labels=pa.Table.from_pylist(labels) if labels else None,
        **parts,
    )


def crowd(n, *, raters=3, noise=0.8, seed=0):
    """Draw hidden qualities and what raters of one kind say of them on 1 to 5."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n)
    return quality, rated(quality, raters, noise, rng)


def rated(quality, raters, noise, rng):
    """Have raters look at qualities."""
    seen = quality[:, None] + noise * rng.normal(size=(len(quality), raters))
    return np.clip(np.round(3 + seen), 1, 5)


def only(rows, measure, **parts):
    """Give the one row of a measure."""
    wanted = {"dimension": "overall", "source": "*", "kind": "*", "rater": "*"} | parts
    found = [
        row
        for row in rows
        if row["measure"] == measure and all(row.get(name, "*") == value for name, value in wanted.items())
    ]
    assert len(found) == 1, (measure, parts, len(found))
    return found[0]
