"""Deliberate mismatches shown side by side: does a judge that compares prefer the intact member?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import cannot_be_asked
from judge_audit.checks.evidence import Findings
from judge_audit.checks.result_rows import interval_words
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, PAIR_AXIS, State, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level
from judge_audit.measures.paired_comparisons import clustered_mean
from judge_audit.stimuli.planning.comparisons import PAIRS

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Evidence

NAME = "mismatch"
MEASURE = "damage_preference"


def damage_preferred(evidence: Evidence) -> Findings:
    """Judge the preference for the damaged member kind by kind; of dimensions nothing can be said.

    Pass: the 90 % interval lies below −`mismatch.preference`. Wholly above it at the corrected level:
    *misses damage*; wholly above +`mismatch.preference`: *prefers damaged*.
    """
    assert evidence.compared is not None
    kinds = sorted({row["axis"] for row in evidence.compared.to_pylist() if row["about"] == PAIRS})
    parts = (_kind(evidence, axis, len(kinds)) for axis in kinds)
    return sum(parts, cannot_be_asked(evidence, NAME, ("selectivity",)))


def _kind(evidence: Evidence, axis: str, claims: int) -> Findings:
    rows = [row for row in evidence.of_axis(axis) if row["state"] == State.OK]
    values = np.array([row["value"] for row in rows], float)
    clusters = np.unique([row["cluster"] for row in rows], return_inverse=True)[1].astype(np.intp)
    figure = clustered_mean(values, clusters)
    limit = evidence.limits["mismatch.preference"]
    verdict, finding = Verdict.INCONCLUSIVE, ""
    low, _ = figure.interval(corrected_level(claims))
    if figure.interval(PASS_LEVEL)[1] < -limit:
        verdict = Verdict.PASS
    elif low > -limit:
        verdict, finding = Verdict.FAIL, "prefers_damaged" if low > limit else "misses_damage"
    kind = axis.removeprefix(PAIR_AXIS)
    words = {"kind": kind.replace("_", " "), "n": f"{len(values):,}", **interval_words(figure)}
    sentence = f"compared.damage.{finding or verdict.value}" if figure.usable else "compared.damage.few"
    writer = evidence.writer(NAME, dimension=OVERALL, kind=kind)
    row = writer.verdict(MEASURE, verdict, say(sentence, **words), finding, figure, limit_high=-limit)
    return Findings(measures=(writer.figure(MEASURE, figure),), verdicts=(row,))
