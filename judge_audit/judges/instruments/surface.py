"""Instruments: what measures pictures, kept in the lake like any judge's sub-scores, and is no judge under audit.

That of surface statistics proves which statistic each rung moved (and by how much it leaked into the others) and
gives covariates. Being cached like scores, it costs only what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Reply
from judge_audit.stimuli.surface_statistics import STATISTICS, VERSION, measure_surface

if TYPE_CHECKING:
    from judge_audit.judges.protocol import Stimulus

Measure = Callable[[Any], Mapping[str, float]]
"""Measures 8-bit sRGB pixels, shape (height, width, 3): one number per dimension."""


class Instrument:
    """Measures pictures; one dimension per number."""

    def __init__(self, name: str, version: str, dimensions: Sequence[str], measure: Measure) -> None:
        """Describe the instrument; its version is raised whenever the same pixels would give other numbers."""
        self._measure = measure
        self.card = Card(
            kind="ruler",
            name=name,
            version=version,
            pinned=True,
            weights=text_digest(name, version),
            dimensions=tuple(dimensions),
            needs_prompt=False,
            batch_size=64,
        )

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Measure each picture."""
        return [Reply(dict(self._measure(stimulus.image))) for stimulus in stimuli]


SURFACE_INSTRUMENT = Instrument("ruler", VERSION, STATISTICS, measure_surface)
