"""Compaction as a deployed flow: small files of the lake are put together, and retention has its way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from judge_audit_flows.deployment.deployed_audit import settled
from judge_audit_flows.deployment.parameters import STEADY, Persistence
from judge_audit_flows.runtime.outcome import Ending, persisted
from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State  # noqa: TC002 - Prefect reads the annotations

from judge_audit.core.configuration import resolve
from judge_audit.core.errors import EXIT_GOOD
from judge_audit.lake import Lake
from judge_audit.lake.compaction import compact, compaction_lines


@flow(name="judge-audit-compaction", persist_result=False)
def compaction(
    audit: str = "audit.yaml",
    keep_days: float | None = None,
    keep_audits: int | None = None,
    grace_hours: float = 12.0,
    persistence: Persistence = STEADY,
) -> State[Any]:
    """Put the lake's small files together, and remove raw answers that nobody needs where that is asked for.

    Args:
        audit: Path of the project's audit.yaml, as the machine sees it that runs this; it names the lake.
        keep_days: Remove raw answers of audits that ended longer ago and that nothing needs. Empty removes none.
        keep_audits: Remove raw answers of all but so many audits of each judge that nothing needs. Empty removes none.
        grace_hours: How long replaced files stay for those who are reading them.
        persistence: How often to try again where the machinery failed.
    """
    log = get_run_logger()

    def attempt() -> Ending:
        summary = compact(
            Lake.open(resolve(audit).lake, create=False),
            keep_days=keep_days,
            keep_audits=keep_audits,
            grace=timedelta(hours=grace_hours),
        )
        lines = compaction_lines(summary)
        for line in lines:
            log.info(line)
        return Ending(audit, EXIT_GOOD, "\n".join(lines))

    return settled([persisted(audit, attempt, log, persistence.retries, persistence.wait_seconds)])
