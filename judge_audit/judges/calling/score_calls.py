"""Asking a judge: render, call, and say what became of every probe.

Pictures are decoded once, drawn by a thread ahead of the judge, and not stored. Nothing missing is
zero: an answer that is refused, unreadable, off the scale or failed is a state with a reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.prefetch import ahead
from judge_audit.core.vocabulary import ORIGINAL, PAIR_AXIS, Region, State
from judge_audit.judges.calling.asking import ask_batch, passed_on, scoring
from judge_audit.judges.protocol import Recipe, Reply, Stimulus
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.rendering import Drawing, Drawn
from judge_audit.stimuli.sight_probes import ASKINGS, SIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import numpy as np
    from judge_audit_schemas.rows import CallsRow, ItemsRow, ProbesRow, ScoresRow
    from numpy.typing import NDArray

    from judge_audit.judges.calling.asking import BatchOutcome
    from judge_audit.judges.calling.budget import Budget
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import ControlJudge, Judge
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.mismatches.kind import Kind
    from judge_audit.stimuli.rendering import Damage


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One batch: rows of `calls` and `scores` to commit together, and how many probes it settled."""

    calls: list[CallsRow] = field(default_factory=list)
    scores: list[ScoresRow] = field(default_factory=list)
    probes: int = 0


def runtime_id(card: Card) -> str:
    """Name what the judge runs on: recorded with every call, not part of its identity."""
    import platform  # noqa: PLC0415

    parts = [platform.machine(), platform.python_version(), fingerprint(), str(card.batch_size)]
    return text_digest(*parts, *([card.runtime] if card.runtime else []))[:16]


def score_block(  # noqa: PLR0913 - what probes are drawn with and paid from
    judge: Judge,
    work: Sequence[tuple[ItemsRow, Sequence[ProbesRow]]],
    *,
    axes: Mapping[str, Axis],
    load: Callable[[ItemsRow], NDArray[np.uint8]],
    answered: Mapping[tuple[str, int], CallsRow],
    mask: Callable[[ItemsRow], NDArray[np.bool_] | None] | None = None,
    damage: Damage | None = None,
    budget: Budget | None = None,
    ends: Collection[str] = (),
    known: bool = False,
) -> Iterator[BatchResult]:
    """Score items with all their probes, batch by batch.

    Batches are cut from the planned probes of a block, so the same plan has the same batches whatever is answered
    and however many blocks are scored at once. A probe that is to be asked alone is a batch of its own beside them.

    Args:
        judge: The judge.
        work: Item rows, each with its probe rows in order.
        axes: Axes by name.
        load: Decodes an item.
        answered: Calls already in the lake by (probe_id, repeat); one drawn by the same libraries is
            trusted, one drawn by others is bought again only if its pixels differ.
        mask: Reads the mask of an item that came with one; asked only for probes that keep to it.
        damage: Draws the damaged member of a pair from its item, its probe and the item's pixels.
        budget: What the answers are paid from; where it is empty, the scoring ends.
        ends: Items that are the last of a block: no batch goes on beyond them.
        known: Whether the judge has ever answered anything.

    Yields:
        What to commit. A batch with nothing new is yielded with no rows.

    Raises:
        UsageError: If the judge breaks its contract, or fails on picture after picture.
    """
    renderer = fingerprint()
    known = known or any(row["state"] not in {State.FAILED, State.INERT} for row in answered.values())
    draw = Drawing(axes, damage)
    drawn = _drawn(work, judge.card.batch_size, draw, load, answered, renderer, mask, ends)
    with ahead(drawn) as batches:
        asked = (_ask(judge, batch, size, renderer, budget) for size, batch in batches)
        yield from passed_on(judge, asked, known=known)


