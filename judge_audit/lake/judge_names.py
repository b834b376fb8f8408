"""What judges are called: labels on their ids, of which a judge may have several."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_audit.lake import Lake


def names_of(lake: Lake, judge_id: str) -> set[str]:
    """Give the names a judge goes by; a changed judge of the same name is its next version."""
    return {row["name"] for row in lake.read("judge_labels", judge_id=judge_id).to_pylist()}


def called(lake: Lake, judge_id: str) -> str:
    """Give what to call a judge in a sentence: its names with their versions, else its id."""
    labels = lake.read("judge_labels", judge_id=judge_id).to_pylist()
    told = sorted({f"{row['name']} {row['version'] or ''}".strip() for row in labels})
    return " / ".join(told) or judge_id


def first_names(lake: Lake) -> dict[str, str]:
    """Give one name for each judge, by its id, as view `nights` does: the first of its names; controls are left out."""
    found: dict[str, str] = {}
    rows = lake.select("judge_labels", ["judge_id", "name"], {"is_control": False}).to_pylist()
    for row in rows:
        found[row["judge_id"]] = min(row["name"], found.get(row["judge_id"], row["name"]))
    return found
