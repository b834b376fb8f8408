"""A study's results as a page and as lines of a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import MachineryError
from judge_audit.core.files import put
from judge_audit.core.messages import say
from judge_audit.core.templating import strict_environment
from judge_audit.people.zones import READ_ENOUGH

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from judge_audit.people.study.results import AxisResult, Figure, ReaderResult, Results

WIDTH, LEFT, RIGHT, TOP, BOTTOM, ROW = 300, 10, 22, 8, 24, 9


def write_page(results: Results, target: Path) -> None:
    """Write the page.

    Raises:
        MachineryError: If the disk refuses.
    """
    environment = strict_environment("judge_audit.people.study")
    words = (share_text, factor_text, alpha_text, point_text, standing, why, axis_note, chart_of, between)
    environment.globals |= {"say": say, "width": WIDTH, "top": TOP, "bottom": BOTTOM}
    environment.globals |= {word.__name__: word for word in words}
    text = environment.get_template("results.html").render(results=results, lead=lead(results))
    try:
        put(target, text)
    except OSError as error:
        raise MachineryError(f"{target}: the page cannot be written: {error.strerror}.") from error


def lead(results: Results) -> str:
    """Say in one sentence how far the study is."""
    reading = [reader for reader in results.readers if reader.read]
    if not reading:
        return say("study.lead_none")
    if len(reading) == 1:
        return say("study.lead_one")
    ready = sum(axis.lent and not axis.unreliable for axis in results.axes)
    key = "ready" if ready == len(results.axes) else "part"
    return say(f"study.lead_{key}", ready=ready, all=len(results.axes), enough=READ_ENOUGH)


def lines_of(results: Results) -> list[str]:
    """Say the results in lines."""
    lines = [say("study.title", name=results.name), lead(results), ""]
    for reader in results.readers:
        parts = [
            f"{say('study.read')} {say('study.done', read=reader.read, of=reader.of)}",
            f"{say('study.alarms')} {share_text(reader.alarms)}",
            f"{say('study.consistency')} {share_text(reader.consistency)}",
            f"{say('study.against')} {factor_text(reader.against)}",
            standing(reader)[1],
        ]
        lines.append(f"{reader.reader}: " + "; ".join(parts))
    lines += [f"  {sentence}" for sentence in why(results)]
    lines.append("")
    wide = max((len(axis.axis) for axis in results.axes), default=0)
    for axis in results.axes:
        text = between(axis.low, axis.high, axis.items)
        lines.append(
            f"{axis.axis:<{wide}}  {text}  α {alpha_text(axis.alpha)}  {axis_note(axis)}"
            if axis.items
            else f"{axis.axis:<{wide}}  {say('study.unread')}"
        )
    return lines


def standing(reader: ReaderResult) -> tuple[str, str]:
    """Say how a reader stands: the look of the word, and the word."""
    if reader.set_aside:
        return "fail", say("study.set_aside")
    if reader.out_of_line:
        return "inconclusive", say("study.out_of_line")
    if reader.against.low is None:
        return "missing", say("study.open")
    return "pass", say("study.in_line")


def why(results: Results) -> list[str]:
    """Explain who is set aside or out of line."""
    sentences = [say("study.set_aside_why", reader=row.reader) for row in results.readers if row.set_aside]
    sentences += [
        say("study.out_of_line_why", reader=row.reader, factor=number(row.against.value))
        for row in results.readers
        if row.out_of_line and not row.set_aside
    ]
    usable = [row for row in results.readers if row.read and not row.set_aside]
    return [*sentences, say("study.two_alone")] if len(usable) == 2 else sentences


def axis_note(axis: AxisResult) -> str:
    """Say what an axis's readings carry."""
    if axis.unreliable:
        return say("study.unreliable")
    return say("study.lent") if axis.lent else say("study.few", items=axis.items, enough=READ_ENOUGH)


def number(value: float | None) -> str:
    """Write a strength or a factor."""
    return say("study.never") if value is None else f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"


def point_text(value: float | None, n: int) -> str:
    """Write a point; nothing where nobody read."""
    return number(value) if n else say("study.nothing")


def between(low: float | None, high: float | None, n: int) -> str:
    """Write an interval between two points."""
    if not n:
        return say("study.nothing")
    return say("study.between", low=number(low), high=number(high))


def _with_interval(figure: Figure, write: Callable[[float], str]) -> str:
    if figure.value is None:
        return say("study.nothing")
    if figure.low is None or figure.high is None:
        return say("study.of_bare", value=write(figure.value), n=figure.n)
    return say(
        "study.of", value=write(figure.value), low=write(figure.low), high=write(figure.high), n=figure.n
    )


def share_text(figure: Figure) -> str:
    """Write a share with its interval."""
    return _with_interval(figure, lambda value: say("study.percent", value=100 * value))


def factor_text(figure: Figure) -> str:
    """Write a factor with its interval."""
    return _with_interval(figure, lambda value: f"×{value:.2f}")


def alpha_text(figure: Figure) -> str:
    """Write an agreement with its interval."""
    return _with_interval(figure, lambda value: f"{value:.2f}".replace("-", "−"))


def chart_of(axis: AxisResult) -> dict[str, Any]:
    """Place both points of every item on a logarithmic scale of strength.

    Returns:
        height, ticks (place and strength), and rows (height, the places of both points, whether each is never).
    """
    rows = sorted(axis.points, key=lambda pair: tuple(math.inf if v is None else v for v in pair))
    span = math.log(axis.last / axis.first) or 1.0

    def place(value: float | None) -> float:
        if value is None:
            return WIDTH - RIGHT / 2
        share = math.log(max(value, axis.first) / axis.first) / span
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    strengths = [axis.first * (axis.last / axis.first) ** share for share in (0, 0.25, 0.5, 0.75, 1)]
    return {
        "height": TOP + BOTTOM + ROW * max(len(rows), 1),
        "ticks": [(place(strength), f"{strength:.2g}") for strength in strengths],
        "rows": [
            (TOP + ROW * (turn + 0.5), [(place(point), point is None) for point in pair])
            for turn, pair in enumerate(rows)
        ],
    }
