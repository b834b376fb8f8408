"""The plan: which items carry ladders, and every probe the judge will be asked.

A probe is named by its content, so an answer already in the lake is never bought twice, and a changed
recipe, picture or prompt is another probe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.axes.axis import strength_text
from judge_audit.digests import row_digest, text_digest
from judge_audit.sight import ITEMS as SIGHT_ITEMS
from judge_audit.sight import SIGHT_PROBES, other_prompts
from judge_audit.tables import from_rows
from judge_audit.vocabulary import ORIGINAL, Region

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from judge_audit.axes.axis import Axis
    from judge_audit.errors import Fault

PROBES_PER_BLOCK = 768
"""Size of a block of work: each task costs some two seconds of its own, so it is to be many times longer."""

RETEST = 2
"""Untouched ladder items are scored at least this often: the judge's own noise is measured, not declared."""


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
    """

    plan_id: str
    items: pa.Table
    refusals: pa.Table
    probes: pa.Table
    ladder_items: tuple[str, ...]
    sight_items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A share of the plan that one task works through: some items with all their probes."""

    source: str
    item_ids: tuple[str, ...]
    probes: int


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
    chosen: list[str] = []
    while len(chosen) < count and any(queues.values()):
        for queue in queues.values():
            if queue and len(chosen) < count:
                chosen.append(queue.pop())
    return tuple(sorted(chosen))


def probe_id(
    pixel_digest: str,
    axis: str,
    strength: float,
    recipe_version: int,
    prompt: str,
    region: Sequence[str] = (),
) -> str:
    """Name a planned stimulus by its content.

    Args:
        pixel_digest: The picture.
        axis: The axis.
        strength: Its strength.
        recipe_version: Of the axis.
        prompt: The prompt shown.
        region: What a local axis keeps to, with the mask's digest if it is a mask; empty for the whole picture.
    """
    return text_digest(pixel_digest, axis, strength_text(strength), str(recipe_version), prompt, *region)


def region_of(axis: Axis, item: Mapping[str, Any]) -> tuple[str, ...]:
    """Name what an axis keeps to on an item: nothing, or the region and the digest of a supplied mask."""
    if axis.region is None:
        return ()
    if axis.region == "background":
        mask = item.get("mask_digest")
        return (Region.MASK.value, mask) if mask else (Region.SALIENCY.value,)
    return (axis.region,)


def make_plan(
    items: pa.Table,
    refusals: Sequence[Fault],
    axes: Mapping[str, Axis],
    *,
    ladder_items: int,
    repeats: int,
    seed: int,
) -> Plan:
    """Plan every probe of an audit.

    Args:
        items: Columns of table `items` without plan_id.
        refusals: Rows left out of the items file.
        axes: The axes to climb, by name.
        ladder_items: How many items carry ladders.
        repeats: How often each probe is asked.
        seed: The audit's seed.

    Returns:
        The plan; the same inputs give the same plan_id.
    """
    rows = items.to_pylist()
    chosen = choose_ladder_items(rows, ladder_items, seed)
    # The same draw, cut shorter: whoever is looked at closely carries ladders too, as far as they go.
    looked_at = choose_ladder_items(rows, SIGHT_ITEMS, seed)
    prompts = other_prompts(rows, looked_at, seed)
    probes = [
        probe
        for row in rows
        for probe in (
            *_item_probes(row, axes if row["item_id"] in set(chosen) else {}, repeats),
            *(_sight_probes(row, prompts[row["item_id"]]) if row["item_id"] in prompts else ()),
        )
    ]
    return name_plan(rows, refusals, probes, chosen, looked_at)


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
) -> Plan:
    """Make the tables of a plan and name it by what they hold.

    Args:
        items: Rows of `items`; their plan_id is overwritten.
        refusals: Rows left out of the items file.
        probes: Rows of `probes`; their plan_id is overwritten.
        ladder_items: Ids of the items that carry ladders, sorted.
        sight_items: Ids of the items by which it is found out what the judge can see, sorted.
    """
    left_out = [
        {"file": f.file, "row": f.row, "column": f.column, "item_id": f.item_id, "reason": f.message}
        for f in refusals
    ]
    draft = [
        from_rows(name, [{**row, "plan_id": ""} for row in content])
        for name, content in (("items", items), ("refusals", left_out), ("probes", probes))
    ]
    plan_id = text_digest(*(row_digest(table) for table in draft))
    named = [_with_plan(table, plan_id) for table in draft]
    return Plan(plan_id, named[0], named[1], named[2], ladder_items, sight_items)


def _item_probes(item: Mapping[str, Any], axes: Mapping[str, Axis], repeats: int) -> list[dict[str, Any]]:
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
            "probe_id": probe_id(item["pixel_digest"], axis, strength, version, item["prompt"], region),
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


def _sight_probes(item: Mapping[str, Any], other_prompt: str | None) -> list[dict[str, Any]]:
    """List the probes of one item that ask what the judge can see; none needs a prompt nobody has."""
    found = []
    for probe in SIGHT_PROBES:
        prompt = other_prompt if probe.other_prompt else item["prompt"]
        if prompt is None:
            continue
        row = {
            "probe_id": probe_id(item["pixel_digest"], probe.name, 0.0, probe.recipe_version, prompt),
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


def blocks(plan: Plan) -> tuple[Block, ...]:
    """Cut a plan into blocks of whole items within a source, each of some seconds of work."""
    counts: dict[str, int] = {}
    for item_id in plan.probes.column("item_id").to_pylist():
        counts[item_id] = counts.get(item_id, 0) + 1
    found: list[Block] = []
    by_source: dict[str, list[str]] = {}
    for row in plan.items.select(["item_id", "source"]).to_pylist():
        by_source.setdefault(row["source"], []).append(row["item_id"])
    for source in sorted(by_source):
        held: list[str] = []
        size = 0
        for item_id in sorted(by_source[source]):
            if held and size + counts[item_id] > PROBES_PER_BLOCK:
                found.append(Block(source, tuple(held), size))
                held, size = [], 0
            held.append(item_id)
            size += counts[item_id]
        if held:
            found.append(Block(source, tuple(held), size))
    return tuple(found)
