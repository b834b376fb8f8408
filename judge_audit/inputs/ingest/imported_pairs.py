"""Imported pairs: those whose members are an audit's items, and what they make of a table of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import ImportsRow, PairsRow

from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import PAIR_AXIS
from judge_audit.inputs.pairs import PairsRead
from judge_audit.stimuli.planning.mismatches import SEVERITY, Member, Mismatches, Pair, by_hand_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import MismatchesRow, ProbesRow

    from judge_audit.lake import Lake
    from judge_audit.stimuli.mismatches.kind import Kind


def pairs_of(lake: Lake, items: Iterable[Mapping[str, Any]], kinds: Mapping[str, Kind]) -> PairsRead:
    """Take the imported pairs of which both members are items.

    Args:
        lake: The lake.
        items: The items.
        kinds: The mismatch kinds by name.
    """
    known = {str(item["item_id"]): item for item in items}
    files = sorted(
        rows_of(lake.read("imports", kind="pairs"), ImportsRow), key=lambda row: str(row["imported_at"])
    )
    place = {row["import_id"]: number for number, row in enumerate(files)}
    rows = {
        row["pair_id"]: row
        for row in sorted(rows_of(lake.read("pairs"), PairsRow), key=lambda row: place[row["import_id"]])
        if row["intact"] in known and row["damaged"] in known
    }
    damaged = {row["damaged"] for row in rows.values()}
    sound = [row for row in rows.values() if row["kind"] in kinds and row["intact"] not in damaged]
    notes = [
        f"Imported pairs of the kind “{kind}” are not used: there is no such kind."
        for kind in sorted({row["kind"] for row in rows.values()} - set(kinds))
    ]
    if lost := sum(row["intact"] in damaged for row in rows.values()):
        notes.append(
            f"{lost} imported pairs are not used: their intact member is another pair's damaged one."
        )
    used = {row["import_id"] for row in sound}
    return PairsRead(
        tuple(_imported(row, known) for row in sorted(sound, key=lambda row: str(row["pair_id"]))),
        tuple(notes),
        {f"import {row['import_id']}": row["file_digest"] for row in files if row["import_id"] in used},
    )


def _imported(row: Mapping[str, Any], items: Mapping[str, Mapping[str, Any]]) -> Pair:
    """Make a pair of a row of table `pairs`."""
    members = (items[row[name]] for name in ("intact", "damaged"))
    intact, damaged = (
        Member(item["item_id"], "", str(item["prompt"] or ""), str(item["pixel_digest"] or ""))
        for item in members
    )
    item = items[row["intact"]]
    group = {name: str(row[name] or item[name] or "") for name in ("source", "topic")}
    return Pair(
        row["pair_id"],
        row["kind"],
        intact,
        damaged,
        cluster=str(item["cluster"]),
        hold=None,
        constructed=False,
        **group,
    )


def table_mismatches(
    pairs: Sequence[Pair], probes: Sequence[ProbesRow]
) -> tuple[list[ProbesRow], Mismatches]:
    """Make the pairs of imported scores: the answer to a damaged item is that to its pair, not an untouched score.

    Args:
        pairs: Pairs of items.
        probes: The untouched probes of all items.

    Returns:
        The probes without those of damaged items, with one per pair and repeat instead; and the pairs.
    """
    own: dict[str, list[ProbesRow]] = {}
    for probe in probes:
        own.setdefault(probe["item_id"], []).append(probe)
    damaged = frozenset(pair.damaged.item_id for pair in pairs)
    left = [probe for probe in probes if probe["item_id"] not in damaged]
    rows: list[MismatchesRow] = []
    asked: list[ProbesRow] = []
    counts: dict[tuple[str, str], int] = {}
    for pair in sorted(pairs, key=lambda pair: (pair.damaged.item_id, pair.kind, pair.pair_id)):
        item = pair.damaged.item_id
        counts[item, pair.kind] = rung = counts.get((item, pair.kind), 0) + 1
        rows.append({**by_hand_row(pair, {}, set()), "rung": rung, "probe_id": own[item][0]["probe_id"]})
        place: ProbesRow = {"axis": PAIR_AXIS + pair.kind, "rung": rung, "strength": SEVERITY}
        asked += [{**probe, **place} for probe in own[item]]
    rows.sort(key=lambda row: str(row["pair_id"]))
    return [*left, *asked], Mismatches(tuple(rows), tuple(asked), damaged=damaged)
