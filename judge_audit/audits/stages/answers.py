"""Judges, what they are asked and what they answered, in the lake: probes by item, scores next to their probes."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import ItemsRow, JudgeLabelsRow, JudgesRow, ProbesRow

from judge_audit.audits.model import KEYS
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS, POOLED
from judge_audit.judges.cards.origin import origin_of
from judge_audit.lake.write_ahead import keep
from judge_audit.measures.headroom import COMBO
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from judge_audit.audits.model import Answered, Prepared, Work
    from judge_audit.audits.plan_tables import PlanTables
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake
    from judge_audit.stimuli.planning.blocks import Block

    Row = Mapping[str, Any]


def registration(lake: Lake, cards: Sequence[Card], project: str = "") -> dict[str, pa.Table]:
    """Give the rows of judges and labels that the lake does not have yet, by table, to be committed.

    Args:
        lake: The lake.
        cards: The judges.
        project: The team's folder, to which the paths of cards are relative.
    """
    ids = [card.judge_id for card in cards]
    known = set(lake.select("judges", ["judge_id"], {"judge_id": ids})["judge_id"].to_pylist())
    labels = lake.select("judge_labels", ["judge_id", "name", "version"], {"judge_id": ids}).to_pylist()
    named = {(row["judge_id"], row["name"], row["version"]) for row in labels}
    judge_rows: dict[str, JudgesRow] = {}
    label_rows: dict[str, JudgeLabelsRow] = {}
    for card in cards:
        control = card.kind in {"control", "ruler"}
        if card.judge_id not in known:
            judge_rows[card.judge_id] = {
                "judge_id": card.judge_id,
                "kind": card.kind,
                "card": card.as_json(),
                "is_control": control,
                "registered_at": datetime.now(UTC),
            }
        if (card.judge_id, card.name, card.version) not in named:
            label_rows[card.judge_id] = {
                "judge_id": card.judge_id,
                "name": card.name,
                "version": card.version,
                "origin": origin_of(card, project),
                "is_control": control,
            }
    new = {"judges": from_rows("judges", judge_rows.values())} if judge_rows else {}
    return new | ({"judge_labels": from_rows("judge_labels", label_rows.values())} if label_rows else {})


def register(lake: Lake, cards: Sequence[Card], project: str = "") -> None:
    """Put judges and their labels into the lake; those seen before cost nothing."""
    if new := registration(lake, cards, project):
        lake.commit(new, several=True)


def keep_answers(lake: Lake, calls: Sequence[Row], scores: Sequence[Row]) -> None:
    """Put a batch of answers on disk before the next is asked."""
    keep(lake, {"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})


MANY = 200_000
"""Rows from which on gathered rows are committed."""


@dataclass(slots=True)
class Gathered:
    """Rows of several judges that are cheap to make again, committed together: a commit of each would be many files.

    Attributes:
        lake: Where they go.
        rows: Rows by table.
    """

    lake: Lake
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def add(self, table: str, rows: Sequence[Row]) -> None:
        """Take rows of a table."""
        self.rows.setdefault(table, []).extend(rows)
        if sum(map(len, self.rows.values())) >= MANY:
            self.commit()

    def commit(self) -> None:
        """Put what was gathered into the lake."""
        contents = {name: from_rows(name, rows) for name, rows in self.rows.items() if rows}
        self.rows.clear()
        if contents:
            self.lake.commit(contents, several=True)


def answers_of(lake: Lake, judge_ids: Sequence[str]) -> dict[str, Answered]:
    """Read the answers of several judges at once, which costs little more than those of one."""
    columns = {
        "calls": [*KEYS, "state"],
        "scores": [*KEYS, "dimension", "value", "state"],
    }
    by_judge = []
    for name, wanted in columns.items():
        table = lake.read(name, judge_id=list(judge_ids))
        by_judge.append(
            {one: table.filter(pc.equal(table["judge_id"], one)).select(wanted) for one in judge_ids}
        )
    calls, scores = by_judge
    return {one: (calls[one], scores[one]) for one in judge_ids}


def responses(
    plans: PlanTables, plan_id: str, judge_id: str, *combined: str, answered: Answered | None = None
) -> pa.Table:
    """Put scores next to their probes and items: what a check sees.

    Args:
        plans: The plans' tables.
        plan_id: The audit's plan.
        judge_id: Whose answers.
        combined: Plans of combined probes on the same items.
        answered: Their answers, where they were read already.

    Returns:
        Columns item_id, source, topic, prompt_id, cluster, axis, rung, strength, repeat, dimension, value, state.
        Inert rungs and calls without an answer have dimension `*` and no value.
    """
    probes = pa.concat_tables([plans.table("probes", name) for name in (plan_id, *combined)])
    items = plans.table("items", plan_id).select(["item_id", "source", "topic", "prompt_id", "cluster"])
    calls, scores = answered or answers_of(plans.lake, [judge_id])[judge_id]
    asked = probes.select([*KEYS, "item_id", "axis", "rung", "strength"])
    scored = asked.join(scores, KEYS, join_type="inner")
    unscored = calls.join(scores.select(KEYS).group_by(KEYS).aggregate([]), KEYS, join_type="left anti")
    silent = asked.join(unscored, KEYS, join_type="inner")
    silent = silent.append_column("dimension", pa.array([POOLED] * silent.num_rows, pa.string()))
    silent = silent.append_column("value", pa.nulls(silent.num_rows, pa.float64()))
    columns = ["item_id", "axis", "rung", "strength", "repeat", "dimension", "value", "state"]
    joined = pa.concat_tables([scored.select(columns), silent.select(columns)])
    joined = joined.join(items, "item_id", join_type="inner")
    ordered = ["item_id", "axis", "rung", "repeat", "dimension"]
    return joined.sort_by([(name, "ascending") for name in ordered])


def is_ruled(probe: ProbesRow) -> bool:
    """Tell whether the ruler measures a probe: the original and the rungs of ladders."""
    return probe["axis"] not in SIGHT and not str(probe["axis"]).startswith((PAIR_AXIS, COMBO))


def is_first(probe: ProbesRow) -> bool:
    """Tell whether a probe is the first asking of an untouched item."""
    return bool(probe["axis"] == ORIGINAL and probe["repeat"] == 0)


def measured_by_instruments(probes: pa.Table, *, once: bool) -> pa.Table:
    """Keep what instruments measure: untouched items and ladders; only the first askings of the former if `once`.

    Anchors and what shows what a judge can see are measured by none.
    """
    if once:
        return probes.filter(pc.and_(pc.equal(probes["axis"], ORIGINAL), pc.equal(probes["repeat"], 0)))
    damaged = pc.starts_with(probes["axis"], PAIR_AXIS)
    combined = pc.starts_with(probes["axis"], COMBO)
    unmeasured = pc.is_in(probes["axis"], value_set=pa.array(sorted({ANCHOR, *SIGHT})))
    return probes.filter(pc.invert(pc.or_(unmeasured, pc.or_(damaged, combined))))


def work_of(
    plans: PlanTables, prepared: Prepared, taken: Sequence[Block] = (), *, only: Collection[str] | None = None
) -> Work:
    """Give items with their probes, in the order of the plan; those of some blocks, or all but what was chosen.

    Args:
        plans: The plans' tables.
        prepared: The audit.
        taken: The blocks, none for all.
        only: Names of items where not all are wanted.

    Raises:
        UsageError: If the plan is not in the lake, because this process looks into another one.
    """
    items = plans.table("items", prepared.plan_id)
    if taken and not items.num_rows:
        raise UsageError(
            f"a worker on {platform.node()} finds no plan in the lake at {plans.lake.url}: that is a folder of its "
            "own. Workers of several machines need a lake that all of them reach, such as s3://bucket/folder."
        )
    combined = taken and taken[0].plan_id
    names = (taken[0].plan_id,) if combined else (prepared.plan_id, prepared.soundings_id)
    probes = pa.concat_tables([plans.table("probes", name) for name in names])
    order = [item_id for block in taken for item_id in block.item_ids]
    if taken or only is not None:
        wanted = pa.array(order if taken else sorted(only or ()), pa.string())
        items = items.filter(pc.is_in(items["item_id"], value_set=wanted))
        probes = probes.filter(pc.is_in(probes["item_id"], value_set=wanted))
    rows = {row["item_id"]: row for row in rows_of(items.sort_by("item_id"), ItemsRow)}
    probes_of: dict[str, list[ProbesRow]] = {item_id: [] for item_id in rows}
    keys = [("item_id", "ascending"), ("axis", "ascending"), ("rung", "ascending"), ("repeat", "ascending")]
    for probe in rows_of(probes.sort_by(keys), ProbesRow):
        probes_of[probe["item_id"]].append(probe)
    return [(rows[item_id], probes_of[item_id]) for item_id in order or rows]
