"""The task that writes the report."""

from __future__ import annotations

from typing import Any

from judge_audit_tasks.local import PLAIN, executor_of
from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits.model import Prepared  # noqa: TC001 - Prefect reads the annotations
from judge_audit.audits.stages.report import Outcome  # noqa: TC001 - the same


@task(name="report", cache_policy=NO_CACHE, **PLAIN)
def report(configuration: dict[str, Any], prepared: Prepared, name: str) -> Outcome:
    """Write the report."""
    del name
    return executor_of(configuration).report(prepared)
