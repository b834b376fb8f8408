"""What an audit will cost before the first question, what it has cost so far, and its end where the budget ends."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from judge_audit.core.vocabulary import State
from judge_audit.judges.calling.budget import BudgetReached, money
from judge_audit.judges.protocol import PricedJudge

if TYPE_CHECKING:
    from judge_audit.audits.model import Prepared
    from judge_audit.audits.session import Session

ENOUGH = 3
"""Answers from which on what they cost is a better guess than the prices in the card."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is still to be bought.

    Attributes:
        calls: Pictures to be shown.
        cost: What they will cost, None where nothing is known to cost.
        currency: What that is in.
        answers: Answers in the lake that the guess rests on; 0 if it rests on the card's prices alone and is then
            the most that they may cost.
    """

    calls: int
    cost: float | None = None
    currency: str = ""
    answers: int = 0

    @property
    def line(self) -> str:
        """Say it in a sentence."""
        if self.cost is None:
            return f"Up to {self.calls:,} calls to the judge."
        basis = f"by {self.answers:,} answers so far" if self.answers else "at the most, by the card's prices"
        return f"Up to {self.calls:,} calls to the judge, about {money(self.cost)} {self.currency} ({basis})."


def estimate(current: Session, prepared: Prepared) -> Estimate:
    """Say what is still to be bought and what it will cost."""
    judge, calls = current.judge, prepared.new_calls
    if not isinstance(judge, PricedJudge) or not judge.currency:
        return Estimate(calls)
    bought = "comparisons" if judge.card.compares else "calls"
    held = current.lake.read(bought, judge_id=judge.card.judge_id, state=State.OK.value)["cost"]
    if len(held) >= ENOUGH:
        return Estimate(calls, calls * float(pc.mean(held).as_py()), judge.currency, len(held))
    items = current.plan_table("items", prepared.plan_id).select(["height", "width", "prompt"]).to_pylist()
    each = [judge.most_cost(row["height"], row["width"], row["prompt"] or "") for row in items]
    return Estimate(calls, calls * fmean(each) if each else 0.0, judge.currency)


def budget_lines(current: Session, prepared: Prepared) -> list[str]:
    """Say before the first question what it will come to, and whether the budget will reach."""
    told = current.configuration
    if current.purse(prepared.audit_id) is None:
        return []
    found = estimate(current, prepared)
    lines = [found.line]
    if told.max_calls is not None and found.calls > told.max_calls:
        lines.append(f"--max-calls {told.max_calls:,} will not reach; the run stops there and loses nothing.")
    if told.max_cost is not None and found.cost is not None and found.cost > told.max_cost:
        lines.append(
            f"--max-cost {money(told.max_cost)} may not reach; the run stops there and loses nothing."
        )
    return lines


def spent_so_far(current: Session, prepared: Prepared) -> str:
    """Say what was spent so far, for the line of progress; empty where nothing costs and nothing is capped."""
    purse = current.purse(prepared.audit_id)
    return purse.told() if purse is not None else ""


def settle_budget(current: Session, prepared: Prepared) -> None:
    """Put the purse away once everything was asked.

    Raises:
        BudgetReached: If the budget did not reach for everything; what was bought is in the lake.
    """
    purse = current.purse(prepared.audit_id)
    if purse is None:
        return
    spent = purse.spent()
    purse.remove()
    if not spent.stopped:
        return
    sum_ = f" for {money(spent.cost)} {purse.currency}" if purse.currency else ""
    canaries = prepared.canaries.bought if prepared.canaries else 0
    left = max(0, prepared.new_calls - (spent.calls - canaries))
    each = spent.cost / spent.calls if spent.calls else 0.0
    rest = f", about {money(each * left)} {purse.currency}" if purse.currency and each else ""
    raise BudgetReached(
        f"the budget is used up: {spent.calls:,} pictures were shown to the judge{sum_}, up to {left:,} are left to "
        f"show{rest}. Nothing is lost: every answer is in the lake, and the same command goes on from there. "
        "--max-calls and --max-cost count for one run."
    )
