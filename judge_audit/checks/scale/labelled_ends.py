"""People's labels as anchors of a scale: which images are bad and good, and does the score say so?

Two lots are taken the same way: the items that people labelled, and the anchor set.

*Bad* is a mean label in the lowest third of the declared label scale, *good* one in the highest: thirds of the
scale, not of the sample, so that narrow traffic makes no bad images. *Worst* and *best* are nearer to an end
than to the level beside it (the last tenth of a label scale of many levels). Labels without declared ends
anchor nothing. Of the whole picture (`overall`, or the only dimension) an anchor's tier says whether it is bad or
good, whatever the mean of its labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.checks.people.labelled_scores import answers, means, people_for, ratings
from judge_audit.checks.result_rows import Share
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, OVERALL, PEOPLE, Tier, Verdict
from judge_audit.measures.estimates import corrected_level, wilson
from judge_audit.measures.lifts import rounded
from judge_audit.measures.resampling import UNDEFINED, Resampled, combined, draws_for
from judge_audit.measures.scale import COARSE_LEVELS, FEW_LEVELS, bin_width, last_end, levels, pile
from judge_audit.measures.subscores import correlated
from judge_audit.measures.within_prompt import placed

if TYPE_CHECKING:
    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence, Floats, Mask
    from judge_audit.checks.people.labelled_scores import Answers, Ratings
    from judge_audit.core.limits import Limits
    from judge_audit.measures.scale import Pile

SIDES = ("bad", "good")
FEWEST = 3


@dataclass(frozen=True, slots=True, eq=False)
class Anchors:
    """Labelled images that have a score, in one dimension; scores oriented.

    Attributes:
        scores: Oriented first scores, shape (n,).
        labels: People's mean labels, oriented, shape (n,); NaN where an anchor has a tier and no label.
        sources: Source of each.
        clusters: Cluster of each.
        chosen: Images of the anchor set: chosen for being bad or good, so they say nothing about the traffic.
        bad: Images people call bad, shape (n,).
        good: Images they call good.
        worst: Images at the lowest end of the label scale.
        best: Images at the highest.
        people: Pile of people's labels of the items on their own scale; None if that is not declared or coarse.
    """

    scores: Floats
    labels: Floats
    sources: NDArray[np.str_]
    clusters: NDArray[np.str_]
    chosen: Mask
    bad: Mask
    good: Mask
    worst: Mask
    best: Mask
    people: Pile | None

    def __add__(self, other: Anchors) -> Anchors:
        """Put two lots together; the pile of people's labels is that of the first."""
        names = ("scores", "labels", "sources", "clusters", "chosen", *ENDS)
        both = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return Anchors(**both, people=self.people)


ENDS = ("bad", "good", "worst", "best")


def anchors(evidence: Evidence, dimension: str) -> Anchors | None:
    """Take the labelled items of a dimension and the anchor set; None if neither holds anything that was scored."""
    items = _labelled(evidence, dimension)
    chosen = _chosen(evidence, dimension)
    if items is None or chosen is None:
        return items or chosen
    return items + chosen


def _labelled(evidence: Evidence, dimension: str) -> Anchors | None:
    """Take the items that people labelled; one that stands in the anchor set too counts as an anchor only."""
    people = ratings(evidence, people_for(evidence, dimension))
    if people is None:
        return None
    scores = answers(evidence, dimension)
    labels = means(scores, people)
    use = np.isfinite(labels) & np.isfinite(scores.values[:, 0])
    if not use.any():
        return None
    items = np.array(scores.items)[use]
    twins = _twins(evidence)
    alone = np.array([item not in twins for item in items.tolist()])
    ends = {name: mask & alone for name, mask in _ends(people, items, labels[use]).items()}
    return _anchors(scores, labels, use, ends, chosen=False, people=_pile_of_labels(people, items))


def _chosen(evidence: Evidence, dimension: str) -> Anchors | None:
    """Take the anchor set: the same labels and ends, and of the whole picture its tier."""
    if evidence.anchors is None or not evidence.anchors.num_rows:
        return None
    view = evidence.once("anchors alone", lambda: _alone(evidence))
    if not view.responses.num_rows:
        return None
    people = ratings(view, people_for(view, dimension))
    scores = answers(view, dimension)
    labels = np.full(len(scores.items), np.nan) if people is None else means(scores, people)
    whole = dimension == OVERALL or len(evidence.card.dimensions) == 1
    use = np.isfinite(scores.values[:, 0]) & (np.isfinite(labels) | whole)
    if not use.any():
        return None
    items = np.array(scores.items)[use]
    ends = _ends(people, items, labels[use])
    if whole:
        columns = (evidence.anchors[name].to_pylist() for name in ("item_id", "tier"))
        tier = dict(zip(*columns, strict=True))
        ends["bad"] = np.array([tier[item] == Tier.BAD for item in items.tolist()])
        ends["good"] = np.array([tier[item] == Tier.GOOD for item in items.tolist()])
    return _anchors(scores, labels, use, ends, chosen=True)


