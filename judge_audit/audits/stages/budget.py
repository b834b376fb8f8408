"""What an audit will cost before the first question, what it has cost so far, and its end where the budget ends."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.calling.budget import FOLDER, Budget, BudgetReached, money
from judge_audit.judges.protocol import PricedJudge

if TYPE_CHECKING:
    from judge_audit.audits.model import Prepared, ScoringSetup
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.protocol import Judge

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


def currency_of(configuration: Configuration, judge: Judge) -> str:
    """Say what a judge's answers are paid in; "" where they cost nothing.

    Raises:
        UsageError: If a sum is capped and the judge's card names no prices.
    """
    currency = judge.currency if isinstance(judge, PricedJudge) else ""
    if configuration.max_cost is not None and not currency:
        raise UsageError(
            f"--max-cost: the judge “{judge.card.name}” names no prices, so what it costs is not known. Add "
            "them to its card, for example prices: {currency: USD, input: 2.5, output: 10}, or use --max-calls."
        )
    return currency


def budget_of(setup: ScoringSetup, audit_id: str) -> Budget | None:
    """Give what an audit's answers are paid from, None where nothing costs and nothing is capped.

    Raises:
        UsageError: If a sum is capped and the judge's card names no prices.
    """
    configuration = setup.configuration
    currency = currency_of(configuration, setup.judge)
    if not setup.mode.asks_judge or (configuration.max_calls is None and not currency):
        return None
    path = setup.lake.storage.beside / FOLDER / f"{audit_id}.sqlite"
    return Budget(path, configuration.max_calls, configuration.max_cost, currency)


def estimate(setup: ScoringSetup, prepared: Prepared) -> Estimate:
    """Say what is still to be bought and what it will cost."""
    judge, calls = setup.judge, prepared.new_calls
    if not isinstance(judge, PricedJudge) or not judge.currency:
        return Estimate(calls)
    answers = setup.lake.read(setup.mode.answers, judge_id=judge.card.judge_id, state=State.OK.value)["cost"]
    if len(answers) >= ENOUGH:
        return Estimate(calls, calls * float(pc.mean(answers).as_py()), judge.currency, len(answers))
    items = setup.plans.table("items", prepared.plan_id).select(["height", "width", "prompt"]).to_pylist()
    each = [judge.most_cost(row["height"], row["width"], row["prompt"] or "") for row in items]
    return Estimate(calls, calls * fmean(each) if each else 0.0, judge.currency)


def budget_lines(setup: ScoringSetup, prepared: Prepared) -> list[str]:
    """Say before the first question what it will come to, and whether the budget will reach."""
    if budget_of(setup, prepared.audit_id) is None:
        return []
    most_calls, most_cost = setup.configuration.max_calls, setup.configuration.max_cost
    expected = estimate(setup, prepared)
    lines = [expected.line]
    if most_calls is not None and expected.calls > most_calls:
        lines.append(f"--max-calls {most_calls:,} will not reach; the run stops there and loses nothing.")
    if most_cost is not None and expected.cost is not None and expected.cost > most_cost:
        lines.append(f"--max-cost {money(most_cost)} may not reach; the run stops there and loses nothing.")
    return lines


def spent_so_far(setup: ScoringSetup, prepared: Prepared) -> str:
    """Say what was spent so far, for the line of progress; empty where nothing costs and nothing is capped."""
    budget = budget_of(setup, prepared.audit_id)
    return budget.told() if budget is not None else ""


def see_budget(setup: ScoringSetup, prepared: Prepared) -> None:
    """End the run where the budget did not reach for what was asked so far.

    Raises:
        BudgetReached: If so; what was bought is in the lake.
    """
    budget = budget_of(setup, prepared.audit_id)
    if budget is None or not (spent := budget.spent()).stopped:
        return
    budget.remove()
    sum_ = f" for {money(spent.cost)} {budget.currency}" if budget.currency else ""
    canaries = prepared.canaries.bought if prepared.canaries else 0
    left = max(0, prepared.new_calls - (spent.calls - canaries))
    each = spent.cost / spent.calls if spent.calls else 0.0
    rest = f", about {money(each * left)} {budget.currency}" if budget.currency and each else ""
    raise BudgetReached(
        f"the budget is used up: {spent.calls:,} pictures were shown to the judge{sum_}, up to {left:,} are left to "
        f"show{rest}. Nothing is lost: every answer is in the lake, and the same command goes on from there. "
        "--max-calls and --max-cost count for one run."
    )


def close_budget(setup: ScoringSetup, prepared: Prepared) -> None:
    """Put the budget away once everything was asked and paid for."""
    if (budget := budget_of(setup, prepared.audit_id)) is not None:
        budget.remove()
