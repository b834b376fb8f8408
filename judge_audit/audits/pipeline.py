"""The one order in which the stages of an audit run, whoever runs them: a flow, the command line or `audit()`.

1. *prepare* plans everything and asks the canaries; 2. the judge *scores* the plan, the anchors before the rest;
3. the budget is looked at; 4. *combine* chooses, by these scores, which changes to put together; 5. the judge scores
those, and the budget is looked at again, and closed; 6. the *controls* answer what the judge was asked; 7. *check*
measures and gives verdicts and standings; 8. *report*; for a release, 9. *gate*.

The budget is looked at before combining, because what is combined is chosen once for a judge and its plan, for
good: chosen by the scores of half an audit it would be wrong for every later run. It is closed only after the
last question, because --max-calls and --max-cost count for one run: closed between the two rounds, it would be
granted twice. An audit whose answers are all in the lake (a table of scores) leaves out 2 to 5.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.audits.stages import budget, check, combinations, gate, plan, report, score
from judge_audit.core.progress import Progress
from judge_audit.lake.write_ahead import seal
from judge_audit.stimuli.planning.blocks import Block, BlockQueue, Pace, rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.audits.context import AuditContext
    from judge_audit.audits.model import Prepared
    from judge_audit.audits.stages.gate import Gated
    from judge_audit.audits.stages.report import Outcome

FEWEST_WORKERS = 2


@dataclass(frozen=True, slots=True)
class CompletedAudit:
    """An audit whose stages have all run.

    Attributes:
        prepared: What was planned.
        bought: Answers bought from the judge.
        outcome: What it came to.
    """

    prepared: Prepared
    bought: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CompletedRelease:
    """An audited candidate, and what the gate said of it."""

    audit: CompletedAudit
    gated: Gated


def run_stages(executor: LocalExecutor) -> CompletedAudit:
    """Make an audit.

    Raises:
        AuditError: With a plain message, when it cannot be made.
    """
    context, progress = executor.context, executor.progress
    progress.stage("planning")
    prepared = executor.prepare()
    bought = 0
    if context.mode.asks_judge:
        progress.stage("asking the judge", prepared.new_calls + prepared.reused_calls)
        bought = executor.score(prepared)
        budget.see_budget(context.setup(prepared), prepared)
        prepared = combinations.combine(context.setup(prepared), prepared)
        if prepared.blocks:
            planned = sum(block.probes for block in prepared.blocks)
            progress.stage("asking the judge of changes combined", planned)
            bought += executor.score(prepared)
            budget.see_budget(context.setup(prepared), prepared)
        budget.close_budget(context.setup(prepared), prepared)
        seal(context.lake)
    progress.stage("asking the controls")
    executor.controls(prepared)
    progress.stage("measuring")
    executor.check(prepared)
    progress.stage("writing the report")
    return CompletedAudit(prepared, bought, executor.report(prepared))


def run_release(executor: LocalExecutor, use: str | None, baseline: str) -> CompletedRelease:
    """Audit a candidate, its anchors first, and ask the release gate.

    Args:
        executor: How the stages are run.
        use: What it is to be released for; None for what it was approved for last.
        baseline: The audit it is held against, or `approved`.

    Raises:
        AuditError: With a plain message, when the audit cannot be made or the gate cannot be put the question.
    """
    audit = run_stages(executor)
    executor.progress.stage("asking the gate")
    return CompletedRelease(audit, executor.gate(audit.prepared, use, baseline))


def read_inputs(context: AuditContext, progress: Progress) -> None:
    """Read everything an audit goes by: faulty input is reported before anything is started for it.

    Raises:
        AuditError: If anything given cannot be used.
    """
    inputs = context.inputs
    budget.currency_of(context.configuration, context.judge)
    if context.mode.asks_judge:
        progress.stage("reading pictures")
        inputs.items(progress.at)
        _ = inputs.readings, inputs.traffic, inputs.anchors


class LocalExecutor:
    """Runs every stage in this process, the scoring in threads; a subclass runs them elsewhere."""

    def __init__(self, context: AuditContext, progress: Progress | None = None) -> None:
        """Run the stages of one audit.

        Args:
            context: What this process keeps of it.
            progress: Where progress is shown; nowhere if None.
        """
        self.context, self.progress = context, progress or Progress()
        self._pace = Pace()

    def prepare(self, *, dry: bool = False) -> Prepared:
        """Read the items, plan the probes, settle the zones; of a dry run nothing is asked."""
        context, progress = self.context, self.progress
        setup = context.setup()
        with context.lake.standing_still():
            prepared = plan.prepare(setup, context.inputs, context.people, on_image=progress.at, dry=dry)
        if not dry:
            for line in budget.budget_lines(context.setup(prepared), prepared):
                progress.note(line)
        return prepared

    def score_blocks(
        self, prepared: Prepared, *taken: Block, on_probes: Callable[[int], None] | None = None
    ) -> int:
        """Have the judge and the instruments answer some blocks, and count the answers bought."""
        return score.score(self.context.setup(prepared), prepared, *taken, on_probes=on_probes)

    def score(self, prepared: Prepared) -> int:
        """Score all blocks in threads, some seconds of work at a time."""
        workers = max(1, self.context.configuration.workers or FEWEST_WORKERS)
        bought: list[int] = []
        for share in rounds(prepared.blocks):
            deal = BlockQueue(share, workers, self._pace)

            def work(_: int, deal: BlockQueue = deal) -> None:
                while taken := deal.take():
                    began = time.monotonic()
                    try:
                        bought.append(self.score_blocks(prepared, *taken, on_probes=self.progress.advance))
                    except BaseException:
                        deal.end()
                        raise
                    self._pace.learn(sum(block.left for block in taken), time.monotonic() - began)

            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(work, range(workers)))
        return sum(bought)

    def spent(self, prepared: Prepared) -> str:
        """Say what was spent so far by all workers of this machine."""
        return budget.spent_so_far(self.context.setup(prepared), prepared)

    def controls(self, prepared: Prepared) -> None:
        """Have every planted-fault control answer the same probes."""
        setup = self.context.setup(prepared)
        setup.mode.score_controls(setup, prepared)

    def check(self, prepared: Prepared) -> None:
        """Measure, judge the measures, and give the standings."""
        context = self.context
        with context.lake.standing_still():
            check.check(context.setup(prepared), context.inputs, context.people, prepared)

    def report(self, prepared: Prepared) -> Outcome:
        """Write the report."""
        setup = self.context.setup(prepared)
        with self.context.lake.standing_still():
            return report.report(setup.plans, setup.stimuli, prepared, self.context.configuration.report)

    def gate(self, prepared: Prepared, use: str | None, baseline: str) -> Gated:
        """Ask the release gate about an audit, and write its certificate next to the report."""
        context, configuration = self.context, self.context.configuration
        gated = gate.gate(
            context.lake,
            candidate=prepared.audit_id,
            baseline=baseline,
            use=use,
            project=configuration.project,
        )
        folder = Path(configuration.report or "judge-audit-report")
        return gate.certify(context.lake, gated, folder, project=configuration.project)
