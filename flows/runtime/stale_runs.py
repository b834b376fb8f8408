"""An end for runs whose processes are gone, and for the slots they held.

Two automations on the server (`automations.automations`) do this within minutes. What they miss, because the server was
killed together with the run or lost an event, is found here by looking: a run of ours that should live and has given
no sign of life for too long is marked as crashed, and a deployment's concurrency limit that counts runs which are no
more is counted anew. A limit that no run holds and that counts one would keep every later night from starting.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

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
