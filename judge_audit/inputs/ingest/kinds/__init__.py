"""The tables that can be imported: one file each, found by a walk over this folder."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from judge_audit.core.errors import MachineryError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.columns import Field
    from judge_audit.inputs.ingest.reshape import Arranged
    from judge_audit.inputs.ingest.rows import Around, Taken


class Kind(Protocol):
    """What a file of this folder offers.

    Attributes:
        COLUMNS: The columns a file may have.
        VALUE: The column that wide columns hold, "" if the table is never wide.
        WIDE_AS: What the names of wide columns are, unless somebody says otherwise.
        TABLE: The table whose rows are counted.
    """

    COLUMNS: Sequence[Field]
    VALUE: str
    WIDE_AS: str
    TABLE: str

    def take(self, arranged: Arranged, reading: Reading, around: Around) -> Taken:
        """Make rows of a file."""
        ...


def kind_names() -> tuple[str, ...]:
    """Name the kinds without loading them."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py")))


def find_kind(name: str) -> Kind:
    """Load a kind.

    Raises:
        UsageError: If there is none of that name; lists those there are.
        MachineryError: If its file is malformed; names it.
    """
    if name not in kind_names():
        raise UsageError(f"there is no table “{name}” to import; there are {', '.join(kind_names())}.")
    module = importlib.import_module(f"{__name__}.{name}")
    wanted = ("COLUMNS", "VALUE", "WIDE_AS", "TABLE", "take")
    absent = [entry for entry in wanted if not hasattr(module, entry)]
    if absent:
        raise MachineryError(f"imports/kinds/{name}.py: a kind of table has {', '.join(wanted)}.")
    return cast("Kind", module)
