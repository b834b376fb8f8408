"""An audit in this process, without an orchestrator: for notebooks and tests."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.lake import Lake
from judge_audit.lake.connect import connect as open_views

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Attributes:
        audit_id: The run.
        position: The highest step the judge holds today.
        lake: Where everything is.
        report: Path of the report.
        document: The report's content as plain values.
    """

    audit_id: str
    position: str
    lake: str
    report: Path
    document: dict[str, Any]

    @property
    def verdicts(self) -> pa.Table:
        """The verdicts on the judge, and on the controls that prove the audit."""
        return self._table("verdicts")

    @property
    def measures(self) -> pa.Table:
        """The judge's measures."""
        return self._table("measures")

    @property
    def curves(self) -> pa.Table:
        """The judge's curves."""
        return self._table("curves")

    def _table(self, name: str) -> pa.Table:
        return Lake.open(self.lake).read(name, audit_id=self.audit_id, is_control=False)

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the lake with its views."""
        return connect(self.lake)


def connect(lake: Lake | str | Path) -> duckdb.DuckDBPyConnection:
    """Open a lake with one view per table and the shipped views.

    Args:
        lake: A lake, or the path of one.

    Raises:
        UsageError: If there is no lake.
    """
    return open_views(lake if isinstance(lake, Lake) else Lake.open(lake, create=False))


def audit(
    judge: Any,  # noqa: ANN401 - a callable, a name, a card or a judge
    items: str | Path,
    *,
    axes: list[str] | None = None,
    lake: str | Path | None = None,
    report: str | Path | None = None,
    **options: Any,  # noqa: ANN401 - the keys of audit.yaml
) -> Audit:
    """Audit a judge in this process.

    Args:
        judge: A callable `score(images, prompts)`, a built-in name, `module:attribute`, a card's path or a judge.
            What a callable holds (attributes, closure, weights) makes it the judge it is; where that changes
            without changing its answers, an attribute `identity` (a text) names it.
        items: Path of the items file.
        axes: Names of axes; the nine that are climbed unasked by default, `["all"]` for every one.
        lake: Folder of the results; a temporary one by default.
        report: Folder of the report; next to the lake by default.
        **options: Any other key of audit.yaml (ladder_items, repeats, readings, seed, limits, skip_bad, …).

    Returns:
        The audit.

    Raises:
        UsageError: If anything given cannot be used.
        BudgetReached: If max_calls or max_cost did not reach; everything bought is in the lake.
    """
    # Imported here, so that `connect` costs what a question to a lake costs.
    from judge_audit.audits.context import AuditContext  # noqa: PLC0415
    from judge_audit.audits.pipeline import LocalExecutor, run_stages  # noqa: PLC0415
    from judge_audit.core.configuration import resolve  # noqa: PLC0415
    from judge_audit.judges import load_judge  # noqa: PLC0415
    from judge_audit.lake.compaction import tidy  # noqa: PLC0415

    home = str(lake) if lake is not None else str(Path(tempfile.mkdtemp(prefix="judge-audit-")) / "lake")
    choices = {
        "items": str(items),
        "axes": axes,
        "lake": home,
        "report": str(report) if report else None,
        **options,
    }
    if isinstance(judge, (str, Path)):
        choices["judge"] = str(judge)
    configuration = resolve(None, choices)
    context = AuditContext(configuration, load_judge(judge))
    done = run_stages(LocalExecutor(context))
    tidy(context.lake)
    outcome = done.outcome
    return Audit(
        done.prepared.audit_id, outcome.position, configuration.lake, Path(outcome.report), outcome.document
    )
