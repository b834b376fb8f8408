"""What the lake knows of a judge's canaries: every asking, what it showed, and whether one is still under way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import AuditsRow, CanaryNightsRow

from judge_audit.core.tables import rows_of

if TYPE_CHECKING:
    from datetime import datetime

    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake

    Row = dict[str, Any]

FRESH = timedelta(hours=6)
"""For how long the canaries of an audit that has not ended serve another run of it."""


@dataclass(frozen=True, slots=True)
class Past:
    """The canaries of one lineage.

    Attributes:
        lineage_id: The lineage.
        nights: Rows of `canary_nights` by asking.
        asked: Rows of `canaries`, of all askings.
        scores: Rows of `canary_scores`, of all askings.
        ended: Askings that a complete audit went by.
    """

    lineage_id: str
    nights: dict[int, CanaryNightsRow]
    asked: tuple[Row, ...]
    scores: tuple[Row, ...]
    ended: frozenset[int]

    def epoch(self, card: Card) -> int:
        """Give the epoch that the judge is in."""
        last = self.nights[max(self.nights)]["epoch"] if self.nights else 0
        return max(card.epoch, last)

    def askings_of(self, epoch: int) -> list[int]:
        """Number the askings that showed an epoch."""
        return sorted(number for number, row in self.nights.items() if row["epoch"] == epoch)

    def began(self, asking: int) -> datetime | None:
        """Say when an asking got its first answer."""
        times = [row["called_at"] for row in self.asked if row["asking"] == asking and row["called_at"]]
        return min(times, default=None)

    def asking_at(self, now: datetime) -> int:
        """Number the asking to go by: one under way whose audit has not ended and that is fresh, else the next."""
        last = max([*self.nights, *(row["asking"] for row in self.asked)], default=0)
        began = self.began(last)
        under_way = last and last not in self.ended and began is not None and now - began < FRESH
        return last if under_way else last + 1


def read_past(lake: Lake, card: Card) -> Past:
    """Read what is known of a judge's canaries."""
    name = card.lineage_id
    nights = {
        row["asking"]: row for row in rows_of(lake.read("canary_nights", lineage_id=name), CanaryNightsRow)
    }
    asked, scores = (
        tuple(lake.read(table, lineage_id=name).to_pylist()) for table in ("canaries", "canary_scores")
    )
    judges = sorted({row["judge_id"] for row in nights.values()})
    done = rows_of(lake.read("audits", status="complete", judge_id=judges), AuditsRow) if judges else []
    ended = frozenset(row["canary_asking"] for row in done if row["canary_asking"] is not None)
    return Past(name, nights, asked, scores, ended)
