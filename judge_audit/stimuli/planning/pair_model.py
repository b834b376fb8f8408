"""A pair of an intact and a damaged member, as it is planned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.stimuli.mismatches.kind import Kind


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
