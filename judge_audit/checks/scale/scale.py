"""Scale: do the scores pile up in two bins, are the ends used, and what may the numbers be used for?

The pile: where scores gather on their scale, and whether that is the judge's doing or the traffic's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import MIN_DISTINCT, Findings, ranks_anything
from judge_audit.checks.pairwise.position_bias import order_instead
from judge_audit.checks.result_rows import Share
from judge_audit.checks.scale.labelled_ends import (
    anchor_rows,
    anchors,
    leaving,
    leaving_verdicts,
    people_correlation,
)
from judge_audit.core.formatting import percent, true_minus
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import PEOPLE, POOLED, State, Verdict
from judge_audit.measures.estimates import corrected_level, wilson
from judge_audit.measures.lifts import rounded
from judge_audit.measures.resampling import UNDEFINED
from judge_audit.measures.scale import COARSE_LEVELS, FEW_LEVELS, bin_width, distinct, last_end, levels, pile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence, Floats
    from judge_audit.checks.result_rows import RowWriter
    from judge_audit.checks.scale.labelled_ends import Anchors, Leaving
    from judge_audit.measures.resampling import Resampled
    from judge_audit.measures.scale import Pile

NAME = "scale"


def lost_items(evidence: Evidence, dimension: str) -> int:
    """Count the untouched items whose first score is missing."""
    dimensions = (dimension, POOLED)
    first = [row for row in evidence.originals if row["repeat"] == 0 and row["dimension"] in dimensions]
    answered = {row["item_id"] for row in first if row["state"] == State.OK}
    return len({row["item_id"] for row in first} - answered)


def pile_rows(
    writer: RowWriter, scores: dict[str, Floats], width: float, top: float | None
) -> list[MeasuresRow]:
    """Give the pile per source and pooled, and where it lies."""
    rows: list[MeasuresRow] = []
    for source, values in scores.items():
        if len(values):
            found = pile(values, width, top)
            rows.append(writer.share("pile", found.hits, found.n, source=source))
            rows.append(writer.count("pile_low", found.low, found.n, source=source))
            rows.append(writer.count("pile_high", found.high, found.n, source=source))
    return rows


def pile_verdict(
    evidence: Evidence,
    dimension: str,
    pooled: Floats,
    found: Pile | None,
    anchored: Anchors | None,
    left: dict[str, Leaving] | None,
) -> VerdictsRow:
    """Judge the pooled pile; without labelled images a stacked pile stays open (narrow traffic?)."""
    smallest, limit = int(evidence.limits["scale.min_scores"]), evidence.limits["scale.pile"]
    writer = evidence.writer(NAME, dimension=dimension)
    if found is None or len(pooled) < smallest:
        reason, n = say("scale.few", n=len(pooled), smallest=smallest), len(pooled)
        few: VerdictsRow = {"n": n, "n_needed": smallest, "limit_high": limit}
        return writer.verdict("pile", Verdict.INCONCLUSIVE, reason, **few)
    low, high = wilson(found.hits, found.n)
    lost = lost_items(evidence, dimension)
    gone = lost / (found.n + lost)
    least, most = (wilson(hits, found.n + lost) for hits in (found.hits, found.hits + lost))
    unsettled = most[1] >= limit > least[0]
    if gone > evidence.limits["ladder.missing_share"] and unsettled:
        verdict, finding, reason = Verdict.INCONCLUSIVE, "", say("notes.refusals", share=percent(gone))
    else:
        verdict, finding, reason = _pile_answer(evidence, found, (low, high), anchored, left)
    return writer.verdict("pile", verdict, reason, finding, Share(found.hits, found.n), limit_high=limit)


def _pile_answer(
    evidence: Evidence,
    found: Pile,
    ends: tuple[float, float],
    anchored: Anchors | None,
    left: dict[str, Leaving] | None,
) -> tuple[Verdict, str, str]:
    """Compare the interval of the pile with the limit; a stacked one needs people to be a fault."""
    limit, share = evidence.limits["scale.pile"], percent(found.share)
    if ends[1] < limit:
        return Verdict.PASS, "", say("scale.spread", share=share)
    if ends[0] < limit:
        shares = {"low_share": percent(ends[0]), "high_share": percent(ends[1])}
        return Verdict.INCONCLUSIVE, "", say("scale.pile_open", share=share, **shares)
    if why := _against(evidence, anchored, left, found):
        reason = say("scale.stacked", share=share, low=f"{found.low:g}", high=f"{found.high:g}")
        return Verdict.FAIL, "stacked", f"{reason} {why}"
    key = "scale.narrow_traffic" if anchored is None else "scale.narrow_labelled"
    return Verdict.INCONCLUSIVE, "narrow_traffic", say(key, share=share)


def _against(
    evidence: Evidence, anchored: Anchors | None, left: dict[str, Leaving] | None, found: Pile
) -> str:
    """Say what shows that a pile is the judge's and not the traffic's; "" if nothing does.

    Either people's labels on the same items do not stack (and the labelled items' scores do), or bad or good
    images do not leave it.
    """
    if anchored is None or left is None:
        return ""
    limit, smallest = evidence.limits["scale.pile"], evidence.limits["scale.min_scores"]
    raw = rounded(evidence.sign * anchored.scores[~anchored.chosen])
    inside = int(((raw >= round(found.low, 9)) & (raw < round(found.high, 9))).sum())
    same = len(raw) >= smallest and wilson(inside, len(raw))[0] >= limit
    if same and anchored.people is not None and wilson(anchored.people.hits, anchored.people.n)[1] < limit:
        return say("scale.people_spread", share=percent(anchored.people.share))
    for side, part in left.items():
        if part.verdict(evidence.limits) == Verdict.FAIL:
            return say(f"scale.stays_{side}", share=percent(part.hits / part.n), n=part.n)
    return ""


def run(evidence: Evidence) -> Findings:
    """Measure pile, reach and capability of every dimension, pooled and per source."""
    if evidence.compared is not None:
        return order_instead(evidence)
    return sum((_dimension(evidence, dimension) for dimension in evidence.card.dimensions), Findings())


def _scores(evidence: Evidence, dimension: str) -> dict[str, Floats]:
    """Untouched first scores per source, as the judge gave them, and pooled."""
    by_source: dict[str, list[float]] = {}
    for row in evidence.originals:
        first = row["repeat"] == 0 and row["dimension"] == dimension
        if first and row["state"] == State.OK and row["value"] is not None:
            by_source.setdefault(row["source"], []).append(row["value"])
    found = {source: np.array(values) for source, values in sorted(by_source.items())}
    found[POOLED] = np.concatenate(list(found.values())) if found else np.array([])
    return found


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    scores = _scores(evidence, dimension)
    pooled = scores[POOLED]
    anchored = anchors(evidence, dimension)
    correlation = UNDEFINED if anchored is None else people_correlation(evidence, dimension, anchored)
    writer = evidence.writer(NAME, dimension=dimension)
    measures: list[MeasuresRow] = []
    if anchored is not None and np.isfinite(correlation.value):
        measures.append(writer.figure("people_correlation", correlation, baseline=PEOPLE))
    verdicts = [_capability(evidence, dimension, pooled, correlation)]
    low, high, step = evidence.card.scale_low, evidence.card.scale_high, evidence.card.scale_step
    left: dict[str, Leaving] | None = None
    if low is None or high is None:
        verdicts.append(writer.verdict("pile", Verdict.MISSING, say("scale.undeclared"), "undeclared"))
        span = _spanned(evidence, pooled, anchored)
        if span[1] > span[0]:
            measures += pile_rows(writer, scores, (span[1] - span[0]) / 10, span[1])
    elif (count := levels(low, high, step)) is not None and count < COARSE_LEVELS:
        verdicts.append(writer.verdict("pile", Verdict.MISSING, say("scale.coarse_scale"), "coarse_scale"))
    else:
        width, top = bin_width(low, high, step), last_end(low, high, step)
        measures += pile_rows(writer, scores, width, top)
        found = pile(pooled, width, top) if len(pooled) else None
        if anchored is not None and found is not None:
            left = leaving(evidence, anchored, found.low, found.high)
        reached, ends = _reach(evidence, dimension, width, low, high, anchored)
        measures += reached
        verdicts += [
            pile_verdict(evidence, dimension, pooled, found, anchored, left),
            *leaving_verdicts(evidence, dimension, left),
            _beyond_scale(evidence, dimension, pooled, low, high),
            *ends,
        ]
    if anchored is not None:
        measures += anchor_rows(evidence, dimension, anchored, left)
    verdicts.append(_absolute(evidence, dimension, verdicts, anchored))
    return Findings(measures=tuple(measures), verdicts=tuple(verdicts))


def _spanned(evidence: Evidence, pooled: Floats, anchored: Anchors | None) -> tuple[float, float]:
    """Give the range of a scale that nobody declared: what the anchor set spans, else what the scores do."""
    values = pooled
    if anchored is not None and anchored.chosen.any():
        values = evidence.sign * anchored.scores[anchored.chosen]
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)


def _absolute(
    evidence: Evidence, dimension: str, verdicts: Sequence[VerdictsRow], anchored: Anchors | None
) -> VerdictsRow:
    """Grant an absolute scale only where everything above passed."""
    failed = " ".join(row["reason"] for row in verdicts if row["verdict"] == Verdict.FAIL)
    unsettled = " ".join(row["reason"] for row in verdicts if row["verdict"] != Verdict.PASS)
    finding = ""
    if evidence.card.scale_low is None:
        verdict, reason = Verdict.MISSING, say("scale.undeclared")
    elif anchored is not None and failed:
        verdict, finding = Verdict.FAIL, "no_absolute_scale"
        reason = say("scale.absolute_fail", list=failed)
    elif anchored is None or any(row["verdict"] == Verdict.MISSING for row in verdicts):
        verdict, reason = Verdict.MISSING, say("scale.absolute_missing")
    elif unsettled:
        verdict, reason = Verdict.INCONCLUSIVE, say("scale.absolute_open", list=unsettled)
    else:
        verdict, reason = Verdict.PASS, say("scale.absolute")
    return evidence.writer(NAME, dimension=dimension).verdict("absolute", verdict, reason, finding)


def _beyond_scale(evidence: Evidence, dimension: str, pooled: Floats, low: float, high: float) -> VerdictsRow:
    """Count untouched answers beyond the declared ends, those set aside for it included."""
    aside = sum(
        row["repeat"] == 0 and row["dimension"] == dimension and row["state"] == State.OUT_OF_SCALE
        for row in evidence.originals
    )
    hits = aside + int(((pooled < low - 1e-9) | (pooled > high + 1e-9)).sum())
    n, limit = aside + len(pooled), evidence.limits["ladder.missing_share"]
    verdict, finding = Verdict.PASS if n and not hits else Verdict.INCONCLUSIVE, ""
    if wilson(hits, n)[0] > limit:
        verdict, finding = Verdict.FAIL, "out_of_scale"
    reason = say("scale.beyond" if hits else "scale.within", n=hits, of=n, low=f"{low:g}", high=f"{high:g}")
    writer = evidence.writer(NAME, dimension=dimension)
    return writer.verdict("beyond_scale", verdict, reason, finding, Share(hits, n), limit_high=limit)


def _capability(evidence: Evidence, dimension: str, pooled: Floats, correlation: Resampled) -> VerdictsRow:
    """Ask whether the scores differ, and rise where people's labels do: else a judge cannot order images."""
    limits = evidence.limits
    count, _ = distinct(pooled) if len(pooled) else (0, 1.0)
    lost = lost_items(evidence, dimension)
    whole = lost / max(1, len(pooled) + lost) <= limits["ladder.missing_share"]
    upper = correlation.interval(corrected_level(len(evidence.card.dimensions)))[1]
    verdict, finding = Verdict.FAIL, ""
    if not len(pooled):
        finding, reason = "silent", say("scale.silent")
    elif count == 1 and len(pooled) >= limits["scale.min_scores"] and whole:
        finding, reason = "constant", say("scale.constant")
    elif count == 1:
        verdict, finding, reason = Verdict.INCONCLUSIVE, "one_value", say("scale.one_value", n=len(pooled))
    elif upper < -limits["scale.reversed"]:
        finding = "reversed"
        reason = say("scale.reversed", value=true_minus(f"{correlation.value:.2f}"))
    elif ranks_anything(pooled, limits["ladder.one_value_share"]):
        verdict, reason = Verdict.PASS, say("scale.capability")
    else:
        verdict, reason = Verdict.INCONCLUSIVE, say("scale.capability_open")
    shown: VerdictsRow = {"value": float(count), "n": len(pooled), "limit_low": float(MIN_DISTINCT)}
    return evidence.writer(NAME, dimension=dimension).verdict("capability", verdict, reason, finding, **shown)


