"""A rule-based judge: colourfulness by Hasler & Süsstrunk (2003). A plain example, and a bad judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import text_digest
from judge_audit.core.vocabulary import OVERALL
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Judge, Reply

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judge_audit.judges.protocol import Stimulus

KIND = "colourfulness"
CARD = Card(
    kind=KIND,
    name="colourfulness",
    weights=text_digest("colourfulness", "1"),
    pinned=True,
    batch_size=64,
    description="Colourfulness by Hasler and Süsstrunk; a rule, no training. Rewards saturation by construction.",
    licence="Apache-2.0",
)


class Colourfulness:
    """The judge."""

    card = CARD

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Score each picture: √(σ_rg² + σ_yb²) + 0.3·√(μ_rg² + μ_yb²)."""
        return [Reply({OVERALL: _colourfulness(entry)}) for entry in stimuli]


def _colourfulness(stimulus: Stimulus) -> float:
    red, green, blue = (stimulus.image[..., channel].astype(np.float32) for channel in range(3))
    rg, yb = red - green, (red + green) / 2 - blue
    spread = np.hypot(rg.std(), yb.std())
    return float(spread + 0.3 * np.hypot(rg.mean(), yb.mean()))


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Give the judge."""
    del card, project
    judge: Judge = Colourfulness()
    return judge
