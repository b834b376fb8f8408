"""What each verdict needs before any money is spent, and what a budget buys.

The questions are rehearsed (see `measures.rehearsal`) with the spread, ties and retest noise of a pilot or as
stated; a sound judge is to pass, a stated fault is to be convicted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict

from judge_audit.core.limits import Limits, read_limits
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.pilot import Design, Noise, stated
from judge_audit.measures.power import (
    LARGEST,
    Beside,
    Drift,
    Lift,
    Prices,
    Share,
    Spill,
    bought,
    needed,
    power,
    shift_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from judge_audit.measures.power import Rehearsed

DRAWS = 200

LARGEST_TRIED = {"items": 480, "pairs": 240, "labelled": 2_000, **LARGEST}
"""Sizes beyond these are not rehearsed: they are said to be more."""

WANTED = 0.8

AXES, RUNGS, KINDS = 9, 10.0, 4
FAULT = 2.4
"""A fault to be convicted is this many times its margin: a lift of 0.12 below the visible point."""

FALL = 0.30
"""Lift that a sound judge takes off for an overdone change, and a sub-score for its own damage."""

HALO = 0.6
SEVERITY = 2.5
HOLD_CLAIMS = 10
"""Hold cells of four kinds and four sub-scores."""

BAD_SHARE, BAD_LIMIT = 0.02, 0.05
RELIABILITY = 0.6


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before an audit.

    Attributes:
        origin: A sentence: the pilot, or what was stated.
        edge: How scores spread and how differently items answer a change that nobody sees.
        top: The same for an overdone one.
        plain: The same where items answer nearly alike, as a sub-score does that shows another's damage; None: as
            `edge`.
        design: What would be asked.
        axes: Axes on each ladder item.
        rungs: Rungs of one ladder, on average.
        reliability: Correlation of one annotator with another.
        seconds: Time of one call, None if not known.
        limits: The limits in force.
    """

    origin: str
    edge: Noise
    top: Noise
    design: Design = field(default_factory=Design)
    axes: int = AXES
    rungs: float = RUNGS
    reliability: float = RELIABILITY
    seconds: float | None = None
    plain: Noise | None = None
    limits: Limits = field(default_factory=read_limits)


@dataclass(frozen=True, slots=True)
class Question:
    """A verdict that is wanted, and what is varied to reach it."""

    name: str
    rehearsed: Rehearsed
    noise: Noise
    vary: str
    verdict: Verdict
    lift: float
    margin: float
    design: Design

    @property
    def sentence(self) -> str:
        """Say what is wanted."""
        return say(f"planner.questions.{self.name}", lift=f"{self.lift:.2g}", margin=f"{self.margin:.2g}")

    def units(self, n: int) -> str:
        """Say how many of what."""
        unit = "reviewed" if self.name == "accepts" else self.vary
        return say(f"planner.units.{unit}", n=f"{n:,}", annotators=self.design.annotators)


class Rehearsal(TypedDict):
    """How a question is rehearsed: the verdict that is wanted, rehearsals at each size, seed of the draws."""

    verdict: Verdict
    draws: int
    seed: int


