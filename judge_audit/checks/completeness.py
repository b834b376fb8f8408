"""Completeness: what became of every call, by source and rung. Nothing missing is zero."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.core.vocabulary import ORIGINAL, POOLED, State
from judge_audit.measures.estimates import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.evidence import Evidence

NAME = "completeness"


def run(evidence: Evidence) -> Findings:
    """Count the scores that are not there, by state: their share per source, their number per rung."""
    asked: Counter[tuple[str, str]] = Counter()
    lost: Counter[tuple[str, str, str]] = Counter()
    rungs: Counter[tuple[str, str, str, str, int]] = Counter()
    strengths: dict[tuple[str, int], float] = {}
    for source, dimension, row in _due(evidence):
        for place in (POOLED, source):
            asked[place, dimension] += 1
        if row["state"] == State.OK:
            continue
        for place in (POOLED, source):
            lost[place, dimension, row["state"]] += 1
            if row["axis"] != ORIGINAL:
                rungs[place, dimension, row["axis"], row["state"], row["rung"]] += 1
        strengths[row["axis"], row["rung"]] = row["strength"]
    states = {state for _, _, state in lost}
    measures: list[ResultRow] = []
    for (source, dimension), n in sorted(asked.items()):
        for state in sorted(states):
            hits = lost[source, dimension, state]
            low, high = wilson(hits, n)
            key = evidence.key(NAME, "state_share", source=source, dimension=dimension, kind=state)
            measures.append({**key, "value": hits / n, "ci_low": low, "ci_high": high, "n": n})
    curves: list[ResultRow] = [
        {
            **evidence.key(NAME, "state_count", source=source, dimension=dimension, axis=axis, kind=state),
            "rung": rung,
            "strength": strengths[axis, rung],
            "value": float(count),
        }
        for (source, dimension, axis, state, rung), count in sorted(rungs.items())
    ]
    return Findings(curves=tuple(curves), measures=tuple(measures))


def _due(evidence: Evidence) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Give every score that was due; a call without an answer owes one in each dimension."""
    for row in evidence.rows:
        if row["state"] == State.INERT:
            continue
        owed = evidence.card.dimensions if row["dimension"] == POOLED else (row["dimension"],)
        for dimension in owed:
            yield row["source"], dimension, row


CHECK = Check(NAME, run, needs=Needs.ANY)
