"""The candidate beside the judges before it, on the anchors: what the anchor suite and the history read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.decisions.judge_change import AnchorSet, compare

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judge_audit.decisions.judge_change import Change
    from judge_audit.lake import Lake

    Row = dict[str, Any]


def compare_with(lake: Lake, candidate: Row, others: Iterable[Row]) -> list[Change]:
    """Compare the candidate's judge with the judges of other audits on the anchors, and commit what was found.

    The same judge has the same order and is not compared; without anchors in either audit there is nothing to
    compare.

    Args:
        lake: The lake.
        candidate: A row of `audits`.
        others: Rows of `audits`.
    """
    found = []
    for other in {row["audit_id"]: row for row in others}.values():
        if other["judge_id"] == candidate["judge_id"]:
            continue
        new, old = (anchors_in(lake, row) for row in (candidate, other))
        anchors = new or old
        if anchors is None:
            continue
        change = compare(lake, candidate["audit_id"], other["audit_id"], anchors, old)
        lake.commit(change.tables())
        found.append(change)
    return found


def anchors_in(lake: Lake, audit: Row) -> AnchorSet | None:
    """Read the anchors an audit went by, under the names its scores know them by; None if it went by none."""
    if audit.get("anchor_set") is None:
        return None
    key = {"set_id": audit["anchor_set"], "anchor_version": audit["anchor_version"]}
    held = lake.read("anchors", **key)
    items = dict(zip(held["anchor_id"].to_pylist(), held["item_id"].to_pylist(), strict=True))
    tables = []
    for table in (held, lake.read("anchor_labels", **key)):
        names = [items.get(name, name) for name in table["anchor_id"].to_pylist()]
        place = table.schema.get_field_index("anchor_id")
        tables.append(table.set_column(place, "anchor_id", [names]))
    version = f"{audit['anchor_set']}/{audit['anchor_version']}"
    return AnchorSet(version, tables[0], tables[1])
