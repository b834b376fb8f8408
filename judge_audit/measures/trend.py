"""Whether a share of events rises over time, asked again and again without crying wolf.

Looked at every week at 5 %, a steady share alarms in 93 years of 100. A 3-sigma p-chart (Shewhart 1931) of the newest
period, or two windows held against one another at 1 %, keep that rare.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.measures.estimates import newcombe

if TYPE_CHECKING:
    from collections.abc import Sequence

SIGMAS = 3.0
WINDOW_LEVEL = 0.99
"""Two windows differ if the interval of this level leaves 0 out."""

FEWEST_PERIODS = 8
"""Earlier periods that a chart's centre must rest on."""


@dataclass(frozen=True, slots=True)
class Period:
    """One period.

    Attributes:
        name: Its name.
        hits: Events in it.
        n: Of how many.
    """

    name: str
    hits: int
    n: int


@dataclass(frozen=True, slots=True)
class Trend:
    """What became of a share.

    Attributes:
        value: Share in the newer half of the periods minus that in the older half.
        before: Share in the older half.
        after: Share in the newer half.
        low: Lower end of the difference's interval.
        high: Upper end, both at the level asked for.
        rises: Whether it rose, by either rule.
        n: Of how many.
    """

    value: float
    before: float
    after: float
    low: float
    high: float
    rises: bool
    n: int


def chart(periods: Sequence[Period]) -> list[tuple[float, float, float]]:
    """Give each period's centre and 3-sigma limits, p̄ ± 3·√(p̄(1 − p̄)/n) with p̄ of all periods before it.

    Returns:
        (centre, lower, upper) per period; NaN where no earlier period has any events to count.
    """
    found = []
    hits = n = 0
    for period in periods:
        if n and period.n:
            centre = hits / n
            half = SIGMAS * math.sqrt(centre * (1 - centre) / period.n)
            found.append((centre, max(0.0, centre - half), min(1.0, centre + half)))
        else:
            found.append((math.nan, math.nan, math.nan))
        hits, n = hits + period.hits, n + period.n
    return found


def trend(periods: Sequence[Period], level: float) -> Trend | None:
    """Ask whether a share rises.

    It does if the newer half of the periods lies above the older one at `WINDOW_LEVEL`, or, on at least
    `FEWEST_PERIODS` earlier ones, if the newest lies above its chart's upper limit *and* its difference from
    all before it is above 0 by Newcombe's interval of the same level: a limit from a normal curve about a centre
    that is itself estimated alarms too often where events are few.

    Args:
        periods: In their order; those without anything to count may be among them.
        level: Level of the interval to give.

    Returns:
        The trend; None if fewer than two periods have anything to count.
    """
    counted = [period for period in periods if period.n]
    if len(counted) < 2:
        return None
    half = len(counted) // 2
    old, new = (
        (sum(period.hits for period in part), sum(period.n for period in part))
        for part in (counted[:half], counted[half:])
    )
    low, high = newcombe(new, old, level)
    rises = newcombe(new, old, WINDOW_LEVEL)[0] > 0
    if len(counted) > FEWEST_PERIODS:
        _, _, limit = chart(counted)[-1]
        last = counted[-1]
        earlier = sum(period.hits for period in counted[:-1]), sum(period.n for period in counted[:-1])
        sure = newcombe((last.hits, last.n), earlier, math.erf(SIGMAS / math.sqrt(2)))[0] > 0
        rises = rises or (last.hits / last.n > limit and sure)
    before, after = old[0] / old[1], new[0] / new[1]
    return Trend(after - before, before, after, low, high, rises, old[1] + new[1])
