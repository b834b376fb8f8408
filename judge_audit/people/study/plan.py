"""What a study is: its ladders, how they are shown, and the slots in which each reader meets them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import canonical_json, draw_seed, text_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
PROTOCOLS = ("flicker", "side_by_side", "slider")
PROTOCOL_VERSION = "1"
"""Raised whenever ladders are shown otherwise: rate of the flicker, steps, surround, order."""

HALF_PERIOD_MS = 250
"""How long original and copy are shown in turn under flicker: two changes back and forth a second, below the three
flashes a second that can harm (WCAG 2.2, 2.3.1)."""

MOST_LEAD = 2
"""At most so many steps of the original precede the first rung, so that a place on the slider tells nothing."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """One ladder to be read.

    Attributes:
        item_id: The item.
        source: Its source.
        topic: Its topic, None if nobody said.
        cluster: Its cluster.
        axis: The axis climbed; on a catch ladder the one it pretends to climb.
        unit: Unit of its strengths.
        catch: Whether nothing changes on it.
        recipe_version: Of the axis.
        strengths: Of the rungs, weakest first.
        probe_ids: Of the rungs; the original's alone on a catch ladder.
        rung_digests: Digests of the rungs' pixels.
        pixel_digest: Digest of the original's pixels.
        uri: Where the picture is read from.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
        mask_uri: Where the mask that the axis keeps to is read from, None for none.
        mask_digest: Digest of that mask.
    """

    item_id: str
    source: str
    topic: str | None
    cluster: str
    axis: str
    unit: str
    catch: bool
    recipe_version: int
    strengths: tuple[float, ...]
    probe_ids: tuple[str, ...]
    rung_digests: tuple[str, ...]
    pixel_digest: str
    uri: str
    width: int
    height: int
    mask_uri: str | None = None
    mask_digest: str | None = None

    @property
    def key(self) -> tuple[str, str, bool]:
        """What names it within a study."""
        return self.item_id, self.axis, self.catch


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A planned study.

    Attributes:
        name: Its name, for people.
        seed: Seed of every order.
        protocol: flicker, side_by_side or slider.
        objectionable: Whether readers are asked for the first objectionable strength too.
        repeats: How many ladders each reader is shown again.
        renderer: Fingerprint of the libraries that drew the rungs.
        ladders: Every ladder, sorted by item, axis and catch.
    """

    name: str
    seed: int
    protocol: str
    objectionable: bool
    repeats: int
    renderer: str
    ladders: tuple[Ladder, ...]

    @property
    def steps(self) -> int:
        """Steps of every slider, the same for all ladders so that none is told by its length."""
        return MOST_LEAD + max(len(ladder.strengths) for ladder in self.ladders)

    @property
    def slots(self) -> int:
        """Ladders that each reader is shown, repeats included."""
        return len(self.ladders) + self.repeats

    @property
    def study_id(self) -> str:
        """Digest of the plan."""
        return text_digest("study", canonical_json(self.as_json()))

    def as_json(self) -> dict[str, Any]:
        """Give the plan as plain values."""
        plan = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plan["ladders"] = [asdict(ladder) for ladder in self.ladders]
        return {"format": FORMAT, "protocol_version": PROTOCOL_VERSION, **plan}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Study:
        """Make a study of what `as_json` gave."""
        lists = ("strengths", "probe_ids", "rung_digests")
        ladders = tuple(
            Ladder(**{**row, **{name: tuple(row[name]) for name in lists}}) for row in content["ladders"]
        )
        values = {entry.name: content[entry.name] for entry in fields(cls)}
        return cls(**{**values, "ladders": ladders})


@dataclass(frozen=True, slots=True)
class Slot:
    """A ladder's place in a reader's order.

    Attributes:
        ladder: The ladder.
        repeat: 0 when it is shown first, 1 when it is shown again.
        lead: Steps of the original that precede its first rung.
    """

    ladder: Ladder
    repeat: int
    lead: int

    def rung(self, step: int) -> int:
        """Give the rung at a step of the slider: 0 is the original; past the last rung it stays the last."""
        return min(max(step - self.lead, 0), len(self.ladder.strengths))

    def strength(self, step: int) -> float:
        """Give the strength marked at a step; a mark where nothing has changed yet counts as the first rung."""
        return self.ladder.strengths[max(self.rung(step), 1) - 1]

    def step(self, strength: float) -> int:
        """Give the step at which a strength is reached."""
        return self.lead + 1 + sum(value < strength * (1 - 1e-9) for value in self.ladder.strengths)


def slots_of(study: Study, reader: str) -> tuple[Slot, ...]:
    """Put the ladders in a reader's own order.

    A repeated ladder comes in the first third and again in the last third.

    Args:
        study: The study.
        reader: What tells this reader from the others.
    """
    rng = np.random.default_rng(draw_seed(study.seed, "order", study.study_id, reader))
    order = [study.ladders[place] for place in rng.permutation(len(study.ladders))]
    third = max(1, len(order) // 3)
    early = [ladder for ladder in order[: max(third, study.repeats)] if not ladder.catch]
    again = early[: study.repeats]
    again += [ladder for ladder in order if not ladder.catch and ladder not in again][
        : study.repeats - len(again)
    ]
    late = [(ladder, 0) for ladder in order[len(order) - third :]]
    for ladder in again:
        late.insert(int(rng.integers(1, len(late) + 1)), (ladder, 1))
    whole = chain(((ladder, 0) for ladder in order[: len(order) - third]), late)
    return tuple(Slot(ladder, repeat, int(rng.integers(MOST_LEAD + 1))) for ladder, repeat in whole)
