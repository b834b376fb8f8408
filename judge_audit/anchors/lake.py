"""Anchor sets in the lake: what every audit keeps of the set it used, and holds the next one to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.anchors.ledger import LEDGER, RESTORE
from judge_audit.anchors.tables import SCHEMA, in_long_form, ledger_rows, tables_of
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.tables import from_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from judge_audit.anchors.folder import AnchorSet
    from judge_audit.lake import Lake


@dataclass(frozen=True, slots=True)
class AnchorsUsed:
    """Which anchors an audit used.

    Attributes:
        set_id: The set.
        version: Its version.
        head: Digest of that version's last entry.
    """

    set_id: str
    version: int
    head: str


def hold_to_lake(held: AnchorSet, lake: Lake) -> None:
    """See that a ledger extends every version of the set that the lake has seen.

    Raises:
        InputError: Naming the first entry that is another one, or is gone.
    """
    where = f"the lake at {lake.url} has seen"
    faults = []
    for row in lake.read("anchor_ledger", set_id=held.set_id).to_pylist():
        number = row["anchor_version"]
        if number <= held.version and held.head(number) == row["anchor_head"]:
            continue
        said = f"{where} another entry here: the ledger was rewritten since an audit used it."
        if number > held.version:
            said = f"{where} version {number} of this set, and the ledger ends at {held.version}."
        faults.append(Fault(LEDGER, min(number, held.version), "", f"{said} {RESTORE}"))
        break
    known = {entry.digest for entry in held.entries}
    for row in lake.read("audits", anchor_set=held.set_id).to_pylist():
        if row["anchor_head"] not in known and not faults:
            said = f"it does not hold the version that the audit {row['audit_id']} used ({row['anchor_head'][:12]}…)."
            faults.append(Fault(LEDGER, 0, "", f"{said} {RESTORE}"))
    if faults:
        raise InputError(faults, f"The anchor set at {held.folder} is not used as it is; nothing was asked.")


def keep(held: AnchorSet, lake: Lake, version: int | None = None) -> AnchorsUsed:
    """Put the ledger and a version of the set into the lake; what is there already costs nothing.

    Raises:
        InputError: If the ledger does not extend what the lake has seen.
    """
    hold_to_lake(held, lake)
    number = version or held.version
    after = lake.read("anchor_ledger", set_id=held.set_id).num_rows
    if after < held.version:
        lake.commit({"anchor_ledger": from_rows("anchor_ledger", ledger_rows(held, after))})
    if not lake.read("anchors", set_id=held.set_id, anchor_version=number).num_rows:
        lake.commit(tables_of(held, number))
    return AnchorsUsed(held.set_id, number, held.head(number))


def kept_anchors(lake: Lake, set_id: str, version: int) -> pa.Table:
    """Read the anchors of a version from the lake in long form, a row for every label (`standing.SCHEMA`)."""
    key = {"set_id": set_id, "anchor_version": version}
    return in_long_form(lake.read("anchors", **key), lake.read("anchor_labels", **key))


def anchors_of_audit(lake: Lake, audit_id: str) -> pa.Table:
    """Read the anchors that an audit used in long form; no rows if it used none.

    Raises:
        UsageError: If the lake has no such audit.
    """
    rows = lake.read("audits", audit_id=audit_id).to_pylist()
    if not rows:
        raise UsageError(f"the lake at {lake.url} has no audit “{audit_id}”.")
    if rows[0]["anchor_set"] is None:
        return SCHEMA.empty_table()
    return kept_anchors(lake, rows[0]["anchor_set"], rows[0]["anchor_version"])
