"""The kinds of deliberate mismatch, as `schemas/mismatches.yaml` defines them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

PAIR_AXIS = "pair:"
"""Begins the axis of the damaged member of a pair: `pair:<kind>`."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A kind of damage.

    Attributes:
        name: Its name.
        damages: The sub-score that must fall.
        holds: Sub-scores that must hold.
        free: Sub-scores that may follow: shown, never judged.
    """

    name: str
    damages: str
    holds: tuple[str, ...]
    free: tuple[str, ...]


@cache
def builtin_mismatches() -> dict[str, Mismatch]:
    """Give the kinds by name."""
    text = (files("judge_audit_schemas") / "mismatches.yaml").read_text(encoding="utf-8")
    return {
        name: Mismatch(name, entry["damages"], tuple(entry["holds"]), tuple(entry["free"]))
        for name, entry in yaml.safe_load(text).items()
    }
