"""Automations that free what dead runs hold: the server marks as crashed whoever falls silent.

A worker and the run it started that are killed together leave the run as running for good: nobody is left to say
that it ended. Each deployed run gives a sign of life every 30 s; an automation waits for the next after each.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from judge_audit_flows.runtime.stale_runs import HEARTBEAT, TAG
from prefect.client.schemas.objects import StateType
from prefect.events import AutomationCore, EventTrigger, Posture, ResourceSpecification
from prefect.events.actions import ChangeFlowRunState

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

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
            expect={ANYTHING},
            seconds=silent_seconds,
            message=f"No sign of life for {silent_seconds:.0f} s: worker or machine ended. What was bought is kept.",
        ),
        _crash(
            "judge-audit: end runs that never start",
            "Marks a run of judge-audit as crashed that a worker took and never started.",
            after=set(STARTING),
            expect={ANYTHING},
            seconds=starting_seconds,
            message=f"Handed to a worker and not started after {starting_seconds:.0f} s: the worker was ended.",
        ),
    )


def _crash(
    name: str, description: str, *, after: set[str], expect: set[str], seconds: float, message: str
) -> AutomationCore:
    return AutomationCore(
        name=name,
        description=description,
        tags=[TAG],
        trigger=EventTrigger(
            match=ResourceSpecification({"prefect.resource.id": "prefect.flow-run.*"}),
            match_related=ResourceSpecification({"prefect.resource.id": f"prefect.tag.{TAG}"}),
            after=after,
            expect=expect,
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


def _plain(automation: AutomationCore) -> Any:  # noqa: ANN401 - nested plain values
    """Give what an automation says, without the ids that a server adds and in one order."""
    return _ordered(
        automation.model_dump(mode="json", include=set(AutomationCore.model_fields) - {"owner_resource"})
    )


def _ordered(value: Any) -> Any:  # noqa: ANN401 - nested plain values
    if isinstance(value, dict):
        return {name: _ordered(part) for name, part in value.items() if name != "id"}
    if isinstance(value, list):
        return sorted((_ordered(part) for part in value), key=str)
    return value
