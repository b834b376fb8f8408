"""The flow itself; importing it imports Prefect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit_tasks import check, combine, controls, prepare, report, score
from prefect import flow
from prefect.futures import as_completed

from judge_audit import stages  # noqa: TC001 - Prefect reads the annotations
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


def stage_by_stage(configuration: dict[str, Any]) -> tuple[stages.Prepared, int, stages.Outcome]:
    """Prepare, score block by block, have the controls answer, measure and report; called within a flow."""
    progress = current_progress()
    progress.stage("planning")
    prepared = prepare(configuration)
    progress.stage("asking the judge", prepared.new_calls + prepared.reused_calls)
    bought = _scored(configuration, prepared, progress)
    prepared = combine(configuration, prepared)
    if prepared.blocks:
        progress.stage("asking the judge of changes combined", sum(block.probes for block in prepared.blocks))
        bought += _scored(configuration, prepared, progress)
    progress.stage("asking the controls")
    controls(configuration, prepared)
    progress.stage("measuring")
    check(configuration, prepared)
    progress.stage("writing the report")
    return prepared, bought, report(configuration, prepared)


def _scored(configuration: dict[str, Any], prepared: stages.Prepared, progress: Progress) -> int:
    """Score the blocks of a plan, each as a task, and count the answers bought."""
    far = configuration["runner"] != "threads"
    waiting = {
        score.submit(configuration, prepared, block, block.source, number): block
        for number, block in enumerate(prepared.blocks, start=1)
    }
    bought = 0
    for future in as_completed(list(waiting)):
        bought += future.result()
        if far:
            progress.advance(waiting[future].probes)
    return bought
