"""The mismatches as a flow of their own: pairs and the untouched items they are held against, nothing else.

A task is a block of items of one source with all their pairs, as beside the ladders: a task per kind and source
would decode every picture once per kind and be over sooner than it costs to start.
"""

from __future__ import annotations

from typing import Any

from judge_audit_flows.pipeline import stage_by_stage
from prefect import flow

from judge_audit.audits import stages  # noqa: TC001 - Prefect reads the annotations

ONLY = "mismatches"


@flow(name="judge-audit-mismatches", persist_result=False, validate_parameters=False)
def mismatches_flow(configuration: dict[str, Any]) -> tuple[stages.Prepared, int, stages.Outcome]:
    """Audit a judge by deliberate mismatches alone.

    Args:
        configuration: A resolved configuration as plain values.

    Returns:
        The plan, how many answers were bought, and the outcome.
    """
    return stage_by_stage({**configuration, "only": ONLY})
