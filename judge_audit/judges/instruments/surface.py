"""The ruler: the pictures' own surface statistics, kept in the lake like any judge's sub-scores.

It is an instrument, not a judge under audit: it proves which statistic each rung moved (and by how much it
leaked into the others) and gives the covariates. Being cached like scores, it costs only what changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Reply
from judge_audit.stimuli.surface_statistics import STATISTICS, VERSION, measure_surface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.judges.protocol import Stimulus


class Ruler:
    """Measures surface statistics; one dimension per statistic."""

    def __init__(self) -> None:
        """Describe the instrument."""
        self.card = Card(
            kind="ruler",
            name="ruler",
            version=VERSION,
            pinned=True,
            weights=text_digest("ruler", VERSION),
            dimensions=tuple(STATISTICS),
            needs_prompt=False,
            batch_size=64,
        )

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Measure each picture."""
        return [Reply(dict(measure_surface(stimulus.image))) for stimulus in stimuli]
