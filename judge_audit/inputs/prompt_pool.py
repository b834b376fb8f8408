"""Prompts to exchange with where the items have one topic: a file of rows with the columns topic and prompt."""

from __future__ import annotations

from pathlib import Path

from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import read_rows


def read_strangers(path: str | Path) -> tuple[tuple[str, str], ...]:
    """Read prompts to exchange with: the columns topic and prompt of a file of rows.

    Raises:
        InputError: If a column is missing, or a row is empty in one.
        UsageError: If the file itself cannot be read.
    """
    path = Path(path)
    told = read_rows(path)
    wanted = ("topic", "prompt")
    faults = [
        Fault(path.name, 0, name, "this column is missing from the file.")
        for name in wanted
        if name not in told.columns
    ]
    if not faults:
        faults = [
            *told.faults,
            *(
                Fault(path.name, number, name, "it is empty.")
                for number, row in told.rows
                for name in wanted
                if not row[name].strip()
            ),
        ]
    if faults or not told.rows:
        raise InputError(faults or [Fault(path.name, 0, "", "the file has no rows.")])
    return tuple(sorted({(row["topic"].strip(), row["prompt"].strip()) for _, row in told.rows}))
