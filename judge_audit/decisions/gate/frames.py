"""Guards: what must hold of a frame before an expectation about it means anything.

Great Expectations passes an empty frame, a column of nothing but NaN, an infinity where only a minimum is
set, and a suite without expectations. So the rows, their keys and the values looked at are counted here first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judge_audit.decisions.gate.suites import Expectation, Suite

LISTED = 4
"""Rows named in a sentence."""

TOLD = "told"
"""A column of this name says in words what a row is, and is shown instead of its key."""

FOR_NULLS = "expect_column_values_to_not_be_null"


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a guard found against an expectation.

    Attributes:
        shut: True if what was found is itself a fault; False if the question cannot be asked.
        reason: What was found.
    """

    shut: bool
    reason: str


def guard_suite(suite: Suite, frame: pa.Table, keys: pa.Table) -> str:
    """See that a frame holds exactly the rows that must be there.

    Args:
        suite: The suite.
        frame: What its first query gave.
        keys: What its second query gave.

    Returns:
        Why nothing can be asked of it, empty if all is well.
    """
    tables = (("rows", frame), ("keys", keys))
    if hollow := _without_key(suite, tables):
        return hollow
    if not keys.num_rows:
        return say("gate.guard.nothing_due")
    if suite.bad_rows:
        return ""
    if not frame.num_rows:
        return say("gate.guard.empty")
    counted = [Counter(map(tuple, _keys_of(suite, table))) for _, table in tables]
    for (which, _), count in zip(tables, counted, strict=True):
        twice = sorted(str_key(suite, key) for key, n in count.items() if n > 1)
        if twice:
            return say("gate.guard.twice", which=which, list=listed(twice))
    held, due = (set(count) for count in counted)
    told = [
        say(f"gate.guard.{name}", list=listed(sorted(str_key(suite, key) for key in odd)))
        for name, odd in (("absent", due - held), ("uncalled", held - due))
        if odd
    ]
    return " ".join(told)


def _without_key(suite: Suite, tables: Sequence[tuple[str, pa.Table]]) -> str:
    """Say which column of the key is not there, or not in every row."""
    for which, table in tables:
        for column in suite.key:
            if column not in table.column_names:
                return say("gate.guard.no_key", which=which, column=column)
            if table[column].null_count:
                return say("gate.guard.null_key", which=which, column=column)
    return ""


def guard_expectation(suite: Suite, expectation: Expectation, frame: pa.Table) -> Guarded | None:
    """See that the columns an expectation looks at are there and hold finite values.

    Returns:
        What stands against evaluating it, None if nothing does.
    """
    for column in expectation.columns:
        if column not in frame.column_names:
            return Guarded(shut=False, reason=say("gate.guard.no_column", column=column))
        values = frame[column]
        hollow = pc.is_null(values, nan_is_null=True)
        if expectation.type != FOR_NULLS and pc.any(hollow).as_py():
            rows = rows_told(suite, frame.filter(hollow))
            return Guarded(shut=False, reason=say("gate.guard.no_value", column=column, list=rows))
        if pa.types.is_floating(values.type):
            endless = pc.is_inf(values)
            if pc.any(endless).as_py():
                rows = rows_told(suite, frame.filter(endless))
                return Guarded(shut=True, reason=say("gate.guard.infinite", column=column, list=rows))
    return None


def _keys_of(suite: Suite, table: pa.Table) -> Iterable[tuple[Any, ...]]:
    """Give the key of every row."""
    return zip(*(table[column].to_pylist() for column in suite.key), strict=True)


def str_key(suite: Suite, key: Sequence[Any]) -> str:
    """Name a row by its key, without the columns that say `*`."""
    told = [f"{name} {value}" for name, value in zip(suite.key, key, strict=True) if value != "*"]
    return ", ".join(told) or "*"


def rows_told(suite: Suite, rows: pa.Table) -> str:
    """Name rows in words: by their column `told` if they have one, else by their keys."""
    if TOLD in rows.column_names:
        return listed([str(text) for text in dict.fromkeys(rows[TOLD].to_pylist())])
    return listed([str_key(suite, key) for key in _keys_of(suite, rows)])


def listed(parts: Sequence[str]) -> str:
    """Write a few parts one after another, and how many more there are."""
    shown = list(parts[:LISTED])
    if len(parts) > LISTED:
        shown.append(say("gate.more", n=len(parts) - LISTED))
    return "; ".join(shown)
