"""How figures are written in a report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, SMALL, WITHIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    Row = Mapping[str, Any]


def turns(row: Row) -> bool:
    """Whether a statistic raises the score in one source and lowers it in another."""
    return bool(row["turns"]["up"] and row["turns"]["down"])


def percent_text(share: float, unit: str = " %") -> str:
    """Write a share of the whole: no less than nothing and no more than all."""
    return f"{100 * min(1.0, max(0.0, share)):.0f}{unit}"


Figure = dict[str, Any]
"""value, ci_low, ci_high and n; None for what is unknown."""


WRITERS = ("bounded", "percent_bounds", "place_name", "plain", "signed", "signed_bounds")
"""What the page writes figures with."""


def figure_of(row: Mapping[str, Any]) -> Figure:
    """Take a figure with its interval out of a row."""
    return {name: finite(row[name]) for name in ("value", "ci_low", "ci_high", "n")}


def place_name(source: str) -> str:
    """Give the name of a source, or of all of them."""
    if source in {POOLED, WITHIN}:
        return say("people.within")
    return say("report.small_sources") if source == SMALL else source


def turned(figure: Figure) -> Figure:
    """Turn a figure and its interval round."""
    ends = {name: None if figure[name] is None else -figure[name] for name in ("value", "ci_low", "ci_high")}
    return {**figure, "value": ends["value"], "ci_low": ends["ci_high"], "ci_high": ends["ci_low"]}


def plain(value: float | None) -> str:
    """Write a correlation: two decimals, a true minus sign."""
    if value is None:
        return say("people.undefined")
    text = f"{value:.2f}"
    return text.removeprefix("-") if text == "-0.00" else text.replace("-", "−")


def bounded(figure: Figure | None) -> str:
    """Write a correlation with its interval."""
    if figure is None:
        return say("people.undefined")
    low, high = figure["ci_low"], figure["ci_high"]
    if low is None or high is None:
        return plain(figure["value"])
    dash = "–" if low >= 0 else " to "
    return f"{plain(figure['value'])} ({plain(low)}{dash}{plain(high)})"


def shared(figure: Figure | None) -> str:
    """Write a share as a percentage."""
    return "–" if figure is None or figure["value"] is None else f"{100 * figure['value']:.0f} %"


def signed(value: float | None) -> str:
    """Write a difference: two decimals and its sign."""
    if value is None:
        return say("people.undefined")
    text = f"{value:+.2f}"
    return "0.00" if text in {"-0.00", "+0.00"} else text.replace("-", "−")


def signed_bounds(figure: Figure) -> str:
    """Write the interval of a difference; nothing where there is none."""
    low, high = figure["ci_low"], figure["ci_high"]
    return "" if low is None or high is None else f"{signed(low)} … {signed(high)}"


def percent_bounds(figure: Figure) -> str:
    """Write a share with its interval as percentages."""
    low, high = figure["ci_low"], figure["ci_high"]
    if low is None or high is None:
        return shared(figure)
    return f"{shared(figure)} ({100 * low:.0f}–{100 * high:.0f})"


def finite(value: Any) -> Any:  # noqa: ANN401 - any column's value
    """Give a value, or None for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
