"""The task that plans an audit."""

from __future__ import annotations

from typing import Any

from judge_audit_tasks.local import PLAIN, executor_of
from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits.model import Prepared  # noqa: TC001 - Prefect reads the annotations


@task(name="prepare", cache_policy=NO_CACHE, **PLAIN)
def prepare(configuration: dict[str, Any], name: str) -> Prepared:
    """Read the items, plan the probes, settle the zones."""
    del name
    return executor_of(configuration).prepare()
