"""The plan: which items carry ladders, and every probe the judge will be asked.

A probe is named by its content, so an answer already in the lake is never bought twice, and a changed
recipe, picture or prompt is another probe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import row_digest, text_digest
from judge_audit.core.errors import Fault, InputError
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL
from judge_audit.stimuli.planning.probe_ids import PLANNED, RETEST, probe_id, region_of, untouched_id
from judge_audit.stimuli.sight_probes import ITEMS as SIGHT_ITEMS
from judge_audit.stimuli.sight_probes import SIGHT_PROBES, other_prompts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from judge_audit_schemas.rows import ItemsRow, ProbesRow

    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.planning.mismatches import Mismatches


@dataclass(frozen=True, slots=True)
class Plan:
    """What one audit will ask.

    Attributes:
        plan_id: Digest of the items, refusals and probes.
        items: Table `items`.
        refusals: Table `refusals`.
        probes: Table `probes`, sorted by item, axis, rung and repeat.
        ladder_items: Ids of the items that carry ladders, sorted.
        sight_items: Ids of the items by which it is found out what the judge can see, sorted.
        mismatches: Table `mismatches`.
        unsuited: Table `unsuited`.
    """

    plan_id: str
    items: pa.Table
    refusals: pa.Table
    probes: pa.Table
    ladder_items: tuple[str, ...]
    sight_items: tuple[str, ...]
    mismatches: pa.Table
    unsuited: pa.Table

    @property
    def tables(self) -> dict[str, pa.Table]:
        """The tables of the plan by name, as the lake keeps them."""
        return {name: getattr(self, name) for name in PLANNED}


def choose_ladder_items(items: Sequence[Mapping[str, Any]], count: int, seed: int) -> tuple[str, ...]:
    """Draw the items that carry ladders: spread evenly over sources, then over clusters.

    The draw knows nothing of any score (choosing by the judge's own score makes ±.09 out of nothing).

    Args:
        items: Rows with item_id, source and cluster.
        count: How many to draw; all when there are no more.
        seed: The audit's seed.

    Returns:
        Item ids, sorted.
    """
    return tuple(sorted(round_robin_order(items, seed)[:count]))


def round_robin_order(items: Sequence[Mapping[str, Any]], seed: int) -> list[str]:
    """Put all items in the order in which they are drawn: sources take turns, then clusters within a source.

    Args:
        items: Rows with item_id, source and cluster.
        seed: The audit's seed.
    """
    queues: dict[str, list[str]] = {}
    for source in sorted({str(item["source"]) for item in items}):
        seen: dict[str, int] = {}
        ranked: list[tuple[int, str, str]] = []
        of_source = [item for item in items if item["source"] == source]
        for item in sorted(of_source, key=lambda row: text_digest(str(seed), str(row["item_id"]))):
            turn = seen.get(item["cluster"], 0)
            seen[item["cluster"]] = turn + 1
            ranked.append((turn, text_digest(str(seed), str(item["item_id"])), str(item["item_id"])))
        queues[source] = [item_id for _, _, item_id in sorted(ranked, reverse=True)]
    order: list[str] = []
    while any(queues.values()):
        order += [queue.pop() for queue in queues.values() if queue]
    return order


def make_plan(  # noqa: PLR0913 - what a plan is made of
    items: pa.Table,
    refusals: Sequence[Fault],
    axes: Mapping[str, Axis],
    *,
    ladder_items: int,
    repeats: int,
    seed: int,
    anchors: Sequence[ItemsRow] = (),
    sight: bool = True,
    mismatches: Mismatches | None = None,
) -> Plan:
    """Plan every probe of an audit.

    Args:
        items: Columns of table `items` without plan_id.
        refusals: Rows left out of the items file.
        axes: The axes to climb, by name.
        ladder_items: How many items carry ladders.
        repeats: How often each probe is asked.
        seed: The audit's seed.
        anchors: Rows of `items` of the anchors; they carry no ladders and are nobody's reference.
        sight: Whether it is asked what the judge can see.
        mismatches: The pairs to ask about; their damaged members carry no ladder and are never untouched.

    Returns:
        The plan; the same inputs give the same plan_id.

    Raises:
        InputError: If an item bears the name of an anchor.
    """
    rows = items.to_pylist()
    if twice := sorted({row["item_id"] for row in rows} & {row["item_id"] for row in anchors}):
        said = "an anchor of the set goes by this name; give the item another."
        raise InputError([Fault("items", 0, "item_id", f"“{name}”: {said}") for name in twice])
    damaged = mismatches.damaged if mismatches else frozenset()
    untouched = [row for row in rows if row["item_id"] not in damaged]
    chosen = choose_ladder_items(untouched, ladder_items, seed) if axes else ()
    # The same draw, cut shorter: whoever is looked at closely carries ladders too, as far as they go.
    looked_at = choose_ladder_items(untouched, SIGHT_ITEMS, seed) if sight else ()
    prompts = other_prompts(untouched, looked_at, seed)
    beside = mismatches.items if mismatches else ()
    probes = [
        probe
        for row in (*untouched, *(row for row in beside if row["item_id"] not in damaged))
        for probe in (
            *_item_probes(row, axes if row["item_id"] in set(chosen) else {}, repeats),
            *(_sight_probes(row, prompts[row["item_id"]]) if row["item_id"] in prompts else ()),
        )
    ]
    probes += mismatches.probes if mismatches else ()
    probes += [
        probe for row in anchors for probe in anchor_probes(row, untouched_id(row), max(repeats, RETEST))
    ]
    whole = sorted([*rows, *beside], key=lambda row: str(row["item_id"]))
    return name_plan([*whole, *anchors], refusals, probes, chosen, looked_at, mismatches)


def anchor_probes(item: ItemsRow, name: str, repeats: int) -> list[ProbesRow]:
    """List the probes of an anchor: itself untouched, as an anchor and not as an item.

    Args:
        item: Its row of `items`.
        name: Its probe_id, that of the untouched picture and prompt.
        repeats: How often it is asked.
    """
    row: ProbesRow = {
        "probe_id": name,
        "item_id": item["item_id"],
        "axis": ANCHOR,
        "rung": 0,
        "strength": 0.0,
        "recipe_version": 0,
        "prompt": item["prompt"],
        "region": None,
    }
    return [{**row, "repeat": repeat} for repeat in range(repeats)]


def count_calls(items: int, axes: Mapping[str, Axis], *, ladder_items: int, repeats: int = 1) -> int:
    """Count the probes of a plan without making it: no rung is inert, every item has another's prompt.

    Args:
        items: How many items there are.
        axes: The axes to climb, by name.
        ladder_items: How many items carry ladders.
        repeats: How often each probe is asked.
    """
    climbing = min(items, ladder_items) if axes else 0
    rungs = sum(len(axis.strengths) for axis in axes.values()) * repeats
    seen = sum(probe.repeats for probe in SIGHT_PROBES)
    more = max(repeats, RETEST) - repeats
    return items * repeats + climbing * (rungs + more) + min(items, SIGHT_ITEMS) * seen


def name_plan(
    items: Sequence[Mapping[str, Any]],
    refusals: Sequence[Fault],
    probes: Sequence[Mapping[str, Any]],
    ladder_items: tuple[str, ...] = (),
    sight_items: tuple[str, ...] = (),
    mismatches: Mismatches | None = None,
) -> Plan:
    """Make the tables of a plan and name it by what they hold.

    Args:
        items: Rows of `items`; their plan_id is overwritten.
        refusals: Rows left out of the items file.
        probes: Rows of `probes`; their plan_id is overwritten.
        ladder_items: Ids of the items that carry ladders, sorted.
        sight_items: Ids of the items by which it is found out what the judge can see, sorted.
        mismatches: The pairs whose damaged members are among the probes.
    """
    left_out = [
        {"file": f.file, "row": f.row, "column": f.column, "item_id": f.item_id, "reason": f.message}
        for f in refusals
    ]
    pairs = mismatches.pairs if mismatches else ()
    unsuited = mismatches.unsuited if mismatches else ()
    contents: tuple[Sequence[Mapping[str, Any]], ...] = (items, left_out, probes, pairs, unsuited)
    draft = {
        name: from_rows(name, [{**row, "plan_id": ""} for row in content])
        for name, content in zip(PLANNED, contents, strict=True)
    }
    plan_id = text_digest(*(row_digest(table) for table in draft.values()))
    named = {name: _with_plan(table, plan_id) for name, table in draft.items()}
    return Plan(plan_id, ladder_items=ladder_items, sight_items=sight_items, **named)


def _item_probes(item: ItemsRow, axes: Mapping[str, Axis], repeats: int) -> list[ProbesRow]:
    """List the probes of one item: itself untouched, and its ladders if it carries any."""
    rungs: list[tuple[str, int, float, int, int, tuple[str, ...]]] = [
        (ORIGINAL, 0, 0.0, 0, max(repeats, RETEST) if axes else repeats, ()),
    ]
    for axis in axes.values():
        rungs += [
            (axis.name, rung, strength, axis.recipe_version, repeats, region_of(axis, item))
            for rung, strength in enumerate(axis.strengths, start=1)
        ]
    return [
        {
            "probe_id": probe_id(str(item["pixel_digest"]), axis, strength, version, item["prompt"], region),
            "item_id": item["item_id"],
            "axis": axis,
            "rung": rung,
            "strength": strength,
            "recipe_version": version,
            "repeat": repeat,
            "prompt": item["prompt"],
            "region": region[0] if region else None,
        }
        for axis, rung, strength, version, times, region in rungs
        for repeat in range(times)
    ]


def _sight_probes(item: ItemsRow, other_prompt: str | None) -> list[ProbesRow]:
    """List the probes of one item that ask what the judge can see; none needs a prompt nobody has."""
    found: list[ProbesRow] = []
    for probe in SIGHT_PROBES:
        prompt = other_prompt if probe.other_prompt else item["prompt"]
        if prompt is None:
            continue
        row: ProbesRow = {
            "probe_id": probe_id(str(item["pixel_digest"]), probe.name, 0.0, probe.recipe_version, prompt),
            "item_id": item["item_id"],
            "axis": probe.name,
            "rung": 0,
            "strength": 0.0,
            "recipe_version": probe.recipe_version,
            "prompt": prompt,
            "region": None,
        }
        found += [{**row, "repeat": repeat} for repeat in range(probe.repeats)]
    return found


def _with_plan(table: pa.Table, plan_id: str) -> pa.Table:
    """Write the plan's id into its tables."""
    import pyarrow as pa  # noqa: PLC0415 - the table module brings it anyway

    column = pa.array([plan_id] * table.num_rows, table.schema.field("plan_id").type)
    return table.set_column(table.schema.get_field_index("plan_id"), table.schema.field("plan_id"), column)
