"""Has a judge changed behind its name? What it says of a few canaries tonight, beside all it said of them before.

If nothing changed, tonight's answers to a canary are draws like those before: which of them are tonight's is
chance. So the answers of each canary are dealt out anew at random, those of one answer's dimensions together, and
what is seen is compared with what permuting gives (a permutation test; Fisher 1935, Pitman 1937). The noise of the
judge is in the answers themselves and need not be known, have any shape, or be the same for two canaries; a judge
that never wavers is the case in which any answer that moved stands out.

Several things are looked for at once, and the least likely of them is judged with the looks counted in: the
minimum of their p-values is compared with its own distribution under the same permutations (Westfall & Young 1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.measures.lifts import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

LEVEL, RESCALED, SCATTERED, SILENT, OTHERS_SILENT = (
    "level",
    "rescaled",
    "scattered",
    "silent",
    "others_silent",
)
LOOKS = (LEVEL, RESCALED, SCATTERED, SILENT, OTHERS_SILENT)
"""What is looked for: all higher or lower; good and bad further apart or closer, or changed about; each in its own
direction; more or fewer without a score; others without a score."""

DRAWS = 5_000
AT_ONCE = 500
CLEAR = 0.3
"""After the first draws a p-value above this ends the looking: it decides nothing."""

EARLIEST, LATEST = 8, 24
"""Answers to a canary that are kept where there are more: the first and the last of them."""

NO_ODDS = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """All answers to the canaries since the epoch began.

    Attributes:
        values: Scores, NaN where the judge gave none, shape (canaries, answers, dimensions).
        given: Whether there is such an answer at all, shape (canaries, answers).
        times: In which asking it was given, counted from the first, shape (canaries, answers).
    """

    values: Floats
    given: Mask
    times: Floats

    @property
    def tonight(self) -> Mask:
        """Answers of the last asking, shape (canaries, answers)."""
        latest = self.times[self.given].max(initial=0.0)
        return np.asarray(self.given & (self.times == latest))

    @property
    def compared(self) -> Mask:
        """Canaries that have answers of the last asking and earlier ones, shape (canaries,)."""
        tonight = self.tonight
        return np.asarray(tonight.any(axis=1) & (self.given & ~tonight).any(axis=1))


@dataclass(frozen=True, slots=True)
class Moved:
    """How unlikely what is seen would be if nothing had changed.

    Attributes:
        p: Probability of anything as unlikely, all looks counted in; 1 where nothing can be compared.
        look: The least likely look, one of `LOOKS`; "" where nothing can be compared.
        dimension: Number of its dimension.
    """

    p: float
    look: str = ""
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class Looked:
    """Tonight beside everything before, and the trend since the first asking.

    Attributes:
        night: Whether tonight stands apart.
        drift: Whether the answers wander from asking to asking, each perhaps too little to be seen by itself.
    """

    night: Moved
    drift: Moved

    def suspicious(self, alarm: float, suspicion: float) -> bool:
        """Tell whether to ask more often tonight before anything is decided."""
        return self.night.p <= suspicion or self.drift.p <= alarm / 2

    def changed(self, alarm: float) -> bool:
        """Tell whether the judge has changed; wrong in at most a share `alarm` of nights without change."""
        return min(self.night.p, self.drift.p) <= alarm / 2


def look(answers: Answers, tolerance: float, seed: int) -> Looked:
    """Look at the last asking, and at the trend.

    Args:
        answers: All answers of the epoch.
        tolerance: Answers to a canary that differ by less than this share of the spread of the canaries' mean
            scores are equal.
        seed: Seed of the permutations.
    """
    kept = _shortened(answers)
    units = _units(kept, tolerance)
    night = _dealt(kept, units, kept.tonight.astype(float), seed)
    if len(np.unique(kept.times[kept.given])) < 3:
        return Looked(night, Moved(1.0))
    return Looked(night, _dealt(kept, units, kept.times, seed + 1))


def shifts(answers: Answers) -> Floats:
    """Give how much higher each canary is scored tonight than before, shape (canaries, dimensions)."""
    tonight = answers.tonight
    now, before = (_means(answers.values, part) for part in (tonight, answers.given & ~tonight))
    return np.asarray(now - before)


def spread(values: Floats) -> Floats:
    """Give the spread of the canaries' mean scores, robust where there are enough, shape (dimensions,).

    Args:
        values: Scores, shape (canaries, answers, dimensions).
    """
    means = _means(values, np.ones(values.shape[:2], bool))
    found = np.zeros(values.shape[2])
    for at in range(values.shape[2]):
        known = means[:, at][np.isfinite(means[:, at])]
        if len(known) > 1:
            low, high = np.quantile(known, [0.25, 0.75])
            found[at] = (high - low) / 1.349 or float(known.std())
    return found


def silent_shares(answers: Answers) -> tuple[float, float]:
    """Give the share of scores that are missing, before and tonight."""
    silent = np.isnan(answers.values).mean(axis=2)
    tonight = answers.tonight
    parts = (answers.given & ~tonight, tonight)
    before, now = (float(silent[part].mean()) if part.any() else 0.0 for part in parts)
    return before, now


def _means(values: Floats, part: Mask) -> Floats:
    """Average the scores that are there, shape (canaries, dimensions); NaN where there are none."""
    known = np.isfinite(values) & part[:, :, None]
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _shortened(answers: Answers) -> Answers:
    """Keep the first and the last answers to each canary, in the order of their askings."""
    most = EARLIEST + LATEST
    times = np.where(answers.given, answers.times, np.inf)
    order = np.argsort(times, axis=1, kind="stable")
    counts = answers.given.sum(axis=1)
    width = int(min(counts.max(initial=0), most))
    places = np.zeros((len(counts), width), int)
    given = np.zeros((len(counts), width), bool)
    for at, count in enumerate(counts):
        mine = order[at, :count]
        mine = mine if count <= most else np.concatenate([mine[:EARLIEST], mine[-LATEST:]])
        places[at, : len(mine)] = mine
        given[at, : len(mine)] = True
    values = np.take_along_axis(answers.values, places[:, :, None], axis=1)
    values = np.where(given[:, :, None], values, np.nan)
    return Answers(values, given, np.where(given, np.take_along_axis(answers.times, places, axis=1), 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """What is dealt out: departures of each answer from its canary's mean, in that canary's own noise.

    Attributes:
        scores: Of the scores, 0 where there is none, shape (canaries, answers, dimensions).
        silences: The same of having no score.
        levels: Ranks of the canaries, centred, shape (canaries, dimensions).
    """

    scores: Floats
    silences: Floats
    levels: Floats


def _units(answers: Answers, tolerance: float) -> _Units:
    """Make departures; all that they are scaled by is the same however the answers are dealt."""
    known = np.isfinite(answers.values)
    means = _means(answers.values, answers.given)
    departures = np.where(known, answers.values - means[:, None, :], 0.0)
    reach = departures.max(axis=1, initial=0.0) - departures.min(axis=1, initial=0.0)
    fuzz = tolerance * spread(answers.values) + NO_ODDS * np.nanmax(np.abs(means), axis=0, initial=1.0)
    departures = np.where((reach <= fuzz)[:, None, :], 0.0, departures)
    count = np.maximum(known.sum(axis=1), 1)
    own = (departures**2).sum(axis=1) / count
    scale = np.sqrt(own + own.mean(axis=0))
    scores = departures / np.where(scale > 0, scale, 1.0)[:, None, :]
    silent = (answers.given[:, :, None] & ~known).astype(float)
    share = silent.sum(axis=1) / np.maximum(answers.given.sum(axis=1), 1)[:, None]
    silences = np.where(answers.given[:, :, None], silent - share[:, None, :], 0.0)
    return _Units(scores, silences, _levels(means))


def _levels(means: Floats) -> Floats:
    """Rank the canaries by their mean scores, centred and within ±1; 0 where there is none."""
    found = np.zeros_like(means)
    for at in range(means.shape[1]):
        known = np.isfinite(means[:, at])
        held = rounded(means[known, at])
        below = (held[:, None] > held[None, :]).sum(axis=1) + 0.5 * (held[:, None] == held[None, :]).sum(
            axis=1
        )
        found[known, at] = 2 * below / max(len(held), 1) - 1
    return found


def _figures(units: _Units, weights: Floats) -> Floats:
    """Give every look at some dealings of the weights.

    Args:
        units: What is dealt.
        weights: Shape (dealings, canaries, answers).

    Returns:
        Shape (dealings, looks · dimensions), larger is further from nothing.
    """
    moves = np.einsum("bia,iad->bid", weights, units.scores)
    silences = np.einsum("bia,iad->bid", weights, units.silences)
    looks = (
        np.abs(moves.sum(axis=1)),
        np.abs((moves * units.levels).sum(axis=1)),
        np.abs(moves).sum(axis=1),
        np.abs(silences.sum(axis=1)),
        np.abs(silences).sum(axis=1),
    )
    return rounded(np.concatenate(looks, axis=1))


def _permutations(answers: Answers, weights: Floats, seed: int) -> Iterator[Floats]:
    """Permute the weights among each canary's answers, some hundred times at once."""
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS // AT_ONCE):
        keys = rng.random((AT_ONCE, *weights.shape))
        order = np.argsort(np.where(answers.given, keys, 2.0), axis=2)
        yield np.take_along_axis(np.broadcast_to(weights, order.shape), order, axis=2)


