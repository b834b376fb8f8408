"""Thin Prefect tasks: each runs one stage of an audit where the runner puts it, whatever process that is.

They import the library and Prefect, and no flow.
"""

from __future__ import annotations

import time
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits.context import context_of
from judge_audit.audits.model import Prepared  # noqa: TC001 - Prefect reads the annotations
from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.audits.stages.gate import Gated  # noqa: TC001 - the same
from judge_audit.audits.stages.report import Outcome  # noqa: TC001 - the same
from judge_audit.core.configuration import Configuration
from judge_audit.core.progress import current_progress
from judge_audit.stimuli.planning.blocks import Block  # noqa: TC001 - the same

PLAIN: dict[str, Any] = {"task_run_name": "{name}", "persist_result": False, "cache_policy": NO_CACHE}
"""A run of a task is called by its parameter `name`, which it needs for nothing else; results are in the lake."""


def executor_of(configuration: dict[str, Any], requests: int = 0) -> LocalExecutor:
    """Give what runs a stage in this process.

    Args:
        configuration: A resolved configuration as plain values.
        requests: Requests of the judge that this process may have under way; 0 for what the card says.
    """
    return LocalExecutor(context_of(Configuration.from_json(configuration), requests), current_progress())


@task(name="prepare", **PLAIN)
def prepare(configuration: dict[str, Any], name: str) -> Prepared:
    """Read the items, plan the probes, settle the zones."""
    del name
    return executor_of(configuration).prepare()


@task(name="score", tags=["judge-audit-score"], **PLAIN)
def score(
    configuration: dict[str, Any], prepared: Prepared, taken: tuple[Block, ...], name: str, requests: int = 0
) -> tuple[int, float]:
    """Score some blocks of items with all their ladders; every batch is committed as it is answered.

    Args:
        configuration: A resolved configuration as plain values.
        prepared: The audit.
        taken: The blocks.
        name: What the run is called on Prefect's page.
        requests: Requests of the judge that this process may have under way; 0 for what the card says.

    Returns:
        Answers bought from the judge, and the seconds that it took.
    """
    del name
    began = time.monotonic()
    executor = executor_of(configuration, requests)

    def settled(probes: int) -> None:
        executor.progress.advance(probes)
        executor.progress.tell(executor.spent(prepared))

    bought = executor.score_blocks(prepared, *taken, on_probes=settled)
    return bought, time.monotonic() - began


@task(name="controls", **PLAIN)
def controls(configuration: dict[str, Any], prepared: Prepared, name: str) -> None:
    """Have every planted-fault control answer the same probes."""
    del name
    executor_of(configuration).controls(prepared)


@task(name="check", **PLAIN)
def check(configuration: dict[str, Any], prepared: Prepared, name: str) -> None:
    """Measure, judge the measures, and give the standings."""
    del name
    executor_of(configuration).check(prepared)


@task(name="report", **PLAIN)
def report(configuration: dict[str, Any], prepared: Prepared, name: str) -> Outcome:
    """Write the report."""
    del name
    return executor_of(configuration).report(prepared)


@task(name="gate", **PLAIN)
def gate(
    configuration: dict[str, Any], prepared: Prepared, use: str | None, baseline: str, name: str
) -> Gated:
    """Ask the release gate about an audit, and write its certificate."""
    del name
    return executor_of(configuration).gate(prepared, use, baseline)
