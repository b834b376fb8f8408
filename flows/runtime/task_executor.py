"""Runs the stages of an audit as Prefect tasks, on whatever runner the flow has; called within a flow."""

from __future__ import annotations

from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from judge_audit_flows.runtime.run_names import TaskLabels, judge_label
from judge_audit_flows.runtime.task_runners import THREADS, lanes_of, workers_of
from judge_audit_flows.runtime.worker_failures import result_of_task
from judge_audit_tasks import check, controls, gate, prepare, report, score

from judge_audit.audits.context import context_of
from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.core.configuration import Configuration
from judge_audit.core.progress import current_progress
from judge_audit.stimuli.planning.blocks import BlockQueue, rounds

if TYPE_CHECKING:
    from judge_audit.audits.model import Prepared
    from judge_audit.audits.stages.gate import Gated
    from judge_audit.audits.stages.report import Outcome
    from judge_audit.stimuli.planning.blocks import Block


class TaskExecutor(LocalExecutor):
    """Runs each stage as a task, and the scoring as many: some seconds of work each."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        """Run the stages of one audit.

        Args:
            configuration: A resolved configuration as plain values, as tasks are handed it.
        """
        self._configuration = configuration
        super().__init__(context_of(Configuration.from_json(configuration)), current_progress())
        self._number = 0

    def prepare(self, *, dry: bool = False) -> Prepared:
        """Plan the audit; a dry run needs no task."""
        assert not dry
        return prepare(self._configuration, name=self._name("prepare"))

    def score(self, prepared: Prepared) -> int:
        """Score the blocks of a plan, some seconds of work a task, and count the answers bought."""
        configuration, card = self.context.configuration, self.context.judge.card
        lanes = lanes_of(configuration.runner, workers_of(configuration), card.concurrency)
        labels = TaskLabels(self.context, prepared)
        # A task is given what it needs and no more: the blocks of a large plan are long lists.
        briefly = replace(prepared, blocks=())
        bought = 0
        for share in rounds(prepared.blocks):
            deal = BlockQueue(share, lanes.tasks, self._pace)
            done: SimpleQueue[Any] = SimpleQueue()
            waiting: dict[Any, tuple[Block, ...]] = {}
            while True:
                while len(waiting) < lanes.tasks and (taken := deal.take()):
                    self._number += 1
                    name = labels.of(taken, self._number)
                    future = score.submit(self._configuration, briefly, taken, name, lanes.requests)
                    waiting[future.task_run_id] = taken
                    future.add_done_callback(done.put)
                if not waiting:
                    break
                future = done.get()
                taken = waiting.pop(future.task_run_id)
                answers, seconds = result_of_task(future, configuration)
                bought += answers
                self._pace.learn(sum(block.left for block in taken), seconds)
                self._advance(prepared, taken)
        return bought

    def _advance(self, prepared: Prepared, taken: tuple[Block, ...]) -> None:
        """Show how far it is where the workers are other processes, which show nothing."""
        if self.context.configuration.runner != THREADS:
            self.progress.advance(sum(block.probes for block in taken))
            self.progress.tell(self.spent(prepared))

    def controls(self, prepared: Prepared) -> None:
        """Have the controls answer."""
        controls(self._configuration, prepared, name=self._name("controls"))

    def check(self, prepared: Prepared) -> None:
        """Measure, and give verdicts and standings."""
        check(self._configuration, prepared, name=self._name("check"))

    def report(self, prepared: Prepared) -> Outcome:
        """Write the report."""
        return report(self._configuration, prepared, name=self._name("report"))

    def gate(self, prepared: Prepared, use: str | None, baseline: str) -> Gated:
        """Ask the release gate, and write the certificate."""
        return gate(self._configuration, prepared, use, baseline, name=self._name("gate"))

    def _name(self, stage: str) -> str:
        return f"{stage} {judge_label(self.context.judge.card)}"
