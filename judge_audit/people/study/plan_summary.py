"""What `study plan` says of a study: what is read, how narrow thresholds get, how long it takes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judge_audit.people.zones import READ_ENOUGH

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from judge_audit.people.study.build_plan import Planned


def plan_lines(path: Path, planned: Planned) -> list[str]:
    """Say what is read, how narrow it gets and how long it takes."""
    study = planned.study
    catches = sum(ladder.catch for ladder in study.ladders)
    told = [f"Study “{study.name}” in {path}: {study.slots} ladders for each reader."]
    for axis in planned.axes:
        spread = "assumed" if axis.assumed else "from readings"
        basis = f"spread {axis.spread:.2f}, {spread}"
        line = f"  {axis.axis:<16} {axis.items:>3} items: threshold within ×÷{axis.half_width:.2f} ({basis})"
        if axis.items < axis.wanted:
            line += f"; {axis.wanted} items would bring it within the aim"
        told.append(line + (f"; {axis.inert} items left out: nothing changes on them" if axis.inert else ""))
    few = [axis.axis for axis in planned.axes if axis.items < READ_ENOUGH]
    told.append(f"  {catches} catch ladders on which nothing changes, {study.repeats} shown again.")
    if few:
        told.append(
            f"  Fewer than {READ_ENOUGH} items are read on {', '.join(few)}: unread items get no zone from them. "
            "Carry ladders on more items (--ladder-items) or read more (--per-axis)."
        )
    how = "measured on earlier readings" if planned.timed else "an assumption until you have read some"
    told.append(
        f"About {planned.minutes:.0f} minutes for each reader ({planned.seconds:.0f} s a ladder, {how}), in as many "
        "sittings as they like."
    )
    return told


def plan_told(path: Path, planned: Planned, links: Mapping[str, str]) -> dict[str, Any]:
    """Say the same as plain values."""
    study = planned.study
    return {
        "study": str(path),
        "study_id": study.study_id,
        "protocol": study.protocol,
        "ladders": study.slots,
        "catches": sum(ladder.catch for ladder in study.ladders),
        "repeats": study.repeats,
        "axes": [asdict(axis) for axis in planned.axes],
        "minutes": planned.minutes,
        "seconds_measured": planned.timed,
        "links": dict(links),
    }
