"""Planning a study: which items are read on each axis, the ladders drawn, and what reading them takes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from judge_audit.core.digests import pixel_digest, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import ORIGINAL
from judge_audit.measures.estimates import PASS_LEVEL
from judge_audit.people.readings import draw_ladder, needs_mask
from judge_audit.people.study.plan import Ladder, Study
from judge_audit.people.zones import READ_ENOUGH
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.images import load_image, load_mask
from judge_audit.stimuli.planning.probe_ids import ladder_probe_ids, probe_id
from judge_audit.stimuli.planning.probes import choose_ladder_items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from judge_audit.stimuli.axes.axis import Axis

    Row = Mapping[str, Any]

NARROW = 1.25
"""Narrow enough: the 90 % interval of an axis's typical threshold reaches no further than this factor either way."""

ASSUMED_SPREAD = 0.5
"""Spread of thresholds over items (SD of the natural logarithm) where too few are read to know: a factor of 1.6."""

KNOWN_FROM = 8
"""Items read on an axis before their own spread counts."""


def spread_of(readings: Sequence[Row], axis: str) -> float | None:
    """Give the spread of an axis's thresholds over items, from readings there are already.

    Returns:
        SD of the natural logarithm of each item's geometric mean point; None with fewer than `KNOWN_FROM` items.
    """
    points: dict[str, list[float]] = {}
    for row in readings:
        if row["axis"] == axis and not row["catch"] and math.isfinite(row["perceptible"]):
            points.setdefault(row["item_id"], []).append(math.log(row["perceptible"]))
    if len(points) < KNOWN_FROM:
        return None
    return float(np.std([float(np.mean(logs)) for logs in points.values()], ddof=1))


def half_width(spread: float, items: int) -> float:
    """Give the factor by which the 90 % interval of the typical threshold reaches up and down.

    exp(t·s/√n), s the spread on the logarithm, t Student's with n − 1 degrees of freedom.
    """
    if items < 2:
        return math.inf
    t = float(special.stdtrit(items - 1, (1 + PASS_LEVEL) / 2))
    return math.exp(t * spread / math.sqrt(items))


def items_needed(spread: float, narrow: float = NARROW) -> int:
    """Say how many items must be read on an axis: enough for a narrow interval, never fewer than `READ_ENOUGH`."""
    count = READ_ENOUGH
    while half_width(spread, count) > narrow and count < 1000:
        count += 1
    return count


def ranked(items: Sequence[Row], axis: str, seed: int, used: Mapping[str, int]) -> list[Row]:
    """Put items in the order in which they should be read on an axis.

    Every prefix is spread over sources, then clusters, then topics; among equals those read least on other axes
    come first, then the seed decides. No score is looked at.

    Args:
        items: Rows with item_id, source, cluster and topic.
        axis: The axis.
        seed: The study's seed.
        used: How many other axes each item is read on already.
    """
    left = {str(row["item_id"]): row for row in items}
    lot = {name: text_digest(str(seed), "read", axis, name) for name in left}
    counts: dict[tuple[str, Any], int] = {}
    spread_over = ("source", "cluster", "topic")

    def burden(name: str) -> tuple[int, int, int, int, str]:
        row = left[name]
        source, cluster, topic = (counts.get((column, row[column]), 0) for column in spread_over)
        return source, cluster, topic, used.get(name, 0), lot[name]

    order = []
    while left:
        row = left.pop(min(left, key=burden))
        order.append(row)
        for column in spread_over:
            counts[column, row[column]] = counts.get((column, row[column]), 0) + 1
    return order


ASSUMED_SECONDS = {"flicker": 20.0, "slider": 30.0, "side_by_side": 40.0}
"""Seconds a ladder takes where nobody has read one yet; side by side takes twice as long as flicker (KonJND-1k)."""

TIMED_FROM = 20
"""Marks in the lake before their own time counts."""

CATCH_SHARE = 1 / 8
FEWEST_CATCHES = 6
REPEAT_SHARE = 1 / 16
FEWEST_REPEATS = 4


@dataclass(frozen=True, slots=True)
class AxisPlan:
    """What is read on one axis.

    Attributes:
        axis: The axis.
        items: Items read.
        wanted: Items that would make its threshold narrow enough.
        spread: Spread of thresholds over items, SD of the natural logarithm.
        assumed: Whether that spread is an assumption.
        half_width: Factor by which the interval of the typical threshold is expected to reach up and down.
        inert: Items left out because nothing changes on them.
    """

    axis: str
    items: int
    wanted: int
    spread: float
    assumed: bool
    half_width: float
    inert: int