@dataclass(frozen=True, slots=True)
class Need:
    """What one verdict needs.

    Attributes:
        question: Name of the question.
        sentence: The question in words.
        vary: What was varied: items, pairs, labelled, annotators or repeats.
        n: How many, None if the most tried is not enough.
        power: Power at n (at the most tried if n is None).
        now: How many the design has.
        power_now: Power with that many.
        tried: Power at every size rehearsed.
        needs: The need in words.
    """

    question: str
    sentence: str
    vary: str
    n: int | None
    power: float
    now: int
    power_now: float
    tried: dict[int, float]
    needs: str

    def as_json(self) -> dict[str, Any]:
        """Give plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Buy:
    """What a budget buys for one verdict: how many (None: too little) and the power of that."""

    question: str
    sentence: str
    n: int | None
    power: float
    units: str


def as_stated(
    *,
    change: float = 0.3,
    retest: float = 0.0,
    step: float = 0.0,
    design: Design | None = None,
    axes: int = AXES,
    reliability: float = RELIABILITY,
    limits: Limits | None = None,
) -> Known:
    """Go by stated spreads, in standard deviations of the untouched scores of a source."""
    noise = stated(change=change, retest=retest, step=step)
    origin = say("planner.stated", change=f"{change:g}", retest=f"{retest:g}", step=f"{step:g}")
    known = Known(origin, noise, noise, design or Design(), axes=axes, reliability=reliability)
    return replace(known, limits=limits) if limits else known


def questions(known: Known) -> Iterator[Question]:
    """List the verdicts that a design is asked for."""
    limits, design = known.limits, known.design
    claims = max(1, known.axes * 4)

    def ask(
        name: str, rehearsed: Rehearsed, vary: str, verdict: Verdict, lift: float, margin: float
    ) -> Question:
        noise = known.top if name in {"falls", "drops"} else known.edge
        noise = known.plain or noise if name == "halo" else noise
        return Question(name, rehearsed, noise, vary, verdict, lift, margin, design)

    edge, fall = limits["premature.margin"], limits["top_response.fall"]
    fault = min(0.4, FAULT * edge)
    yield ask("unmoved", Lift(0.0, edge, claims), "items", Verdict.PASS, 0.0, edge)
    climbing = Lift(shift_of(fault, known.edge), edge, claims)
    yield ask("climbs", climbing, "items", Verdict.FAIL, fault, edge)
    lost = min(0.45, max(FALL, 1.5 * fall))
    falling = Lift(shift_of(-lost, known.top), fall, claims, falling=True)
    yield ask("falls", falling, "items", Verdict.PASS, lost, fall)
    room = limits["headroom.margin"]
    yield ask("headroom", Lift(0.0, room, 1), "items", Verdict.PASS, 0.0, room)
    if known.edge.retest.any():
        yield ask("repeats", Lift(0.0, edge, claims), "repeats", Verdict.PASS, 0.0, edge)
    apart = min(0.4, 2.5 * limits["stability.difference"])
    sources = max(2, design.sources)
    drift = Drift(
        shift_of(apart, known.edge),
        limits["stability.difference"],
        limits["stability.difference_raw"],
        2 * known.axes * sources * (sources - 1) // 2,
    )
    yield ask("drift", drift, "items", Verdict.FAIL, apart, limits["stability.difference"])
    damage = min(0.45, max(FALL, 1.5 * limits["mismatch.fall"]))
    dropping = Lift(
        shift_of(-damage, known.top), limits["mismatch.fall"], HOLD_CLAIMS, falling=True, paired=True
    )
    yield ask("drops", dropping, "pairs", Verdict.PASS, damage, limits["mismatch.fall"])
    halo = Spill(HALO, limits["mismatch.spill"], SEVERITY, HOLD_CLAIMS)
    yield ask("halo", halo, "pairs", Verdict.FAIL, HALO, limits["mismatch.spill"])
    beside = Beside(known.reliability, known.reliability, limits["beside.margin"])
    for name, vary in (("beside", "labelled"), ("beside_more", "annotators")):
        yield ask(name, beside, vary, Verdict.PASS, known.reliability, limits["beside.margin"])
    yield ask("accepts", Share(BAD_SHARE, BAD_LIMIT), "labelled", Verdict.PASS, BAD_SHARE, BAD_LIMIT)


def needs(
    known: Known,
    *,
    wanted: float = WANTED,
    draws: int = DRAWS,
    seed: int = 0,
    on_question: Callable[[int], None] | None = None,
) -> list[Need]:
    """Say what each verdict needs.

    Args:
        known: What is known.
        wanted: Power.
        draws: Rehearsals at each size.
        seed: Of the draws.
        on_question: Told 1 after each verdict.
    """
    rows = []
    for asked in questions(known):
        most, about = LARGEST_TRIED[asked.vary], (asked.rehearsed, asked.noise, known.design)
        how: Rehearsal = {"verdict": asked.verdict, "draws": draws, "seed": seed}
        plan = needed(*about, vary=asked.vary, wanted=wanted, most=most, **how)
        words = (
            say("planner.out_of_reach", most=asked.units(most), power=percent(plan.power))
            if plan.n is None
            else asked.units(plan.n)
        )
        now, now_power = getattr(known.design, asked.vary), power(*about, **how)
        need = (plan.n, plan.power, now, now_power, dict(plan.tried), words)
        rows.append(Need(asked.name, asked.sentence, asked.vary, *need))
        if on_question:
            on_question(1)
    return rows


def buys(known: Known, prices: Prices, budget: float, *, draws: int = DRAWS, seed: int = 0) -> list[Buy]:
    """Say what a budget buys, spent on one verdict alone.

    Args:
        known: What is known.
        prices: Of a call and of a label; verdicts whose evidence costs nothing by them are left out.
        budget: In the unit of the prices.
        draws: Rehearsals.
        seed: Of the draws.
    """
    rows = []
    for asked in questions(known):
        paid = prices.label if asked.vary in {"labelled", "annotators"} else prices.score
        if asked.vary == "annotators" or not paid:
            continue
        others = {"items", "pairs", "labelled"} - {"items" if asked.vary == "repeats" else asked.vary}
        free = {"untouched"} if asked.vary == "labelled" else set()
        alone = replace(known.design, **dict.fromkeys(others | free, 0))
        how: Rehearsal = {"verdict": asked.verdict, "draws": draws, "seed": seed}
        plan = bought(
            asked.rehearsed,
            asked.noise,
            alone,
            vary=asked.vary,
            prices=prices,
            budget=budget,
            axes=known.axes,
            rungs=round(known.rungs),
            most=LARGEST_TRIED[asked.vary],
            **how,
        )
        words = (
            say("planner.buys_nothing")
            if plan.n is None
            else say("planner.buys", units=asked.units(plan.n), power=percent(plan.power))
        )
        rows.append(Buy(asked.name, asked.sentence, plan.n, plan.power, words))
    return rows


def percent(share: float) -> str:
    """Write a share for people."""
    return f"{100 * share:.0f} %"


def remarks(known: Known) -> Sequence[str]:
    """Say what the numbers take for granted."""
    sentences = [
        say("planner.readers"),
        say("planner.sources"),
        say("planner.taken", reliability=f"{known.reliability:g}", severity=f"{SEVERITY:g}"),
    ]
    return [*sentences, say("planner.rounded")] if known.edge.step else sentences
