"""What `judge-audit release` calls: audit the candidate, its anchors first, then ask the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit_flows.audit import recorded_audit, through_prefect

from judge_audit.audits import pipeline
from judge_audit.audits.run_summary import ReleaseResult, result_of
from judge_audit.operations.runs import RELEASE

if TYPE_CHECKING:
    from judge_audit.core.configuration import Configuration
    from judge_audit.core.progress import Progress


def run_release(
    configuration: Configuration, progress: Progress, *, use: str | None = None, baseline: str = "approved"
) -> ReleaseResult:
    """Audit a candidate and ask the release gate about it.

    Args:
        configuration: What to audit.
        progress: Where progress is shown.
        use: What it is to be released for; None for what it was approved for last.
        baseline: The audit it is held against, or `approved`.

    Raises:
        AuditError: With a plain message, when the audit cannot be made or the gate cannot be put the question.
    """
    with recorded_audit(configuration, RELEASE, progress) as (run, context):
        if context.mode.asks_judge:
            release = through_prefect(context, progress, "release_flow", run, use, baseline)
        else:
            executor = pipeline.LocalExecutor(context, progress)
            release = pipeline.run_release(executor, use, baseline)
        prepared = release.audit.prepared
        run.audited(prepared.audit_id, prepared.judge_id)
        run.asked(release.gated.document)
    return ReleaseResult(result_of(context, release.audit), release.gated)
