"""The one place that speaks to Great Expectations: a frame in, one result an expectation out."""

from __future__ import annotations

import logging
import os
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit.decisions.gate.suites import Expectation, Suite

QUIET = {"GX_ANALYTICS_ENABLED": "false", "TQDM_DISABLE": "1"}
ROW = "__row"
"""A column the frame is given so that rows that fail can be named."""

LISTED = 4
"""Rows named in a sentence."""

TOLD = "told"
"""A column of this name says in words what a row is, and is shown instead of its key."""

FOR_NULLS = "expect_column_values_to_not_be_null"


@dataclass(frozen=True, slots=True)
class Result:
    """What Great Expectations said of one expectation.

    Attributes:
        met: Whether it is met; None if that cannot be said.
        rows: Numbers of the rows that fail it.
        observed: The value of an expectation about the whole frame.
        trouble: Why it cannot be said.
    """

    met: bool | None
    rows: tuple[int, ...] = ()
    observed: Any = None
    trouble: str = ""


def evaluate(frame: pa.Table, expectations: Sequence[Expectation]) -> dict[str, Result]:
    """Hold a frame against expectations.

    Args:
        frame: The rows.
        expectations: With names of their own.

    Returns:
        A result by name; an expectation that Great Expectations left out has none.
    """
    os.environ.update(QUIET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own dependencies' deprecations are nothing to the user
        report = _validate(frame, expectations)
    found: dict[str, Result] = {}
    for told in report:
        name = (told.get("expectation_config", {}).get("meta") or {}).get("name")
        if isinstance(name, str):
            twice = name in found
            found[name] = (
                Result(None, trouble=say("gate.guard.unanswered")) if twice else _result(told, frame)
            )
    return found


def _validate(frame: pa.Table, expectations: Sequence[Expectation]) -> list[dict[str, Any]]:
    """Run the expectations as one suite."""
    import great_expectations as gx  # noqa: PLC0415 - three seconds, paid only where a gate is asked

    suite = gx.ExpectationSuite(
        name="gate",
        expectations=[
            {
                "type": entry.type,
                "kwargs": dict(entry.arguments),
                "meta": {"name": entry.name},
                "severity": entry.severity,
            }
            for entry in expectations
        ],
    )
    numbered = _plain(frame).append_column(ROW, pa.array(range(frame.num_rows), pa.int64()))
    report = (
        _batches()
        .get_batch({"dataframe": numbered.to_pandas()})
        .validate(suite, result_format={"result_format": "COMPLETE", "unexpected_index_column_names": [ROW]})
    )
    results: list[dict[str, Any]] = [entry.to_json_dict() for entry in report.results]
    return results


@cache
def _batches() -> Any:  # noqa: ANN401 - Great Expectations' own
    """Make what turns frames into batches, in a context of this process that leaves nothing behind."""
    import great_expectations as gx  # noqa: PLC0415 - see above
    from great_expectations.data_context.types.base import (  # noqa: PLC0415 - the same
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    settings = DataContextConfig(
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )
    context = gx.get_context(project_config=settings, mode="ephemeral")
    source = context.data_sources.add_pandas("gate")
    return source.add_dataframe_asset("frame").add_batch_definition_whole_dataframe("whole")


def _plain(frame: pa.Table) -> pa.Table:
    """Write DuckDB's wide sums as the floating numbers that expectations compare."""
    fields = [
        pa.field(field.name, pa.float64()) if pa.types.is_decimal(field.type) else field
        for field in frame.schema
    ]
    return frame.cast(pa.schema(fields))


def _result(told: Mapping[str, Any], frame: pa.Table) -> Result:
    """Read one result, and trust only what says that every row was looked at."""
    error = _raised(told.get("exception_info") or {})
    if error:
        return Result(None, trouble=say("gate.guard.raised", error=error))
    result = told.get("result") or {}
    looked = result.get("element_count")
    if looked is not None and looked != frame.num_rows:
        return Result(None, trouble=say("gate.guard.unlooked", n=looked, of=frame.num_rows))
    if looked is None and result.get("observed_value") is None:
        return Result(None, trouble=say("gate.guard.unanswered"))
    rows = tuple(entry[ROW] for entry in result.get("unexpected_index_list") or ())
    met = told.get("success") is True and not result.get("unexpected_count")
    return Result(met, rows, result.get("observed_value"))


def _raised(info: Mapping[str, Any]) -> str:
    """Find the message of an exception; one is told flat, several by metric."""
    entries = [info] if "raised_exception" in info else list(info.values())
    for entry in entries:
        if isinstance(entry, dict) and entry.get("raised_exception"):
            return str(entry.get("exception_message") or "no message").strip()
    return ""


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
