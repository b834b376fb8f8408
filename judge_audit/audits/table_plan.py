"""The plan of an audit whose judge is a table: every item that the lake holds an answer to, untouched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import ANCHOR
from judge_audit.inputs.ingest.imported_pairs import pairs_of, table_mismatches
from judge_audit.inputs.ingest.table_judge import family_of, reread
from judge_audit.stimuli.mismatches import mismatch_kinds
from judge_audit.stimuli.planning.probes import Plan, name_plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import pyarrow as pa

    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake
    from judge_audit.stimuli.mismatches.kind import Kind

    Row = Mapping[str, Any]

KEYS = ["probe_id", "repeat"]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """What such an audit goes by.

    Attributes:
        plan: The plan: items and their untouched probes, no ladders.
        imports: Digest of each file the scores came from, by `import <import_id>`.
        notes: What the imports said of their rows, and how many answers were read again.
    """

    plan: Plan
    imports: dict[str, str]
    notes: tuple[str, ...]


def plan_table_audit(
    lake: Lake,
    card: Card,
    anchors: Sequence[tuple[Row, str]] = (),
    kinds: Mapping[str, Kind] | None = None,
) -> TablePlan:
    """Plan the audit of imported scores; replies that another parser had read are read again first.

    Imported pairs whose members are both among the scored items are mismatches: their damaged members are no
    longer untouched items.

    Args:
        lake: The lake.
        card: Whose scores.
        anchors: Rows of `items` of the anchors, each with the item_id under which the scores know it; those that
            the lake has an answer to are asked as anchors too.
        kinds: The mismatch kinds by name; None takes the package's own.

    Raises:
        UsageError: If the lake holds no scores of the judge.
    """
    again = reread(lake, card)
    family = set(family_of(lake, card))
    rows = [row for row in lake.read("imports", kind="scores").to_pylist() if row["judge_id"] in family]
    if not rows:
        raise UsageError(
            f"the lake at {lake.url} holds no scores of “{card.name} {card.version}”. Import them: "
            "judge-audit import scores FILE --card CARD"
        )
    rows.sort(key=lambda row: (row["imported_at"], row["import_id"]))
    ids = [row["import_id"] for row in rows]
    answered = lake.answered(card.judge_id).select(KEYS)
    probes = lake.read("probes", plan_id=ids).join(answered, KEYS, join_type="inner")
    items = _first_said(lake.read("items", plan_id=ids), ids, set(probes["item_id"].to_pylist()))
    pairs = pairs_of(lake, items, mismatch_kinds() if kinds is None else kinds)
    answers = _once(probes)
    chosen, again_asked = _anchors(anchors, answers)
    asked, mismatches = table_mismatches(pairs.pairs, answers)
    plan = name_plan([*items, *chosen], (), [*asked, *again_asked], mismatches=mismatches)
    notes = [f"{row['file']}: {note}" for row in rows for note in row["notes"]]
    notes += [
        f"{row['file']}: {row['refused']:,} faulty rows were left out at import; the lake lists them."
        for row in rows
        if row["refused"]
    ]
    if again:
        notes.append(f"{again:,} replies were read again by parser {card.parser_version}; nothing was asked.")
    notes += pairs.warnings
    imports = {f"import {row['import_id']}": row["file_digest"] for row in rows} | dict(pairs.imports)
    return TablePlan(plan, imports, tuple(dict.fromkeys(notes)))


def _anchors(anchors: Sequence[tuple[Row, str]], asked: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Give the anchors that there are scores of, and their probes: the same answers, asked as anchors."""
    held: dict[str, list[Row]] = {}
    for probe in asked:
        held.setdefault(probe["item_id"], []).append(probe)
    found = [(row, held[name]) for row, name in anchors if name in held]
    probes: list[Row] = [
        {**probe, "item_id": row["item_id"], "axis": ANCHOR} for row, answered in found for probe in answered
    ]
    return [row for row, _ in found], probes


def _first_said(items: pa.Table, ids: list[str], wanted: set[str]) -> list[dict[str, Any]]:
    """Give every item once, as the earliest import described it; later ones fill in what it left out."""
    order = {import_id: place for place, import_id in enumerate(ids)}
    held: dict[str, dict[str, Any]] = {}
    for row in sorted(items.to_pylist(), key=lambda row: order[row["plan_id"]]):
        if row["item_id"] in wanted:
            known = held.setdefault(row["item_id"], row)
            known.update({name: value for name, value in row.items() if known[name] in (None, "")})
    return [held[item_id] for item_id in sorted(held)]


def _once(probes: pa.Table) -> list[dict[str, Any]]:
    """Give every probe once, in the order of items and repeats."""
    held = {(row["item_id"], row["repeat"]): row for row in probes.to_pylist()}
    return [held[key] for key in sorted(held)]
