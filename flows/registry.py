"""Registered models as Prefect flows: submit a version, audit it, look for new ones.

An event, a person and the look all end in the same submission, which asks for the run of deployment `registered` under
a key; Prefect starts one run a key. Importing this imports Prefect.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from judge_audit_flows.release import run_release
from judge_audit_flows.runtime.outcome import RunLog, refused
from judge_audit_flows.runtime.registry_runs import (
    AUDIT_FLOW,
    SHOWN_REASONS,
    announce,
    is_alive,
    through_deployment,
)
from judge_audit_flows.runtime.stale_runs import TAG
from prefect import flow, tags
from prefect.events import DeploymentEventTrigger
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from judge_audit.audits.stages.gate import gate
from judge_audit.core.configuration import resolve
from judge_audit.core.errors import AuditError, MachineryError
from judge_audit.core.progress import Progress, current_progress, shown
from judge_audit.lake import Lake
from judge_audit.operations.registry import Ledger, settings_of, submit
from judge_audit.operations.registry.audit_version import VersionAudit, audit_version
from judge_audit.operations.registry.ledger import plain
from judge_audit.operations.registry.mlflow_client import connect
from judge_audit.operations.registry.submit import WAITING, Launched, look
from judge_audit.operations.registry.template import check_template

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

    from judge_audit.core.configuration import Configuration
    from judge_audit.operations.registry.mlflow_client import Registry
    from judge_audit.operations.registry.submit import Launcher, Outcome, Request

REGISTERED = "judge-audit.model.registered"
"""The event that asks for an audit; its payload holds name and version."""

AUDIT_FILE = "audit.yaml"


@flow(name=AUDIT_FLOW, flow_run_name="{name} {version}", persist_result=False)
def audit_registered(name: str, version: str, audit: str = AUDIT_FILE, audit_round: int = 0) -> State[Any]:
    """Audit a registered model version, ask the release gate, and tell the registry its answer.

    A gate that is not open is a failure to Prefect, so that whoever listens to failed runs hears of it.

    Args:
        name: The registered model.
        version: Its version.
        audit: Path of audit.yaml on the worker's machine.
        audit_round: Which round of audits it belongs to; 0 for the one that is open.
    """
    quiet = type(current_progress()) is Progress
    try:
        with shown(RunLog(get_run_logger().info)) if quiet else nullcontext(), tags(TAG):
            good, message = _audited(name, version, audit, audit_round)
    except AuditError as error:
        return Failed(message=refused(name, error).text)
    return Completed(message=message) if good else Failed(message=message)


@flow(name="judge-audit-submit", flow_run_name="{name} {version}", persist_result=False)
def submit_registered(name: str, version: str, audit: str = AUDIT_FILE, *, again: bool = False) -> State[Any]:
    """Have a registered model version audited, unless it was or is being, or its model is none of those audited.

    Args:
        name: The registered model.
        version: Its version.
        audit: Path of audit.yaml on the worker's machine.
        again: Audit a version once more whose audit has ended.
    """
    try:
        settings = settings_of(resolve(audit))
        if not settings.wants(name):
            models = ", ".join(settings.models)
            return Completed(message=f"{plain(name)} is left alone: registry.models names {models}.")
        outcome = submitted(name, version, audit, through_deployment(audit), via="event", again=again)
    except AuditError as error:
        return Failed(message=refused(name, error).text)
    return Completed(message=outcome.line)


@flow(name="judge-audit-look", persist_result=False)
def poll_registry(audit: str = AUDIT_FILE) -> State[Any]:
    """Look at the model registry: submit what is new, tell it what it was not told.

    Args:
        audit: Path of audit.yaml on the worker's machine.
    """
    try:
        result = looked(audit, through_deployment(audit))
    except AuditError as error:
        return Failed(message=refused("", error).text)
    for line in result.lines:
        get_run_logger().info(line)
    if result.problems:
        return Failed(message="\n".join([result.summary, *result.problems[:SHOWN_REASONS]]))
    return Completed(message=result.summary)


def trigger() -> DeploymentEventTrigger:
    """Give the trigger of deployment `submit`: every event that a model was registered submits its version."""
    return DeploymentEventTrigger(
        name="judge-audit model registered",
        expect={REGISTERED},
        parameters={"name": "{{ event.payload.name }}", "version": "{{ event.payload.version }}"},
    )


def submitted(
    name: str, version: str, audit: str, launch: Launcher, *, via: str = "command", again: bool = False
) -> Outcome:
    """Submit a version, as often as anyone likes.

    Args:
        name: The registered model.
        version: Its version.
        audit: Path of audit.yaml.
        launch: Starts a run, once a key.
        via: Who submits.
        again: Begin another round where the last one ended.

    Raises:
        AuditError: With a plain message, when it cannot be submitted; nothing is recorded then.
    """
    registry, ledger, _ = _opened(audit)
    check_template(registry.settings.template, registry.settings.project)
    return submit(ledger, registry.version(name, version), launch, via=via, again=again)


def looked(audit: str, launch: Launcher) -> Any:  # noqa: ANN401 - a Look
    """Look at the registry once."""
    registry, ledger, _ = _opened(audit)
    return look(registry, ledger, launch, announce)


def within_this_process(audit: str) -> Launcher:
    """Give a launcher that audits at once; its run ends before it answers, and a failed one raises."""

    def launch(request: Request) -> Launched:
        version = request.version
        state = audit_registered(version.model, version.version, audit, request.round, return_state=True)
        # What is recorded as failed is read from the ledger; the rest is the machinery's.
        if not state.is_completed() and _opened(audit)[1].history(version).ending is None:
            raise MachineryError(str(state.message or state.name))
        return Launched(str(state.state_details.flow_run_id or ""), WAITING)

    return launch


def _opened(audit: str) -> tuple[Registry, Ledger, Configuration]:
    """Read audit.yaml and open what it names."""
    configuration = resolve(audit)
    registry = connect(settings_of(configuration))
    return registry, Ledger(Lake.open(configuration.lake)), configuration


def _audited(name: str, version: str, audit: str, audit_round: int) -> tuple[bool, str]:
    """Audit a version if nobody else does, and say whether that is good and what came of it."""
    registry, ledger, configuration = _opened(audit)
    project = configuration.project

    def release(candidate: Configuration, use: str | None) -> dict[str, Any]:
        return run_release(candidate, current_progress(), use=use).gated.document

    def ask_gate(audit_id: str, use: str | None) -> dict[str, Any]:
        return gate(ledger.lake, candidate=audit_id, use=use, project=project).document

    return audit_version(
        VersionAudit(registry, ledger, configuration, release, ask_gate, is_alive, announce),
        registry.version(name, version),
        audit_round,
        flow_run.id or "",
    )