def _anchors(
    scores: Answers,
    labels: Floats,
    use: Mask,
    ends: dict[str, Mask],
    *,
    chosen: bool,
    people: Pile | None = None,
) -> Anchors:
    return Anchors(
        scores.values[use, 0],
        labels[use],
        scores.sources[use],
        scores.clusters[use].astype(str),
        np.full(int(use.sum()), chosen),
        **ends,
        people=people,
    )


def _alone(evidence: Evidence) -> Evidence:
    """Make evidence of the anchor set alone, in which its pictures are the items and its labels people's."""
    assert evidence.anchors is not None
    rows = evidence.responses.filter(pc.equal(evidence.responses["axis"], ANCHOR))
    rows = rows.filter(pc.is_in(rows["item_id"], value_set=evidence.anchors["item_id"].combine_chunks()))
    place = rows.schema.get_field_index("axis")
    untouched = rows.set_column(place, "axis", pa.array([ORIGINAL] * rows.num_rows, pa.string()))
    return replace(evidence, responses=untouched, labels=evidence.anchors, anchors=None, _cache={})


def _twins(evidence: Evidence) -> frozenset[str]:
    """Name the items that are anchors too."""
    if evidence.anchors is None or "same_as" not in evidence.anchors.column_names:
        return frozenset()
    return frozenset(evidence.anchors["same_as"].to_pylist()) - {None}


def _levels_of(people: Ratings, items: NDArray[np.str_]) -> tuple[Floats, float | None]:
    """Give every label of some items, and the step between levels read off them; None for a scale of many levels."""
    wanted = frozenset(items.tolist())
    rows = np.array([item in wanted for item in people.items])
    labels = people.values[rows] if people.raters else people.mean[rows, None]
    labels = np.asarray(labels[np.isfinite(labels)], float)
    values = np.unique(rounded(labels))
    return labels, float(np.diff(values).min()) if 1 < len(values) <= FEW_LEVELS else None


def _ends(people: Ratings | None, items: NDArray[np.str_], labels: Floats) -> dict[str, Mask]:
    """Tell which images lie in the lowest and highest third of a declared scale, and which at its very ends."""
    if people is None or people.low is None or people.high is None or people.high <= people.low:
        return dict.fromkeys(ENDS, np.zeros(len(items), bool))
    low, high, step = people.low, people.high, _levels_of(people, items)[1]
    third = (high - low) / 3
    reach = (high - low) / 10 if step is None else step / 2
    slack = 1e-9
    return {
        "bad": labels <= low + third + slack,
        "good": labels >= high - third - slack,
        "worst": labels < low + reach - slack,
        "best": labels > high - reach + slack,
    }


def _pile_of_labels(people: Ratings, items: NDArray[np.str_]) -> Pile | None:
    if people.low is None or people.high is None or people.high <= people.low:
        return None
    labels, step = _levels_of(people, items)
    count = levels(people.low, people.high, step)
    if not len(labels) or (count is not None and count < COARSE_LEVELS):
        return None
    return pile(labels, bin_width(people.low, people.high, step))


def people_correlation(evidence: Evidence, dimension: str, anchored: Anchors) -> Resampled:
    """Correlate the score with people's mean label within sources (Spearman), averaged plainly by items.

    The anchor set, chosen for being bad or good, would flatter: it serves only where nobody labelled items.
    """
    parts = []
    lot = anchored.chosen if anchored.chosen.all() else ~anchored.chosen
    for source in sorted(set(anchored.sources[lot].tolist())):
        rows = lot & (anchored.sources == source) & np.isfinite(anchored.labels)
        if len(np.unique(anchored.clusters[rows])) >= FEWEST:
            table = np.column_stack([anchored.scores[rows], anchored.labels[rows]])
            seed = draw_seed(evidence.seed, "scale", dimension, source)
            clusters = np.unique(anchored.clusters[rows], return_inverse=True)[1].astype(np.intp)
            (found,) = correlated([table], clusters, draws_for(1), seed)
            if found:
                parts.append(found[0, 1][0])
    return combined(parts) if parts else UNDEFINED


