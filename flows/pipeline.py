"""The flow itself; importing it imports Prefect."""

from __future__ import annotations

from typing import Any

from judge_audit_tasks import budget, check, controls, prepare, report, score, spent
from prefect import flow
from prefect.futures import as_completed

from judge_audit import stages  # noqa: TC001 - Prefect reads the annotations
from judge_audit.progress import current_progress


@flow(name="judge-audit", persist_result=False, validate_parameters=False)
def audit_flow(configuration: dict[str, Any]) -> tuple[stages.Prepared, int, stages.Outcome]:
    """Audit a judge.

    Args:
        configuration: A resolved configuration as plain values.

    Returns:
        The plan, how many answers were bought, and the outcome.
    """
    progress = current_progress()
    progress.stage("planning")
    prepared = prepare(configuration)
    progress.stage("asking the judge", prepared.new_calls + prepared.reused_calls)
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
            progress.tell(spent(configuration, prepared))
    budget(configuration, prepared)
    progress.stage("asking the controls")
    controls(configuration, prepared)
    progress.stage("measuring")
    check(configuration, prepared)
    progress.stage("writing the report")
    return prepared, bought, report(configuration, prepared)
