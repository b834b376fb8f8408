"""The task that has the controls answer."""

from __future__ import annotations

from typing import Any

from judge_audit_tasks.local import PLAIN, executor_of
from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits.model import Prepared  # noqa: TC001 - Prefect reads the annotations


@task(name="controls", cache_policy=NO_CACHE, **PLAIN)
def controls(configuration: dict[str, Any], prepared: Prepared, name: str) -> None:
    """Have every planted-fault control answer the same probes."""
    del name
    executor_of(configuration).controls(prepared)