def _dealt(answers: Answers, units: _Units, weights: Floats, seed: int) -> Moved:
    """Compare what is seen with what permuting gives."""
    weights = np.where(answers.given, weights, 0.0)
    seen = _figures(units, weights[None])
    rows = [seen]
    found = Moved(1.0)
    for number, permuted in enumerate(_permutations(answers, weights, seed)):
        rows.append(_figures(units, permuted))
        if number == 0:
            found = _least(np.concatenate(rows), units.levels.shape[1])
            if found.p > CLEAR:
                return found
    return _least(np.concatenate(rows), units.levels.shape[1])


def _least(figures: Floats, dimensions: int) -> Moved:
    """Judge the least likely look, the first row being what was seen."""
    live = np.flatnonzero(figures.max(axis=0) > figures.min(axis=0))
    if not len(live):
        return Moved(1.0)
    kept = figures[:, live]
    count = len(kept)
    odds = np.empty_like(kept)
    for at in range(kept.shape[1]):
        ordered = np.sort(kept[:, at])
        odds[:, at] = (count - np.searchsorted(ordered, kept[:, at], side="left")) / count
    least = odds.min(axis=1)
    place = int(live[int(odds[0].argmin())])
    p = float((least <= least[0] + NO_ODDS).mean())
    return Moved(p, LOOKS[place // dimensions], place % dimensions)
