"""An old judge and a new one on the same anchors: how far the order changed beyond their own noise.

Only orders are compared, never scores: everything here is the same under any monotone rescaling of either
judge. Both are oriented (higher is better) before they come here.

Two readings of one order by noisy judges never agree fully. What they would agree if nothing but noise stood
between them is taken from each judge's own retest, made the same way: the mean of r repeats against the mean
of r other repeats, and old against new by means of r repeats too. A judge that never changes an answer has
a retest of 1, whatever the number of repeats.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.lifts import rounded
from judge_audit.measures.orders import churn, descent, middle_ranks, order_of, pair_sum, settled, tau_b
from judge_audit.measures.resampling import UNDEFINED, Resampled, derived, resample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from judge_audit.measures.orders import Descent, Order

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

MOST_SPLITS = 6
"""Ways of halving the repeats that are averaged."""


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """A judge's scores on the anchors.

    Attributes:
        values: Oriented scores, NaN where missing, shape (n, repeats); each anchor has one at least.
        steady: Whether it is known to say the same again; None to find out from the repeats.
    """

    values: Floats
    steady: bool | None = None

    @property
    def mean(self) -> Floats:
        """Mean over the repeats that are there, shape (n,)."""
        return np.asarray(np.nanmean(self.values, axis=1))

    @property
    def is_steady(self) -> bool:
        """Whether no repeat changes an answer; one repeat alone shows nothing."""
        lowest, highest = np.nanmin(self.values, axis=1), np.nanmax(self.values, axis=1)
        same = bool((rounded(highest) == rounded(lowest)).all())
        if self.steady is not None:
            return self.steady and same
        twice = np.isfinite(self.values).sum(axis=1) > 1
        return same and bool(twice.mean() >= 0.5)

    @property
    def repeats(self) -> int:
        """Repeats asked for."""
        return int(self.values.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """Pairs that the new judge puts the other way round.

    Attributes:
        above: The member that the old judge put above, as row numbers, shape (m,).
        below: The one that it put below.
        firm: Whether both orders are settled: by repeats, or by judges that never change an answer.
        people: +1 if people put `above` above too (the change goes against them), −1 if they put it below
            (with them), 0 if they tie the two, NaN if unknown.
    """

    above: Ints
    below: Ints
    firm: bool
    people: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What became of the order.

    Attributes:
        figures: tau (means of all repeats), tau_like_retest (means of as many repeats as the retest has),
            retest_old, retest_new, retest (what noise alone would leave), drop (retest − tau_like_retest),
            against, with_people, net (shares of the pairs that people order), top_churn, retest_churn.
        turned: Pairs turned round.
        ranks_old: Middle ranks, 1 the best, shape (n,).
        ranks_new: The same of the new judge.
        discordant: Pairs whose order by the means differs, settled or not.
        pairs: All pairs.
        people_pairs: Pairs that people order.
    """

    figures: Mapping[str, Resampled]
    turned: Turned
    ranks_old: Floats
    ranks_new: Floats
    discordant: int
    pairs: int
    people_pairs: int

    @property
    def displaced(self) -> Floats:
        """Places each anchor moved: positive is up, shape (n,)."""
        return self.ranks_old - self.ranks_new


