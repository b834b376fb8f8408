"""What `plan` says where it draws nothing: what each verdict needs, and what a budget buys."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from judge_audit.cli.options import assignments
from judge_audit.cli.output import print_result
from judge_audit.cli.project import lake_here
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.audits.power import Buy, Known, Need
    from judge_audit.measures.power import Prices

BAR = 12
"""Characters of a bar."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What stood on the command line."""

    audit: str | None
    lake: str | None
    spreads: Mapping[str, float]
    reliability: float | None
    design: tuple[str, ...]
    limits: tuple[str, ...]
    wanted: float
    draws: int
    calls: int | None
    minutes: float | None
    seconds: float | None
    cost: float | None
    price: float
    label_price: float


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget in words, in numbers, and its prices."""

    words: str
    amount: float
    prices: Prices


def say_needs(asked: Asked, *, as_json: bool) -> None:
    """Print what each verdict needs and what the budgets buy.

    Raises:
        UsageError: If the options contradict one another, or the pilot cannot serve.
    """
    from judge_audit.audits.power import buys, needs, questions
    from judge_audit.core.progress import shown

    known = _known(asked)
    budgets = _budgets(asked, known)
    with shown() as progress:
        progress.stage("rehearsing audits", sum(1 for _ in questions(known)))
        needed = needs(known, wanted=asked.wanted, draws=asked.draws, on_question=progress.advance)
    bought = [(budget, buys(known, budget.prices, budget.amount, draws=asked.draws)) for budget in budgets]
    document = _document(asked, known, needed, bought)
    print_result(document, _lines(asked, known, needed, bought), as_json=as_json)


def _known(asked: Asked) -> Known:
    """Take a pilot, or what was stated; without either the newest audit if there is one."""
    from judge_audit.audits.pilot import LATEST, known_of
    from judge_audit.audits.power import AXES, RELIABILITY, as_stated
    from judge_audit.core.limits import read_limits
    from judge_audit.lake import Lake

    if asked.audit and asked.spreads:
        raise UsageError("give a pilot (--audit) or stated spreads (--spread, --retest, --step), not both.")
    numbers = _numbers("--design", asked.design)
    design, axes = _design(numbers)
    limits = read_limits(_numbers("--limit", asked.limits)) if asked.limits else None
    known = None
    if asked.audit or not asked.spreads:
        try:
            lake = Lake.open(lake_here(asked.lake), create=False)
            known = known_of(lake, asked.audit or LATEST, design=design, limits=limits)
        except UsageError:
            if asked.audit or asked.lake:
                raise
    if known is None:
        from judge_audit.measures.pilot import Design

        return as_stated(
            **asked.spreads,
            design=Design(**design),
            axes=axes or AXES,
            reliability=asked.reliability or RELIABILITY,
            limits=limits,
        )
    known = replace(known, axes=axes) if axes else known
    return replace(known, reliability=asked.reliability) if asked.reliability else known


def _design(numbers: Mapping[str, float]) -> tuple[dict[str, int], int | None]:
    """Read the numbers of a design."""
    from judge_audit.measures.pilot import Design

    allowed = [entry.name for entry in fields(Design)]
    faults = [f"--design: there is no “{name}”." for name in numbers if name not in {*allowed, "axes"}]
    faults += [
        f"--design {name}: {value:g} is no whole number of 1 or more."
        for name, value in numbers.items()
        if value < 1 or value != int(value)
    ]
    if faults:
        raise UsageError("\n".join([*faults, f"The names are {', '.join([*allowed, 'axes'])}."]))
    counts = {name: int(value) for name, value in numbers.items()}
    return counts, counts.pop("axes", None)


def _numbers(option: str, entries: Sequence[str]) -> dict[str, float]:
    """Take NAME=NUMBER apart."""
    numbers = {}
    for entry, name, text in assignments(option, entries, "NAME=NUMBER"):
        try:
            numbers[name] = float(text)
        except ValueError:
            numbers[name] = math.nan
        if not math.isfinite(numbers[name]):
            raise UsageError(f"{option} {entry}: write NAME=NUMBER.")
    return numbers


def _budgets(asked: Asked, known: Known) -> list[Budget]:
    """Read the budgets, each by itself."""
    from judge_audit.core.messages import say
    from judge_audit.measures.power import Prices

    budgets = []
    if asked.calls:
        words = say("planner.calls", n=f"{asked.calls:,}")
        budgets.append(Budget(words, float(asked.calls), Prices(score=1.0)))
    if asked.minutes:
        seconds = asked.seconds or known.seconds
        if not seconds:
            raise UsageError("--minutes: how long a call takes is not known; say it with --seconds.")
        words = say("planner.minutes", n=f"{asked.minutes:g}", seconds=f"{seconds:.3g}")
        budgets.append(Budget(words, 60 * asked.minutes, Prices(score=seconds)))
    if asked.cost:
        if not asked.price and not asked.label_price:
            raise UsageError(
                "--cost: say what a call costs (--price), or a label or reading (--label-price)."
            )
        prices = Prices(score=asked.price, label=asked.label_price)
        words = say(
            "planner.cost", n=f"{asked.cost:g}", price=f"{asked.price:g}", label=f"{asked.label_price:g}"
        )
        budgets.append(Budget(words, asked.cost, prices))
    return budgets


def _document(
    asked: Asked, known: Known, needed: Sequence[Need], bought: Sequence[tuple[Budget, Sequence[Buy]]]
) -> dict[str, Any]:
    """Give everything as plain values."""
    from judge_audit.audits.power import remarks

    return {
        "origin": known.origin,
        "design": {**asdict(known.design), "axes": known.axes},
        "wanted": asked.wanted,
        "draws": asked.draws,
        "needs": [need.as_json() for need in needed],
        "budgets": [
            {"budget": budget.words, "buys": [asdict(entry) for entry in entries]}
            for budget, entries in bought
        ],
        "remarks": list(remarks(known)),
    }


def _lines(
    asked: Asked, known: Known, needed: Sequence[Need], bought: Sequence[tuple[Budget, Sequence[Buy]]]
) -> list[str]:
    """Write the table, with the power of the present design as bars."""
    from judge_audit.audits.power import percent, remarks
    from judge_audit.core.messages import say

    error = f"{200 * math.sqrt(asked.wanted * (1 - asked.wanted) / asked.draws):.0f}"
    promise = say("planner.promise", power=percent(asked.wanted), draws=asked.draws, error=error)
    lines = [known.origin, say("planner.design", **asdict(known.design), axes=known.axes), promise, ""]
    heads = [say(f"planner.heads.{name}") for name in ("verdict", "needs", "now")]
    rows = [
        [need.sentence, need.needs, f"{_bar(need.power_now)} {percent(need.power_now)}"] for need in needed
    ]
    lines += _table([heads, *rows])
    for budget, entries in bought:
        lines += ["", say("planner.budget", budget=budget.words)]
        lines += _table([[entry.sentence, entry.units] for entry in entries], ruled=False)
    return [*lines, "", *remarks(known)]


def _bar(share: float) -> str:
    full = round(BAR * share)
    return "█" * full + "·" * (BAR - full)


def _table(rows: Sequence[Sequence[str]], *, ruled: bool = True) -> list[str]:
    """Lay rows out in columns."""
    if not rows:
        return []
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    laid = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return [laid[0], "  ".join("-" * width for width in widths), *laid[1:]] if ruled else laid
