"""A sample of real traffic: what the audit's items are held against, so that coverage is measured, not asserted."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa

from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import read_rows
from judge_audit.judges.instruments.covariates import COVARIATES

NAMES = ("source", "topic")
"""Columns that name a group; every other known column holds numbers."""


def read_traffic(path: str | Path, dimensions: tuple[str, ...]) -> pa.Table:
    """Read a sample of real traffic.

    Args:
        path: .csv, .jsonl / .ndjson or .parquet. Any of the columns source, topic, the judge's dimensions (its
            scores in production, as it gave them) and the surface statistics; one row per picture.
        dimensions: The judge's dimensions.

    Returns:
        The known columns: text for source and topic, float for the others, NULL where a row leaves one out.

    Raises:
        InputError: With every fault by row and column, or if the file has no column that can be used.
        UsageError: If the file itself cannot be read.
    """
    path = Path(path)
    file_rows = read_rows(path)
    numbers = [name for name in (*dimensions, *COVARIATES) if name in file_rows.columns]
    names = [name for name in NAMES if name in file_rows.columns]
    if not numbers and not names:
        known = ", ".join((*NAMES, *dimensions, *COVARIATES))
        message = f"a sample of traffic needs at least one of the columns {known}."
        raise InputError([Fault(path.name, 0, "", message)])
    faults = list(file_rows.faults)
    columns: dict[str, list[str | float | None]] = {name: [] for name in (*names, *numbers)}
    for number, row in file_rows.rows:
        for name in names:
            columns[name].append(row[name].strip() or None)
        for name in numbers:
            try:
                value = float(row[name]) if row[name].strip() else None
            except ValueError:
                value = math.nan
            if value is not None and not math.isfinite(value):
                faults.append(Fault(path.name, number, name, f"“{row[name]}” is not a number."))
            columns[name].append(value)
    if faults:
        raise InputError(faults, "Mend the rows named above; no traffic was used.")
    if not file_rows.rows:
        raise InputError([Fault(path.name, 0, "", "the file has no rows.")])
    arrays = {name: pa.array(columns[name], pa.string()) for name in names}
    return pa.table(arrays | {name: pa.array(columns[name], pa.float64()) for name in numbers})
