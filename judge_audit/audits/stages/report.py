"""The last stage: write the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.audits.inputs import pixels_of, planned_mask
from judge_audit.core.vocabulary import PAIR_AXIS
from judge_audit.decisions.standings import POSITION_ROW
from judge_audit.lake.connect import connect_to
from judge_audit.report import build_report, write_report

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from judge_audit_schemas.rows import ProbesRow
    from numpy.typing import NDArray

    from judge_audit.audits.model import Prepared, Stimuli
    from judge_audit.audits.plan_tables import PlanTables

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


def report(plans: PlanTables, stimuli: Stimuli, prepared: Prepared, folder: str) -> Outcome:
    """Write the report of a complete audit.

    Args:
        plans: The plans' tables.
        stimuli: What its pictures are drawn again with.
        prepared: The audit.
        folder: Where to; "" for a folder here.
    """
    items = {row["item_id"]: row for row in plans.items(prepared.plan_id)}
    damage = stimuli.damage(prepared.plan_id)

    def members(pair: Mapping[str, Any]) -> tuple[Pixels, Pixels]:
        """Draw both members of a pair again."""
        intact, damaged = (items[pair[name]] for name in ("intact", "damaged"))
        place: ProbesRow = {"axis": PAIR_AXIS + pair["kind"], "rung": pair["rung"]}
        return pixels_of(intact["uri"]), damage(damaged, place, pixels_of(damaged["uri"]))

    names = [prepared.plan_id, prepared.soundings_id, prepared.combinations_id(prepared.judge_id)]
    with connect_to(plans.lake, prepared.judge_id, names) as connection:
        built = build_report(
            connection,
            prepared.audit_id,
            pixels=lambda item_id: pixels_of(items[item_id]["uri"]),
            axes=stimuli.axes,
            warnings=prepared.warnings,
            masks=lambda item_id: planned_mask(items[item_id]),
            kinds=stimuli.kinds,
            members=members,
        )
        (position,) = connection.execute(
            "SELECT standing FROM standings WHERE audit_id = $1 AND use = $2",
            [prepared.audit_id, POSITION_ROW],
        ).fetchall()[0]
    path = write_report(built, Path(folder or "judge-audit-report"))
    return Outcome(position, str(path), built.document)
