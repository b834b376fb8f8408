"""Scale: do the scores pile up in two bins, are the ends used, and what may the numbers be used for?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladder_question import percent
from judge_audit.measures.estimates import wilson
from judge_audit.measures.scale import COARSE_LEVELS, FEW_LEVELS, bin_width, distinct, last_end, levels, pile
from judge_audit.messages import say
from judge_audit.vocabulary import ORIGINAL, POOLED, State, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence

NAME = "scale"
MIN_DISTINCT = 3


def run(evidence: Evidence) -> Findings:
    """Measure pile, reach and capability of every dimension, pooled and per source."""
    findings = Findings()
    for dimension in evidence.card.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def _scores(evidence: Evidence, dimension: str) -> dict[str, NDArray[np.float64]]:
    """Untouched first scores per source, as the judge gave them, and pooled."""
    by_source: dict[str, list[float]] = {}
    for row in evidence.rows:
        first = row["axis"] == ORIGINAL and row["repeat"] == 0 and row["dimension"] == dimension
        if first and row["state"] == State.OK:
            by_source.setdefault(row["source"], []).append(row["value"])
    found = {source: np.array(values) for source, values in sorted(by_source.items())}
    found[POOLED] = np.concatenate(list(found.values())) if found else np.array([])
    return found


def _lost(evidence: Evidence, dimension: str) -> int:
    """Count the untouched items whose first score is missing."""
    first = [
        row for row in evidence.originals if row["repeat"] == 0 and row["dimension"] in (dimension, POOLED)
    ]
    return len(
        {row["item_id"] for row in first} - {row["item_id"] for row in first if row["state"] == State.OK}
    )


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    scores = _scores(evidence, dimension)
    pooled = scores[POOLED]
    measures: list[dict[str, Any]] = []
    verdicts = [_capability(evidence, dimension, pooled)]
    low, high = evidence.card.scale_low, evidence.card.scale_high
    if low is None or high is None:
        reason = say("scale.undeclared")
        verdicts.append(_verdict(evidence, "pile", dimension, Verdict.MISSING, "undeclared", reason))
        span = (float(pooled.min()), float(pooled.max())) if len(pooled) else (0.0, 0.0)
        if span[1] > span[0]:
            measures += _piles(evidence, dimension, scores, (span[1] - span[0]) / 10, span[1])
    elif (count := levels(low, high, evidence.card.scale_step)) is not None and count < COARSE_LEVELS:
        reason = say("scale.coarse_scale")
        verdicts.append(_verdict(evidence, "pile", dimension, Verdict.MISSING, "coarse_scale", reason))
    else:
        width = bin_width(low, high, evidence.card.scale_step)
        top = last_end(low, high, evidence.card.scale_step)
        measures += _piles(evidence, dimension, scores, width, top)
        verdicts.append(_pile_verdict(evidence, dimension, pooled, width, top))
        reached, said = _reach(evidence, dimension, width, low, high)
        measures += reached
        verdicts += said
    reason = say("scale.absolute_missing") if low is not None else say("scale.undeclared")
    verdicts.append(_verdict(evidence, "absolute", dimension, Verdict.MISSING, "", reason))
    return Findings(measures=tuple(measures), verdicts=tuple(verdicts))


def _verdict(
    evidence: Evidence,
    measure: str,
    dimension: str,
    verdict: Verdict,
    finding: str,
    reason: str,
    **parts: Any,  # noqa: ANN401
) -> dict[str, Any]:
    return {
        **evidence.key(NAME, measure, dimension=dimension),
        "verdict": verdict.value,
        "finding": finding,
        "reason": reason,
        "provisional": False,
        **parts,
    }


def _capability(evidence: Evidence, dimension: str, pooled: NDArray[np.float64]) -> dict[str, Any]:
    """Ask whether the scores differ at all: without that a judge cannot even put images in order."""
    count, top = distinct(pooled) if len(pooled) else (0, 1.0)
    parts = {"value": float(count), "n": len(pooled), "limit_low": float(MIN_DISTINCT)}
    share = _lost(evidence, dimension) / max(1, len(pooled) + _lost(evidence, dimension))
    enough = len(pooled) >= evidence.limits["scale.min_scores"]
    if not len(pooled):
        reason = say("scale.silent")
        return _verdict(evidence, "capability", dimension, Verdict.FAIL, "silent", reason, **parts)
    if count == 1 and enough and share <= evidence.limits["ladder.missing_share"]:
        return _verdict(
            evidence, "capability", dimension, Verdict.FAIL, "constant", say("scale.constant"), **parts
        )
    if count >= MIN_DISTINCT and top <= evidence.limits["ladder.one_value_share"]:
        return _verdict(evidence, "capability", dimension, Verdict.PASS, "", say("scale.capability"), **parts)
    reason = say("scale.capability_open")
    return _verdict(evidence, "capability", dimension, Verdict.INCONCLUSIVE, "", reason, **parts)


def _piles(
    evidence: Evidence,
    dimension: str,
    scores: dict[str, NDArray[np.float64]],
    width: float,
    top: float | None,
) -> list[dict[str, Any]]:
    """Give the pile per source and pooled, and where it lies."""
    rows: list[dict[str, Any]] = []
    for source, values in scores.items():
        if not len(values):
            continue
        found = pile(values, width, top)
        low, high = wilson(found.hits, found.n)
        key = evidence.key(NAME, "pile", dimension=dimension, source=source)
        rows.append({**key, "value": found.share, "ci_low": low, "ci_high": high, "n": found.n})
        for measure, value in (("pile_low", found.low), ("pile_high", found.high)):
            key = evidence.key(NAME, measure, dimension=dimension, source=source)
            rows.append({**key, "value": value, "n": found.n})
    return rows


def _pile_verdict(
    evidence: Evidence, dimension: str, pooled: NDArray[np.float64], width: float, top: float | None
) -> dict[str, Any]:
    """Judge the pooled pile; without labelled images a stacked pile stays open (narrow traffic?)."""
    smallest, limit = int(evidence.limits["scale.min_scores"]), evidence.limits["scale.pile"]
    parts: dict[str, Any] = {"limit_high": limit, "n": len(pooled)}
    if len(pooled) < smallest:
        reason = say("scale.few", n=len(pooled), smallest=smallest)
        parts["n_needed"] = smallest
        return _verdict(evidence, "pile", dimension, Verdict.INCONCLUSIVE, "", reason, **parts)
    found = pile(pooled, width, top)
    low, high = wilson(found.hits, found.n)
    parts |= {"value": found.share, "ci_low": low, "ci_high": high}
    share = percent(found.share)
    lost = _lost(evidence, dimension)
    gone = lost / (found.n + lost)
    if gone > evidence.limits["ladder.missing_share"]:
        least, most = (wilson(hits, found.n + lost) for hits in (found.hits, found.hits + lost))
        if not (most[1] < limit or least[0] >= limit):
            reason = say("notes.refusals", share=percent(gone))
            return _verdict(evidence, "pile", dimension, Verdict.INCONCLUSIVE, "", reason, **parts)
    if low >= limit:
        if evidence.is_control:
            # A control's hidden qualities are known to spread over the scale: they are its labels.
            reason = say("scale.stacked", share=share, low=f"{found.low:g}", high=f"{found.high:g}")
            return _verdict(evidence, "pile", dimension, Verdict.FAIL, "stacked", reason, **parts)
        reason = say("scale.narrow_traffic", share=share)
        return _verdict(evidence, "pile", dimension, Verdict.INCONCLUSIVE, "narrow_traffic", reason, **parts)
    if high < limit:
        return _verdict(
            evidence, "pile", dimension, Verdict.PASS, "", say("scale.spread", share=share), **parts
        )
    reason = say("scale.pile_open", share=share, low_share=percent(low), high_share=percent(high))
    return _verdict(evidence, "pile", dimension, Verdict.INCONCLUSIVE, "", reason, **parts)


def _reach(
    evidence: Evidence, dimension: str, width: float, low: float, high: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Count scores in the first and last bin, damaged rungs included."""
    values = np.array(
        [row["value"] for row in evidence.rows if row["dimension"] == dimension and row["state"] == State.OK]
    )
    count = levels(low, high, evidence.card.scale_step)
    few = count is not None and count <= FEW_LEVELS  # a bin is then one value, not a stretch
    measures, verdicts = [], []
    for end, hits in (
        ("lower end", int((values < low + width).sum())),
        ("upper end", int((values >= high - (0 if few else width)).sum())),
    ):
        low_share, high_share = wilson(hits, len(values))
        key = evidence.key(NAME, "reach", dimension=dimension, kind=end)
        share = hits / len(values) if len(values) else None
        row = {**key, "value": share, "ci_low": low_share, "ci_high": high_share, "n": len(values)}
        measures.append(row)
        answer = Verdict.PASS if hits else Verdict.INCONCLUSIVE
        reason = say("scale.reached", end=end, hits=hits) if hits else say("scale.not_reached", end=end)
        verdicts.append(
            {**row, "verdict": answer.value, "finding": "", "reason": reason, "provisional": False}
        )
    return measures, verdicts
