"""The blocks of audit.yaml, a pydantic model each: what a key may hold, means and is by default stands here alone."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic reads the annotations
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from judge_audit.core.errors import UsageError

RunnerName = Literal["threads", "processes", "dask", "ray"]
RUNNERS: tuple[str, ...] = get_args(RunnerName)

Event = Literal["gate_shut", "audit_failed", "epoch_changed", "stale"]
EVENTS: tuple[Event, ...] = get_args(Event)
"""What a team may be told of; a trial is told whatever it chose."""

Text = Annotated[str, Field(min_length=1)]
Variable = Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]{0,79}$")]
Rate = Annotated[float, Field(ge=0)]


class Block(BaseModel):
    """A block of audit.yaml: what it may hold, and what a key that is left out means."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        regex_engine="python-re",
        use_attribute_docstrings=True,
    )


class LimitBlock(Block):
    """A limit that is not the shipped one, and who answers for it."""

    value: float = Field(ge=0)
    """The limit."""

    reason: Text
    """Why it is not the shipped one."""

    owner: Text
    """Who answers for it: a person's name."""


class DeclaredBlock(Block):
    """What is declared for one rate: its limit and who bears it."""

    limit: float | None = Field(None, gt=0, lt=1)
    """The whole interval of the rate must lie below it."""

    owner: str = Field("", pattern=r"\S")
    """Who bears it: a person's name."""


class AcceptanceBlock(Block):
    """Automatic acceptance: for each rate the limit it must stay below, and its owner."""

    false_accept: DeclaredBlock | None = None
    """Bad among the accepted."""

    false_reject: DeclaredBlock | None = None
    """Good among the rejected."""

    overturn: DeclaredBlock | None = None
    """Overturned among the settled appeals."""

    appeal_channel: str = Field("", pattern=r"\S")
    """Where a rejection can be appealed against."""


class UsesBlock(Block):
    """What is declared for the uses of the judge."""

    acceptance: AcceptanceBlock | None = None


def _day(text: object) -> datetime | None:
    """Read a day, as YAML or a person writes it."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(str(text)).replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"registry.since: {text} is no day; write it as 2026-11-01.") from error


Day = Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", json_schema_extra={"format": "date"})]


class RegistryBlock(Block):
    """A model registry (MLflow) whose new versions are audited."""

    uri: str = Field(pattern=r"^https?://[^@\s?#]+$", json_schema_extra={"writeOnly": True})
    """Its address, without user and password: those stand in the environment (MLFLOW_TRACKING_USERNAME,
    MLFLOW_TRACKING_PASSWORD or MLFLOW_TRACKING_TOKEN).
    """

    name: str = Field("", min_length=1, max_length=100)
    """Under which name its versions are recorded; left out: its address. Give one, and the registry may move."""

    models: tuple[Text, ...] = Field(min_length=1)
    """Names of the models that are audited; * stands for any signs."""

    card: Text
    """The card template that makes a judge of a version, relative to audit.yaml."""

    alias: str = Field("", pattern="^(?![vV][0-9]+$)(?!latest$)[A-Za-z0-9_-]+$")
    """Alias that the newest version with an open gate bears."""

    use: Text | None = None
    """What the versions are to be released for; left out: what a judge of the name was approved for last."""

    since: Annotated[datetime | None, BeforeValidator(_day, json_schema_input_type=Day)] = None
    """Versions created before this day (UTC) are left alone by the poller."""

    most: int = Field(5, ge=1)
    """Versions that one look at the registry submits at most (5); the others follow with the next."""


class RunnerBlock(Block):
    """What runs the tasks, and where."""

    kind: RunnerName
    workers: int = Field(0, ge=0)
    """Tasks at a time; 0 for one per core."""

    address: str = ""
    """Of a Dask scheduler (tcp://…) or a Ray cluster (ray://…) that runs already; one is started for the run if
    there is none.
    """

    options: Mapping[str, Any] = Field(default_factory=dict)
    """What the cluster that is started is told: of dask.distributed's LocalCluster, or of ray.init."""


class WebhookBlock(Block):
    """An address that takes JSON by POST: url or url_env, and header with header_env if it wants a key."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": ["url"]}, {"required": ["url_env"]}],
            "dependentRequired": {"header": ["header_env"], "header_env": ["header"]},
        }
    )

    url: str = Field("", min_length=1)
    """The address: https, or http on this machine."""

    url_env: Variable = ""
    """Name of the environment variable that holds the address, where the address is itself a secret."""

    header: str = Field("", pattern="^[A-Za-z0-9-]{1,80}$", examples=["Authorization"])
    """Name of the header that holds the key."""

    header_env: Variable = ""
    """Name of the environment variable that holds this header's value, never the value itself."""


class NotifyBlock(Block):
    """Who is told when something happened: a command, a webhook, or both."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["command"]}, {"required": ["webhook"]}]}
    )

    command: tuple[Annotated[str, Field(min_length=1, description="A text.")], ...] = Field((), min_length=1)
    """A program and its arguments, each an entry of the list; it runs in this file's folder, through no shell, with
    the notice as JSON on its standard input.
    """

    webhook: WebhookBlock | None = None
    events: tuple[
        Annotated[
            Event,
            Field(description="One of gate_shut, audit_failed, epoch_changed, stale."),
        ],
        ...,
    ] = Field(EVENTS, min_length=1, json_schema_extra={"uniqueItems": True})
    """What is told, a list of gate_shut, audit_failed, epoch_changed, stale; all of them if left out."""

    timeout: float = Field(10.0, gt=0, le=300)
    """Seconds that the command, or one request, may take; 10 if left out, 300 at most."""
