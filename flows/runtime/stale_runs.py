"""An end for runs whose processes are gone, and for the slots they held.

Two automations on the server (`automations`) do this within minutes. What they miss, because the server was
killed together with the run or lost an event, is found here by looking: a run of ours that should live and has given
no sign of life for too long is marked as crashed, and a deployment's concurrency limit that counts runs which are no
more is counted anew. A limit that no run holds and that counts one would keep every later night from starting.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitUpdate
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterTags,
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import StateType
from prefect.events import AutomationCore, EventTrigger, Posture, ResourceSpecification
from prefect.events.actions import ChangeFlowRunState
from prefect.events.filters import EventFilter, EventNameFilter, EventOccurredFilter, EventResourceFilter
from prefect.states import Crashed
from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun
    from prefect.client.schemas.responses import DeploymentResponse

TAG = "judge-audit"
"""Every deployed run, and whatever it starts, carries this tag; the automations go by it."""

HEARTBEAT = "prefect.flow-run.heartbeat"
HEARTBEAT_SECONDS = 30
"""Seconds between two signs of life of a deployed run: the least that Prefect allows."""

LIVE = (StateType.PENDING, StateType.RUNNING, StateType.CANCELLING)


ANYTHING = "prefect.flow-run.*"
"""Any later event of a run is a sign of life or its end, whatever its states are named."""

STARTING = (
    "prefect.flow-run.Pending",
    "prefect.flow-run.Submitting",
    "prefect.flow-run.InfrastructurePending",
)

SILENT_SECONDS = 90.0
"""Three signs of life missed."""

STARTING_SECONDS = 1800.0
"""A cluster may take long to fetch an image; a worker that was ended never starts what it took."""


class Patience(BaseModel):
    """How long a run may give no sign of life."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Patience")

    silent_seconds: float = Field(
        default=300.0,
        ge=3 * HEARTBEAT_SECONDS,
        title="Silent",
        description="A running one without a heartbeat for so many seconds is taken for dead.",
    )
    starting_seconds: float = Field(
        default=1800.0,
        ge=60.0,
        title="Starting",
        description="One that was handed to a worker and has not started after so many seconds is taken for dead.",
    )


STALE = Patience()


def tidied(patience: Patience = STALE, now: datetime | None = None) -> list[str]:
    """Mark dead runs of ours as crashed, and count slots anew that none holds.

    Args:
        patience: How long a run may give no sign of life.
        now: The time; that of the clock if None.

    Returns:
        A sentence for whatever was done.
    """
    when = now or datetime.now(UTC)
    with get_client(sync_client=True) as client:
        ended = [line for run in _live(client) if (line := _ended(client, run, patience, when)) is not None]
        return [*ended, *(line for one in _limited(client) if (line := _freed(client, one)) is not None)]


def _live(client: SyncPrefectClient) -> list[FlowRun]:
    """Give the runs of ours that should be alive."""
    wanted = FlowRunFilter(
        tags=FlowRunFilterTags(all_=[TAG]),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(LIVE))),
    )
    return client.read_flow_runs(flow_run_filter=wanted)


def _ended(client: SyncPrefectClient, run: FlowRun, patience: Patience, now: datetime) -> str | None:
    """Mark a run as crashed if it has been silent for too long."""
    assert run.state is not None
    starting = run.state.type is StateType.PENDING
    allowed = patience.starting_seconds if starting else patience.silent_seconds
    since = run.state.timestamp
    if (now - since).total_seconds() > allowed and not starting:
        since = max(since, _last_heartbeat(client, run, now - timedelta(seconds=allowed)) or since)
    silent = (now - since).total_seconds()
    if silent <= allowed:
        return None
    what = "it was handed to a worker and never started" if starting else "its process gives no sign of life"
    message = f"{what} for {silent:.0f} s: the worker, its machine or the server was ended. What was bought is kept."
    client.set_flow_run_state(run.id, Crashed(message=message), force=True)
    return f"Run {run.name} is marked as crashed: {message}"


