"""Completeness: what became of every call, by source and rung. Nothing missing is zero."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.result_rows import point
from judge_audit.core.vocabulary import ORIGINAL, POOLED, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    states = sorted({state for _, _, state in lost})
    rows = evidence.writer(NAME)
    measures = tuple(
        rows.share(
            "state_share", lost[source, dimension, state], n, source=source, dimension=dimension, kind=state
        )
        for (source, dimension), n in sorted(asked.items())
        for state in states
    )
    curves = []
    for (source, dimension, axis, state, rung), count in sorted(rungs.items()):
        of_rung = rows.at(source=source, dimension=dimension, axis=axis, kind=state)
        curves.append(point(of_rung.count("state_count", float(count)), rung, strengths[axis, rung]))
    return Findings(curves=tuple(curves), measures=measures)


def _due(evidence: Evidence) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Give every score that was due; a call without an answer owes one in each dimension."""
    for row in evidence.rows:
        if row["state"] == State.INERT:
            continue
        owed = evidence.card.dimensions if row["dimension"] == POOLED else (row["dimension"],)
        for dimension in owed:
            yield row["source"], dimension, row


CHECK = Check(NAME, run, needs=Needs.ANY)
