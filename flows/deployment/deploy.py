"""Registering at a Prefect server what `deployments/prefect.yaml` says, and what keeps it going, as code.

Everything here says what there shall be: twice is the same as once, a changed file changes what it names, and what a
person paused stays paused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from judge_audit_flows.deployment.prefect_file import Entry, read_entries
from judge_audit_flows.runtime.reachability import reached
from judge_audit_flows.runtime.stale_runs import automations, ensure, tidied
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.objects import ConcurrencyOptions
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError

from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from typing import Unpack
    from uuid import UUID

    from judge_audit_flows.deployment.prefect_file import Choices

KINDS = ("process", "docker", "kubernetes")


@dataclass(frozen=True, slots=True)
class Deployed:
    """What was registered.

    Attributes:
        lines: What to print.
        document: The same for programs.
    """

    lines: list[str]
    document: dict[str, Any] = field(default_factory=dict)


def run_deploy(*, pool: str = "judge-audit", kind: str = "process", **choices: Unpack[Choices]) -> Deployed:
    """Register the deployments, their work pool and the automations at the configured server.

    Args:
        pool: Name of the work pool; made from our template where there is none of that name.
        kind: What it is made as: process, docker or kubernetes.
        choices: What is deployed and when; see `Choices`.

    Raises:
        UsageError: If no server is configured, or something given is wrong.
        MachineryError: If the server does not answer.
    """
    if kind not in KINDS:
        raise UsageError(f"--kind {kind}: there is no such work pool; there are {', '.join(KINDS)}.")
    entries = read_entries(**choices)
    url = reached()
    with get_client(sync_client=True) as client:
        made = _pool(client, pool, kind)
        deployments = [_deployment(client, entry, pool) for entry in entries]
        states = {wanted.name: ensure(client, wanted) for wanted in automations()}
    ended = tidied()
    lines = [
        f"Work pool {pool}: {made}.",
        *(f"Deployment {one['name']}: {one['state']}{_when(one)}." for one in deployments),
        *(f"Automation “{name}”: {state}." for name, state in states.items()),
        *ended,
        f"Server: {url.removesuffix('/api')}",
        f"Start a worker, if there is none: prefect worker start --pool {pool}",
    ]
    document = {
        "server": url,
        "pool": {"name": pool, "state": made},
        "deployments": deployments,
        "automations": states,
    }
    return Deployed(lines, {**document, "ended": ended})


def template(kind: str) -> dict[str, Any]:
    """Give the base job template of a kind of work pool."""
    text = (files("judge_audit_deployments") / "pools" / f"{kind}.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def _when(one: dict[str, Any]) -> str:
    """Say when a deployment runs."""
    times = ", ".join(f"{entry['cron']} ({entry['timezone']})" for entry in one["schedules"])
    return f", runs at {times}" if times else ", runs when asked to"


def _pool(client: SyncPrefectClient, name: str, kind: str) -> str:
    """Make the work pool where there is none; one that is there is left as its owner has it."""
    try:
        existing = client.read_work_pool(name)
    except ObjectNotFound:
        client.create_work_pool(WorkPoolCreate(name=name, type=kind, base_job_template=template(kind)))
        return f"made ({kind})"
    if existing.type != kind:
        act = f"Say --kind {existing.type}, or name another." if existing.type in KINDS else "Name another."
        raise UsageError(f"--pool {name}: it is there already, as a {existing.type} pool. {act}")
    return f"there already ({kind})"


def _deployment(client: SyncPrefectClient, entry: Entry, pool: str) -> dict[str, Any]:
    """Register one deployment; what a person paused stays paused."""
    name = f"{entry.flow.name}/{entry.name}"
    try:
        before = client.read_deployment_by_name(name)
    except ObjectNotFound:
        before = None
    active = {one.slug: one.active for one in before.schedules} if before is not None else {}
    schedules = [
        DeploymentScheduleCreate(
            schedule=one.schedule,
            active=active.get(one.slug, one.active),
            slug=one.slug,
            parameters=one.parameters,
        )
        for one in entry.schedules
    ]
    try:
        made: UUID = client.create_deployment(
            client.create_flow_from_name(entry.flow.name),
            name=entry.name,
            description=entry.description,
            version=entry.version,
            tags=list(entry.tags),
            entrypoint=entry.entrypoint,
            pull_steps=[],
            parameters=entry.parameters,
            parameter_openapi_schema=entry.schema,
            enforce_parameter_schema=True,
            schedules=schedules,
            concurrency_limit=entry.limit,
            concurrency_options=ConcurrencyOptions.model_validate(entry.options) if entry.options else None,
            work_pool_name=pool,
            job_variables=entry.job_variables,
        )
    except PrefectHTTPStatusError as error:
        raise UsageError(f"deployment {entry.name}: the server refused it: {_detail(error)}") from error
    client.delete_resource_owned_automations(f"prefect.deployment.{made}")
    for trigger in entry.triggers():
        trigger.set_deployment_id(made)
        client.create_automation(trigger.as_automation())
    return {
        "name": name,
        "id": str(made),
        "state": "made" if before is None else "brought up to date",
        "schedules": [
            {
                "cron": getattr(one.schedule, "cron", ""),
                "timezone": getattr(one.schedule, "timezone", "") or "UTC",
            }
            for one in schedules
        ],
    }


def _detail(error: PrefectHTTPStatusError) -> str:
    """Give what a server said of a request it refused."""
    try:
        return str(error.response.json().get("detail", error))
    except ValueError:
        return str(error)
