"""Deliberate mismatches in a plan: the pairs people made by hand and those built of the items.

An intact member is an untouched item like any other. A damaged one is a probe on the axis `pair:<kind>`: of the
intact member's item where the pair was built, of its own item where it was made by hand; it is never scored
untouched, so that no reference holds it. Its probe is named by the pixels and the prompt that are shown.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from judge_audit.core.digests import pixel_digest, text_digest
from judge_audit.core.vocabulary import PAIR_AXIS, POOLED
from judge_audit.stimuli.mismatches.kind import Built, Unsuited
from judge_audit.stimuli.planning.probe_ids import probe_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from judge_audit_schemas.rows import ItemsRow, MismatchesRow, ProbesRow, UnsuitedRow
    from numpy.typing import NDArray

    from judge_audit.stimuli.mismatches.kind import Box, Kind
    from judge_audit.stimuli.pair_builder import PairBuilder

    Pixels = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a pair.

    Attributes:
        item_id: The item it is, "" for a picture of its own.
        uri: Where the picture lies, "" for an item.
        prompt: The prompt it is shown with.
        pixel_digest: Of the picture, or the item's own; "" if not known.
        written: What the manifest calls it.
        exchanged: Whether it is an item shown with another prompt than its own.
        file: Of a picture of its own, the columns of table `items` that tell of its file.
    """

    item_id: str
    uri: str
    prompt: str
    pixel_digest: str = ""
    written: str = ""
    exchanged: bool = False
    file: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other members: the item, or the picture with its prompt."""
        return (self.item_id, "", "") if self.item_id else ("", self.uri, self.prompt)


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of the manifest.

    Attributes:
        pair_id: Its name.
        kind: Its mismatch kind.
        intact: The intact member.
        damaged: The damaged one.
        source: Against whose untouched scores lifts are taken.
        topic: Its topic.
        cluster: Pairs that are not independent share one.
        hold: Dimensions that must not follow, if the manifest says; None leaves it to the kind.
        constructed: Whether a rule built it.
        variant: Which way it was damaged, "" if nobody says.
        told: What was done, "" if nobody says.
    """

    pair_id: str
    kind: str
    intact: Member
    damaged: Member
    source: str
    topic: str
    cluster: str
    hold: tuple[str, ...] | None
    constructed: bool
    variant: str = ""
    told: str = ""

    def taints(self, kind: Kind) -> str:
        """Name the item that is damaged by itself, whatever it is shown with; "" if there is none.

        An exchanged prompt damages no picture: the item remains what it is.
        """
        damaged = self.damaged
        same = damaged.item_id == self.intact.item_id
        only_prompt = damaged.exchanged and (same or kind.damages == "semantic")
        return "" if only_prompt else damaged.item_id


SEVERITY = 1.0
"""Strength of every damaged member: a pair has one."""

TRIES = 4
"""Items tried for each pair wanted before a kind is given up."""

AT_ONCE = 8
"""Items whose pairs are built side by side."""

NO_RULES = "no brand rules are given; state them in a YAML file and name it under rules (--rules)."


@dataclass(frozen=True, slots=True)
class Mismatches:
    """The pairs of a plan.

    Attributes:
        pairs: Rows of table `mismatches`, without plan_id, sorted by pair_id.
        probes: Rows of table `probes`, one per damaged member and repeat.
        items: Rows of table `items` for members that are pictures outside the items file.
        unsuited: Rows of table `unsuited`.
        damaged: Items that are damaged members: never scored untouched.
    """

    pairs: tuple[MismatchesRow, ...] = ()
    probes: tuple[ProbesRow, ...] = ()
    items: tuple[ItemsRow, ...] = ()
    unsuited: tuple[UnsuitedRow, ...] = ()
    damaged: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Draft:
    """Pairs while they are put together: rows without rung and probe_id."""

    rows: list[MismatchesRow] = field(default_factory=list)
    items: dict[tuple[str, str], ItemsRow] = field(default_factory=dict)


