"""The tables that can be imported: one file each, which states a `KIND`; a file without one is a helper.

It may import what `inputs` may.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from judge_audit.core.discovery import modules_stating
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.inputs.ingest.rows import TableKind

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def table_kinds() -> Mapping[str, TableKind]:
    """Give the kinds by name.

    Raises:
        MachineryError: If a file is malformed; names it.
    """
    kinds: dict[str, TableKind] = {}
    for module in modules_stating(__name__, "KIND"):
        if not isinstance(module.KIND, TableKind) or module.KIND.name in kinds:
            raise MachineryError(f"{module.__file__}: KIND is a TableKind whose name no other file has.")
        kinds[module.KIND.name] = module.KIND
    return kinds


def find_kind(name: str) -> TableKind:
    """Give a kind.

    Raises:
        UsageError: If there is none of that name; lists those there are.
    """
    kinds = table_kinds()
    if name not in kinds:
        raise UsageError(f"there is no table “{name}” to import; there are {', '.join(sorted(kinds))}.")
    return kinds[name]
