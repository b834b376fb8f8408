"""The task that measures."""

from __future__ import annotations

from typing import Any

from judge_audit_tasks.local import PLAIN, executor_of
from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits.model import Prepared  # noqa: TC001 - Prefect reads the annotations


@task(name="check", cache_policy=NO_CACHE, **PLAIN)
def check(configuration: dict[str, Any], prepared: Prepared, name: str) -> None:
    """Measure, judge the measures, and give the standings."""
    del name
    executor_of(configuration).check(prepared)
