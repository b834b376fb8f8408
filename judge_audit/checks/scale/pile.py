"""The pile: where scores gather on their scale, and whether that is the judge's doing or the traffic's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, State, Verdict
from judge_audit.measures.estimates import wilson
from judge_audit.measures.lifts import rounded
from judge_audit.measures.scale import pile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.scale.labelled_ends import Anchors, Leaving
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
) -> dict[str, Any]:
    """Make a row of `verdicts` of the scale."""
    return {
        **evidence.key(NAME, measure, dimension=dimension),
        "verdict": verdict.value,
        "finding": finding,
        "reason": reason,
        "provisional": False,
        **parts,
    }


def pile_rows(
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


def pile_verdict(
    evidence: Evidence,
    dimension: str,
    pooled: NDArray[np.float64],
    width: float,
    top: float | None,
    held: Anchors | None,
    left: dict[str, Leaving] | None,
) -> dict[str, Any]:
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