def _drawn(  # noqa: PLR0913, PLR0917, C901 - what probes are drawn with
    work: Sequence[tuple[ItemsRow, Sequence[ProbesRow]]],
    batch_size: int,
    draw: Drawing,
    load: Callable[[ItemsRow], NDArray[np.uint8]],
    answered: Mapping[tuple[str, int], CallsRow],
    renderer: str,
    mask: Callable[[ItemsRow], NDArray[np.bool_] | None] | None,
    ends: Collection[str],
) -> Iterator[tuple[int, list[Drawn]]]:
    """Draw the probes that are not settled yet, in batches of planned probes."""
    batch: list[Drawn] = []
    size = 0
    asked: set[tuple[str, int]] = set()
    for item, probes in work:
        pixels: NDArray[np.uint8] | None = None
        for probe in probes:
            fresh: list[Drawn] = []
            key = (probe["probe_id"], probe["repeat"])
            known = answered.get(key)
            settled = known is not None and known["renderer"] == renderer and known["state"] != State.FAILED
            if not settled and key not in asked:
                asked.add(key)
                if pixels is None:
                    pixels = load(item)
                    draw.scratch.begin(pixels, _mask(item, probes, mask))
                drawn = draw.drawn(item, probe, pixels)
                if known is not None and known["state"] == State.FAILED:
                    drawn = replace(drawn, failed_before=True)
                if known is None or known["state"] == State.FAILED or known["pixel_digest"] != drawn.digest:
                    fresh = [drawn]
            if probe["axis"] in SIGHT and SIGHT[probe["axis"]].alone:
                yield 1, fresh
                continue
            batch += fresh
            size += 1
            if size == batch_size:
                yield size, batch
                batch, size = [], 0
        if size and item["item_id"] in ends:
            yield size, batch
            batch, size = [], 0
    if size:
        yield size, batch


def _mask(
    item: ItemsRow, probes: Sequence[ProbesRow], read: Callable[[ItemsRow], NDArray[np.bool_] | None] | None
) -> NDArray[np.bool_] | None:
    """Read an item's mask if any of its probes keeps to it."""
    if not any(probe.get("region") == Region.MASK for probe in probes):
        return None
    if read is None:
        raise MachineryError(f"the probes of “{item['item_id']}” keep to its mask, which nobody reads.")
    return read(item)


def _ask(
    judge: Judge, batch: Sequence[Drawn], size: int, renderer: str, budget: Budget | None = None
) -> BatchOutcome[BatchResult]:
    """Ask for a batch and write down what came of it."""
    calls: list[CallsRow] = []
    scores: list[ScoresRow] = []

    def write(drawn: Drawn, reply: Reply, latency: float) -> None:
        call, scored = rows_of(judge.card, drawn.probe, reply)
        call |= {"renderer": renderer, "pixel_digest": drawn.digest}
        calls.append(call | {"latency_ms": latency, "called_at": datetime.now(UTC)})
        scores.extend(scored)

    def result(left: int) -> BatchResult:
        return BatchResult(calls, scores, size - left)

    return ask_batch(scoring(judge), batch, _stimulus, budget, write, result)


def _stimulus(drawn: Drawn) -> Stimulus:
    assert drawn.pixels is not None
    return Stimulus(drawn.pixels, drawn.probe["prompt"])


def rows_of(card: Card, probe: ProbesRow, reply: Reply) -> tuple[CallsRow, list[ScoresRow]]:
    """Make the row of `calls` and the rows of `scores` of one reply.

    Raises:
        UsageError: If the reply has a dimension that the card does not name.
    """
    own = card.kind in {"control", "ruler"}
    unknown = sorted({*reply.scores, *reply.states} - set(card.dimensions))
    if unknown:
        raise UsageError(
            f"the judge “{card.name}” answered the dimensions {', '.join(unknown)}, which its card does not name. "
            f"Write a card with dimensions: [{', '.join(sorted(reply.scores))}]."
        )
    key: ScoresRow = {"judge_id": card.judge_id, "probe_id": probe["probe_id"], "repeat": probe["repeat"]}
    key |= {"is_control": own, "parser_version": card.parser_version}
    scores: list[ScoresRow] = []
    raw = reply.raw
    if reply.state == State.OK:
        for dimension in card.dimensions:
            value, state = _value(card, reply.scores.get(dimension))
            if dimension in reply.states:
                value, state = None, reply.states[dimension]
            if value is not None and state == State.OUT_OF_SCALE:
                raw = f"{raw} {dimension}={value!r}".strip()
            scored = value if state == State.OK else None
            scores.append({**key, "dimension": dimension, "value": scored, "state": state.value})
    elif reply.state != State.INERT:
        scores = [
            {**key, "value": None, "dimension": name, "state": reply.states.get(name, reply.state).value}
            for name in card.dimensions
        ]
    call: CallsRow = {"judge_id": card.judge_id, "probe_id": probe["probe_id"], "repeat": probe["repeat"]}
    call |= {"is_control": own, "runtime_id": runtime_id(card), "state": reply.state.value, "raw_reply": raw}
    call |= {"attempts": reply.attempts, "tokens": reply.tokens, "cost": reply.cost}
    call |= {"served_by": reply.served_by or None}
    return call, scores


