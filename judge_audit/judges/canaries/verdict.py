"""What the answers to canaries come to: is it the same judge, and if not, what moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import draw_seed
from judge_audit.core.messages import say
from judge_audit.measures.canaries import (
    OTHERS_SILENT,
    SILENT,
    Answers,
    Looked,
    look,
    shifts,
    silent_shares,
    spread,
)
from judge_audit.measures.orders import order_of, tau_b

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import CanaryNightsRow

    from judge_audit.core.limits import Limits

FIRST, UNCHANGED, CHANGED, DECLARED, UNKNOWN = "first", "unchanged", "changed", "declared", "unknown"
ANOTHER = frozenset({CHANGED, DECLARED, UNKNOWN})
"""Answers after which it is another judge than the one before."""

DRIFT = "drift"

FEWEST = 8
"""Canaries below which it is said that a small change goes unseen; fewer may not be asked for."""

FEWEST_FOR_TAU = 3


@dataclass(frozen=True, slots=True)
class Watched:
    """What an audit goes by.

    Attributes:
        asking: Number of the asking.
        epoch: The epoch it showed.
        answer: first, unchanged, changed, declared or unknown.
        bought: Answers that this run bought of the judge's canaries.
        lines: What a person should know.
    """

    asking: int
    epoch: int
    answer: str
    bought: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """An asking beside the earlier answers of its epoch.

    Attributes:
        answers: All of them.
        looked: How unlikely they are if nothing changed.
        dimensions: Names of the dimensions.
    """

    answers: Answers
    looked: Looked
    dimensions: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many canaries have earlier answers."""
        return int(self.answers.compared.sum())

    def drifted(self, alarm: float) -> bool:
        """Tell whether only the trend shows the change."""
        return self.looked.night.p > alarm / 2

    def figures(self, alarm: float) -> CanaryNightsRow:
        """Give columns of `canary_nights`."""
        before, now = silent_shares(self.answers)
        columns: CanaryNightsRow = {"n": self.n, "silent_before": before, "silent_now": now}
        if not self.n:
            return columns
        drifted = self.drifted(alarm) and self.looked.drift.p <= alarm / 2
        moved = self.looked.drift if drifted else self.looked.night
        several = len(np.unique(self.answers.times[self.answers.given])) > 2
        return columns | {
            "night_p": self.looked.night.p,
            "drift_p": self.looked.drift.p if several else None,
            "dimension": self.dimensions[moved.dimension],
            "shift": self._shift(moved.dimension),
            "finding": "",
        }

    def finding(self, alarm: float) -> str:
        """Name what moved."""
        return DRIFT if self.drifted(alarm) else self.looked.night.look

    def told(self, alarm: float) -> str:
        """Say what moved."""
        drifted = self.drifted(alarm)
        moved = self.looked.drift if drifted else self.looked.night
        size = self._shift(moved.dimension) or 0.0
        before, now = silent_shares(self.answers)
        sentence = say(
            f"canaries.look.{moved.look}",
            dimension=self.dimensions[moved.dimension],
            size=f"{abs(size):.2f}",
            way=say(f"canaries.way.{'up' if size > 0 else 'down'}"),
            before=f"{100 * before:.0f} %",
            now=f"{100 * now:.0f} %",
        )
        if drifted:
            askings = len(np.unique(self.answers.times[self.answers.given]))
            sentence = say("canaries.look.drift", askings=askings, look=sentence)
        tau = self._tau(moved.dimension)
        if moved.look in {SILENT, OTHERS_SILENT} or tau is None:
            return sentence
        return say("canaries.look.order", look=sentence, tau=f"{tau:.2f}".replace("-", "−"))

    def _shift(self, dimension: int) -> float | None:
        """Give the mean change in SDs of the canaries' scores; None where nothing can be compared."""
        moved = shifts(self.answers)[:, dimension]
        unit = float(spread(self.answers.values)[dimension])
        known = moved[np.isfinite(moved)]
        return float(known.mean() / unit) if len(known) and unit > 0 else None

    def _tau(self, dimension: int) -> float | None:
        """Give how alike the canaries are ordered tonight and before; None where there is no order."""
        tonight = self.answers.tonight
        parts = (tonight, self.answers.given & ~tonight)
        means = [_means(self.answers.values[:, :, dimension], part) for part in parts]
        both = np.isfinite(means[0]) & np.isfinite(means[1])
        if both.sum() < FEWEST_FOR_TAU:
            return None
        now, before = (order_of(mean[both]) for mean in means)
        tau = float(tau_b(np.ones((int(both.sum()), 1)), before, now)[0])
        return tau if np.isfinite(tau) else None


def _means(values: Any, part: Any) -> Any:  # noqa: ANN401 - arrays (canaries, answers)
    known = np.isfinite(values) & part
    count = known.sum(axis=1)
    return np.where(count > 0, np.where(known, values, 0.0).sum(axis=1) / np.maximum(count, 1), np.nan)


def compared(
    answers: Answers, dimensions: Sequence[str], limits: Limits, lineage_id: str, asking: int
) -> Compared:
    """Hold an asking against the earlier answers; the same answers give the same figures."""
    seed = draw_seed(asking, "canaries", lineage_id)
    return Compared(answers, look(answers, limits["canaries.tolerance"], seed), tuple(dimensions))


def night_row(
    comparison: Compared,
    answer: str,
    epoch: int,
    *,
    sure: bool,
    alarm: float,
    services: tuple[Sequence[str], Sequence[str]],
) -> CanaryNightsRow:
    """Write down what an asking showed; without ids and time.

    Args:
        comparison: The comparison.
        answer: What it came to.
        epoch: The epoch it showed.
        sure: Whether the canaries were asked more than once more.
        alarm: Share of nights without change in which a change may be told.
        services: What answered before in the epoch, and now.
    """
    n, total = comparison.n, len(comparison.answers.values)
    kind = f"{answer}_sure" if answer == UNCHANGED and sure else answer
    words = {
        "n": n if answer in {UNCHANGED, CHANGED} else total,
        "epoch": epoch,
        "nights": f"{2 / alarm:,.0f}",
    }
    look_ = comparison.told(alarm) if answer == CHANGED else ""
    reasons = [say(f"canaries.{kind}", look=look_, **words)]
    if answer in {UNCHANGED, CHANGED} and n < FEWEST:
        reasons.append(say("canaries.few", n=n))
    if answer == FIRST and n:
        reasons.append(say("canaries.first_known", n=n))
    before, now = services
    if answer == UNCHANGED and before and set(now) - set(before):
        reasons.append(say("canaries.service", now=", ".join(now), before=", ".join(before)))
    finding = comparison.finding(alarm) if answer == CHANGED else ""
    return {
        **comparison.figures(alarm),
        "answer": answer,
        "finding": finding,
        "epoch": epoch,
        "services": list(now),
        "reason": " ".join(reasons),
    }


def watched(row: CanaryNightsRow, bought: int) -> Watched:
    """Give what an audit goes by, of a row of `canary_nights` that may be another run's."""
    lines = [row["reason"]]
    if not bought:
        lines.append(say("canaries.taken_over", n=row["n"] or 0))
    return Watched(row["asking"], row["epoch"], row["answer"], bought, tuple(lines))
