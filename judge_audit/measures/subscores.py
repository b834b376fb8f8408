"""Are sub-scores opinions of their own? Correlations within a source, and how many dimensions they amount to.

On plain tables there are no pairs of damaged and intact items, so the effective number of dimensions is that
of the correlation matrix within sources: n_eff = D²/ΣC_ij² (the participation ratio of its eigenvalues). Traits
of good pictures go together for people too: only beside people's own matrix does a figure say something.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.correlation import column, product_moment, spearman
from judge_audit.measures.resampling import Resampled, alike, combined, resample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

Pair = tuple[int, int]


def pairs_of(width: int) -> list[Pair]:
    """List the pairs of so many columns."""
    return list(itertools.combinations(range(width), 2))


def correlated(
    tables: Sequence[Floats], clusters: Ints, draws: int, seed: int
) -> list[dict[Pair, tuple[Resampled, Resampled]]]:
    """Correlate the columns of tables about the same items, all on the same resamples.

    Args:
        tables: Each of shape (n, D), finite; the judge's and people's, say.
        clusters: Cluster of each item, shape (n,).
        draws: Resamples; 0 for the figures alone.
        seed: Seed.

    Returns:
        For each table and pair of columns Spearman's and Pearson's correlation; a pair with a column that does
        not vary is left out.
    """
    first, kinds = alike(*tables)
    held = []
    for at, table in enumerate(tables):
        varies = np.ptp(table, axis=0) > 1e-9
        columns = [column(values[first]) for values in table.T]
        for one, other in pairs_of(table.shape[1]):
            if varies[one] and varies[other]:
                values = table[first][:, one], table[first][:, other]
                held.append((at, (one, other), columns[one], columns[other], values))

    def figures(weights: Floats) -> dict[str, Floats]:
        found = {}
        for number, (_, _, x, y, values) in enumerate(held):
            found[f"{number} rank"] = np.nan_to_num(spearman(weights, x, y))
            found[f"{number} plain"] = np.nan_to_num(product_moment(weights, *values))
        return found

    made = resample(figures, clusters, kinds, draws, seed) if held else {}
    result: list[dict[Pair, tuple[Resampled, Resampled]]] = [{} for _ in tables]
    for number, (at, pair, _, _, _) in enumerate(held):
        result[at][pair] = made[f"{number} rank"], made[f"{number} plain"]
    return result


def effective(parts: Sequence[dict[Pair, Resampled]], width: int) -> tuple[Resampled, frozenset[int]]:
    """Say how many dimensions D columns amount to, from their correlations in several sources.

    Correlations are averaged plainly over sources by their numbers of items, draw by draw, before they are
    squared. A squared correlation holds its own sampling variance, which would make independent columns of few
    items look fewer than they are: it is taken off once, and off a resample twice (a resample adds it again).
    Columns that vary nowhere are silent and left out of D.

    Args:
        parts: Correlation of each pair, by source.
        width: Number of columns.

    Returns:
        n_eff between 1 and D, and the silent columns.
    """
    whole = {
        pair: combined([part[pair] for part in parts if pair in part])
        for pair in pairs_of(width)
        if any(pair in part for part in parts)
    }
    heard = {at for pair in whole for at in pair}
    silent = frozenset(range(width)) - heard
    if not whole:
        return Resampled(float("nan"), np.empty(0), 0, 0, 0), silent
    count = len(heard)
    smallest = min(whole.values(), key=lambda figure: figure.n_clusters)
    noise = [float(figure.replicates.var()) if len(figure.replicates) else 0.0 for figure in whole.values()]
    total = sum(figure.value**2 - own for figure, own in zip(whole.values(), noise, strict=True))
    drawn = [figure.replicates**2 - 2 * own for figure, own in zip(whole.values(), noise, strict=True)]
    value = count**2 / (count + 2 * max(0.0, total))
    replicates = count**2 / (count + 2 * np.maximum(0.0, np.sum(drawn, axis=0)))
    return Resampled(value, replicates, smallest.n, smallest.n_clusters, smallest.df), silent
