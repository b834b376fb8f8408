"""Registered models as Prefect flows: submit a version, audit it, look for new ones.

An event, a person and the look all end in the same submission, which asks for the run of deployment `registered` under
a key; Prefect starts one run a key. Importing this imports Prefect.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judge_audit_flows.release import run_release
from judge_audit_flows.runtime.outcome import RunLog, gate_event, refused
from judge_audit_flows.runtime.stale_runs import TAG
from prefect import flow, tags
from prefect.artifacts import create_table_artifact
from prefect.client.orchestration import get_client
from prefect.deployments import run_deployment
from prefect.events import DeploymentEventTrigger, emit_event
from prefect.exceptions import ObjectNotFound
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from judge_audit.audits.stages.gate import gate
from judge_audit.core.configuration import resolve
from judge_audit.core.errors import EXIT_MACHINERY, AuditError, MachineryError, UsageError
from judge_audit.core.progress import Progress, current_progress, shown
from judge_audit.decisions.gate.states import OPEN
from judge_audit.lake import Lake
from judge_audit.operations.registry import Ledger, settings_of, submit
from judge_audit.operations.registry.audit_version import (
    audited_already,
    close,
    configured,
    folder_of,
    make_judge,
    tell,
)
from judge_audit.operations.registry.claims import claimed
from judge_audit.operations.registry.ledger import COMPLETE, FAILED
from judge_audit.operations.registry.mlflow_client import connect
from judge_audit.operations.registry.poll import look
from judge_audit.operations.registry.submit import CANCELLED, ENDED, WAITING, Launched
from judge_audit.operations.registry.template import check_template
from judge_audit.operations.registry.versions import plain

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State

    from judge_audit.core.configuration import Configuration
    from judge_audit.operations.registry.mlflow_client import Registry
    from judge_audit.operations.registry.submit import Launcher, Outcome, Request
    from judge_audit.operations.registry.versions import Version

AUDIT_FLOW = "judge-audit-registered"
DEPLOYMENT = f"{AUDIT_FLOW}/registered"
REGISTERED = "judge-audit.model.registered"
"""The event that asks for an audit; its payload holds name and version."""

AUDIT_FILE = "audit.yaml"
SHOWN_REASONS = 40


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
        seen = looked(audit, through_deployment(audit))
    except AuditError as error:
        return Failed(message=refused("", error).text)
    for line in seen.lines:
        get_run_logger().info(line)
    if seen.problems:
        return Failed(message="\n".join([seen.summary, *seen.problems[:SHOWN_REASONS]]))
    return Completed(message=seen.summary)


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


def through_deployment(audit: str) -> Launcher:
    """Give a launcher that asks Prefect for runs of deployment `registered`; the same key is the same run."""

    def launch(request: Request) -> Launched:
        parameters = {
            "name": request.version.model,
            "version": request.version.version,
            "audit": audit,
            "audit_round": request.round,
        }
        try:
            run: Any = run_deployment(
                DEPLOYMENT,
                parameters=parameters,
                idempotency_key=request.key,
                timeout=0,
                as_subflow=False,
                tags=[TAG],
            )
        except ObjectNotFound as error:
            raise UsageError(
                f"the Prefect server has no deployment {DEPLOYMENT}. `judge-audit deploy` registers it; --here "
                "audits in this process."
            ) from error
        except Exception as error:
            raise MachineryError(
                f"the Prefect server took no run ({type(error).__name__}: {error}). Nothing was recorded; submit it "
                "again."
            ) from error
        state = run.state
        if state is None or not state.is_final():
            return Launched(str(run.id), WAITING)
        said = f"run {run.id} ended as {state.name}" + (f": {state.message}" if state.message else "")
        return Launched(str(run.id), CANCELLED if state.is_cancelled() else ENDED, said)

    return launch


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
    found = registry.version(name, version)
    round_ = audit_round or ledger.history(found).round
    run_id = flow_run.id or ""
    failure: AuditError | None = None
    with claimed(ledger, found, round_, run_id, _alive) as claim:
        if claim.held:
            try:
                _judge(registry, ledger, configuration, found, round_, run_id)
            except AuditError as error:
                if error.exit_code == EXIT_MACHINERY:
                    raise
                ledger.record(found, FAILED, round_, reason=str(error), flow_run=run_id or None)
                failure = error
    history = ledger.history(found)
    if history.ending is not None and not history.told:
        tell(registry, ledger, found, announce)
    if failure is not None:
        raise failure
    if not claim.held:
        return True, f"{found.told}: {claim.reason}"
    state = history.ending["state"] if history.ending else "not asked"
    return state == OPEN, f"{found.told}: the gate is {state}."


def _judge(
    registry: Registry,
    ledger: Ledger,
    configuration: Configuration,
    version: Version,
    round_: int,
    run_id: str,
) -> None:
    """Make a judge of a version, audit it, ask the gate, and record the answer."""
    lake, settings = ledger.lake, registry.settings
    folder = folder_of(lake, version, round_)
    before = audited_already(lake, folder)
    more: dict[str, Any] = {"flow_run": run_id or None}
    if before:
        answer = gate(lake, candidate=before, use=settings.use, project=configuration.project).document
    else:
        made = make_judge(registry, version, folder)
        more |= {"artifact_digest": made.digest, "source_uri": made.source}
        release = run_release(configured(configuration, made, folder), current_progress(), use=settings.use)
        answer = release.gated.document
    close(ledger, version, round_, answer, **more)


def announce(version: Version, ending: dict[str, Any], told_: dict[str, str]) -> None:
    """Emit the event of an answer, and leave it as an artifact of the run, where there is one."""
    complete = ending["status"] == COMPLETE
    told = {name.rpartition(".")[2]: value for name, value in told_.items()}
    emit_event(
        event=gate_event(str(ending["state"])) if complete else "judge-audit.audit.failed",
        resource={
            "prefect.resource.id": f"judge-audit.model-version.{version.registration_id}",
            "prefect.resource.name": version.told,
        },
        payload={"registry": version.registry, "name": version.model, "version": version.version, **told},
    )
    if not flow_run.id:
        return
    rows = [
        ("model", plain(version.model)),
        ("version", plain(version.version)),
        *((name, plain(value)) for name, value in told.items() if name != "reasons" and value),
        *(("reason", line) for line in told["reasons"].splitlines()[:SHOWN_REASONS]),
    ]
    create_table_artifact(
        table=[{"what": what, "says": says} for what, says in rows],
        key=f"judge-audit-{version.registration_id[:12]}",
        description="The gate's answer to a registered model version",
    )


def _alive(run_id: str) -> bool:
    """Tell whether a flow run goes on, as far as the server knows."""
    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(run_id)).state
    except (ObjectNotFound, ValueError):
        return False
    return state is not None and not state.is_final()
