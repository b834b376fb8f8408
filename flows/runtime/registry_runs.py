"""What auditing registered models asks of Prefect: a run under a key, whether one goes on, an event and an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from judge_audit_flows.runtime.outcome import gate_event
from judge_audit_flows.runtime.stale_runs import TAG
from prefect.artifacts import create_table_artifact
from prefect.client.orchestration import get_client
from prefect.deployments import run_deployment
from prefect.events import emit_event
from prefect.exceptions import ObjectNotFound
from prefect.runtime import flow_run

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.operations.registry.ledger import COMPLETE, plain
from judge_audit.operations.registry.submit import CANCELLED, ENDED, WAITING, Launched

if TYPE_CHECKING:
    from judge_audit_schemas.rows import RegistrationsRow

    from judge_audit.operations.registry.ledger import Version
    from judge_audit.operations.registry.submit import Launcher, Request

AUDIT_FLOW = "judge-audit-registered"
DEPLOYMENT = f"{AUDIT_FLOW}/registered"
SHOWN_REASONS = 40


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
        ending = f"run {run.id} ended as {state.name}" + (f": {state.message}" if state.message else "")
        return Launched(str(run.id), CANCELLED if state.is_cancelled() else ENDED, ending)

    return launch


def announce(version: Version, ending: RegistrationsRow, tags: dict[str, str]) -> None:
    """Emit the event of an answer, and leave it as an artifact of the run, where there is one."""
    complete = ending["status"] == COMPLETE
    values = {name.rpartition(".")[2]: value for name, value in tags.items()}
    emit_event(
        event=gate_event(str(ending["state"])) if complete else "judge-audit.audit.failed",
        resource={
            "prefect.resource.id": f"judge-audit.model-version.{version.registration_id}",
            "prefect.resource.name": version.told,
        },
        payload={"registry": version.registry, "name": version.model, "version": version.version, **values},
    )
    if not flow_run.id:
        return
    rows = [
        ("model", plain(version.model)),
        ("version", plain(version.version)),
        *((name, plain(value)) for name, value in values.items() if name != "reasons" and value),
        *(("reason", line) for line in values["reasons"].splitlines()[:SHOWN_REASONS]),
    ]
    create_table_artifact(
        table=[{"what": what, "says": says} for what, says in rows],
        key=f"judge-audit-{version.registration_id[:12]}",
        description="The gate's answer to a registered model version",
    )


def is_alive(run_id: str) -> bool:
    """Tell whether a flow run goes on, as far as the server knows."""
    try:
        with get_client(sync_client=True) as client:
            state = client.read_flow_run(UUID(run_id)).state
    except (ObjectNotFound, ValueError):
        return False
    return state is not None and not state.is_final()
