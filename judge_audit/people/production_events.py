"""What production decided and what people did about it: decisions, appeals, reviews and choices, every one once.

A decision is this judge's if its column `judge` names it: by judge_id (whole, or at least eight characters of its
beginning), by name and version, or by the name alone where the lake knows no other judge of that name. Decisions that
name nobody, or somebody else, are no evidence about this judge. A review is this judge's if it was drawn by this
judge's order, or is about one of its decisions; an appeal, if its decision is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import DrawsRow, ImportsRow, JudgeLabelsRow, PacksRow

from judge_audit.core.tables import rows_of, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from judge_audit.lake import Lake

    Row = dict[str, Any]

SHORTEST_ID = 8
"""Characters by which a judge_id may be named."""

HIDDEN = "import_id"
"""The column of these tables that no check sees."""

FAMILIES = {
    "order": ("top", "bottom"),
    "decisions": ("boundary", "beyond", "appeal", ""),
    "optimisation": ("before", "after"),
}
"""Queues that are one sample together."""

KINDS = ("decisions", "reviews", "appeals", "choices")


@dataclass(frozen=True, slots=True)
class Acts:
    """What is there about one judge; each table None if nobody has anything.

    Attributes:
        decisions: Table `decisions` without import_id: this judge's, whatever the items of the audit.
        reviews: Table `reviews` without import_id, about this judge's order or decisions; column judge holds its
            judge_id where they were drawn by it, else "". Of each family of queues the newest pack counts, and only
            where there is none, reviews that no pack asked for.
        draws: Table `draws` of those packs: what was drawn, reviewed or not.
        appeals: Table `appeals` without import_id, against this judge's decisions.
        choices: Table `choices` without import_id whose pick is an item of the audit.
        imports: Digest of each file they came from, by `import <import_id>`.
        notes: What limits every figure made of them.
    """

    decisions: pa.Table | None
    reviews: pa.Table | None
    draws: pa.Table | None
    appeals: pa.Table | None
    choices: pa.Table | None
    imports: dict[str, str]
    notes: tuple[str, ...]


def acts_of(lake: Lake, items: pa.Table, judge_id: str) -> Acts:
    """Read what is there about a judge and an audit's items; of what was imported twice, the newest counts."""
    files = rows_of(lake.read("imports", kind=list(KINDS)), ImportsRow)
    files.sort(key=lambda row: (row["imported_at"], row["import_id"]))
    place = {row["import_id"]: number for number, row in enumerate(files)}
    mine = names_of(lake, judge_id)
    decisions = _once(lake, "decisions", place, lambda row: (row["decision_id"],))
    own, notes = _own_decisions(decisions, mine)
    decided = {row["decision_id"] for row in own}
    known = set(items["item_id"].to_pylist())
    every = [
        {**row, "judge": judge_id if mine(row["judge"] or "") else ""}
        for row in _once(lake, "reviews", place, _review_key)
    ]
    about = [row for row in every if row["judge"] or row["decision_id"] in decided]
    packs = _newest_packs(lake, about)
    reviews = [row for row in about if row["pack_id"] in packs[family_of(row["queue"] or "")]]
    if len(about) > len(reviews):
        notes.append(
            f"{len(about) - len(reviews):,} rows of reviews belong to earlier packs, or to none; the newest counts."
        )
    wanted = sorted({name for names in packs.values() for name in names if name})
    draws: list[Any] = [
        row
        for row in (rows_of(lake.read("draws", pack_id=wanted), DrawsRow) if wanted else [])
        if row["pack_id"] in packs[family_of(row["queue"])]
    ]
    appeals = _once(lake, "appeals", place, lambda row: (row["appeal_id"],))
    against = [row for row in appeals if row["decision_id"] in decided]
    choices = [row for row in _once(lake, "choices", place, _choice_key) if row["item_id"] in known]
    if own and len(appeals) > len(against):
        notes.append(
            f"{len(appeals) - len(against):,} appeals are against decisions that are not known to be this judge's; "
            "they take no part."
        )
    acts = {"decisions": own, "reviews": reviews, "appeals": against, "choices": choices}
    used = {row[HIDDEN] for rows in acts.values() for row in rows}
    file_notes = [
        f"{row['file']}: {note}" for row in files if row["import_id"] in used for note in row["notes"]
    ]
    return Acts(
        **{name: _table(name, rows) for name, rows in {**acts, "draws": draws}.items()},
        imports={
            f"import {row['import_id']}": row["file_digest"] for row in files if row["import_id"] in used
        },
        notes=tuple(dict.fromkeys([*file_notes, *notes])),
    )


