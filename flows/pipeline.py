"""The flows themselves; importing them imports Prefect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit_tasks import budget, check, combine, controls, gate, prepare, report, score, spent
from prefect import flow
from prefect.futures import as_completed

from judge_audit import stages
from judge_audit.progress import current_progress

if TYPE_CHECKING:
    from judge_audit.progress import Progress


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
    bought = _scored(configuration, prepared, progress)
    budget(configuration, prepared)
    prepared = combine(configuration, prepared)
    if prepared.blocks:
        progress.stage("asking the judge of changes combined", sum(block.probes for block in prepared.blocks))
        bought += _scored(configuration, prepared, progress)
        budget(configuration, prepared)
    progress.stage("asking the controls")
    controls(configuration, prepared)
    progress.stage("measuring")
    check(configuration, prepared)
    progress.stage("writing the report")
    return prepared, bought, report(configuration, prepared)


def _scored(configuration: dict[str, Any], prepared: stages.Prepared, progress: Progress) -> int:
    """Score the blocks of a plan, each as a task, and count the answers bought."""
    far = configuration["runner"] != "threads"
    bought = 0
    numbers = {block: number for number, block in enumerate(prepared.blocks, start=1)}
    for share in stages.rounds(prepared.blocks):
        waiting = {
            score.submit(configuration, prepared, block, block.source, numbers[block]): block
            for block in share
        }
        for future in as_completed(list(waiting)):
            bought += future.result()
            if far:
                progress.advance(waiting[future].probes)
                progress.tell(spent(configuration, prepared))
    return bought
