"""Prompts to exchange with where the items have one topic: a file of rows with the columns topic and prompt."""

from __future__ import annotations

from pathlib import Path

from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import missing_columns, read_rows


def read_prompt_pool(path: str | Path) -> tuple[tuple[str, str], ...]:
    """Read prompts to exchange with: the columns topic and prompt of a file of rows.

    Raises:
        InputError: If a column is missing, or a row is empty in one.
        UsageError: If the file itself cannot be read.
    """
    path = Path(path)
    file_rows = read_rows(path)
    columns = ("topic", "prompt")
    faults = missing_columns(path, file_rows.columns, columns) or [
        *file_rows.faults,
        *(
            Fault(path.name, number, name, "it is empty.")
            for number, row in file_rows.rows
            for name in columns
            if not row[name].strip()
        ),
    ]
    if faults or not file_rows.rows:
        raise InputError(faults or [Fault(path.name, 0, "", "the file has no rows.")])
    return tuple(sorted({(row["topic"].strip(), row["prompt"].strip()) for _, row in file_rows.rows}))
