"""Which audits are of one judge as it changes: those of its origin, and of those that it takes over from.

A name is a label that anybody can give. An approval, a baseline and a conviction therefore follow the origin that an
audit recorded (the card's path in the project, module and attribute, the name in a registry), the identity of the
judge itself, or a recorded hand-over (`approve --succeeds`), and never a name alone. Audits recorded before origins
were are of nobody's lineage but that of the very same judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit_schemas.rows import ApprovalsRow, AuditsRow

from judge_audit.core.tables import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judge_audit.lake import Lake


@dataclass(frozen=True, slots=True)
class Lineage:
    """A judge and what it was before.

    Attributes:
        origins: Where it comes from, and where those came from that it took over from.
        judges: Its own judge_id, and those of the judges it took over from.
    """

    origins: frozenset[str]
    judges: frozenset[str]

    def holds(self, row: AuditsRow | ApprovalsRow) -> bool:
        """Tell whether an audit or an approval is of this lineage."""
        return row["judge_id"] in self.judges or (row["origin"] or "") in self.origins


def lineage_of(audit: AuditsRow, approvals: Iterable[ApprovalsRow]) -> Lineage:
    """Give the lineage of the judge of an audit.

    Args:
        audit: Row of `audits`.
        approvals: All approvals; those that hand over name the judge that was before.
    """
    rows = list(approvals)
    origins, judges = {audit.get("origin") or ""} - {""}, {audit["judge_id"]}
    while True:
        own = [row for row in rows if row["judge_id"] in judges or (row["origin"] or "") in origins]
        before = {row["succeeds"] for row in own if row["succeeds"]} - judges
        if not before:
            return Lineage(frozenset(origins), frozenset(judges))
        judges |= before
        origins |= {row["origin"] for row in rows if row["judge_id"] in before and row["origin"]}


def audits_of(lake: Lake, lineage: Lineage) -> list[AuditsRow]:
    """Give the complete audits of a lineage, the earliest first."""
    rows = rows_of(lake.read("audits", status="complete"), AuditsRow)
    found = [row for row in rows if lineage.holds(row)]
    return sorted(found, key=lambda row: (str(row["ended_at"]), row["audit_id"]))
