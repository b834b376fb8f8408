"""Scale: do the scores pile up in two bins, are the ends used, and what may the numbers be used for?

The pile: where scores gather on their scale, and whether that is the judge's doing or the traffic's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings, joined
from judge_audit.checks.pairwise.order_instead import order_instead
from judge_audit.checks.people.judge_and_raters import measure_row
from judge_audit.checks.people.labelled_scores import PEOPLE
from judge_audit.checks.scale.labelled_ends import (
    anchor_rows,
    anchors,
    leaving,
    leaving_verdicts,
    people_correlation,
)
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import ORIGINAL, POOLED, State, Verdict
from judge_audit.measures.estimates import corrected_level, wilson
from judge_audit.measures.lifts import rounded
from judge_audit.measures.resampling import UNDEFINED
from judge_audit.measures.scale import COARSE_LEVELS, FEW_LEVELS, bin_width, distinct, last_end, levels, pile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import ResultRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.scale.labelled_ends import Anchors, Leaving
    from judge_audit.measures.resampling import Resampled
    from judge_audit.measures.scale import Pile


NAME = "scale"


def lost_items(evidence: Evidence, dimension: str) -> int:
    """Count the untouched items whose first score is missing."""
    first = [
        row for row in evidence.originals if row["repeat"] == 0 and row["dimension"] in (dimension, POOLED)
    ]
    return len(
        {row["item_id"] for row in first} - {row["item_id"] for row in first if row["state"] == State.OK}
    )


def verdict_of(
    evidence: Evidence,
    measure: str,
    dimension: str,
    verdict: Verdict,
    finding: str,
    reason: str,
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `verdicts` of the scale."""
    answer: ResultRow = {
        **evidence.key(NAME, measure, dimension=dimension),
        "verdict": verdict.value,
        "finding": finding,
        "reason": reason,
        "provisional": False,
    }
    return joined(answer, **parts)


def pile_rows(
    evidence: Evidence,
    dimension: str,
    scores: dict[str, NDArray[np.float64]],
    width: float,
    top: float | None,
) -> list[ResultRow]:
    """Give the pile per source and pooled, and where it lies."""
    rows: list[ResultRow] = []
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


def pile_verdict(
    evidence: Evidence,
    dimension: str,
    pooled: NDArray[np.float64],
    width: float,
    top: float | None,
    held: Anchors | None,
    left: dict[str, Leaving] | None,
) -> ResultRow:
    """Judge the pooled pile; without labelled images a stacked pile stays open (narrow traffic?)."""
    smallest, limit = int(evidence.limits["scale.min_scores"]), evidence.limits["scale.pile"]
    parts: dict[str, Any] = {"limit_high": limit, "n": len(pooled)}
    if len(pooled) < smallest:
        reason = say("scale.few", n=len(pooled), smallest=smallest)
        parts["n_needed"] = smallest
        return verdict_of(evidence, "pile", dimension, Verdict.INCONCLUSIVE, "", reason, **parts)
    found = pile(pooled, width, top)
    low, high = wilson(found.hits, found.n)
    parts |= {"value": found.share, "ci_low": low, "ci_high": high}
    lost = lost_items(evidence, dimension)
    gone = lost / (found.n + lost)
    if gone > evidence.limits["ladder.missing_share"]:
        least, most = (wilson(hits, found.n + lost) for hits in (found.hits, found.hits + lost))
        if not (most[1] < limit or least[0] >= limit):
            reason = say("notes.refusals", share=percent(gone))
            return verdict_of(evidence, "pile", dimension, Verdict.INCONCLUSIVE, "", reason, **parts)
    verdict, finding, reason = _told(evidence, found, (low, high), held, left)
    return verdict_of(evidence, "pile", dimension, verdict, finding, reason, **parts)


