"""Thin Prefect tasks, one file per kind of task: read, call the library's stage, return ids.

They import the library and Prefect, and no flow.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits import stages
from judge_audit.audits.session import session
from judge_audit.core.configuration import Configuration
from judge_audit.core.progress import current_progress


@dataclass(frozen=True, slots=True)
class Scored:
    """What a task came to.

    Attributes:
        bought: Answers bought from the judge.
        seconds: How long it took.
    """

    bought: int
    seconds: float


@task(name="prepare", cache_policy=NO_CACHE, persist_result=False)
def prepare(configuration: dict[str, Any]) -> stages.Prepared:
    """Read the items, plan the probes, settle the zones."""
    current, progress = session(Configuration.from_json(configuration)), current_progress()
    prepared = stages.prepare(current, on_image=progress.at)
    for line in stages.budget_lines(current, prepared):
        progress.note(line)
    return prepared


@task(
    name="score",
    task_run_name="score {source} · {number}",
    cache_policy=NO_CACHE,
    persist_result=False,
    tags=["judge-audit-score"],
)
def score(
    configuration: dict[str, Any],
    prepared: stages.Prepared,
    taken: tuple[stages.Block, ...],
    source: str,
    number: int,
    requests: int = 0,
) -> Scored:
    """Score some blocks of items with all their ladders; every batch is committed as it is answered.

    Args:
        configuration: A resolved configuration as plain values.
        prepared: The audit.
        taken: The blocks.
        source: Names the run on Prefect's page.
        number: The same.
        requests: Requests of the judge that this process may have under way; 0 for what the card says.
    """
    del source, number
    began = time.monotonic()
    current, progress = session(Configuration.from_json(configuration), requests), current_progress()

    def settled(probes: int) -> None:
        progress.advance(probes)
        progress.tell(stages.spent_so_far(current, prepared))

    bought = stages.score(current, prepared, *taken, on_probes=settled)
    return Scored(bought, time.monotonic() - began)


def spent(configuration: dict[str, Any], prepared: stages.Prepared) -> str:
    """Say what was spent so far by all workers of this machine."""
    return stages.spent_so_far(session(Configuration.from_json(configuration)), prepared)


def budget(configuration: dict[str, Any], prepared: stages.Prepared) -> None:
    """End the run where the budget did not reach for everything."""
    stages.settle_budget(session(Configuration.from_json(configuration)), prepared)


def combine(configuration: dict[str, Any], prepared: stages.Prepared) -> stages.Prepared:
    """Choose, by the scores so far, what to combine, and plan it."""
    return stages.combine(session(Configuration.from_json(configuration)), prepared)


@task(name="controls", cache_policy=NO_CACHE, persist_result=False)
def controls(configuration: dict[str, Any], prepared: stages.Prepared) -> None:
    """Have every planted-fault control answer the same probes."""
    stages.score_controls(session(Configuration.from_json(configuration)), prepared)


@task(name="check", cache_policy=NO_CACHE, persist_result=False)
def check(configuration: dict[str, Any], prepared: stages.Prepared) -> None:
    """Measure, judge the measures, and give the standings."""
    stages.check(session(Configuration.from_json(configuration)), prepared)


@task(name="report", cache_policy=NO_CACHE, persist_result=False)
def report(configuration: dict[str, Any], prepared: stages.Prepared) -> stages.Outcome:
    """Write the report."""
    return stages.report(session(Configuration.from_json(configuration)), prepared)


@task(name="gate", cache_policy=NO_CACHE, persist_result=False)
def gate(
    configuration: dict[str, Any], prepared: stages.Prepared, use: str | None, baseline: str
) -> stages.Gated:
    """Ask the release gate about an audit, and write its certificate."""
    current = session(Configuration.from_json(configuration))
    return stages.gate_audit(current, prepared, use=use, baseline=baseline)