@dataclass(frozen=True, slots=True)
class Leaving:
    """How many images on one side leave the pile.

    Attributes:
        hits: Images that lie beyond it.
        n: Images on that side.
        exempt: Whether they need not leave it: the pile lies at that end of the scale, or most items are theirs.
    """

    hits: int
    n: int
    exempt: bool

    def verdict(self, limits: Limits) -> Verdict:
        """Pass: more than the limit leaves by interval; fail: less does, of enough images."""
        limit, smallest = limits["scale.leaving"], limits["scale.min_end_anchors"]
        if self.exempt or wilson(self.hits, self.n)[0] > limit:
            return Verdict.PASS
        if self.n >= smallest and wilson(self.hits, self.n, corrected_level(2))[1] < limit:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if self.n else Verdict.MISSING


def leaving(evidence: Evidence, anchored: Anchors, low: float, high: float) -> dict[str, Leaving]:
    """Count the bad images below the pile [low, high) of the scores as given, and the good ones above it."""
    ends = evidence.card.scale_low, evidence.card.scale_high
    raw = rounded(evidence.sign * anchored.scores)
    top = None
    if ends[0] is not None and ends[1] is not None:
        top = last_end(ends[0], ends[1], evidence.card.scale_step)
    closed = top is not None and round(high, 9) == round(top, 9)  # the last of ten bins holds its own end
    below, above = raw < round(low, 9), raw > round(high, 9) if closed else raw >= round(high, 9)
    at_low = ends[0] is not None and low <= ends[0]
    at_high = closed or (ends[1] is not None and high > ends[1])
    if evidence.sign < 0:
        below, above, at_low, at_high = above, below, at_high, at_low
    sides = (("bad", anchored.bad, below, at_low), ("good", anchored.good, above, at_high))
    items = ~anchored.chosen
    return {
        name: Leaving(
            int((side & beyond).sum()),
            int(side.sum()),
            at_end or bool(items.any() and side[items].mean() > 1 / 2),
        )
        for name, side, beyond, at_end in sides
    }


def anchor_rows(
    evidence: Evidence, dimension: str, anchored: Anchors, left: dict[str, Leaving] | None
) -> list[MeasuresRow]:
    """Give leaving, AUC and people's own pile."""
    writer = evidence.writer("scale", dimension=dimension, baseline=PEOPLE)
    rows = [
        writer.share("leaving", side.hits, side.n, kind=name) for name, side in (left or {}).items() if side.n
    ]
    if anchored.bad.any() and anchored.good.any():
        value, error = _auc(anchored.scores[anchored.bad], anchored.scores[anchored.good])
        row = writer.count("anchor_auc", value, int(anchored.bad.sum() + anchored.good.sum()))
        row |= {"ci_low": max(0.0, value - 1.645 * error), "ci_high": min(1.0, value + 1.645 * error)}
        rows.append(row)
    if anchored.people is not None:
        rows.append(writer.share("people_pile", anchored.people.hits, anchored.people.n))
    return rows


def _auc(bad: Floats, good: Floats) -> tuple[float, float]:
    """Area under the curve with its standard error by placements (DeLong, DeLong & Clarke-Pearson 1988)."""
    of_good, of_bad = placed(good, bad), 1 - placed(bad, good)
    parts = [values.var(ddof=1) / len(values) for values in (of_good, of_bad) if len(values) > 1]
    return float(of_good.mean()), float(np.sqrt(sum(parts)))


def leaving_verdicts(
    evidence: Evidence, dimension: str, left: dict[str, Leaving] | None
) -> list[VerdictsRow]:
    """Say for bad and good images whether they leave the pile.

    Never a fault by itself: only a stacked pile makes one of it.
    """
    limit = evidence.limits["scale.leaving"]
    writer = evidence.writer("scale", dimension=dimension, baseline=PEOPLE)
    rows: list[VerdictsRow] = []
    for side in SIDES:
        found = left[side] if left else Leaving(0, 0, exempt=False)
        verdict = found.verdict(evidence.limits)
        verdict = Verdict.INCONCLUSIVE if verdict == Verdict.FAIL else verdict
        word = "exempt" if found.exempt else verdict.value
        share = percent(found.hits / found.n) if found.n else "0 %"
        reason = say(f"scale.leaving_{side}_{word}", share=share, n=found.n)
        figure = Share(found.hits, found.n) if found.n else None
        place: VerdictsRow = {"kind": side, "limit_low": limit}
        rows.append(writer.verdict("leaving", verdict, reason, "", figure, **place))
    return rows
