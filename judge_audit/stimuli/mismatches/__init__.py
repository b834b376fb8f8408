"""The mismatch kinds: one file each, found by its `KIND`.

They may import images, masks, axes, brand rules and `core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.core.discovery import modules_stating
from judge_audit.core.errors import MachineryError
from judge_audit.stimuli.mismatches.kind import DIMENSIONS, EXPECTATIONS, Kind

if TYPE_CHECKING:
    from types import ModuleType


def mismatch_kinds() -> dict[str, Kind]:
    """Give the shipped mismatch kinds by name.

    Raises:
        MachineryError: If a file that states a `KIND` holds no sound one, or a name stands twice; names the file.
    """
    found: dict[str, Kind] = {}
    for module in modules_stating(__name__, "KIND"):
        file = module.__name__.rpartition(".")[2]
        kind = mismatch_of(module, file)
        if kind.name in found:
            raise MachineryError(f"kinds/{file}.py: the kind “{kind.name}” stands in another file too.")
        found[kind.name] = kind
    return found


def mismatch_of(module: ModuleType, origin: str) -> Kind:
    """Take the kind out of a file, or say what is wrong with it.

    Raises:
        MachineryError: If the file has no `KIND`, or one whose expectations cannot be judged.
    """
    kind = getattr(module, "KIND", None)
    if not isinstance(kind, Kind):
        raise MachineryError(f"kinds/{origin}.py: a file of a mismatch kind has a KIND, a value of Kind.")
    unknown = sorted(set(kind.expectations.values()) - set(EXPECTATIONS))
    if unknown or set(kind.expectations) < set(DIMENSIONS):
        raise MachineryError(
            f"kinds/{origin}.py: “{kind.name}” must say {', '.join(EXPECTATIONS)} "
            f"for each of {', '.join(DIMENSIONS)}."
        )
    drops = [name for name, word in kind.expectations.items() if word == "drops"]
    if drops != [kind.damages]:
        raise MachineryError(
            f"kinds/{origin}.py: “{kind.name}” damages {kind.damages}; that dimension drops, and no other."
        )
    if not kind.variants:
        raise MachineryError(f"kinds/{origin}.py: “{kind.name}” has no variant that builds pairs.")
    return kind