def plan_mismatches(
    rows: Sequence[ItemsRow],
    by_hand: Sequence[Pair],
    builder: PairBuilder,
    *,
    order: Sequence[str],
    per_kind: int,
    repeats: int,
) -> Mismatches:
    """Plan the pairs of an audit.

    Args:
        rows: Rows of table `items`.
        by_hand: Pairs of a manifest.
        builder: What builds the others.
        order: Item ids in the order in which they are tried, sources taking turns.
        per_kind: Pairs to build of each kind; 0 builds none.
        repeats: How often each damaged member is asked.
    """
    draft = _Draft()
    taken = {str(row["item_id"]) for row in rows}
    for pair in by_hand:
        draft.rows.append(by_hand_row(pair, draft.items, taken))
    tainted = {pair.taints(builder.kinds[pair.kind]) for pair in by_hand} - {""}
    shown = {row["item_id"] for row in draft.items.values()}
    own = {row["damaged"] for row in draft.rows if row["damaged"] in shown}
    damaged = frozenset(tainted | own)
    held = {str(row["item_id"]): row for row in rows}
    candidates = [held[item_id] for item_id in order if item_id not in damaged]
    built, unsuited = _constructed(candidates, builder, per_kind)
    pairs = _numbered([*draft.rows, *built], builder.kinds)
    return Mismatches(
        tuple(sorted(pairs, key=lambda row: str(row["pair_id"]))),
        tuple(probe for row in pairs for probe in _probes(row, builder.kinds, repeats)),
        tuple(sorted(draft.items.values(), key=lambda row: str(row["item_id"]))),
        tuple(unsuited),
        damaged,
    )


def by_hand_row(pair: Pair, items: dict[tuple[str, str], ItemsRow], taken: set[str]) -> MismatchesRow:
    """Make the row of a pair of the manifest; members that are pictures of their own become items."""
    names = [_item_of(member, pair, items, taken) for member in (pair.intact, pair.damaged)]
    return {
        "pair_id": pair.pair_id,
        "kind": pair.kind,
        "variant": pair.variant,
        "intact": names[0],
        "damaged": names[1],
        "source": pair.source,
        "topic": pair.topic,
        "cluster": pair.cluster,
        "constructed": pair.constructed,
        "hold": None if pair.hold is None else list(pair.hold),
        "prompt": pair.damaged.prompt,
        "pixel_digest": pair.damaged.pixel_digest or None,
        "difficulty": None,
        "told": pair.told,
        "rule": "",
        "region_box": None,
        "frame": None,
        "honest_limits": [],
    }


def _item_of(member: Member, pair: Pair, items: dict[tuple[str, str], ItemsRow], taken: set[str]) -> str:
    """Name the item a member is; a picture is one item for each prompt it stands for, named as the manifest does."""
    if member.item_id:
        return member.item_id
    key = (member.uri, member.prompt)
    if key not in items:
        name = member.written if member.written not in taken else f"{member.written} ({pair.pair_id})"
        taken.add(name)
        described: ItemsRow = {
            "plan_id": "",
            "item_id": name,
            "source": pair.source,
            "topic": pair.topic,
            "prompt": member.prompt,
            "prompt_id": text_digest(member.prompt)[:12],
            "cluster": pair.cluster,
        }
        items[key] = cast("ItemsRow", {**described, **member.file})
    return str(items[key]["item_id"])


def _constructed(
    candidates: Sequence[ItemsRow], builder: PairBuilder, per_kind: int
) -> tuple[list[MismatchesRow], list[UnsuitedRow]]:
    """Build pairs of items in their order until each kind has enough; a picture is decoded once for all kinds.

    Returns:
        Rows of pairs, and of items that do not suit.
    """
    found: list[MismatchesRow] = []
    unsuited: list[UnsuitedRow] = []
    counts = dict.fromkeys(builder.kinds, 0) if per_kind else {}
    for name in [name for name in counts if builder.kinds[name].needs_rules and builder.rules is None]:
        del counts[name]
        unsuited.append({"kind": name, "item_id": POOLED, "source": POOLED, "reason": NO_RULES})
    tried = candidates[: TRIES * per_kind]
    with ThreadPoolExecutor(max_workers=2, thread_name_prefix="build") as pool:
        for start in range(0, len(tried), AT_ONCE):
            wanted = [name for name, count in counts.items() if count < per_kind]
            chunk = tried[start : start + AT_ONCE]
            build = partial(_build, kinds=wanted, builder=builder)
            for told in pool.map(build, chunk) if wanted else ():
                for name, row in told:
                    if counts[name] >= per_kind:
                        continue
                    if isinstance(row, Refused):
                        unsuited.append(row.row)
                    else:
                        counts[name] += 1
                        found.append(row)
    return found, unsuited