def family_of(queue: str) -> str:
    """Say which queues belong together: each family of a pack is a sample of its own."""
    return next((name for name, queues in FAMILIES.items() if queue in queues), "decisions")


def _newest_packs(lake: Lake, reviews: Sequence[Row]) -> dict[str, set[str | None]]:
    """Give, by family of queues, the pack that counts; no pack where there is none."""
    drawn = {row["pack_id"]: row["drawn_at"] for row in rows_of(lake.read("packs"), PacksRow)}
    packs: dict[str, set[str | None]] = {}
    for family in FAMILIES:
        reviewed = {
            row["pack_id"]
            for row in reviews
            if family_of(row["queue"] or "") == family and row["pack_id"] in drawn
        }
        newest = max(reviewed, key=lambda name: (drawn[name], name), default=None)
        packs[family] = {newest} if newest else {"", None}
    return packs


def names_of(lake: Lake, judge_id: str) -> Callable[[str], bool]:
    """Give a test of whether a text names a judge."""
    labels = rows_of(lake.read("judge_labels"), JudgeLabelsRow)
    owners: dict[str, set[str]] = {}
    for row in labels:
        for name in _spellings(row["name"], row["version"]):
            owners.setdefault(name, set()).add(row["judge_id"])
    mine = {name for name, ids in owners.items() if ids == {judge_id}}

    def named(text: str) -> bool:
        word = text.strip().casefold()
        by_id = len(word) >= SHORTEST_ID and judge_id.casefold().startswith(word)
        return by_id or word in mine

    return named


def _spellings(name: str, version: str) -> Iterable[str]:
    """Give the ways in which people write a judge's name and version."""
    yield name.strip().casefold()
    if version:
        yield from (f"{name}{between}{version}".strip().casefold() for between in (" ", "@", ":", "/", "-"))


def _own_decisions(decisions: Sequence[Row], mine: Callable[[str], bool]) -> tuple[list[Row], list[str]]:
    """Keep the decisions that name this judge, and say how many do not."""
    own = [row for row in decisions if mine(row["judge"] or "")]
    nobody = sum(not row["judge"] for row in decisions)
    notes = []
    if nobody:
        notes.append(
            f"{nobody:,} of {len(decisions):,} decisions do not say which judge made them: they are no evidence. Name "
            'it at import: --set "judge=NAME VERSION", or by its judge_id.'
        )
    if others := len(decisions) - nobody - len(own):
        notes.append(
            f"{others:,} of {len(decisions):,} decisions name another judge, or a name that several judges of this "
            "lake bear: they are no evidence about this one."
        )
    return own, notes


def _once(lake: Lake, name: str, place: dict[str, int], key: Callable[[Row], tuple[Any, ...]]) -> list[Row]:
    """Give every row once, as the newest import has it."""
    newest: dict[tuple[Any, ...], Row] = {}
    known = [row for row in lake.read(name).to_pylist() if row[HIDDEN] in place]
    for row in sorted(known, key=lambda row: place[row[HIDDEN]]):
        newest[key(row)] = row
    return [newest[row_key] for row_key in sorted(newest)]


def _review_key(row: Row) -> tuple[Any, ...]:
    """Tell reviews apart: one annotator says one thing of an item for a queue, dimension and axis."""
    who = (row["annotator_id"],) if row["annotator_id"] else ("", row[HIDDEN], row["review_id"])
    names = ("item_id", "decision_id", "queue", "pack_id", "dimension", "axis")
    return (*(row[name] or "" for name in names), *who)


def _choice_key(row: Row) -> tuple[Any, ...]:
    who = (row["annotator_id"],) if row["annotator_id"] else ("", row[HIDDEN], str(row["repeat"]))
    return (row["group_id"], *who)


def _table(name: str, rows: Sequence[Row]) -> pa.Table | None:
    """Make a table as checks see it."""
    if not rows:
        return None
    wanted = pa.schema([field for field in schema(name) if field.name != HIDDEN])
    table = pa.Table.from_pylist(list(rows), schema=wanted)
    empty = pa.scalar("", pa.string())
    for at, field in enumerate(wanted):
        if field.type == pa.string():
            table = table.set_column(at, field, pc.fill_null(table[field.name], empty))
    return table
