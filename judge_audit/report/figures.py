"""A figure: a value with its interval, how it is taken out of a row, and how it is written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypedDict

from judge_audit.core import formatting
from judge_audit.core.formatting import DASH, percent, true_minus
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, SMALL, WITHIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Row = Mapping[str, Any]


class Interval(TypedDict):
    """A value with its interval; None for what is unknown."""

    value: float | None
    ci_low: float | None
    ci_high: float | None


class Figure(Interval):
    """A value with its interval and the number of cases behind it."""

    n: int | None


UNKNOWN: Figure = {"value": None, "ci_low": None, "ci_high": None, "n": None}


def figure_of(row: Row) -> Figure:
    """Take a figure with its interval out of a row."""
    value, low, high, n = (finite(row[name]) for name in ("value", "ci_low", "ci_high", "n"))
    return {"value": value, "ci_low": low, "ci_high": high, "n": n}


def finite(value: Any) -> Any:  # noqa: ANN401 - any column's value
    """Give a value, or None for a number that is not finite."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def turned(figure: Figure) -> Figure:
    """Turn a figure and its interval round."""
    value, low, high = (
        None if end is None else -end for end in (figure["value"], figure["ci_low"], figure["ci_high"])
    )
    return {"value": value, "ci_low": high, "ci_high": low, "n": figure["n"]}


def with_interval(figure: Interval | None, write: Callable[[float], str], between: str = " … ") -> str:
    """Write a figure with its interval; a dash where it is unknown.

    Args:
        figure: The figure.
        write: Writes a number.
        between: What is put between the ends of the interval.
    """
    if figure is None or figure["value"] is None:
        return DASH
    text = write(figure["value"])
    if figure["ci_low"] is None or figure["ci_high"] is None:
        return text
    return f"{text} ({write(figure['ci_low'])}{between}{write(figure['ci_high'])})"


def lift_with_interval(figure: Figure) -> str:
    """Write a lift with its interval."""
    return with_interval(figure, formatting.signed)


def percent_text(share: float, unit: str = " %") -> str:
    """Write a share of the whole: no less than nothing and no more than all."""
    return f"{100 * min(1.0, max(0.0, share)):.0f}{unit}"


def source_name(source: str) -> str:
    """Give a source's name; the pooled small ones have a name of their own."""
    return say("report.small_sources") if source == SMALL else source


def place_name(source: str) -> str:
    """Give the name of a source, or of all of them."""
    return say("people.within") if source in {POOLED, WITHIN} else source_name(source)


def plain(value: float | None) -> str:
    """Write a correlation: two decimals, a true minus sign."""
    if value is None:
        return say("people.undefined")
    text = f"{value:.2f}"
    return text.removeprefix("-") if text == "-0.00" else true_minus(text)


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
    return DASH if figure is None or figure["value"] is None else percent(figure["value"])


def signed(value: float | None) -> str:
    """Write a difference: two decimals and its sign."""
    return say("people.undefined") if value is None else formatting.signed(value)


def signed_bounds(figure: Figure) -> str:
    """Write the interval of a difference; nothing where there is none."""
    low, high = figure["ci_low"], figure["ci_high"]
    return "" if low is None or high is None else f"{signed(low)} … {signed(high)}"


def percent_bounds(figure: Figure, between: str = "–") -> str:
    """Write a share with its interval as percentages."""
    low, high = figure["ci_low"], figure["ci_high"]
    if low is None or high is None:
        return shared(figure)
    return f"{shared(figure)} ({100 * low:.0f}{between}{100 * high:.0f})"
