"""The last stage: write the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.audits.stages.plan import combined_plans
from judge_audit.core.vocabulary import PAIR_AXIS
from judge_audit.decisions.standings import POSITION_ROW
from judge_audit.lake.connect import connect_to
from judge_audit.report import build_report, write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.audits.model import Prepared
    from judge_audit.audits.session import Session

    Pixels = NDArray[np.uint8]


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


def members_of(
    current: Session, plan_id: str, items: Mapping[str, Mapping[str, Any]]
) -> Callable[[Mapping[str, Any]], tuple[Pixels, Pixels]]:
    """Give what draws both members of a pair again."""
    damage = current.damage(plan_id)

    def members(pair: Mapping[str, Any]) -> tuple[Pixels, Pixels]:
        intact, damaged = (items[pair[name]] for name in ("intact", "damaged"))
        place = {"axis": PAIR_AXIS + pair["kind"], "rung": pair["rung"]}
        return current.pixels(intact["uri"]), damage(damaged, place, current.pixels(damaged["uri"]))

    return members


def report(current: Session, prepared: Prepared) -> Outcome:
    """Write the report of a complete audit."""
    items = {row["item_id"]: row for row in current.plan_table("items", prepared.plan_id).to_pylist()}
    plans = [prepared.plan_id, *combined_plans(prepared, prepared.judge_id)]
    with connect_to(current.lake, prepared.judge_id, plans) as connection:
        built = build_report(
            connection,
            prepared.audit_id,
            pixels=lambda item_id: current.pixels(items[item_id]["uri"]),
            axes=current.axes,
            warnings=prepared.warnings,
            masks=lambda item_id: current.mask(items[item_id]),
            kinds=current.kinds,
            members=members_of(current, prepared.plan_id, items),
        )
        (position,) = connection.execute(
            "SELECT standing FROM standings WHERE audit_id = $1 AND use = $2",
            [prepared.audit_id, POSITION_ROW],
        ).fetchall()[0]
    path = write_report(built, Path(current.configuration.report or "judge-audit-report"))
    return Outcome(position, str(path), built.document)