def _told(
    evidence: Evidence,
    found: Pile,
    ends: tuple[float, float],
    held: Anchors | None,
    left: dict[str, Leaving] | None,
) -> tuple[Verdict, str, str]:
    """Compare the interval of the pile with the limit; a stacked one needs people to be a fault."""
    limit, share = evidence.limits["scale.pile"], percent(found.share)
    if ends[1] < limit:
        return Verdict.PASS, "", say("scale.spread", share=share)
    if ends[0] < limit:
        shares = {"low_share": percent(ends[0]), "high_share": percent(ends[1])}
        return Verdict.INCONCLUSIVE, "", say("scale.pile_open", share=share, **shares)
    if why := _against(evidence, held, left, found):
        reason = say("scale.stacked", share=share, low=f"{found.low:g}", high=f"{found.high:g}")
        return Verdict.FAIL, "stacked", f"{reason} {why}"
    key = "scale.narrow_traffic" if held is None else "scale.narrow_labelled"
    return Verdict.INCONCLUSIVE, "narrow_traffic", say(key, share=share)


def _against(evidence: Evidence, held: Anchors | None, left: dict[str, Leaving] | None, found: Pile) -> str:
    """Say what shows that a pile is the judge's and not the traffic's; "" if nothing does.

    Either people's labels on the same items do not stack (and the labelled items' scores do), or bad or good
    images do not leave it.
    """
    if held is None or left is None:
        return ""
    limit, smallest = evidence.limits["scale.pile"], evidence.limits["scale.min_scores"]
    raw = rounded(evidence.sign * held.scores[~held.chosen])
    inside = int(((raw >= round(found.low, 9)) & (raw < round(found.high, 9))).sum())
    same = len(raw) >= smallest and wilson(inside, len(raw))[0] >= limit
    if same and held.people is not None and wilson(held.people.hits, held.people.n)[1] < limit:
        return say("scale.people_spread", share=percent(held.people.share))
    for side, part in left.items():
        verdict = part.verdict(evidence.limits["scale.leaving"], evidence.limits["scale.min_end_anchors"])
        if verdict == Verdict.FAIL:
            return say(f"scale.stays_{side}", share=percent(part.hits / part.n), n=part.n)
    return ""


MIN_DISTINCT = 3


def run(evidence: Evidence) -> Findings:
    """Measure pile, reach and capability of every dimension, pooled and per source."""
    if evidence.compared is not None:
        return order_instead(evidence)
    findings = Findings()
    for dimension in evidence.card.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def _scores(evidence: Evidence, dimension: str) -> dict[str, NDArray[np.float64]]:
    """Untouched first scores per source, as the judge gave them, and pooled."""
    by_source: dict[str, list[float]] = {}
    for row in evidence.rows:
        first = row["axis"] == ORIGINAL and row["repeat"] == 0 and row["dimension"] == dimension
        if first and row["state"] == State.OK and row["value"] is not None:
            by_source.setdefault(row["source"], []).append(row["value"])
    found = {source: np.array(values) for source, values in sorted(by_source.items())}
    found[POOLED] = np.concatenate(list(found.values())) if found else np.array([])
    return found


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    scores = _scores(evidence, dimension)
    pooled = scores[POOLED]
    held = anchors(evidence, dimension)
    told = UNDEFINED if held is None else people_correlation(evidence, dimension, held)
    measures: list[ResultRow] = []
    if held is not None and np.isfinite(told.value):
        measures.append(measure_row(evidence, NAME, "people_correlation", dimension, told, baseline=PEOPLE))
    verdicts = [_capability(evidence, dimension, pooled, told)]
    low, high = evidence.card.scale_low, evidence.card.scale_high
    left: dict[str, Leaving] | None = None
    if low is None or high is None:
        reason = say("scale.undeclared")
        verdicts.append(verdict_of(evidence, "pile", dimension, Verdict.MISSING, "undeclared", reason))
        span = _spanned(evidence, pooled, held)
        if span[1] > span[0]:
            measures += pile_rows(evidence, dimension, scores, (span[1] - span[0]) / 10, span[1])
    elif (count := levels(low, high, evidence.card.scale_step)) is not None and count < COARSE_LEVELS:
        reason = say("scale.coarse_scale")
        verdicts.append(verdict_of(evidence, "pile", dimension, Verdict.MISSING, "coarse_scale", reason))
    else:
        width = bin_width(low, high, evidence.card.scale_step)
        top = last_end(low, high, evidence.card.scale_step)
        measures += pile_rows(evidence, dimension, scores, width, top)
        if held is not None and len(pooled):
            found = pile(pooled, width, top)
            left = leaving(evidence, held, found.low, found.high)
        verdicts.append(pile_verdict(evidence, dimension, pooled, width, top, held, left))
        verdicts += leaving_verdicts(evidence, dimension, left)
        verdicts.append(_beyond_scale(evidence, dimension, pooled))
        reached, said = _reach(evidence, dimension, width, low, high, held)
        measures += reached
        verdicts += said
    if held is not None:
        measures += anchor_rows(evidence, dimension, held, left)
    verdicts.append(_absolute(evidence, dimension, verdicts, held))
    return Findings(measures=tuple(measures), verdicts=tuple(verdicts))


