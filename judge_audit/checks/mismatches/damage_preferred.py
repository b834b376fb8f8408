"""Deliberate mismatches shown side by side: does a judge that compares prefer the intact member?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import cannot_be_asked
from judge_audit.checks.evidence import Findings, joined
from judge_audit.checks.pairwise.position_bias import PAIRS
from judge_audit.checks.result_rows import figure_columns
from judge_audit.core.formatting import number
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, PAIR_AXIS, State, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level
from judge_audit.measures.paired_comparisons import clustered_mean

if TYPE_CHECKING:
    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.evidence import Evidence

NAME = "mismatch"
MEASURE = "damage_preference"


def damage_preferred(evidence: Evidence) -> Findings:
    """Judge the preference for the damaged member kind by kind; of dimensions nothing can be said.

    Pass: the 90 % interval lies below −`mismatch.preference`. Wholly above it at the corrected level:
    *misses damage*; wholly above +`mismatch.preference`: *prefers damaged*.
    """
    assert evidence.compared is not None
    findings = cannot_be_asked(evidence, NAME, ("selectivity",))
    kinds = sorted({row["axis"] for row in evidence.compared.to_pylist() if row["about"] == PAIRS})
    for axis in kinds:
        findings += _kind(evidence, axis, len(kinds))
    return findings


def _kind(evidence: Evidence, axis: str, claims: int) -> Findings:
    rows = [row for row in evidence.of_axis(axis) if row["state"] == State.OK]
    names = sorted({row["cluster"] for row in rows})
    place = {name: at for at, name in enumerate(names)}
    values = np.array([row["value"] for row in rows], float)
    figure = clustered_mean(values, np.array([place[row["cluster"]] for row in rows], dtype=np.intp))
    limit = evidence.limits["mismatch.preference"]
    verdict, finding = Verdict.INCONCLUSIVE, ""
    low, _ = figure.interval(corrected_level(claims))
    if figure.interval(PASS_LEVEL)[1] < -limit:
        verdict = Verdict.PASS
    elif low > -limit:
        verdict, finding = Verdict.FAIL, "prefers_damaged" if low > limit else "misses_damage"
    kind = axis.removeprefix(PAIR_AXIS)
    shown = figure.interval(PASS_LEVEL)
    words = {"value": number(figure.value), "low": number(shown[0]), "high": number(shown[1])}
    words |= {"kind": kind.replace("_", " "), "n": f"{len(values):,}"}
    key = evidence.key(NAME, MEASURE, dimension=OVERALL, kind=kind)
    columns = figure_columns(figure)
    row: ResultRow = {**columns}
    del row["n_clusters"]
    said = say(
        f"compared.damage.{finding or verdict.value}" if figure.usable else "compared.damage.few", **words
    )
    answer: ResultRow = {"verdict": verdict.value, "finding": finding, "reason": said, "provisional": False}
    return Findings(measures=(key | columns,), verdicts=(joined(key, row, {"limit_high": -limit}, answer),))
