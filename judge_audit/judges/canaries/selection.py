"""Which pictures are the canaries: those asked before, else the anchors, else items spread over the sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import AuditError
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL
from judge_audit.stimuli.images import load_image
from judge_audit.stimuli.planning.probes import round_robin_order

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import pyarrow as pa
    from judge_audit_schemas.rows import CanariesRow, ItemsRow, ProbesRow

    from judge_audit.judges.canaries.history import CanaryHistory

    Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Canary:
    """A picture and prompt that a judge is asked about afresh.

    Attributes:
        probe_id: Its name, that of the untouched picture and prompt.
        item: Where it lies: item_id, source, prompt, uri, pixel_digest.
    """

    probe_id: str
    item: ItemsRow

    def probe(self, repeat: int) -> ProbesRow:
        """Give the probe that asks for it."""
        row: ProbesRow = {"probe_id": self.probe_id, "item_id": self.item["item_id"], "axis": ORIGINAL}
        return row | {"rung": 0, "strength": 0.0, "repeat": repeat, "prompt": self.item["prompt"]}


def choose(
    offered: Sequence[Canary],
    past: CanaryHistory,
    epoch: int,
    count: int,
    answered: Collection[str],
    shows: Callable[[CanariesRow], bool] | None = None,
) -> tuple[Canary, ...]:
    """Choose the canaries, the same for the same lake, plan and seed.

    First come those of the epoch that can still be shown (of this audit, or where they lay), longest known first;
    then those on offer, first of them what the judge has answered already.

    Args:
        offered: What `planned` lists.
        past: What is known of the judge's canaries.
        epoch: The epoch it is in.
        count: How many are wanted.
        answered: Probes of which the lake holds an answer of the judge.
        shows: Tells whether a picture is still what it was; by looking, if not given.
    """
    shown: dict[str, Canary] = {}
    for canary in offered:
        shown.setdefault(canary.probe_id, canary)
    looks = shows or _is_there
    chosen: dict[str, Canary] = {}
    for row in _known(past, epoch):
        if len(chosen) == count:
            break
        name = row["probe_id"]
        if name in shown or (name not in chosen and looks(row)):
            chosen[name] = shown.get(name) or Canary(name, cast("ItemsRow", row))
    rest = sorted(shown.values(), key=lambda canary: canary.probe_id not in answered)
    for canary in rest:
        if len(chosen) == count:
            break
        chosen.setdefault(canary.probe_id, canary)
    return tuple(chosen[name] for name in sorted(chosen))


def _known(past: CanaryHistory, epoch: int) -> Iterator[CanariesRow]:
    """Give the canaries of an epoch, longest known first."""
    askings = set(past.askings_of(epoch))
    rows = [row for row in past.asked if row["asking"] in askings]
    listed: set[str] = set()
    for row in sorted(rows, key=lambda row: (row["asking"], text_digest(row["probe_id"]))):
        if row["probe_id"] not in listed:
            listed.add(row["probe_id"])
            yield row


def planned(items: pa.Table, probes: pa.Table, seed: int) -> list[Canary]:
    """List the untouched pictures of a plan in the order in which they are taken: anchors, then items.

    Sources take turns, then clusters; the order within them is that of digests, as it is of items with ladders.
    """
    rows = {row["item_id"]: row for row in items.to_pylist()}
    probe_rows = probes.select(["item_id", "axis", "probe_id", "repeat"]).to_pylist()
    canaries: list[Canary] = []
    for axis in (ANCHOR, ORIGINAL):
        names = {
            row["item_id"]: row["probe_id"]
            for row in probe_rows
            if row["axis"] == axis and row["repeat"] == 0
        }
        order = round_robin_order([_spread(rows[name]) for name in names], seed)
        canaries += [Canary(names[name], rows[name]) for name in order]
    return canaries


def _spread(row: ItemsRow) -> dict[str, Any]:
    """Give what a picture is drawn by: anchors without a source or cluster are each their own."""
    return {"item_id": row["item_id"], "source": row["source"], "cluster": row["cluster"] or row["item_id"]}


def _is_there(row: CanariesRow) -> bool:
    """Tell whether a picture still lies where it lay, unchanged."""
    try:
        return bool(load_image(row["uri"]).pixel_digest == row["pixel_digest"])
    except (AuditError, OSError, ValueError):
        return False


def missing(chosen: Sequence[Canary], answered: Collection[tuple[str, int]], times: int) -> int:
    """Count the answers still to be asked for."""
    return sum((canary.probe_id, repeat) not in answered for canary in chosen for repeat in range(times))
