"""After the audit of a new epoch: what of the order of the anchors changed, as for any other change of judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.gate.comparing import compare_with

if TYPE_CHECKING:
    from judge_audit.lake import Lake


def compare_epochs(lake: Lake, audit: dict[str, Any], epoch: int) -> None:
    """Compare a judge with the epoch before it on the anchors, and put what changed into the lake.

    Where no audit of an earlier epoch was completed there is nothing to compare with.

    Args:
        lake: The lake.
        audit: The row of `audits` of the complete audit.
        epoch: Its judge's epoch.
    """
    nights = lake.read("canary_nights", judge_id=audit["judge_id"]).to_pylist()
    if not nights:
        return
    family = lake.read("canary_nights", lineage_id=nights[0]["lineage_id"]).to_pylist()
    earlier = sorted({row["judge_id"] for row in family if row["epoch"] < epoch} - {audit["judge_id"]})
    before = lake.read("audits", status="complete", judge_id=earlier).to_pylist() if earlier else []
    if before:
        newest = max(before, key=lambda row: (row["ended_at"], row["audit_id"]))
        compare_with(lake, audit, [newest])
