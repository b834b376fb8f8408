"""What `judge-audit run` calls: an audit through Prefect, or in this process where nothing is asked of the judge."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit_flows.runtime.run_names import flow_run_label, judge_label, run_tags
from judge_audit_flows.runtime.server import embedded_server
from judge_audit_flows.runtime.task_runners import check_runner, task_runner
from judge_audit_flows.runtime.worker_failures import server_told

from judge_audit.audits.context import context_of
from judge_audit.audits.pipeline import LocalExecutor, read_inputs, run_stages
from judge_audit.audits.run_summary import dry_run_of, result_of
from judge_audit.operations.runs import RUN, recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit.audits.context import AuditContext
    from judge_audit.audits.run_summary import AuditResult, DryRun, TableContents
    from judge_audit.core.configuration import Configuration
    from judge_audit.core.progress import Progress
    from judge_audit.operations.runs import Run


def run_audit(
    configuration: Configuration, progress: Progress, *, dry_run: bool = False
) -> AuditResult | DryRun | TableContents:
    """Audit a judge through Prefect, starting a server for the time being where none is configured.

    Args:
        configuration: What to do.
        progress: Where progress is shown.
        dry_run: Plan and say what would be asked; a judge never timed before is shown three pictures. What was
            planned and answered stays in the lake and costs nothing later.

    Raises:
        AuditError: With a plain message, when the audit cannot be made.
    """
    if dry_run:
        context = context_of(configuration)
        progress.stage("reading pictures")
        return dry_run_of(context, LocalExecutor(context, progress).prepare(dry=True))
    with recorded_audit(configuration, RUN, progress) as (run, context):
        if context.mode.asks_judge:
            audit = through_prefect(context, progress, context.mode.flow, run)
        else:
            # Seconds of reading and measuring, for which no server is started.
            audit = run_stages(LocalExecutor(context, progress))
        run.audited(audit.prepared.audit_id, audit.prepared.judge_id)
    return result_of(context, audit)


@contextmanager
def recorded_audit(
    configuration: Configuration, kind: str, progress: Progress
) -> Iterator[tuple[Run, AuditContext]]:
    """Keep the record of a run around an audit, and read everything that it goes by.

    Faulty input is reported before a server is started for it, and before a lake is made.

    Args:
        configuration: What the run goes by.
        kind: run or release.
        progress: Where progress is shown, and sentences for a person are said.

    Yields:
        The record, which the lake has, and the audit.
    """
    with recorded(configuration, kind, progress.note, flow_run=flow_run_around()) as run:
        check_runner(configuration)
        context = context_of(configuration)
        read_inputs(context, progress)
        run.name = judge_label(context.judge.card)
        run.begin()
        yield run, context


def flow_run_around() -> str | None:
    """Give the id of the Prefect flow run this is called in, None if it is called in none."""
    if "prefect" in sys.modules:  # not imported for this: it reads its settings once
        from prefect.runtime import flow_run  # noqa: PLC0415

        if run_id := flow_run.get_id():
            return str(run_id)
    return os.environ.get("PREFECT__FLOW_RUN_ID")


def through_prefect(
    context: AuditContext, progress: Progress, name: str, run: Run, *arguments: str | None
) -> Any:  # noqa: ANN401 - what the flow returns
    """Run a flow, with a server for the time being where none is configured.

    Args:
        context: The audit, whose input was read.
        progress: Where progress is shown.
        name: The flow, of `pipeline`.
        run: The record that keeps the flow run's id.
        arguments: What it takes after the configuration.
    """
    configuration = context.configuration
    progress.stage("starting")
    local = "://" not in configuration.lake
    with embedded_server(Path(configuration.lake) / "prefect" if local else None):
        # Prefect reads its settings once, when it is first imported.
        from judge_audit_flows import pipeline  # noqa: PLC0415
        from prefect import tags  # noqa: PLC0415

        label = flow_run_label(name.removesuffix("_flow"), context)
        flow = getattr(pipeline, name).with_options(
            task_runner=task_runner(configuration), flow_run_name=lambda: label
        )
        with server_told(), tags(*run_tags(context)):
            state = flow(configuration.as_json(), *arguments, return_state=True)
            outcome = state.result(raise_on_failure=False)
    if run.flow_run is None and state.state_details.flow_run_id:
        run.flow_run = str(state.state_details.flow_run_id)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