@dataclass(frozen=True, slots=True)
class Refused:
    """An item of which no pair of a kind could be built, as a row of `unsuited`."""

    row: UnsuitedRow


def _build(
    item: ItemsRow, kinds: Sequence[str], builder: PairBuilder
) -> list[tuple[str, MismatchesRow | Refused]]:
    """Build a pair of each kind of an item; the pixels are digested and let go."""
    material = builder.material(item, builder.pixels(str(item["uri"])))
    found: list[tuple[str, MismatchesRow | Refused]] = []
    for name in kinds:
        made = builder.build(builder.kinds[name], material)
        if isinstance(made, Built):
            digest = str(item["pixel_digest"]) if made.pixels is None else pixel_digest(made.pixels)
            if digest == item["pixel_digest"] and made.prompt in {None, material.prompt}:
                made = Unsuited("the damage changes neither a pixel nor the prompt.")
            else:
                found.append((name, _built(item, name, made, digest)))
                continue
        place: UnsuitedRow = {"kind": name, "item_id": str(item["item_id"]), "source": str(item["source"])}
        found.append((name, Refused(place | {"reason": made.reason})))
    return found


def _built(item: ItemsRow, kind: str, made: Built, digest: str) -> MismatchesRow:
    """Make the row of a built pair; its name holds what is shown, so that labels of another damage do not fit."""
    prompt = str(item["prompt"]) if made.prompt is None else made.prompt
    shown = text_digest(digest, prompt)[:8]
    return {
        "pair_id": f"{kind}:{item['item_id']}:{shown}",
        "kind": kind,
        "variant": made.variant,
        "intact": item["item_id"],
        "damaged": item["item_id"],
        "source": item["source"],
        "topic": item["topic"],
        "cluster": item["cluster"],
        "constructed": True,
        "hold": None,
        "prompt": prompt,
        "pixel_digest": digest,
        "difficulty": made.difficulty,
        "told": made.told,
        "rule": made.rule,
        "region_box": _sides(made.box),
        "frame": _sides(made.frame),
        "honest_limits": list(made.honest_limits),
    }


def _sides(box: Box | None) -> str | None:
    """Write a box for a column."""
    return None if box is None else " ".join(str(side) for side in box)


def sides_of(written: str | None) -> Box | None:
    """Read a box that stands in a column."""
    if not written:
        return None
    left, top, right, bottom = (int(side) for side in written.split())
    return left, top, right, bottom


def _numbered(rows: Iterable[MismatchesRow], kinds: Mapping[str, Kind]) -> list[MismatchesRow]:
    """Number the pairs of each damaged item and kind, and name what is shown."""
    counts: dict[tuple[str, str], int] = {}
    found: list[MismatchesRow] = []
    for row in sorted(rows, key=lambda row: (str(row["damaged"]), row["kind"], str(row["pair_id"]))):
        place = (str(row["damaged"]), str(row["kind"]))
        counts[place] = counts.get(place, 0) + 1
        told = (PAIR_AXIS + row["kind"], SEVERITY, kinds[row["kind"]].recipe_version, str(row["prompt"]))
        shown = probe_id(str(row["pixel_digest"]), *told)
        found.append({**row, "rung": counts[place], "probe_id": shown})
    return found


def _probes(row: MismatchesRow, kinds: Mapping[str, Kind], repeats: int) -> list[ProbesRow]:
    """List the probes of a damaged member."""
    return [
        {
            "probe_id": row["probe_id"],
            "item_id": row["damaged"],
            "axis": PAIR_AXIS + row["kind"],
            "rung": row["rung"],
            "strength": SEVERITY,
            "recipe_version": kinds[row["kind"]].recipe_version,
            "repeat": repeat,
            "prompt": row["prompt"],
            "region": None,
        }
        for repeat in range(repeats)
    ]
