"""The flows themselves; importing them imports Prefect."""

from __future__ import annotations

from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from judge_audit_flows.runtime.task_runners import THREADS, lanes_of, workers_of
from judge_audit_flows.runtime.worker_failures import result_of_task
from judge_audit_tasks import budget, check, combine, controls, gate, prepare, report, score, spent
from prefect import flow

from judge_audit.audits import stages
from judge_audit.audits.session import session
from judge_audit.core.configuration import Configuration
from judge_audit.core.progress import current_progress
from judge_audit.stimuli.planning.blocks import Pace

if TYPE_CHECKING:
    from judge_audit.core.progress import Progress


@flow(name="judge-audit", persist_result=False, validate_parameters=False)
def audit_flow(configuration: dict[str, Any]) -> tuple[stages.Prepared, int, stages.Outcome]:
    """Audit a judge.

    Args:
        configuration: A resolved configuration as plain values.

    Returns:
        The plan, how many answers were bought, and the outcome.
    """
    return stage_by_stage(configuration)


@flow(name="judge-audit-release", persist_result=False, validate_parameters=False)
def release_flow(
    configuration: dict[str, Any], use: str | None, baseline: str
) -> tuple[stages.Prepared, int, stages.Outcome, stages.Gated]:
    """Audit a candidate, its anchors first, and ask the release gate.

    Args:
        configuration: A resolved configuration as plain values.
        use: What it is to be released for; None for what it was approved for last.
        baseline: The audit it is held against, or `approved`.

    Returns:
        The plan, how many answers were bought, the outcome, and what the gate came to.
    """
    prepared, bought, outcome = stage_by_stage(configuration)
    current_progress().stage("asking the gate")
    return prepared, bought, outcome, gate(configuration, prepared, use, baseline)


def stage_by_stage(configuration: dict[str, Any]) -> tuple[stages.Prepared, int, stages.Outcome]:
    """Prepare, score block by block, have the controls answer, measure and report; called within a flow."""
    progress = current_progress()
    progress.stage("planning")
    prepared = prepare(configuration)
    progress.stage("asking the judge", prepared.new_calls + prepared.reused_calls)
    pace = Pace()
    bought = _scored(configuration, prepared, progress, pace)
    budget(configuration, prepared)
    prepared = combine(configuration, prepared)
    if prepared.blocks:
        progress.stage("asking the judge of changes combined", sum(block.probes for block in prepared.blocks))
        bought += _scored(configuration, prepared, progress, pace)
        budget(configuration, prepared)
    progress.stage("asking the controls")
    controls(configuration, prepared)
    progress.stage("measuring")
    check(configuration, prepared)
    progress.stage("writing the report")
    return prepared, bought, report(configuration, prepared)


def _scored(configuration: dict[str, Any], prepared: stages.Prepared, progress: Progress, pace: Pace) -> int:
    """Score the blocks of a plan, some seconds of work a task, and count the answers bought."""
    given = Configuration.from_json(configuration)
    far = given.runner != THREADS
    lanes = lanes_of(given.runner, workers_of(given), session(given).judge.card.concurrency)
    # A task is told what it needs and no more: the blocks of a large plan are long lists.
    briefly = replace(prepared, blocks=())
    bought = number = 0
    for share in stages.rounds(prepared.blocks):
        deal = stages.BlockQueue(share, lanes.tasks, pace)
        done: SimpleQueue[Any] = SimpleQueue()
        waiting: dict[Any, tuple[stages.Block, ...]] = {}
        while True:
            while len(waiting) < lanes.tasks and (taken := deal.take()):
                number += 1
                future = score.submit(
                    configuration, briefly, taken, stages.named(taken), number, lanes.requests
                )
                waiting[future.task_run_id] = taken
                future.add_done_callback(done.put)
            if not waiting:
                break
            future = done.get()
            taken = waiting.pop(future.task_run_id)
            scored = result_of_task(future, given)
            bought += scored.bought
            pace.learn(sum(block.left for block in taken), scored.seconds)
            if far:
                progress.advance(sum(block.probes for block in taken))
                progress.tell(spent(configuration, prepared))
    return bought
