"""Coverage: do the audit's items look like the traffic the judge will meet?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.one_limit import answer
from judge_audit.checks.result_rows import Share
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import IMAGES, ORIGINAL, State, Verdict
from judge_audit.judges.instruments.covariates import COVARIATES
from judge_audit.measures.coverage import Part, apart, bare, by_name, by_value

if TYPE_CHECKING:
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
    values = _values(evidence)
    kinds = [name for name in evidence.traffic.column_names if values.get(name)]
    return sum((_compare(evidence, kind, values[kind], len(kinds)) for kind in kinds), Findings())


def _values(evidence: Evidence) -> dict[str, list[Any]]:
    """Give what the audit's untouched items have, by the name of the traffic's column; scores as given."""
    first = [row for row in evidence.rows if row["axis"] == ORIGINAL and row["repeat"] == 0]
    items = {row["item_id"]: row for row in first}
    values: dict[str, list[Any]] = {
        "source": [row["source"] for row in items.values()],
        "topic": [row["topic"] for row in items.values() if row["topic"]],
    }
    for dimension in evidence.card.dimensions:
        scored = (row for row in first if row["dimension"] == dimension and row["state"] == State.OK)
        values[dimension] = [row["value"] for row in scored]
    if evidence.covariates is not None:
        for name in COVARIATES:
            values[name] = [value for value in evidence.covariates[name].to_pylist() if value is not None]
    return values


def _compare(evidence: Evidence, kind: str, own: list[Any], claims: int) -> Findings:
    """Rows of one column of the traffic."""
    assert evidence.traffic is not None
    wanted = [value for value in evidence.traffic[kind].to_pylist() if value is not None]
    if not wanted:
        return Findings()
    named = isinstance(wanted[0], str)
    parts = by_name(wanted, own) if named else by_value(np.array(wanted), np.array(own))
    lost = bare(parts, len(own), evidence.limits["coverage.thin"])
    hits, n = sum(part.traffic for part in lost), len(wanted)
    writer = evidence.writer(NAME, kind=kind, subject=IMAGES)
    share = writer.share(MEASURE, hits, n)
    distance = writer.count("mix_distance", apart(parts, len(own)), n)
    limit = evidence.limits["coverage.uncovered"]
    figure = Share(hits, n)
    verdict = answer(figure, high=limit, claims=claims)
    finding = "uncovered" if verdict == Verdict.FAIL else ""
    sentence = {Verdict.PASS: "pass", Verdict.FAIL: "uncovered"}.get(verdict, "open")
    words = {"kind": say(f"coverage.kinds.{kind}") if named or kind in COVARIATES else kind}
    words |= {"share": percent(hits / n), "missing": _listed(lost), "n": str(n)}
    reason = say(f"coverage.{sentence}", **words)
    row = writer.verdict(MEASURE, verdict, reason, finding, figure, limit_high=limit)
    return Findings(measures=(share, distance), verdicts=(row,))


def _listed(lost: list[Part]) -> str:
    """Name the largest parts that are missing."""
    largest = sorted(lost, key=lambda part: -part.traffic)
    names = "; ".join(part.name for part in largest[:NAMED])
    return f"{names}; and {len(largest) - NAMED} more" if len(largest) > NAMED else names


CHECK = Check(NAME, run, needs=Needs.ANY)