def _spanned(evidence: Evidence, pooled: NDArray[np.float64], held: Anchors | None) -> tuple[float, float]:
    """Give the range of a scale that nobody declared: what the anchor set spans, else what the scores do."""
    values = pooled
    if held is not None and held.chosen.any():
        values = evidence.sign * held.scores[held.chosen]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def _absolute(
    evidence: Evidence, dimension: str, verdicts: Sequence[ResultRow], held: Anchors | None
) -> ResultRow:
    """Grant an absolute scale only where everything above passed."""
    if evidence.card.scale_low is None:
        return verdict_of(evidence, "absolute", dimension, Verdict.MISSING, "", say("scale.undeclared"))
    missing = say("scale.absolute_missing")
    if held is None:
        return verdict_of(evidence, "absolute", dimension, Verdict.MISSING, "", missing)
    failed = [row for row in verdicts if row["verdict"] == Verdict.FAIL]
    if failed:
        reason = say("scale.absolute_fail", list=" ".join(row["reason"] for row in failed))
        return verdict_of(evidence, "absolute", dimension, Verdict.FAIL, "no_absolute_scale", reason)
    if any(row["verdict"] == Verdict.MISSING for row in verdicts):
        return verdict_of(evidence, "absolute", dimension, Verdict.MISSING, "", missing)
    open_ = [row["reason"] for row in verdicts if row["verdict"] != Verdict.PASS]
    if open_:
        reason = say("scale.absolute_open", list=" ".join(open_))
        return verdict_of(evidence, "absolute", dimension, Verdict.INCONCLUSIVE, "", reason)
    return verdict_of(evidence, "absolute", dimension, Verdict.PASS, "", say("scale.absolute"))


def _beyond_scale(evidence: Evidence, dimension: str, pooled: NDArray[np.float64]) -> ResultRow:
    """Count untouched answers beyond the declared ends, those set aside for it included."""
    low, high = evidence.card.scale_low, evidence.card.scale_high
    assert low is not None
    assert high is not None
    aside = sum(
        row["repeat"] == 0 and row["dimension"] == dimension and row["state"] == State.OUT_OF_SCALE
        for row in evidence.originals
    )
    hits = aside + int(((pooled < low - 1e-9) | (pooled > high + 1e-9)).sum())
    n, limit = aside + len(pooled), evidence.limits["ladder.missing_share"]
    least, most = wilson(hits, n)
    parts = {"value": hits / n if n else None, "ci_low": least, "ci_high": most, "n": n, "limit_high": limit}
    reason = say("scale.beyond" if hits else "scale.within", n=hits, of=n, low=f"{low:g}", high=f"{high:g}")
    if least > limit:
        return verdict_of(evidence, "beyond_scale", dimension, Verdict.FAIL, "out_of_scale", reason, **parts)
    verdict = Verdict.PASS if n and not hits else Verdict.INCONCLUSIVE
    return verdict_of(evidence, "beyond_scale", dimension, verdict, "", reason, **parts)


