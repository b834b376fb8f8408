"""The checks: one question each, one file each, found by a walk over this folder."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from judge_audit.errors import MachineryError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from judge_audit.checks.evidence import Evidence, Findings

NOT_CHECKS = frozenset(
    {
        "agreement_figures",
        "anchors",
        "beside_rows",
        "both_orders",
        "covariate_rows",
        "covariate_sources",
        "damage_preferred",
        "direct_lifts",
        "evidence",
        "filling",
        "headroom_choice",
        "joined",
        "ladder_question",
        "mismatch_cells",
        "mismatch_pairs",
        "mismatch_people",
        "mismatch_rows",
        "not_asked",
        "order_instead",
        "people_faults",
        "people_labels",
        "people_raters",
        "pile",
        "reviewed",
        "sight_answers",
        "use_rows",
    }
)


def builtin_checks() -> dict[str, Callable[[Evidence], Findings]]:
    """Give the shipped checks by name.

    Raises:
        MachineryError: If a file in the folder is not a check; names the file.
    """
    found = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda entry: entry.name):
        if info.name not in NOT_CHECKS:
            name, run = check_of(importlib.import_module(f"{__name__}.{info.name}"), info.name)
            found[name] = run
    return found


def check_of(module: ModuleType, origin: str) -> tuple[str, Callable[[Evidence], Findings]]:
    """Take the check out of a file, or say what is wrong with it."""
    name, run = getattr(module, "NAME", None), getattr(module, "run", None)
    if not isinstance(name, str) or not callable(run):
        raise MachineryError(f"checks/{origin}.py: a check has a NAME and a function run(evidence).")
    return name, run
