"""The limits that measures are held against: each stands once, in `schemas/uses/limits.yaml`.

A project may override a limit within its hard bounds. Which way is looser (makes it easier to pass) stands with the
limit, so that whoever decides can see what was loosened, by whom and why.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.resources import read_shipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Looser = Literal["up", "down", "either"]
DIRECTIONS = ("up", "down", "either")
FIELDS = {"value", "looser", "low", "high", "meaning"}
OWNED = {"value", "reason", "owner"}
"""Fields of an override that says who answers for it."""


@dataclass(frozen=True, slots=True)
class LimitRule:
    """A limit as it is shipped.

    Attributes:
        name: Its name.
        value: The shipped value.
        looser: Which way it makes it easier to pass; `either`: any change counts as looser.
        low: The smallest value that an override may give.
        high: The largest.
        meaning: What is held against it.
    """

    name: str
    value: float
    looser: Looser
    low: float
    high: float
    meaning: str

    def is_looser(self, value: float, before: float) -> bool:
        """Tell whether a value makes it easier to pass than the one before."""
        if value == before:
            return False
        return self.looser == "either" or (value > before) == (self.looser == "up")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits by name."""

    values: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        """Give a limit."""
        return self.values[name]

    def looser_than(self, before: Limits) -> list[str]:
        """Name the limits that make it easier to pass than those before did."""
        rules = limit_rules()
        return sorted(
            name
            for name, value in self.values.items()
            if rules[name].is_looser(value, before.values.get(name, rules[name].value))
        )


@dataclass(frozen=True, slots=True)
class ChangedLimit:
    """A limit that is not the shipped one.

    Attributes:
        name: Its name.
        value: The value in force.
        shipped: The shipped value.
        looser: Whether it makes it easier to pass.
        owner: Who answers for it, "" if nobody is named.
        reason: Why, "" if nobody says.
    """

    name: str
    value: float
    shipped: float
    looser: bool
    owner: str
    reason: str


@cache
def limit_rules() -> Mapping[str, LimitRule]:
    """Read the shipped limits once.

    Raises:
        MachineryError: If one lacks its direction or its bounds, or lies outside them.
    """
    content = read_shipped(files("judge_audit_schemas") / "uses" / "limits.yaml")
    rules = {}
    for name, entry in content.items():
        if set(entry) != FIELDS or entry["looser"] not in DIRECTIONS:
            raise MachineryError(f"limits.yaml: “{name}” has the fields {', '.join(sorted(FIELDS))}.")
        rule = LimitRule(name, *(entry[part] for part in ("value", "looser", "low", "high", "meaning")))
        if not rule.low <= rule.value <= rule.high:
            raise MachineryError(f"limits.yaml: “{name}” is not within its own bounds.")
        rules[name] = rule
    return rules


def read_limits(overrides: Mapping[str, Any] | None = None) -> Limits:
    """Read the shipped limits, with a project's own values over them.

    Args:
        overrides: By name a value, or value, reason and owner.

    Raises:
        UsageError: If an override names no limit, is not a number or leaves its bounds; all faults at once.
    """
    rules = limit_rules()
    faults = [fault for name, given in (overrides or {}).items() for fault in _faults(name, given)]
    if faults:
        raise UsageError("\n".join(faults))
    own = {name: float(_value(given)) for name, given in (overrides or {}).items()}
    return Limits({**{name: float(rule.value) for name, rule in rules.items()}, **own})


def recorded_limits(configuration: str | None) -> Limits:
    """Give the limits that an audit was made with, from its recorded configuration.

    An earlier version may have recorded what is out of bounds now: then the bound counts.

    Args:
        configuration: Column `configuration` of `audits`.
    """
    rules = limit_rules()
    own = _overrides(configuration)
    return Limits(
        {
            name: min(max(float(_value(own[name])), rule.low), rule.high)
            if name in own
            else float(rule.value)
            for name, rule in rules.items()
        }
    )


def refused_limits(configuration: str | None) -> list[str]:
    """Name the recorded overrides that nothing may override: beyond their bounds, or no number.

    Args:
        configuration: Column `configuration` of `audits`; an earlier version may have recorded anything.
    """
    content = json.loads(configuration or "{}").get("limits") or {}
    rules = limit_rules()
    return sorted(
        name
        for name, given in content.items()
        if name in rules
        and (not _is_number(value := _value(given)) or not rules[name].low <= value <= rules[name].high)
    )


def changed_limits(configuration: str | None) -> list[ChangedLimit]:
    """Give the limits of an audit that are not the shipped ones, by name.

    Args:
        configuration: Column `configuration` of `audits`.
    """
    values, own = recorded_limits(configuration).values, _overrides(configuration)
    changed = []
    for name, rule in sorted(limit_rules().items()):
        if values[name] != rule.value:
            entry = own[name] if isinstance(own[name], dict) else {}
            owner, reason = str(entry.get("owner", "")), str(entry.get("reason", ""))
            looser = rule.is_looser(values[name], rule.value)
            changed.append(ChangedLimit(name, values[name], rule.value, looser, owner, reason))
    return changed


def _overrides(configuration: str | None) -> dict[str, Any]:
    """Read the overrides of a recorded configuration; what is no number is left out."""
    content = json.loads(configuration or "{}").get("limits") or {}
    return {name: given for name, given in content.items() if _is_number(_value(given))}


def _value(given: Any) -> Any:  # noqa: ANN401 - whatever the file holds
    """Give the value of an override, which may say who answers for it."""
    return given.get("value") if isinstance(given, dict) else given


def _is_number(value: Any) -> bool:  # noqa: ANN401 - whatever the file holds
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value  # noqa: PLR0124


def _faults(name: str, given: Any) -> Iterator[str]:  # noqa: ANN401 - whatever the file holds
    """Say what is wrong with one override."""
    rule = limit_rules().get(name)
    if rule is None:
        meant = difflib.get_close_matches(name, limit_rules(), 1)
        hint = f" Did you mean “{meant[0]}”?" if meant else ""
        yield f"limits: there is no limit “{name}”.{hint} The limits are {', '.join(sorted(limit_rules()))}."
        return
    if isinstance(given, dict) and (set(given) - OWNED or not set(given) >= OWNED or not given["owner"]):
        yield f"limits: “{name}” has the fields value, reason and owner, or is a number."
        return
    value = _value(given)
    if not _is_number(value) or not 0 <= value < float("inf"):
        yield f"limits: “{name}” must be a number of 0 or more, not {value!r}."
    elif not rule.low <= value <= rule.high:
        yield (
            f"limits: “{name}” is {value:g}; it may be {rule.low:g} to {rule.high:g} ({rule.meaning} Shipped: "
            f"{rule.value:g}). Nothing overrides these bounds."
        )
