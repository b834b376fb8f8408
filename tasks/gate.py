"""The task that asks the release gate."""

from __future__ import annotations

from typing import Any

from judge_audit_tasks.local import PLAIN, executor_of
from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits.model import Prepared  # noqa: TC001 - Prefect reads the annotations
from judge_audit.audits.stages.gate import Gated  # noqa: TC001 - the same


@task(name="gate", cache_policy=NO_CACHE, **PLAIN)
def gate(
    configuration: dict[str, Any], prepared: Prepared, use: str | None, baseline: str, name: str
) -> Gated:
    """Ask the release gate about an audit, and write its certificate."""
    del name
    return executor_of(configuration).gate(prepared, use, baseline)
