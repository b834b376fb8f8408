"""What a person fills in on Prefect's page: the parameters of deployed flows, with a description each."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from judge_audit.core.audit_blocks import RUNNERS


class Overrides(BaseModel):
    """Choices that win over audit.yaml for this run; whatever is left empty is as the file has it."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Overrides")

    axes: tuple[str, ...] = Field(
        default=(),
        title="Axes",
        description="Names of the ladders to climb; default or all may be among them.",
    )
    ladder_items: int | None = Field(
        default=None, ge=1, title="Ladder items", description="How many items carry ladders."
    )
    repeats: int | None = Field(
        default=None, ge=1, le=100, title="Repeats", description="How often each probe is asked."
    )
    max_calls: int | None = Field(
        default=None, ge=0, title="Most calls", description="Show the judge so many pictures at most."
    )
    max_cost: float | None = Field(
        default=None,
        ge=0,
        title="Most cost",
        description="Spend so much at most, in the currency of the judge's card.",
    )
    runner: str = Field(
        default="",
        title="Runner",
        description="What runs the tasks.",
        json_schema_extra={"enum": ["", *RUNNERS]},
    )
    workers: int | None = Field(
        default=None, ge=0, title="Workers", description="Tasks at a time; 0 for one per core."
    )
    seed: int | None = Field(default=None, title="Seed", description="Seed of every draw.")

    def given(self) -> dict[str, Any]:
        """Give what was filled in, as `resolve` takes it."""
        filled = {name: value for name, value in self.model_dump().items() if value not in (None, "", ())}
        return {**filled, **({"axes": list(self.axes)} if self.axes else {})}


class Persistence(BaseModel):
    """How often a run tries again where the machinery failed; bad input and a shut gate are never tried again."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Persistence")

    retries: int = Field(
        default=2,
        ge=0,
        le=20,
        title="Retries",
        description="Attempts after the first where a disk, server or worker failed.",
    )
    wait_seconds: float = Field(
        default=60.0,
        ge=0,
        title="Wait",
        description="Seconds before the second attempt; twice as many before each later one.",
    )


NO_OVERRIDES = Overrides()
STEADY = Persistence()
