"""The task that renders and scores."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from judge_audit_tasks.local import PLAIN, executor_of
from prefect import task
from prefect.cache_policies import NO_CACHE

from judge_audit.audits.model import Prepared  # noqa: TC001 - Prefect reads the annotations
from judge_audit.stimuli.planning.blocks import Block  # noqa: TC001 - the same


@dataclass(frozen=True, slots=True)
class Scored:
    """What a task came to.

    Attributes:
        bought: Answers bought from the judge.
        seconds: How long it took.
    """

    bought: int
    seconds: float


@task(name="score", cache_policy=NO_CACHE, tags=["judge-audit-score"], **PLAIN)
def score(
    configuration: dict[str, Any],
    prepared: Prepared,
    taken: tuple[Block, ...],
    name: str,
    requests: int = 0,
) -> Scored:
    """Score some blocks of items with all their ladders; every batch is committed as it is answered.

    Args:
        configuration: A resolved configuration as plain values.
        prepared: The audit.
        taken: The blocks.
        name: What the run is called on Prefect's page.
        requests: Requests of the judge that this process may have under way; 0 for what the card says.
    """
    del name
    began = time.monotonic()
    executor = executor_of(configuration, requests)

    def settled(probes: int) -> None:
        executor.progress.advance(probes)
        executor.progress.tell(executor.spent(prepared))

    bought = executor.score_blocks(prepared, *taken, on_probes=settled)
    return Scored(bought, time.monotonic() - began)
