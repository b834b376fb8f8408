"""What to combine: recipes chosen by a judge's own scores, on each half of the clusters by itself."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.ladders.headroom import gathered
from judge_audit.measures.headroom import Foretold, Named, Seen, best_pair, combo_axis, greedy
from judge_audit.stimuli.combinations import combinable, compatible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.checks.evidence import Evidence, Floats, Ints


def choose(evidence: Evidence) -> list[Named]:
    """Choose, on each half, the pair of axes and the larger combination that promise the largest lift.

    Args:
        evidence: Ladders and soundings of one judge. Where it has several dimensions and no overall one, lifts
            are averaged over them.

    Returns:
        At most two recipes of each half, marked with it; none where fewer than two axes have zones.
    """
    lifts, halves = _lifts(evidence)
    order = [axis for axis in combinable(evidence.axes) if axis in lifts]
    found = []
    for half in (0, 1):
        own = {axis: values[halves == half] for axis, values in lifts.items()}
        alone = {axis: mean for axis in order if np.isfinite(mean := _mean(own[axis]))}
        joint = {
            pair: seen
            for pair in combinations(alone, 2)
            if (seen := _seen(own.get(combo_axis(Named(pair))))) is not None
        }
        model = Foretold(alone, joint)
        pair = best_pair(model, compatible)
        if pair is None:
            continue
        more = greedy(model, pair, compatible)
        found += [Named(axes, half) for axes in dict.fromkeys((pair, more))]
    return found


def _lifts(evidence: Evidence) -> tuple[Mapping[str, Floats], Ints]:
    """Give every recipe's lift of each item (NaN where it was not scored), and the items' halves."""
    by_axis: dict[str, list[Floats]] = {}
    halves = np.zeros(0, np.intp)
    for dimension in evidence.dimensions:
        candidates, own = gathered(evidence, dimension, soundings=True)
        if not candidates:
            continue
        halves = np.concatenate(own)
        for candidate in candidates:
            values = np.concatenate([part.values for part in candidate.lifts])
            by_axis.setdefault(candidate.axis, []).append(values)
    # Each dimension may rank another set of items; only dimensions that rank as many are averaged.
    same = {axis: [part for part in parts if len(part) == len(halves)] for axis, parts in by_axis.items()}
    return {axis: np.mean(np.stack(parts), axis=0) for axis, parts in same.items() if parts}, halves


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _seen(values: Floats | None) -> Seen | None:
    """Give a pair's mean lift with its error; None where fewer than two images tell."""
    known = values[np.isfinite(values)] if values is not None else np.zeros(0)
    if len(known) < 2:
        return None
    return Seen(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))))
