"""Coverage: do the audit's items look like the traffic the judge will meet?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import IMAGES, ORIGINAL, State, Verdict
from judge_audit.judges.instruments.covariates import COVARIATES
from judge_audit.measures.coverage import Part, apart, bare, by_name, by_value
from judge_audit.measures.estimates import corrected_level, wilson

if TYPE_CHECKING:
    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.evidence import Evidence

NAME = "coverage"
MEASURE = "uncovered_share"
NAMED = 3
"""How many missing groups or stretches a sentence names."""


def run(evidence: Evidence) -> Findings:
    """Compare the mix of sources and topics, the surface statistics and the scores with a sample of traffic.

    `uncovered_share`: share of the traffic that lies in groups, or between deciles of a statistic, in which the
    audit has next to nothing (`coverage.thin`). Without a sample nothing is known, and nothing is asserted.
    """
    if evidence.is_control or evidence.traffic is None:
        return Findings()
    held = _held(evidence)
    findings = Findings()
    kinds = [name for name in evidence.traffic.column_names if held.get(name)]
    for kind in kinds:
        findings += _compare(evidence, kind, held[kind], len(kinds))
    return findings


def _held(evidence: Evidence) -> dict[str, list[Any]]:
    """Give what the audit's untouched items have, by the name of the traffic's column; scores as given."""
    first = [row for row in evidence.rows if row["axis"] == ORIGINAL and row["repeat"] == 0]
    items = {row["item_id"]: row for row in first}
    found: dict[str, list[Any]] = {
        "source": [row["source"] for row in items.values()],
        "topic": [row["topic"] for row in items.values() if row["topic"]],
    }
    for dimension in evidence.card.dimensions:
        scored = (row for row in first if row["dimension"] == dimension and row["state"] == State.OK)
        found[dimension] = [row["value"] for row in scored]
    if evidence.covariates is not None:
        for name in COVARIATES:
            found[name] = [value for value in evidence.covariates[name].to_pylist() if value is not None]
    return found


def _compare(evidence: Evidence, kind: str, held: list[Any], claims: int) -> Findings:
    """Rows of one column of the traffic."""
    assert evidence.traffic is not None
    wanted = [value for value in evidence.traffic[kind].to_pylist() if value is not None]
    if not wanted:
        return Findings()
    named = isinstance(wanted[0], str)
    parts = by_name(wanted, held) if named else by_value(np.array(wanted), np.array(held))
    lost = bare(parts, len(held), evidence.limits["coverage.thin"])
    hits = sum(part.traffic for part in lost)
    low, high = wilson(hits, len(wanted))
    key = evidence.key(NAME, MEASURE, kind=kind) | {"subject": IMAGES}
    row: ResultRow = {**key, "value": hits / len(wanted), "ci_low": low, "ci_high": high, "n": len(wanted)}
    distance: ResultRow = {
        **key,
        "measure": "mix_distance",
        "value": apart(parts, len(held)),
        "n": len(wanted),
    }
    limit = evidence.limits["coverage.uncovered"]
    if high < limit:
        verdict, finding, sentence = Verdict.PASS, "", "coverage.pass"
    elif wilson(hits, len(wanted), corrected_level(claims))[0] > limit:
        verdict, finding, sentence = Verdict.FAIL, "uncovered", "coverage.uncovered"
    else:
        verdict, finding, sentence = Verdict.INCONCLUSIVE, "", "coverage.open"
    words = {"kind": say(f"coverage.kinds.{kind}") if named or kind in COVARIATES else kind}
    words |= {"share": percent(hits / len(wanted)), "missing": _listed(lost), "n": str(len(wanted))}
    answer: ResultRow = {"verdict": verdict.value, "finding": finding, "provisional": False}
    answer |= {"limit_high": limit, "reason": say(sentence, **words)}
    return Findings(measures=(row, distance), verdicts=(row | answer,))


def _listed(lost: list[Part]) -> str:
    """Name the largest parts that are missing."""
    largest = sorted(lost, key=lambda part: -part.traffic)
    said = "; ".join(part.name for part in largest[:NAMED])
    return f"{said}; and {len(largest) - NAMED} more" if len(largest) > NAMED else said


CHECK = Check(NAME, run, needs=Needs.ANY)
