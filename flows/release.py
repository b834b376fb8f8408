"""A release as one Prefect flow: audit the candidate, its anchors first, then ask the gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit_flows.audit import canary_lines, from_tables, ready, result_of, through_prefect
from judge_audit_flows.runtime.run_record import begun, done, recorded_flow

from judge_audit.audits import stages
from judge_audit.operations.runs import RELEASE

if TYPE_CHECKING:
    from judge_audit.core.configuration import Configuration
    from judge_audit.core.progress import Progress


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """What a release came to.

    Attributes:
        audit_id: The candidate's audit.
        code: The gate's exit code.
        lines: What to print.
        document: The same for programs: the report's content and the gate's answer.
    """

    audit_id: str
    code: int
    lines: list[str]
    document: dict[str, Any]


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
    with recorded_flow(configuration, RELEASE, progress) as run:
        current = ready(configuration, progress)
        begun(run, current)
        if current.is_table:
            prepared, bought, outcome = from_tables(current, progress)
            progress.stage("asking the gate")
            gated = stages.gate_audit(current, prepared, use=use, baseline=baseline)
        else:
            prepared, bought, outcome, gated = through_prefect(
                configuration, progress, "release_flow", use, baseline, run=run
            )
        done(run, prepared)
        run.asked(gated.document)
    audited = result_of(configuration, prepared, bought, outcome)
    return ReleaseResult(
        audit_id=audited.audit_id,
        code=gated.code,
        lines=[
            f"Position: {audited.position}",
            *(f"Canaries: {line}" for line in canary_lines(prepared, outcome)),
            f"Report: {audited.report_path}",
            *gated.lines,
        ],
        document={"report": audited.document, "gate": gated.document},
    )
