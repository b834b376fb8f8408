"""The flows that audit; importing them imports Prefect.

One flow, a task per share of items of one source with all their ladders and pairs. A subflow per source, and a task
per kind of pairs, would decode every picture once per kind and cost more to start than they take.
"""

from __future__ import annotations

from typing import Any

from judge_audit_flows.runtime.task_executor import TaskExecutor
from prefect import flow

from judge_audit.audits.pipeline import (
    CompletedAudit,
    CompletedRelease,
    run_release,
    run_stages,
)

ONLY = "mismatches"


@flow(name="judge-audit", persist_result=False, validate_parameters=False)
def audit_flow(configuration: dict[str, Any]) -> CompletedAudit:
    """Audit a judge.

    Args:
        configuration: A resolved configuration as plain values.
    """
    return run_stages(TaskExecutor(configuration))


@flow(name="judge-audit-mismatches", persist_result=False, validate_parameters=False)
def mismatches_flow(configuration: dict[str, Any]) -> CompletedAudit:
    """Audit a judge by deliberate mismatches alone: pairs, and the untouched items they are held against.

    Args:
        configuration: A resolved configuration as plain values.
    """
    return run_stages(TaskExecutor({**configuration, "only": ONLY}))


@flow(name="judge-audit-release", persist_result=False, validate_parameters=False)
def release_flow(configuration: dict[str, Any], use: str | None, baseline: str) -> CompletedRelease:
    """Audit a candidate, its anchors first, and ask the release gate.

    Args:
        configuration: A resolved configuration as plain values.
        use: What it is to be released for; None for what it was approved for last.
        baseline: The audit it is held against, or `approved`.
    """
    return run_release(TaskExecutor(configuration), use, baseline)
