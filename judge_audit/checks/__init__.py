"""The checks: one question each, in the folder of what it is about; a module that states a `CHECK` is found by a walk.

They may import `people`, `judges` (cards and instruments), `stimuli`, `measures` and `core`, and nothing that decides
or reports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.checks.check import Check
from judge_audit.core.discovery import modules_stating
from judge_audit.core.errors import MachineryError

if TYPE_CHECKING:
    from types import ModuleType


def builtin_checks() -> dict[str, Check]:
    """Give the shipped checks by name.

    Raises:
        MachineryError: If a `CHECK` is none, or a name stands twice; names the file.
    """
    found: dict[str, Check] = {}
    for module in modules_stating(__name__, "CHECK"):
        check = check_of(module, module.__name__)
        if check.name in found:
            raise MachineryError(f"{module.__name__}: the check “{check.name}” stands in another file too.")
        found[check.name] = check
    return dict(sorted(found.items()))


def check_of(module: ModuleType, origin: str) -> Check:
    """Take the check out of a file, or say what is wrong with it.

    A team's file may state a `CHECK`, or a NAME and a function run(evidence), which needs scores.
    """
    check = getattr(module, "CHECK", None)
    if isinstance(check, Check):
        return check
    name, run = getattr(module, "NAME", None), getattr(module, "run", None)
    if check is not None or not isinstance(name, str) or not callable(run):
        raise MachineryError(f"checks/{origin}.py: a check has a NAME and a function run(evidence).")
    return Check(name, run)