def _capability(
    evidence: Evidence, dimension: str, pooled: NDArray[np.float64], told: Resampled
) -> ResultRow:
    """Ask whether the scores differ, and rise where people's labels do: else a judge cannot order images."""
    count, top = distinct(pooled) if len(pooled) else (0, 1.0)
    parts = {"value": float(count), "n": len(pooled), "limit_low": float(MIN_DISTINCT)}
    share = lost_items(evidence, dimension) / max(1, len(pooled) + lost_items(evidence, dimension))
    enough = len(pooled) >= evidence.limits["scale.min_scores"]
    if not len(pooled):
        reason = say("scale.silent")
        return verdict_of(evidence, "capability", dimension, Verdict.FAIL, "silent", reason, **parts)
    if count == 1:
        sure = enough and share <= evidence.limits["ladder.missing_share"]
        verdict, finding = (Verdict.FAIL, "constant") if sure else (Verdict.INCONCLUSIVE, "one_value")
        reason = say("scale.constant" if sure else "scale.one_value", n=len(pooled))
        return verdict_of(evidence, "capability", dimension, verdict, finding, reason, **parts)
    limit = -evidence.limits["scale.reversed"]
    if told.interval(corrected_level(len(evidence.card.dimensions)))[1] < limit:
        reason = say("scale.reversed", value=f"{told.value:.2f}".replace("-", "−"))
        return verdict_of(evidence, "capability", dimension, Verdict.FAIL, "reversed", reason, **parts)
    if count >= MIN_DISTINCT and top <= evidence.limits["ladder.one_value_share"]:
        return verdict_of(
            evidence, "capability", dimension, Verdict.PASS, "", say("scale.capability"), **parts
        )
    reason = say("scale.capability_open")
    return verdict_of(evidence, "capability", dimension, Verdict.INCONCLUSIVE, "", reason, **parts)


def _reach(
    evidence: Evidence, dimension: str, width: float, low: float, high: float, held: Anchors | None
) -> tuple[list[ResultRow], list[ResultRow]]:
    """Count scores in the first and last bin, damaged rungs included.

    An end is unreachable only if enough images that people place there were shown and no score reached it.
    """
    worst, best = (0, 0) if held is None else (int(held.worst.sum()), int(held.best.sum()))
    shown = {"lower end": worst, "upper end": best}
    if evidence.sign < 0:
        shown = {"lower end": best, "upper end": worst}
    values = np.array(
        [row["value"] for row in evidence.rows if row["dimension"] == dimension and row["state"] == State.OK]
    )
    count = levels(low, high, evidence.card.scale_step)
    few = count is not None and count <= FEW_LEVELS  # a bin is then one value, not a stretch
    measures: list[ResultRow] = []
    verdicts: list[ResultRow] = []
    for end, hits in (
        ("lower end", int((values < low + width).sum())),
        ("upper end", int((values >= high - (0 if few else width)).sum())),
    ):
        low_share, high_share = wilson(hits, len(values))
        key = evidence.key(NAME, "reach", dimension=dimension, kind=end)
        share = hits / len(values) if len(values) else None
        row: ResultRow = {**key, "value": share, "ci_low": low_share, "ci_high": high_share, "n": len(values)}
        measures.append(row)
        answer, finding = Verdict.PASS if hits else Verdict.INCONCLUSIVE, ""
        reason = say("scale.reached", end=end, hits=hits) if hits else say("scale.not_reached", end=end)
        if not hits and shown[end] >= evidence.limits["scale.min_end_anchors"]:
            answer, finding = Verdict.FAIL, "unreachable"
            reason = say("scale.unreachable", end=end, n=shown[end])
        told: ResultRow = {
            "verdict": answer.value,
            "finding": finding,
            "reason": reason,
            "provisional": False,
        }
        verdicts.append(row | told)
    return measures, verdicts


CHECK = Check(NAME, run, needs=Needs.ANY)