@dataclass(frozen=True, slots=True)
class Planned:
    """A study and what is to be expected of it.

    Attributes:
        study: The study.
        axes: What is read on each axis.
        seconds: Seconds a ladder takes.
        timed: Whether that was measured.
    """

    study: Study
    axes: tuple[AxisPlan, ...]
    seconds: float
    timed: bool

    @property
    def minutes(self) -> float:
        """Minutes of one reader."""
        return self.study.slots * self.seconds / 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a study is asked to be; None leaves it to the planner.

    Attributes:
        name: Its name.
        protocol: flicker, side_by_side or slider.
        seed: Seed of every draw.
        ladder_items: How many items carry ladders in the audit.
        per_axis: Items to read on each axis.
        catches: Ladders on which nothing changes.
        repeats: Ladders that each reader is shown again.
        objectionable: Whether to ask for the first objectionable strength too.
    """

    name: str
    protocol: str = "flicker"
    seed: int = 1
    ladder_items: int = 48
    per_axis: int | None = None
    catches: int | None = None
    repeats: int | None = None
    objectionable: bool = True


def plan_study(
    items: Sequence[Row],
    axes: Mapping[str, Axis],
    wishes: Wishes,
    known: Sequence[Row] = (),
    on_ladder: Callable[[int, int], None] | None = None,
) -> Planned:
    """Plan a study.

    Args:
        items: Rows of `items`; those that carry ladders in the audit are read.
        axes: The axes to read, by name.
        wishes: What it is asked to be.
        known: Readings there are already (rows of table `readings`): they tell spread and speed.
        on_ladder: Told (ladders drawn, ladders in all).

    Raises:
        UsageError: If there is nothing to read, or a picture or mask has changed.
    """
    chosen = set(choose_ladder_items(items, wishes.ladder_items, wishes.seed))
    carriers = [row for row in items if row["item_id"] in chosen]
    ladders, axis_plans = _read_on(carriers, axes, wishes, known, on_ladder)
    if not ladders:
        raise UsageError(
            "there is no ladder to read: no axis was named, or nothing changes on any of these pictures."
        )
    catches = _catches(carriers, axes, wishes, len(ladders))
    repeats = max(FEWEST_REPEATS, round(REPEAT_SHARE * len(ladders)))
    study = Study(
        name=wishes.name,
        seed=wishes.seed,
        protocol=wishes.protocol,
        objectionable=wishes.objectionable,
        repeats=min(len(ladders), repeats if wishes.repeats is None else wishes.repeats),
        renderer=fingerprint(),
        ladders=tuple(sorted([*ladders, *catches], key=lambda ladder: ladder.key)),
    )
    seconds, timed = _seconds(known, wishes.protocol)
    return Planned(study, tuple(axis_plans), seconds, timed)


def _read_on(
    carriers: Sequence[Row],
    axes: Mapping[str, Axis],
    wishes: Wishes,
    known: Sequence[Row],
    on_ladder: Callable[[int, int], None] | None,
) -> tuple[list[Ladder], list[AxisPlan]]:
    """Choose and draw the ladders of every axis; items on which nothing changes are passed over."""
    painter = Painter()
    used: dict[str, int] = {}
    ladders: list[Ladder] = []
    axis_plans: list[AxisPlan] = []
    counts = {name: _count(known, name, wishes, len(carriers)) for name in axes}
    whole = sum(count for count, *_ in counts.values())
    for name, axis in axes.items():
        count, wanted, spread, assumed = counts[name]
        drawn: list[Ladder] = []
        inert = 0
        for row in ranked(carriers, name, wishes.seed, used):
            if len(drawn) == count:
                break
            ladder = painter.ladder(row, axis)
            if set(ladder.rung_digests) == {ladder.pixel_digest}:
                inert += 1
                continue
            drawn.append(ladder)
            used[ladder.item_id] = used.get(ladder.item_id, 0) + 1
            if on_ladder:
                on_ladder(len(ladders) + len(drawn), whole)
        ladders += drawn
        width = half_width(spread, len(drawn))
        axis_plans.append(AxisPlan(name, len(drawn), wanted, spread, assumed, width, inert))
    return ladders, axis_plans


def _count(known: Sequence[Row], axis: str, wishes: Wishes, most: int) -> tuple[int, int, float, bool]:
    """Say how many items to read on an axis, how many were wanted, on what spread that rests, if it is assumed."""
    known_spread = spread_of(known, axis)
    spread = ASSUMED_SPREAD if known_spread is None else known_spread
    wanted = items_needed(spread)
    return min(most, wishes.per_axis or wanted), wanted, spread, known_spread is None


def _seconds(known: Sequence[Row], protocol: str) -> tuple[float, bool]:
    """Say how long a ladder takes: the median of marks by the same protocol, else an assumption."""
    times = [
        row["seconds"] for row in known if row["protocol"] == protocol and row.get("seconds") is not None
    ]
    if len(times) < TIMED_FROM:
        return ASSUMED_SECONDS[protocol], False
    return float(np.median(times)), True


def _catches(carriers: Sequence[Row], axes: Mapping[str, Axis], wishes: Wishes, ladders: int) -> list[Ladder]:
    """Make the ladders on which nothing changes, spread over axes and items."""
    count = (
        max(FEWEST_CATCHES, math.ceil(CATCH_SHARE * ladders)) if wishes.catches is None else wishes.catches
    )
    orders = {name: ranked(carriers, f"catch {name}", wishes.seed, {}) for name in axes}
    names = sorted(axes)
    catches = []
    for turn in range(min(count, len(carriers) * len(names))):
        name = names[turn % len(names)]
        catches.append(_catch(orders[name][turn // len(names)], axes[name]))
    return catches


def _catch(row: Row, axis: Axis) -> Ladder:
    """Make a ladder of the original alone."""
    original = probe_id(row["pixel_digest"], ORIGINAL, 0.0, 0, row["prompt"])
    same = (row["pixel_digest"],) * len(axis.strengths)
    return Ladder(**_about(row, axis), catch=True, probe_ids=(original,), rung_digests=same)


def _about(row: Row, axis: Axis) -> dict[str, Any]:
    """Give what every ladder of an item on an axis says."""
    names = ("item_id", "source", "topic", "cluster", "pixel_digest", "uri", "width", "height")
    about = {name: row[name] for name in names}
    about |= {"axis": axis.name, "unit": axis.unit}
    return about | {"recipe_version": axis.recipe_version, "strengths": tuple(axis.strengths)}


@dataclass(eq=False, slots=True)
class Painter:
    """Draws ladders of items, decoding each once."""

    _pixels: dict[str, Any] = field(default_factory=dict)
    _scratch: Scratch = field(default_factory=Scratch)

    def ladder(self, row: Row, axis: Axis) -> Ladder:
        """Draw a ladder and name its probes and pixels.

        Raises:
            UsageError: If the picture is not the one of the items file any more.
        """
        masked = needs_mask(axis, row)
        mask = load_mask(row["mask_uri"], (row["height"], row["width"])) if masked else None
        rungs = draw_ladder(axis, row, self._loaded(row), mask, self._scratch)
        return Ladder(
            **_about(row, axis),
            catch=False,
            probe_ids=tuple(ladder_probe_ids(row, axis)),
            rung_digests=tuple(map(pixel_digest, rungs)),
            mask_uri=row["mask_uri"] if masked else None,
            mask_digest=row["mask_digest"] if masked else None,
        )

    def _loaded(self, row: Row) -> Any:  # noqa: ANN401 - pixels
        """Decode an item once; some dozens of pictures are kept."""
        name = row["item_id"]
        if name not in self._pixels:
            loaded = load_image(row["uri"])
            if loaded.pixel_digest != row["pixel_digest"]:
                raise UsageError(
                    f"{row['uri']}: the picture changed while the study was planned. Plan again."
                )
            if len(self._pixels) > 32:
                self._pixels.clear()
            self._pixels[name] = loaded.pixels
        return self._pixels[name]


def plan_lines(path: Path, planned: Planned) -> list[str]:
    """Say what is read, how narrow it gets and how long it takes."""
    study = planned.study
    catches = sum(ladder.catch for ladder in study.ladders)
    lines = [f"Study “{study.name}” in {path}: {study.slots} ladders for each reader."]
    for axis in planned.axes:
        spread = "assumed" if axis.assumed else "from readings"
        basis = f"spread {axis.spread:.2f}, {spread}"
        line = f"  {axis.axis:<16} {axis.items:>3} items: threshold within ×÷{axis.half_width:.2f} ({basis})"
        if axis.items < axis.wanted:
            line += f"; {axis.wanted} items would bring it within the aim"
        lines.append(line + (f"; {axis.inert} items left out: nothing changes on them" if axis.inert else ""))
    few = [axis.axis for axis in planned.axes if axis.items < READ_ENOUGH]
    lines.append(f"  {catches} catch ladders on which nothing changes, {study.repeats} shown again.")
    if few:
        lines.append(
            f"  Fewer than {READ_ENOUGH} items are read on {', '.join(few)}: unread items get no zone from them. "
            "Carry ladders on more items (--ladder-items) or read more (--per-axis)."
        )
    how = "measured on earlier readings" if planned.timed else "an assumption until you have read some"
    lines.append(
        f"About {planned.minutes:.0f} minutes for each reader ({planned.seconds:.0f} s a ladder, {how}), in as many "
        "sittings as they like."
    )
    return lines


def plan_told(path: Path, planned: Planned, links: Mapping[str, str]) -> dict[str, Any]:
    """Say the same as plain values."""
    study = planned.study
    return {
        "study": str(path),
        "study_id": study.study_id,
        "protocol": study.protocol,
        "ladders": study.slots,
        "catches": sum(ladder.catch for ladder in study.ladders),
        "repeats": study.repeats,
        "axes": [asdict(axis) for axis in planned.axes],
        "minutes": planned.minutes,
        "seconds_measured": planned.timed,
        "links": dict(links),
    }
