"""The record of a run around a flow: what both `run` and `release` keep, by hand and in a deployment alike."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from judge_audit_flows.runtime.run_names import judge_label

from judge_audit.operations.runs import recorded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit.audits.context import AuditContext
    from judge_audit.audits.model import Prepared
    from judge_audit.core.configuration import Configuration
    from judge_audit.core.progress import Progress
    from judge_audit.operations.runs import Run


@contextmanager
def recorded_flow(configuration: Configuration, kind: str, progress: Progress) -> Iterator[Run]:
    """Keep the record of a run around what it does.

    Args:
        configuration: What the run goes by.
        kind: run or release.
        progress: Where sentences for a person are said.
    """
    with recorded(configuration, kind, progress.note, flow_run=flow_run_around()) as run:
        yield run


def begun(run: Run, context: AuditContext) -> None:
    """Put down that a run began whose input has been read; the lake is made now if there was none."""
    run.name = judge_label(context.judge.card)
    run.begin()


def done(run: Run, prepared: Prepared) -> None:
    """Keep which audit a run came to, and tell the hook if the judge had silently changed."""
    run.audited(prepared.audit_id, prepared.judge_id)


def flow_run_around() -> str | None:
    """Give the id of the Prefect flow run this is called in, None if it is called in none."""
    if "prefect" in sys.modules:  # not imported for this: it reads its settings once
        from prefect.runtime import flow_run  # noqa: PLC0415

        if run_id := flow_run.get_id():
            return str(run_id)
    return os.environ.get("PREFECT__FLOW_RUN_ID")