def _last_heartbeat(client: SyncPrefectClient, run: FlowRun, since: datetime) -> datetime | None:
    """Give the time of a run's newest heartbeat."""
    wanted = EventFilter(
        occurred=EventOccurredFilter.model_validate({"since": since}),
        event=EventNameFilter(name=[HEARTBEAT]),
        resource=EventResourceFilter(id=[f"prefect.flow-run.{run.id}"]),
    )
    return max((event.occurred for event in client.read_events(wanted, limit=10).events), default=None)


def _limited(client: SyncPrefectClient) -> list[DeploymentResponse]:
    """Give the deployments of ours with a limit of concurrent runs."""
    ours = DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG]))
    return [one for one in client.read_deployments(deployment_filter=ours) if one.global_concurrency_limit]


def _freed(client: SyncPrefectClient, deployment: DeploymentResponse) -> str | None:
    """Count a deployment's slots anew if more are taken than runs are alive."""
    limit = deployment.global_concurrency_limit
    assert limit is not None
    wanted = FlowRunFilter(
        deployment_id=FlowRunFilterDeploymentId(any_=[deployment.id]),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(LIVE))),
    )
    taken = client.read_global_concurrency_limit_by_name(limit.name).active_slots
    alive = len(client.read_flow_runs(flow_run_filter=wanted))
    if taken <= alive:
        return None
    client.update_global_concurrency_limit(limit.name, GlobalConcurrencyLimitUpdate(active_slots=alive))
    return f"Deployment {deployment.name} counted {taken} runs where {alive} are alive; it is counted anew."


def automations(
    silent_seconds: float = SILENT_SECONDS, starting_seconds: float = STARTING_SECONDS
) -> tuple[AutomationCore, ...]:
    """Give the automations.

    Args:
        silent_seconds: A run that gave no sign of life for so long is taken for dead.
        starting_seconds: One that was handed to a worker and did not start for so long is taken for dead.
    """
    return (
        _crash(
            "judge-audit: end silent runs",
            "Marks a run of judge-audit as crashed that no longer gives signs of life, so that the next may start.",
            after={HEARTBEAT, "prefect.flow-run.Running"},
            seconds=silent_seconds,
            message=f"No sign of life for {silent_seconds:.0f} s: worker or machine ended. What was bought is kept.",
        ),
        _crash(
            "judge-audit: end runs that never start",
            "Marks a run of judge-audit as crashed that a worker took and never started.",
            after=set(STARTING),
            seconds=starting_seconds,
            message=f"Handed to a worker and not started after {starting_seconds:.0f} s: the worker was ended.",
        ),
    )


def _crash(name: str, description: str, *, after: set[str], seconds: float, message: str) -> AutomationCore:
    return AutomationCore(
        name=name,
        description=description,
        tags=[TAG],
        trigger=EventTrigger(
            match=ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"}),
            match_related=ResourceSpecification({"prefect.resource.id": f"prefect.tag.{TAG}"}),
            after=after,
            expect={ANYTHING},
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=timedelta(seconds=seconds),
        ),
        actions=[ChangeFlowRunState(name=None, state=StateType.CRASHED, message=message, force=False)],
    )


def ensure(client: SyncPrefectClient, wanted: AutomationCore) -> str:
    """Make an automation, or bring the one of its name up to date; there is one afterwards.

    Whether a person has paused it is left as it is.

    Returns:
        made, changed or unchanged.
    """
    existing = client.read_automations_by_name(wanted.name)
    for extra in existing[1:]:
        client.delete_automation(extra.id)
    if not existing:
        client.create_automation(wanted)
        return "made"
    changed = wanted.model_copy(update={"enabled": existing[0].enabled})
    if _plain(existing[0]) == _plain(changed):
        return "unchanged"
    client.update_automation(existing[0].id, changed)
    return "changed"


def _plain(value: Any) -> Any:  # noqa: ANN401 - nested plain values
    """Give what an automation says, without the ids that a server adds and in one order."""
    if isinstance(value, AutomationCore):
        fields = set(AutomationCore.model_fields) - {"owner_resource"}
        return _plain(value.model_dump(mode="json", include=fields))
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if name != "id"}
    return sorted(map(_plain, value), key=str) if isinstance(value, list) else value
