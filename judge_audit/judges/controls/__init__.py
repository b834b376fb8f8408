"""Controls: judges with one planted fault each, found by a walk over this folder."""

from __future__ import annotations

import importlib
import pkgutil

from judge_audit.errors import MachineryError
from judge_audit.judges.controls.planted import Control, PlantedJudge

NOT_CONTROLS = frozenset({"planted"})


def control_list() -> tuple[Control, ...]:
    """Give the shipped controls, by name.

    Raises:
        MachineryError: If a file in the folder is not a control; names the file.
    """
    found = []
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda entry: entry.name):
        if info.name not in NOT_CONTROLS:
            control = getattr(importlib.import_module(f"{__name__}.{info.name}"), "CONTROL", None)
            if not isinstance(control, Control):
                raise MachineryError(f"controls/{info.name}.py: a control has a value CONTROL.")
            found.append(control)
    return tuple(found)


def builtin_controls(zones_id: str, seed: int) -> tuple[PlantedJudge, ...]:
    """Bind the shipped controls to the zones of an audit."""
    return tuple(PlantedJudge(control, zones_id, seed) for control in control_list())
