"""Leans on what shares its batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.judges.controls.pixel_control import SeeingControl, sees_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.judges.protocol import Stimulus

LEANING = 0.1


def _scores(stimuli: Sequence[Stimulus]) -> list[float]:
    own = [sees_all(stimulus) for stimulus in stimuli]
    company = sum(own) / len(own)
    return [score + LEANING * (company - score) for score in own]


CONTROL = SeeingControl(
    name="batch-dependent",
    description="Its scores lean a tenth of the way towards the mean of their batch.",
    convictions=frozenset({("sight", "alone")}),
    scores=_scores,
)
