"""The rows that checks write: the key that they share, a figure with its interval, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from judge_audit.core.formatting import finite, number
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, wilson
from judge_audit.measures.stratified_rates import Bounded

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from judge_audit_schemas.rows import CurvesRow, KeyParts, MeasuresRow, ResultRow, VerdictsRow

    class Place(KeyParts, total=False):
        """What of a result's key a check may name itself."""

        subject: str


class Figure(Bounded, Protocol):
    """A figure with its interval and what is behind it: an `Estimate`, or one from resampling."""

    @property
    def n(self) -> int:
        """Items behind it."""
        ...

    @property
    def n_clusters(self) -> int:
        """Independent clusters behind it."""
        ...


def figure_columns(figure: Figure, level: float = PASS_LEVEL) -> ResultRow:
    """Write a figure into the columns that every row of results has: value, interval, items, clusters."""
    low, high = figure.interval(level)
    return {
        "value": finite(figure.value),
        "ci_low": finite(low),
        "ci_high": finite(high),
        "n": figure.n,
        "n_clusters": figure.n_clusters,
    }


@dataclass(frozen=True, slots=True)
class Share:
    """A share of n things as a figure, with Wilson's interval; NaN where n is 0."""

    hits: float
    n: int

    @property
    def value(self) -> float:
        """The share."""
        return self.hits / self.n if self.n else math.nan

    @property
    def n_clusters(self) -> int:
        """As many as there are things."""
        return self.n

    def interval(self, level: float) -> tuple[float, float]:
        """Give Wilson's interval at a level in (0, 1)."""
        return wilson(self.hits, self.n, level)


def deciding_level(verdict: Verdict, claims: int) -> float:
    """Give the level of the interval that decided: of a fault the one corrected for the claims, else 90 %."""
    return corrected_level(claims) if verdict == Verdict.FAIL else PASS_LEVEL


def interval_words(
    figure: Figure, level: float = PASS_LEVEL, write: Callable[[float], str] = number
) -> dict[str, str]:
    """Write a figure and its interval for a sentence: value, low, high."""
    low, high = figure.interval(level)
    return {"value": write(figure.value), "low": write(low), "high": write(high)}


def point(row: MeasuresRow, rung: int, strength: float) -> CurvesRow:
    """Make a row of `curves` of a row of `measures`."""
    return cast("CurvesRow", {**row, "rung": rung, "strength": strength})


@dataclass(frozen=True, slots=True)
class RowWriter:
    """What makes the rows of a check, all of them with the same part of the key.

    Attributes:
        shared: The columns that every row has.
    """

    shared: ResultRow

    def at(self, **place: Unpack[Place]) -> RowWriter:
        """Give a writer whose rows share more of the key."""
        return RowWriter(cast("ResultRow", {**self.shared, **place}))

    def figure(
        self, measure: str, figure: Figure, level: float = PASS_LEVEL, **place: Unpack[Place]
    ) -> MeasuresRow:
        """Make a row of `measures`: a figure with its interval."""
        return self._measure(measure, figure_columns(figure, level), place)

    def share(self, measure: str, hits: float, n: int, **place: Unpack[Place]) -> MeasuresRow:
        """Make a row of `measures`: a share with Wilson's 90 % interval; no value where n is 0."""
        columns = figure_columns(Share(hits, n))
        del columns["n_clusters"]
        return self._measure(measure, columns, place)

    def count(
        self, measure: str, value: float | None, n: int | None = None, **place: Unpack[Place]
    ) -> MeasuresRow:
        """Make a row of `measures` without an interval; n is None where nothing is counted."""
        return self._measure(measure, {"value": value} if n is None else {"value": value, "n": n}, place)

    def _measure(self, measure: str, columns: ResultRow, place: Place) -> MeasuresRow:
        return cast("MeasuresRow", {**self.shared, "measure": measure, **place, **columns})

    def verdict(
        self,
        measure: str,
        verdict: Verdict,
        reason: str,
        finding: str = "",
        figure: Figure | None = None,
        level: float = PASS_LEVEL,
        /,
        **columns: Unpack[VerdictsRow],
    ) -> VerdictsRow:
        """Make a row of `verdicts`.

        Args:
            measure: What was judged.
            verdict: The answer.
            reason: The same in words.
            finding: The fault, "" if none.
            figure: The figure; None where there is none, or it stands in `columns`.
            level: Level of the figure's interval.
            columns: Other columns: limits, more of the key, whether it is provisional.
        """
        shown = {} if figure is None else figure_columns(figure, level)
        answer = {"verdict": verdict.value, "finding": finding, "provisional": False, "reason": reason}
        row = {**self.shared, "measure": measure, **shown, **answer, **columns}
        row.pop("n_clusters", None)
        return cast("VerdictsRow", row)