def _value(card: Card, value: float | None) -> tuple[float | None, State]:
    """Check a number: never clipped, never invented."""
    if value is None:
        return None, State.EMPTY
    if not math.isfinite(value):
        return None, State.UNPARSABLE
    low, high = card.scale_low, card.scale_high
    if (low is not None and value < low) or (high is not None and value > high):
        return value, State.OUT_OF_SCALE
    return float(value), State.OK


def score_control(
    control: ControlJudge,
    work: Sequence[tuple[ItemsRow, Sequence[ProbesRow]]],
    *,
    axes: Mapping[str, Axis],
    visible: Mapping[tuple[str, str], float | None],
    drawn: Mapping[tuple[str, int], CallsRow],
    intact: Mapping[tuple[str, str, int], str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> BatchResult:
    """Have a control answer probes from their recipes; pixels were drawn when the judge was asked.

    Args:
        control: The control.
        work: Item rows, each with its probe rows.
        axes: Axes by name.
        visible: The smaller perceptible point by (item_id, axis).
        drawn: The judge's own calls by (probe_id, repeat), which know what is inert.
        intact: The intact member of a pair by its damaged item, axis and rung: the two are of one quality.
        kinds: Mismatch kinds by name, for the damaged members of pairs.
    """
    result = BatchResult()
    done: set[tuple[str, int]] = set()
    first = min((item["source"] for item, _ in work), default="")
    for item, probes in work:
        for probe in probes:
            key = (probe["probe_id"], probe["repeat"])
            if key in done or key not in drawn or not control.answers(probe["axis"]):
                continue
            done.add(key)
            if drawn[key]["state"] == State.INERT:
                reply = Reply(state=State.INERT, attempts=0)
            else:
                recipe = recipe_of(item, probe, axes, visible, intact or {})
                recipe = replace(recipe, first_source=item["source"] == first)
                kind = (kinds or {}).get(probe["axis"].removeprefix(PAIR_AXIS))
                if kind is not None:
                    recipe = replace(recipe, expectations=kind.expectations)
                (reply,) = control.score_probes([], [recipe])
            call, scores = rows_of(control.card, probe, reply)
            call |= {"renderer": drawn[key]["renderer"], "pixel_digest": drawn[key]["pixel_digest"]}
            call |= {"latency_ms": 0.0, "called_at": datetime.now(UTC)}
            result.calls.append(call)
            result.scores.extend(scores)
    return result


def recipe_of(
    item: ItemsRow,
    probe: ProbesRow,
    axes: Mapping[str, Axis],
    visible: Mapping[tuple[str, str], float | None],
    intact: Mapping[tuple[str, str, int], str],
) -> Recipe:
    """Tell a control how a probe was made; one that shows the untouched item again is the untouched item."""
    axis, repeat = probe["axis"], probe["repeat"]
    if axis in SIGHT and SIGHT[axis].same:
        axis, repeat = ORIGINAL, repeat + ASKINGS[axis]
    overdone = axes[axis].overdone if axis in axes else 1.0
    point = visible.get((item["item_id"], axis))
    own = intact.get((item["item_id"], axis, probe.get("rung", 0)), item["item_id"])
    return Recipe(own, item["source"], axis, probe["strength"], point, overdone, repeat)
