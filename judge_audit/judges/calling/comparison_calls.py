"""Asking a judge to compare: draw both pictures, ask, and write down what became of every comparison."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judge_audit.core.prefetch import ahead
from judge_audit.core.vocabulary import Choice, Region, State
from judge_audit.judges.calling.asking import ask_batch, comparing, passed_on
from judge_audit.judges.calling.score_calls import runtime_id
from judge_audit.judges.pairwise.protocol import Comparison
from judge_audit.stimuli.axes import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from judge_audit_schemas.rows import ComparisonsRow, ItemsRow, ProbesRow
    from numpy.typing import NDArray

    from judge_audit.judges.calling.asking import BatchOutcome
    from judge_audit.judges.calling.budget import Budget
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.pairwise.protocol import ComparingJudge, Preference
    from judge_audit.stimuli.planning.comparisons import Asked, Key
    from judge_audit.stimuli.rendering import Drawing, Drawn

    Pixels = NDArray[np.uint8]

PICTURES_HELD = 16
"""Decoded pictures kept while the candidates of a prompt are shown beside one another."""

PROBES_HELD = 4
"""Drawn probes kept: both orders of a pair show the same two."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A comparison whose pixels are known; inert if both members are the same picture."""

    asked: Asked
    left: Drawn
    right: Drawn
    inert: bool
    failed_before: bool = False


@dataclass(frozen=True, slots=True)
class ComparedBatch:
    """One batch: rows of `comparisons` to commit together, and how many planned comparisons it settled."""

    rows: list[ComparisonsRow] = field(default_factory=list)
    settled: int = 0


@dataclass(slots=True)
class Renderer:
    """Draws probes, each picture decoded once as long as it is at hand.

    Attributes:
        items: Rows of `items` by item_id.
        drawing: What probes are drawn with.
        load: Decodes an item.
        mask: Reads the mask of an item that came with one.
    """

    items: Mapping[str, ItemsRow]
    drawing: Drawing
    load: Callable[[ItemsRow], Pixels]
    mask: Callable[[ItemsRow], NDArray[np.bool_] | None] | None = None
    _pictures: OrderedDict[str, Pixels] = field(default_factory=OrderedDict)
    _probes: OrderedDict[str, Drawn] = field(default_factory=OrderedDict)

    def drawn(self, probe: ProbesRow) -> Drawn:
        """Draw a probe."""
        name = str(probe["probe_id"])
        if name not in self._probes:
            item = self.items[probe["item_id"]]
            pixels = self._picture(item)
            masked = probe.get("region") == Region.MASK and self.mask is not None
            self.drawing.scratch.begin(pixels, self.mask(item) if masked and self.mask else None)
            self._probes[name] = self.drawing.drawn(item, probe, pixels)
            if len(self._probes) > PROBES_HELD:
                self._probes.popitem(last=False)
        return self._probes[name]

    def _picture(self, item: ItemsRow) -> Pixels:
        name = str(item["item_id"])
        if name not in self._pictures:
            self._pictures[name] = self.load(item)
            if len(self._pictures) > PICTURES_HELD:
                self._pictures.popitem(last=False)
        self._pictures.move_to_end(name)
        return self._pictures[name]


def compare_block(
    judge: ComparingJudge,
    work: Sequence[Asked],
    pictures: Renderer,
    answered: Mapping[Key, ComparisonsRow],
    budget: Budget | None = None,
) -> Iterator[ComparedBatch]:
    """Have a judge compare, batch by batch.

    Batches are cut from the planned comparisons, so the same plan has the same batches whatever is answered.

    Args:
        judge: The judge.
        work: What is asked, in the order of the plan.
        pictures: What draws the pictures.
        answered: Rows of `comparisons` already in the lake by key; one drawn by the same libraries is trusted,
            one drawn by others is bought again only if its pixels differ.
        budget: What the answers are paid from; where it is empty, the asking ends.

    Yields:
        What to commit. A batch with nothing new is yielded with no rows.

    Raises:
        UsageError: If the judge breaks its contract, or fails on pair after pair.
    """
    renderer = fingerprint()
    known = any(row["state"] not in {State.FAILED, State.INERT} for row in answered.values())
    with ahead(_drawn(work, judge.card.batch_size, pictures, answered, renderer)) as batches:
        asked = (_ask(judge, batch, size, renderer, budget) for size, batch in batches)
        yield from passed_on(judge, asked, known=known)


def settled(row: ComparisonsRow | None, renderer: str) -> bool:
    """Tell whether an answer in the lake stands without looking at pixels."""
    return row is not None and row["renderer"] == renderer and row["state"] != State.FAILED


def _drawn(
    work: Sequence[Asked],
    batch_size: int,
    pictures: Renderer,
    answered: Mapping[Key, ComparisonsRow],
    renderer: str,
) -> Iterator[tuple[int, list[Shown]]]:
    """Draw what is not settled yet, in batches of planned comparisons."""
    for start in range(0, len(work), batch_size):
        planned = work[start : start + batch_size]
        batch = []
        for asked in planned:
            known = answered.get(asked.key)
            if settled(known, renderer):
                continue
            left, right = pictures.drawn(asked.left), pictures.drawn(asked.right)
            failed = known is not None and known["state"] == State.FAILED
            shown = Shown(asked, left, right, left.digest == right.digest, failed_before=failed)
            same = known is not None and (known["left_digest"], known["right_digest"]) == (
                left.digest,
                right.digest,
            )
            if failed or not same:
                batch.append(shown)
        yield len(planned), batch


def _ask(
    judge: ComparingJudge, batch: Sequence[Shown], size: int, renderer: str, budget: Budget | None
) -> BatchOutcome[ComparedBatch]:
    """Ask for a batch and write down what came of it."""
    rows: list[ComparisonsRow] = []

    def write(shown: Shown, answer: Preference, latency: float) -> None:
        row = row_of(judge.card, shown.asked, answer)
        row |= {"renderer": renderer, "called_at": datetime.now(UTC)}
        row |= {"left_digest": shown.left.digest, "right_digest": shown.right.digest}
        rows.append({**row, "latency_ms": latency})

    return ask_batch(
        comparing(judge), batch, _comparison, budget, write, lambda left: ComparedBatch(rows, size - left)
    )


def _comparison(shown: Shown) -> Comparison:
    assert shown.left.pixels is not None
    assert shown.right.pixels is not None
    return Comparison(shown.left.pixels, shown.right.pixels, str(shown.asked.first["prompt"] or ""))


def row_of(card: Card, asked: Asked, answer: Preference) -> ComparisonsRow:
    """Make the row of `comparisons` of one answer; an ok without a choice is empty."""
    state = State.EMPTY if answer.state == State.OK and answer.choice is None else answer.state
    left, right, repeat = asked.key
    return {
        "judge_id": card.judge_id,
        "left_probe": left,
        "right_probe": right,
        "repeat": repeat,
        "choice": Choice(answer.choice).value if state == State.OK and answer.choice else None,
        "runtime_id": runtime_id(card),
        "state": state.value,
        "raw_reply": answer.raw,
        "attempts": answer.attempts,
        "tokens": answer.tokens,
        "cost": answer.cost,
        "served_by": answer.served_by or None,
        "is_control": card.kind in {"control", "ruler"},
    }
