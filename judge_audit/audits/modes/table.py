"""The audit of a judge that is a table of scores: every item that the lake holds an answer to, untouched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from judge_audit_schemas.rows import ImportsRow, ProbesRow

from judge_audit.anchors.tables import item_rows
from judge_audit.audits.model import KEYS, Outstanding, Planned
from judge_audit.audits.modes.scored import ScoredMode
from judge_audit.audits.stages.plan import count_asked
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import ANCHOR
from judge_audit.inputs.ingest.imported_pairs import pairs_of, table_mismatches
from judge_audit.inputs.ingest.table_judge import family_of, reread
from judge_audit.stimuli.mismatches import mismatch_kinds
from judge_audit.stimuli.planning.probes import Plan, name_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.model import ScoringSetup
    from judge_audit.audits.plan_tables import PlanTables
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake
    from judge_audit.stimuli.mismatches.kind import Kind

    Row = Mapping[str, Any]


SHOWN_TO_CONTROLS = 2_000
"""Items of a table that the controls answer: enough to convict a scale, however long the table is."""

IGNORED_ITEMS = (
    "The judge is a table of scores: the items file was not read, the items are those of the table."
)


@dataclass(frozen=True, slots=True)
class TableMode(ScoredMode):
    """Everything is in the lake: nothing is read, climbed or asked."""

    asks_judge: bool = False
    climbs_ladders: bool = False
    shows_sight: bool = False

    def questions(self, configuration: Configuration) -> tuple[str, ...]:
        """Say what to ask the lake after an audit; one that names an items file gets what others get."""
        if not configuration.items:
            return ("SELECT * FROM percentiles LIMIT 20", "SELECT * FROM scale_summary")
        mode = ScoredMode()
        return (mode.only_mismatches() if configuration.only else mode).lake_questions

    def plan(
        self, setup: ScoringSetup, inputs: AuditInputs, on_image: Callable[[int, int], None] | None
    ) -> Planned:
        """Say what the lake holds answers to."""
        del on_image
        anchors = item_rows(inputs.anchors) if inputs.anchors else []
        planned = plan_table_audit(setup.lake, setup.judge.card, anchors, setup.stimuli.kinds)
        ignored = (IGNORED_ITEMS,) if setup.configuration.items else ()
        return replace(planned, notes=(*ignored, *planned.notes))

    def outstanding(self, setup: ScoringSetup, inputs: AuditInputs, plan: Plan) -> Outstanding:
        """Count the answers; nothing is left to ask."""
        del setup, inputs
        return Outstanding(count_asked(plan.probes), 0, {})

    def shown_to_controls(
        self, plans: PlanTables, plan_id: str, seed: int
    ) -> tuple[frozenset[str], frozenset[str]] | None:
        """Name none: a table has its own bound."""
        del plans, plan_id, seed
        return None

    def items_of_controls(self, plans: PlanTables, plan_id: str) -> pa.Array:
        """Name the items of a table that controls answer: evenly by name, and the members of pairs."""
        pairs = plans.table("mismatches", plan_id)
        members = {name for column in ("intact", "damaged") for name in pairs[column].to_pylist()}
        items = sorted(plans.table("items", plan_id)["item_id"].to_pylist())
        step = max(1, -(-len(items) // SHOWN_TO_CONTROLS))
        return pa.array(sorted({*items[::step], *members}), pa.string())


def plan_table_audit(
    lake: Lake,
    card: Card,
    anchors: Sequence[tuple[Row, str]] = (),
    kinds: Mapping[str, Kind] | None = None,
) -> Planned:
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
    rows = [
        row for row in rows_of(lake.read("imports", kind="scores"), ImportsRow) if row["judge_id"] in family
    ]
    if not rows:
        raise UsageError(
            f"the lake at {lake.url} holds no scores of “{card.name} {card.version}”. Import them: "
            "judge-audit import scores FILE --card CARD"
        )
    rows.sort(key=lambda row: (row["imported_at"], row["import_id"]))
    ids = [row["import_id"] for row in rows]
    answered = lake.answered(card.judge_id).select(KEYS)
    probes = lake.read("probes", plan_id=ids).join(answered, KEYS, join_type="inner")
    items = _first_described(lake.read("items", plan_id=ids), ids, set(probes["item_id"].to_pylist()))
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
    return Planned(plan, tuple(dict.fromkeys(notes)), imports)


def _anchors(anchors: Sequence[tuple[Row, str]], asked: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Give the anchors that there are scores of, and their probes: the same answers, asked as anchors."""
    by_item: dict[str, list[Row]] = {}
    for probe in asked:
        by_item.setdefault(probe["item_id"], []).append(probe)
    scored = [(row, by_item[name]) for row, name in anchors if name in by_item]
    probes: list[Row] = [
        {**probe, "item_id": row["item_id"], "axis": ANCHOR} for row, answered in scored for probe in answered
    ]
    return [row for row, _ in scored], probes


def _first_described(items: pa.Table, ids: list[str], wanted: set[str]) -> list[dict[str, Any]]:
    """Give every item once, as the earliest import described it; later ones fill in what it left out."""
    order = {import_id: place for place, import_id in enumerate(ids)}
    by_item: dict[str, dict[str, Any]] = {}
    for row in sorted(items.to_pylist(), key=lambda row: order[row["plan_id"]]):
        if row["item_id"] in wanted:
            known = by_item.setdefault(row["item_id"], row)
            known.update({name: value for name, value in row.items() if known[name] in (None, "")})
    return [by_item[item_id] for item_id in sorted(by_item)]


def _once(probes: pa.Table) -> list[ProbesRow]:
    """Give every probe once, in the order of items and repeats."""
    by_key = {(row["item_id"], row["repeat"]): row for row in rows_of(probes, ProbesRow)}
    return [by_key[key] for key in sorted(by_key)]
