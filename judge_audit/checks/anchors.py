"""People's labels as anchors of a scale: which images are bad and good, and does the score say so?

*Bad* is a mean label in the lowest third of the declared label scale, *good* one in the highest: thirds of the
scale, not of the sample, so that narrow traffic makes no bad images. *Worst* and *best* are nearer to an end
than to the level beside it (the last tenth of a label scale of many levels). Labels without declared ends
anchor nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.joined import PEOPLE, answers, means, people_for, ratings
from judge_audit.checks.ladder_question import percent
from judge_audit.digests import draw_seed
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, wilson
from judge_audit.measures.lifts import rounded
from judge_audit.measures.resampling import UNDEFINED, Resampled, combined, draws_for
from judge_audit.measures.scale import COARSE_LEVELS, FEW_LEVELS, bin_width, last_end, levels, pile
from judge_audit.measures.subscores import correlated
from judge_audit.measures.within_prompt import placed
from judge_audit.messages import say
from judge_audit.vocabulary import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.measures.scale import Pile

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

SIDES = ("bad", "good")
FEWEST = 3


@dataclass(frozen=True, slots=True, eq=False)
class Anchors:
    """Labelled images that have a score, in one dimension; scores oriented.

    Attributes:
        scores: Oriented first scores, shape (n,).
        labels: People's mean labels, oriented, shape (n,).
        sources: Source of each.
        clusters: Cluster of each.
        bad: Images people call bad, shape (n,).
        good: Images they call good.
        worst: Images at the lowest end of the label scale.
        best: Images at the highest.
        people: Pile of people's labels on their own scale; None if that is not declared or coarse.
    """

    scores: Floats
    labels: Floats
    sources: NDArray[np.str_]
    clusters: NDArray[np.intp]
    bad: Mask
    good: Mask
    worst: Mask
    best: Mask
    people: Pile | None


def anchors(evidence: Evidence, dimension: str) -> Anchors | None:
    """Take the labelled images of a dimension as anchors; None if nobody has labelled any that was scored."""
    people = ratings(evidence, people_for(evidence, dimension))
    if people is None:
        return None
    given = answers(evidence, dimension)
    labels = means(given, people)
    use = np.isfinite(labels) & np.isfinite(given.values[:, 0])
    if not use.any():
        return None
    labels = labels[use]
    none = np.zeros(len(labels), bool)
    ends, stacked = (none, none, none, none), None
    if people.low is not None and people.high is not None and people.high > people.low:
        held = frozenset(np.array(given.items)[use].tolist())
        rows = np.array([item in held for item in people.items])
        told = people.values[rows] if people.raters else people.mean[rows, None]
        told = told[np.isfinite(told)]
        step = _step(told)
        ends = _ends(labels, people.low, people.high, step)
        stacked = _pile_of_labels(told, people.low, people.high, step)
    return Anchors(
        given.values[use, 0], labels, given.sources[use], given.clusters[use], *ends, people=stacked
    )


def _step(told: Floats) -> float | None:
    """Read the step between label levels off the labels; None for a scale of many levels."""
    values = np.unique(rounded(told))
    return float(np.diff(values).min()) if 1 < len(values) <= FEW_LEVELS else None


def _ends(labels: Floats, low: float, high: float, step: float | None) -> tuple[Mask, Mask, Mask, Mask]:
    third = (high - low) / 3
    reach = (high - low) / 10 if step is None else step / 2
    slack = 1e-9
    return (
        labels <= low + third + slack,
        labels >= high - third - slack,
        labels < low + reach - slack,
        labels > high - reach + slack,
    )


def _pile_of_labels(told: Floats, low: float, high: float, step: float | None) -> Pile | None:
    count = levels(low, high, step)
    if not len(told) or (count is not None and count < COARSE_LEVELS):
        return None
    return pile(told, bin_width(low, high, step))


def people_correlation(evidence: Evidence, dimension: str, held: Anchors) -> Resampled:
    """Correlate the score with people's mean label within sources (Spearman), averaged plainly by items."""
    parts = []
    for source in sorted(set(held.sources.tolist())):
        rows = held.sources == source
        if len(np.unique(held.clusters[rows])) >= FEWEST:
            table = np.column_stack([held.scores[rows], held.labels[rows]])
            seed = draw_seed(evidence.seed, "scale", dimension, source)
            (found,) = correlated([table], held.clusters[rows], draws_for(1), seed)
            if found:
                parts.append(found[0, 1][0])
    return combined(parts) if parts else UNDEFINED


