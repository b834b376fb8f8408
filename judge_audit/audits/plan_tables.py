"""The tables of a plan, each read once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from judge_audit_schemas.rows import ItemsRow, MismatchesRow, ProbesRow, ZonesRow

from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import ANCHOR, PAIR_AXIS

if TYPE_CHECKING:
    import pyarrow as pa

    from judge_audit.lake import Lake


@dataclass(frozen=True, slots=True)
class PlanTables:
    """The tables of the plans in a lake, each read once per process.

    Attributes:
        lake: The lake.
    """

    lake: Lake
    _read: dict[tuple[str, str], pa.Table] = field(default_factory=dict, repr=False, compare=False)

    def table(self, name: str, plan_id: str) -> pa.Table:
        """Give a table of a plan."""
        if (name, plan_id) in self._read:
            return self._read[name, plan_id]
        table = self.lake.read(name, plan_id=plan_id)
        # A plan of combined probes is asked for before it is made; nothing is not remembered.
        if table.num_rows:
            self._read[name, plan_id] = table
        return table

    def items(self, plan_id: str) -> list[ItemsRow]:
        """Give the items of a plan."""
        return rows_of(self.table("items", plan_id), ItemsRow)

    def probes(self, plan_id: str) -> list[ProbesRow]:
        """Give the probes of a plan."""
        return rows_of(self.table("probes", plan_id), ProbesRow)

    def mismatches(self, plan_id: str) -> list[MismatchesRow]:
        """Give the pairs of a plan."""
        return rows_of(self.table("mismatches", plan_id), MismatchesRow)

    def zone_rows(self, plan_id: str, zones_id: str) -> list[ZonesRow]:
        """Give the zones of a plan."""
        return rows_of(self.zones(plan_id, zones_id), ZonesRow)

    def visible_points(self, plan_id: str, zones_id: str) -> dict[tuple[str, str], float | None]:
        """Give the smaller perceptible point of every ladder, by item and axis."""
        zones = self.zone_rows(plan_id, zones_id)
        return {(row["item_id"], row["axis"]): row["perceptible_low"] for row in zones}

    def pairs_by_probe(self, plan_id: str) -> dict[tuple[str, str, int], MismatchesRow]:
        """Give the pairs by what their damaged members are shown as: item, axis and rung."""
        pairs = self.mismatches(plan_id)
        return {(row["damaged"], PAIR_AXIS + row["kind"], row["rung"]): row for row in pairs}

    def untouched_items(self, plan_id: str) -> pa.Table:
        """Give the items of a plan without its anchors."""
        probes, items = self.table("probes", plan_id), self.table("items", plan_id)
        anchors = probes.filter(pc.equal(probes["axis"], ANCHOR))["item_id"]
        return items.filter(pc.invert(pc.is_in(items["item_id"], value_set=anchors.combine_chunks())))

    def zones(self, plan_id: str, zones_id: str) -> pa.Table:
        """Give the zones of a plan as a table."""
        table = self.table("zones", plan_id)
        return table.filter(pc.equal(table["zones_id"], zones_id))
