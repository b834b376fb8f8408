"""Reading prefect.yaml: what is deployed, when it runs, and with which parameters."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import yaml
from jsonschema import Draft202012Validator
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.events import DeploymentTriggerTypes
from prefect.flows import load_flow_from_entrypoint
from prefect.utilities.callables import parameter_schema
from pydantic import TypeAdapter, ValidationError

from judge_audit.core.errors import Fault, InputError, UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from prefect import Flow

AUDIT = "audit.yaml"
NIGHTLY = "nightly"
"""The deployment whose time the command line may change."""

REGISTRY = "registry"
"""The tag of what is only deployed where audit.yaml names a model registry, or when it is asked for by name."""

ZONE_KEYS = ("cron", "timezone", "interval", "anchor_date", "rrule", "day_or")
_triggers: TypeAdapter[DeploymentTriggerTypes] = TypeAdapter(DeploymentTriggerTypes)


@dataclass(frozen=True, slots=True)
class Entry:
    """One deployment of prefect.yaml, read and checked.

    Attributes:
        name: Its name.
        entrypoint: Where its flow is imported from.
        flow: The flow.
        description: What it is for.
        tags: Its tags, which its runs carry too.
        parameters: Values that differ from the flow's own.
        schema: What a person can fill in.
        schedules: When it runs.
        limit: How many of its runs may be alive at a time; None for any number.
        options: What becomes of one more, as Prefect takes it.
        job_variables: What its runs' environment differs in.
        trigger_specs: Events that start it, as the file says them.
        version: Of this package.
    """

    name: str
    entrypoint: str
    flow: Flow[Any, Any]
    description: str
    tags: tuple[str, ...]
    parameters: dict[str, Any]
    schema: dict[str, Any]
    schedules: tuple[DeploymentScheduleCreate, ...]
    limit: int | None
    options: dict[str, Any] | None
    job_variables: dict[str, Any]
    trigger_specs: tuple[dict[str, Any], ...]
    version: str

    def triggers(self) -> list[DeploymentTriggerTypes]:
        """Give the events that start it, each as a new trigger for an automation."""
        return [_triggers.validate_python(deepcopy(spec)) for spec in self.trigger_specs]


class Choices(TypedDict, total=False):
    """What the command line chooses of the deployments.

    Attributes:
        audit: Path of audit.yaml for every deployment that takes one; one that is here is made absolute.
        cron: When the nightly audit runs; None for what the file says.
        timezone: In which time zone; None for what the file says.
        only: Names of deployments; empty for all.
        file: A prefect.yaml of your own; None for the shipped one.
    """

    audit: str
    cron: str | None
    timezone: str | None
    only: tuple[str, ...]
    file: str | None


def read_entries(**choices: Unpack[Choices]) -> list[Entry]:
    """Read a prefect.yaml and lay the command line's choices over it.

    Raises:
        UsageError: If there is no such file or deployment.
        InputError: With all that is wrong in the file.
    """
    file, only = choices.get("file"), choices.get("only", ())
    content = _content(file)
    specs = content.get("deployments") or []
    known = [str(spec.get("name")) for spec in specs]
    if unknown := sorted(set(only) - set(known)):
        raise UsageError(f"--only {unknown[0]}: there is no such deployment; there are {', '.join(known)}.")
    path = audit_path(choices.get("audit", AUDIT))
    registry = bool(only) or names_registry(path)
    entries: list[Entry] = []
    faults: list[Fault] = []
    for spec in specs:
        if (only and spec["name"] not in only) or (REGISTRY in (spec.get("tags") or ()) and not registry):
            continue
        try:
            entries.append(_entry(_with_choices(spec, choices.get("cron"), choices.get("timezone")), path))
        except (ValueError, KeyError, TypeError) as error:
            faults.append(Fault(_named(file), 0, "", f"deployment {spec.get('name')}: {_reason(error)}"))
    if faults:
        raise InputError(faults)
    return entries


def audit_path(audit: str) -> str:
    """Give the path of audit.yaml as the workers see it.

    Raises:
        UsageError: If it is relative and does not lie here: a worker would not find it.
    """
    here = Path(audit)
    if here.is_file():
        return str(here.resolve())
    if here.is_absolute():
        return audit
    raise UsageError(
        f"--audit {audit}: there is no such file here. Give the path of your audit.yaml (`judge-audit init FOLDER` "
        "writes one); if it lies only where the workers run, give its absolute path there."
    )


def names_registry(audit: str) -> bool:
    """Tell whether audit.yaml names a model registry; one that does not lie here is taken to name none."""
    try:
        content = yaml.safe_load(Path(audit).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False
    return isinstance(content, dict) and bool(content.get(REGISTRY))


def _content(file: str | None) -> dict[str, Any]:
    source = files("judge_audit_deployments") / "prefect.yaml" if file is None else Path(file)
    try:
        content = yaml.safe_load(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--file {file}: it cannot be read: {error}.") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{_named(file)}: it is not valid YAML: {error}") from error
    specs = content.get("deployments") if isinstance(content, dict) else None
    if not isinstance(specs, list) or not all(isinstance(spec, dict) and spec.get("name") for spec in specs):
        raise UsageError(
            f"{_named(file)}: under “deployments” stands a list of deployments, each with a name."
        )
    return dict(content)


def _named(file: str | None) -> str:
    return Path(file).name if file else "prefect.yaml"


def _with_choices(spec: dict[str, Any], cron: str | None, timezone: str | None) -> dict[str, Any]:
    """Lay the command line's time over the nightly audit's."""
    times = {name: value for name, value in (("cron", cron), ("timezone", timezone)) if value is not None}
    if spec["name"] != NIGHTLY or not times:
        return spec
    schedules = spec.get("schedules") or [{"slug": "every-night"}]
    return {**spec, "schedules": [{**one, **times} for one in schedules]}


def _entry(spec: dict[str, Any], audit: str) -> Entry:
    """Read one deployment."""
    flow: Flow[Any, Any] = load_flow_from_entrypoint(spec["entrypoint"], use_placeholder_flow=False)
    schema = parameter_schema(flow).model_dump(exclude_unset=True)
    parameters = dict(spec.get("parameters") or {})
    if "audit" in schema["properties"]:
        parameters["audit"] = audit
    _see(schema, parameters)
    limit = spec.get("concurrency_limit")
    options = (
        {name: value for name, value in limit.items() if name != "limit"} if isinstance(limit, dict) else None
    )
    entry = Entry(
        name=spec["name"],
        entrypoint=spec["entrypoint"],
        flow=flow,
        description=spec.get("description") or flow.description or "",
        tags=tuple(spec.get("tags") or ()),
        parameters=parameters,
        schema=schema,
        schedules=tuple(_schedule(one) for one in spec.get("schedules") or ()),
        limit=limit["limit"] if isinstance(limit, dict) else limit,
        options=options or None,
        job_variables=dict((spec.get("work_pool") or {}).get("job_variables") or {}),
        trigger_specs=tuple(spec.get("triggers") or ()),
        version=version("image-judge-audit"),
    )
    entry.triggers()
    return entry


def _see(schema: dict[str, Any], parameters: dict[str, Any]) -> None:
    """Hold parameters against what the flow takes; those that are not given are given when it is run."""
    if unknown := sorted(set(parameters) - set(schema["properties"])):
        known = ", ".join(schema["properties"])
        raise ValueError(f"it takes no parameter {unknown[0]}; it takes {known}.")
    whole = {**{name: value for name, value in schema.items() if name != "required"}, "type": "object"}
    for error in Draft202012Validator(whole).iter_errors(parameters):
        raise ValueError(f"parameter {'.'.join(map(str, error.absolute_path))}: {error.message}.")


def _schedule(spec: dict[str, Any]) -> DeploymentScheduleCreate:
    """Read one schedule; a zone that is not named is UTC."""
    kind = {name: spec[name] for name in ZONE_KEYS if spec.get(name) is not None}
    return DeploymentScheduleCreate.model_validate(
        {
            "schedule": {"timezone": "UTC", **kind},
            "active": spec.get("active", True),
            "slug": spec.get("slug"),
            "parameters": spec.get("parameters") or {},
        }
    )


def _reason(error: Exception) -> str:
    """Say what a library found wrong, each thing once."""
    if isinstance(error, ValidationError):
        parts = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        return "; ".join(dict.fromkeys(parts))
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)