@dataclass(frozen=True, slots=True)
class Leaving:
    """How many images on one side leave the pile.

    Attributes:
        hits: Images that lie beyond it.
        n: Images on that side.
        exempt: Whether they need not leave it: the pile lies at that end of the scale, or most images are theirs.
    """

    hits: int
    n: int
    exempt: bool

    def verdict(self, limit: float, smallest: float) -> Verdict:
        """Pass: more than the limit leaves by interval; fail: less does, of enough images."""
        if self.exempt or wilson(self.hits, self.n)[0] > limit:
            return Verdict.PASS
        if self.n >= smallest and wilson(self.hits, self.n, corrected_level(2))[1] < limit:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if self.n else Verdict.MISSING


def leaving(evidence: Evidence, held: Anchors, low: float, high: float) -> dict[str, Leaving]:
    """Count the bad images below the pile [low, high) of the scores as given, and the good ones above it."""
    ends = evidence.card.scale_low, evidence.card.scale_high
    raw = rounded(evidence.sign * held.scores)
    top = None
    if ends[0] is not None and ends[1] is not None:
        top = last_end(ends[0], ends[1], evidence.card.scale_step)
    closed = top is not None and round(high, 9) == round(top, 9)  # the last of ten bins holds its own end
    below, above = raw < round(low, 9), raw > round(high, 9) if closed else raw >= round(high, 9)
    at_low = ends[0] is not None and low <= ends[0]
    at_high = closed or (ends[1] is not None and high > ends[1])
    if evidence.sign < 0:
        below, above, at_low, at_high = above, below, at_high, at_low
    sides = (("bad", held.bad, below, at_low), ("good", held.good, above, at_high))
    return {
        name: Leaving(int((side & beyond).sum()), int(side.sum()), at_end or bool(side.mean() > 1 / 2))
        for name, side, beyond, at_end in sides
    }


def anchor_rows(
    evidence: Evidence, dimension: str, held: Anchors, left: dict[str, Leaving] | None
) -> list[dict[str, Any]]:
    """Give leaving, AUC and people's own pile."""
    rows: list[dict[str, Any]] = []

    def row(measure: str, value: float, ends: tuple[float, float], n: int, **parts: str) -> None:
        key = evidence.key("scale", measure, dimension=dimension, baseline=PEOPLE, **parts)
        rows.append({**key, "value": value, "ci_low": ends[0], "ci_high": ends[1], "n": n})

    for side, found in (left or {}).items():
        if found.n:
            row("leaving", found.hits / found.n, wilson(found.hits, found.n), found.n, kind=side)
    if held.bad.any() and held.good.any():
        value, error = _auc(held.scores[held.bad], held.scores[held.good])
        ends = (max(0.0, value - 1.645 * error), min(1.0, value + 1.645 * error))
        row("anchor_auc", value, ends, int(held.bad.sum() + held.good.sum()))
    if held.people is not None:
        found_pile = held.people
        row("people_pile", found_pile.share, wilson(found_pile.hits, found_pile.n), found_pile.n)
    return rows


def _auc(bad: Floats, good: Floats) -> tuple[float, float]:
    """Area under the curve with its standard error by placements (DeLong, DeLong & Clarke-Pearson 1988)."""
    of_good, of_bad = placed(good, bad), 1 - placed(bad, good)
    parts = [values.var(ddof=1) / len(values) for values in (of_good, of_bad) if len(values) > 1]
    return float(of_good.mean()), float(np.sqrt(sum(parts)))


def leaving_verdicts(
    evidence: Evidence, dimension: str, left: dict[str, Leaving] | None
) -> list[dict[str, Any]]:
    """Say for bad and good images whether they leave the pile.

    Never a fault by itself: only a stacked pile makes one of it.
    """
    limit, smallest = evidence.limits["scale.leaving"], evidence.limits["scale.min_end_anchors"]
    rows = []
    for side in SIDES:
        found = left[side] if left else Leaving(0, 0, exempt=False)
        verdict = found.verdict(limit, smallest)
        verdict = Verdict.INCONCLUSIVE if verdict == Verdict.FAIL else verdict
        word = "exempt" if found.exempt else verdict.value
        share = percent(found.hits / found.n) if found.n else "0 %"
        reason = say(f"scale.leaving_{side}_{word}", share=share, n=found.n)
        low, high = wilson(found.hits, found.n, PASS_LEVEL)
        row = {
            **evidence.key("scale", "leaving", dimension=dimension, kind=side, baseline=PEOPLE),
            "limit_low": limit,
            "verdict": verdict.value,
            "finding": "",
            "reason": reason,
            "provisional": False,
        }
        if found.n:
            row |= {"value": found.hits / found.n, "ci_low": low, "ci_high": high, "n": found.n}
        rows.append(row)
    return rows
