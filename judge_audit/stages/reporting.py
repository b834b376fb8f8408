"""The last stage: write the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.lake.connect import connect
from judge_audit.report import build_report, write_report
from judge_audit.standings import POSITION_ROW

if TYPE_CHECKING:
    from judge_audit.session import Session
    from judge_audit.stages.planning import Prepared


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an audit came to.

    Attributes:
        position: The highest step the judge holds today.
        report: Path of the report.
        document: The report's content as plain values.
    """

    position: str
    report: str
    document: dict[str, Any]


def report(current: Session, prepared: Prepared) -> Outcome:
    """Write the report of a complete audit."""
    items = {row["item_id"]: row for row in current.plan_table("items", prepared.plan_id).to_pylist()}
    with connect(current.lake) as connection:
        built = build_report(
            connection,
            prepared.audit_id,
            pixels=lambda item_id: current.pixels(items[item_id]["uri"]),
            axes=current.axes,
            warnings=prepared.warnings,
            masks=lambda item_id: current.mask(items[item_id]),
        )
        (position,) = connection.execute(
            "SELECT standing FROM standings WHERE audit_id = $1 AND use = $2",
            [prepared.audit_id, POSITION_ROW],
        ).fetchall()[0]
    path = write_report(built, Path(current.configuration.report or "judge-audit-report"))
    return Outcome(position, str(path), built.document)