def _reach(
    evidence: Evidence, dimension: str, width: float, low: float, high: float, anchored: Anchors | None
) -> tuple[list[MeasuresRow], list[VerdictsRow]]:
    """Count scores in the first and last bin, damaged rungs included.

    An end is unreachable only if enough images that people place there were shown and no score reached it.
    """
    worst, best = (0, 0) if anchored is None else (int(anchored.worst.sum()), int(anchored.best.sum()))
    if evidence.sign < 0:
        worst, best = best, worst
    shown = {"lower end": worst, "upper end": best}
    values = np.array(
        [row["value"] for row in evidence.rows if row["dimension"] == dimension and row["state"] == State.OK]
    )
    count = levels(low, high, evidence.card.scale_step)
    few = count is not None and count <= FEW_LEVELS  # a bin is then one value, not a stretch
    writer = evidence.writer(NAME, dimension=dimension)
    measures: list[MeasuresRow] = []
    verdicts: list[VerdictsRow] = []
    for end, hits in (
        ("lower end", int((values < low + width).sum())),
        ("upper end", int((values >= high - (0 if few else width)).sum())),
    ):
        measures.append(writer.share("reach", hits, len(values), kind=end))
        answer, finding = Verdict.PASS if hits else Verdict.INCONCLUSIVE, ""
        reason = say("scale.reached", end=end, hits=hits) if hits else say("scale.not_reached", end=end)
        if not hits and shown[end] >= evidence.limits["scale.min_end_anchors"]:
            answer, finding = Verdict.FAIL, "unreachable"
            reason = say("scale.unreachable", end=end, n=shown[end])
        share = Share(hits, len(values))
        verdicts.append(writer.verdict("reach", answer, reason, finding, share, kind=end))
    return measures, verdicts


CHECK = Check(NAME, run, needs=Needs.ANY)
