"""The limits that measures are held against: each stands once, in `schemas/uses/limits.yaml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from judge_audit.core.errors import UsageError
from judge_audit.core.resources import read_shipped

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits by name."""

    values: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        """Give a limit."""
        return self.values[name]


@cache
def _shipped() -> Mapping[str, float]:
    """Read the shipped limits once."""
    content = read_shipped(files("judge_audit_schemas") / "uses" / "limits.yaml")
    return {name: float(entry["value"]) for name, entry in content.items()}


def read_limits(overrides: Mapping[str, float] | None = None) -> Limits:
    """Read the shipped limits, with a project's own values over them.

    Raises:
        UsageError: If an override names no limit, or is not a number; all faults at once.
    """
    values = _shipped()
    overrides = overrides or {}
    faults = [
        f"limits: there is no limit “{name}”; the limits are {', '.join(sorted(values))}."
        for name in sorted(set(overrides) - set(values))
    ]
    faults += [
        f"limits: “{name}” must be a number of 0 or more, not {value!r}."
        for name, value in overrides.items()
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf")
    ]
    if faults:
        raise UsageError("\n".join(faults))
    return Limits({**values, **{name: float(value) for name, value in overrides.items()}})
