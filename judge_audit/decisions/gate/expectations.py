"""The one place that speaks to Great Expectations: a frame in, one result an expectation out."""

from __future__ import annotations

import logging
import os
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from judge_audit.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.decisions.gate.suites import Expectation

QUIET = {"GX_ANALYTICS_ENABLED": "false", "TQDM_DISABLE": "1"}
ROW = "__row"
"""A column the frame is given so that rows that fail can be named."""


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