def retest_size(old: Readings, new: Readings) -> int:
    """Say of how many repeats the means are that are held against one another; 0 if noise is unknown."""
    noisy = [judge.repeats // 2 for judge in (old, new) if not judge.is_steady]
    return min(noisy, default=1)


def halves(judge: Readings, size: int) -> Iterator[tuple[Floats, Floats]]:
    """Give pairs of means over `size` repeats each, no repeat in both; a steady judge's are one and the same.

    An anchor of which all `size` repeats are missing takes its mean over all.
    """
    if judge.is_steady:
        yield judge.mean, judge.mean
        return
    count = judge.repeats
    turns = size if count == 2 * size else count
    for shift in range(min(turns, MOST_SPLITS)):
        places = (np.arange(2 * size) + shift) % count
        yield _mean(judge, places[:size]), _mean(judge, places[size:])


def _mean(judge: Readings, places: Ints) -> Floats:
    part = judge.values[:, places]
    known = np.isfinite(part)
    with np.errstate(invalid="ignore"):
        found = np.where(known, part, 0.0).sum(axis=1) / known.sum(axis=1)
    return np.where(known.any(axis=1), found, judge.mean)


def left_by_noise(first: Floats, second: Floats) -> Floats:
    """Give the τ of two noisy readings of one order, from the retest τ of each.

    Correlations multiply by the root of both reliabilities (Spearman 1904); τ and correlation are put into
    one another by τ = (2/π)·arcsin ρ (Greiner 1909). Equal retests leave just that retest. Their plain mean
    would be too high where one judge is steady and the other is not, and would call noise a change.
    """
    rho = [np.sin(np.pi / 2 * np.clip(value, 0.0, 1.0)) for value in (first, second)]
    return np.asarray(2 / np.pi * np.arcsin(np.clip(np.sqrt(rho[0] * rho[1]), 0.0, 1.0)))


def compared(  # noqa: PLR0913 - the parts of one comparison
    old: Readings,
    new: Readings,
    clusters: Ints,
    people: Floats,
    *,
    top_share: float,
    ordered_share: float,
    draws: int,
    seed: int,
) -> Compared:
    """Compare two judges on the same anchors.

    Args:
        old: The judge before, n anchors.
        new: The judge after, the same anchors.
        clusters: Cluster of each anchor, shape (n,); resampled whole, for every figure at once.
        people: Whom people put above: +1, −1, 0 (tie) or NaN (unknown) for each pair, shape (n, n).
        top_share: Share of the anchors that makes the top.
        ordered_share: Share of the repeats that must order a pair the same way before its turn counts.
        draws: Number of resamples; 0 for the figures alone.
        seed: Seed.
    """
    signs = [settled(judge.values, ordered_share) for judge in (old, new)]
    size = retest_size(old, new)
    firm = all(judge.is_steady or judge.repeats > 1 for judge in (old, new))
    against, with_ = _directions(signs[0], signs[1], people)
    figures = _figures(
        old, new, size, top_share, against - with_, against, with_, np.abs(np.nan_to_num(people))
    )
    count = len(clusters)
    found = resample(figures, clusters, np.arange(count), draws, seed) if count else {}
    whole = [order_of(judge.mean).signs for judge in (old, new)]
    above, below = np.nonzero((signs[0] > 0) & (signs[1] < 0))
    return Compared(
        _with_differences(found),
        Turned(above, below, firm, people[above, below]),
        middle_ranks(old.mean),
        middle_ranks(new.mean),
        int((whole[0] * whole[1] < 0).sum()) // 2,
        count * (count - 1) // 2,
        int((np.nan_to_num(people) > 0).sum()),
    )


def _directions(old: Floats, new: Floats, people: Floats) -> tuple[Floats, Floats]:
    """Mark pairs turned against people, and those turned towards them."""
    known = np.nan_to_num(people)
    turned = old * new < 0
    return (turned & (known * old > 0)).astype(float), (turned & (known * old < 0)).astype(float)


def _figures(  # noqa: PLR0913, PLR0917 - what one resample is made of
    old: Readings,
    new: Readings,
    size: int,
    top_share: float,
    net: Floats,
    against: Floats,
    with_: Floats,
    ordered: Floats,
) -> Callable[[Floats], dict[str, Floats]]:
    """Prepare every order once, and give the function of weights that resamples them all together."""
    whole = [(order_of(judge.mean), descent(judge.mean)) for judge in (old, new)]
    parts = [
        [[(order_of(side), descent(side)) for side in split] for split in halves(judge, size)] if size else []
        for judge in (old, new)
    ]
    for split_list, judge in zip(parts, (old, new), strict=True):
        if judge.is_steady:  # the very same order on both sides, so that it need not be compared
            split_list[:] = [[split[0], split[0]] for split in split_list]
    cross = [(a, b) for first in parts[0] for second in parts[1] for a in first for b in second]
    if all(judge.is_steady for judge in (old, new)):
        cross = cross[:1]

    def figures(weights: Floats) -> dict[str, Floats]:
        found = {
            "tau": tau_b(weights, whole[0][0], whole[1][0]),
            "top_churn": churn(weights, whole[0][1], whole[1][1], top_share),
        }
        total = pair_sum(ordered, weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            for name, matrix in (("against", against), ("with_people", with_), ("net", net)):
                found[name] = np.where(total > 0, pair_sum(matrix, weights) / total, np.nan)
        if not size:
            return found
        found["tau_like_retest"] = _average([tau_b(weights, a[0], b[0]) for a, b in cross])
        for name, splits in zip(("retest_old", "retest_new"), parts, strict=True):
            found[name] = _average([tau_b(weights, a[0], b[0]) for a, b in splits])
        moved = [_average([churn(weights, a[1], b[1], top_share) for a, b in splits]) for splits in parts]
        found["retest_churn"] = np.maximum(*moved)
        return found

    return figures


def _average(values: list[Floats]) -> Floats:
    return np.asarray(np.mean(values, axis=0))


def _with_differences(found: Mapping[str, Resampled]) -> dict[str, Resampled]:
    if "tau_like_retest" not in found:
        return {"retest": UNDEFINED, "drop": UNDEFINED, **found}
    retest = derived(left_by_noise, found["retest_old"], found["retest_new"])
    drop = derived(lambda noise, tau: noise - tau, retest, found["tau_like_retest"])
    return {**found, "retest": retest, "drop": drop}


@dataclass(frozen=True, slots=True)
class Choices:
    """First choices among the anchors of one prompt.

    Attributes:
        changed: Prompts whose first choice changed, ties counting in part.
        groups: Prompts with two anchors or more.
    """

    changed: float
    groups: int


def first_choices(old: Floats, new: Floats, groups: Mapping[str, Ints]) -> Choices:
    """Count the prompts in which another anchor stands first now.

    Args:
        old: Mean oriented scores, shape (n,).
        new: The same of the new judge.
        groups: Rows of each prompt with two anchors or more.
    """
    changed = 0.0
    for rows in groups.values():
        one = np.ones((len(rows), 1))
        held: list[Descent] = [descent(values[rows]) for values in (old, new)]
        changed += float(churn(one, held[0], held[1], 0.0)[0])
    return Choices(changed, len(groups))


def order_pairs(values: Floats) -> Floats:
    """Order pairs by values that may be missing: +1, −1, 0, or NaN where one is, shape (n, n)."""
    known = np.isfinite(values)
    signs: Order = order_of(np.where(known, values, 0.0))
    return np.where(known[:, None] & known[None, :], signs.signs, np.nan)
