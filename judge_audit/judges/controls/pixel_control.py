"""The controls that act on pixels: a judge that sees everything, and those with one planted blindness.

They are shown the few pictures by which it is found out what a judge can see, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import cv2
import numpy as np

from judge_audit.core.digests import text_digest
from judge_audit.core.vocabulary import OVERALL
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Reply, Stimulus

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_SIZE = 8

LEANING = 0.1
"""How far the scores of one lean towards the mean of their batch."""

CROPPED = 7 / 8
"""Of the short side: resize to 256 and crop to 224."""

Scores = Callable[[Sequence[Stimulus]], list[float]]
"""Scores of a batch."""


@dataclass(frozen=True, slots=True)
class SeeingControl:
    """A control that is shown pixels and prompts like any judge.

    Attributes:
        name: Its name.
        description: What is planted, for people.
        convictions: (check, axis) pairs it must be convicted of.
        scores: How it scores.
        tolerated: Further pairs that also follow from the fault.
    """

    name: str
    description: str
    convictions: frozenset[tuple[str, str]]
    scores: Scores
    tolerated: frozenset[tuple[str, str]] = frozenset()


def matter(image: NDArray[np.uint8]) -> float:
    """Score what a picture holds, whichever way up: light, fine detail, and detail across over detail down.

    Args:
        image: 8-bit sRGB, shape (height, width, 3).
    """
    luma = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float64) / 255
    across, down = (float(np.abs(np.diff(luma, axis=axis)).mean()) + 1e-3 for axis in (1, 0))
    return 2 * float(luma.mean()) + 0.5 * math.log(across + down) + math.log(across / down)


def uprightness(image: NDArray[np.uint8]) -> float:
    """Score how steadily a picture grows lighter from top to bottom: −1 to 1, 0 if every row is as light.

    Args:
        image: 8-bit sRGB, shape (height, width, 3).
    """
    rows = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).mean(axis=1)
    rows = rows - rows.mean()
    ramp = np.linspace(-1, 1, len(rows))
    size = float(np.linalg.norm(rows) * np.linalg.norm(ramp))
    return float(rows @ ramp) / size if size > 1e-6 else 0.0


def prompted(prompt: str) -> float:
    """Score a prompt: a number from −0.75 to 0.75 of its own."""
    return 1.5 * (int(text_digest("prompt", prompt), 16) / 16**32 - 0.5)


def sees_all(stimulus: Stimulus) -> float:
    """Score the whole of a picture with its prompt."""
    return matter(stimulus.image) + uprightness(stimulus.image) + prompted(stimulus.prompt)


class SeeingJudge:
    """A control as a judge."""

    def __init__(self, control: SeeingControl) -> None:
        """Describe it."""
        self.control = control
        self.card = Card(
            kind="control",
            name=control.name,
            weights=text_digest("seeing control", "1", control.name),
            pinned=True,
            needs_prompt=True,
            batch_size=BATCH_SIZE,
            description=control.description,
        )

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Score a batch."""
        return [Reply({OVERALL: value}) for value in self.control.scores(stimuli)]


def _leaning(stimuli: Sequence[Stimulus]) -> list[float]:
    own = [sees_all(stimulus) for stimulus in stimuli]
    company = sum(own) / len(own)
    return [score + LEANING * (company - score) for score in own]


def _cropped(stimulus: Stimulus) -> Stimulus:
    height, width = stimulus.image.shape[:2]
    side = max(2, round(min(height, width) * CROPPED))
    top, left = (height - side) // 2, (width - side) // 2
    return replace(stimulus, image=np.ascontiguousarray(stimulus.image[top : top + side, left : left + side]))


CONTROLS = (
    SeeingControl(
        name="sees-all",
        description="Looks at the whole picture, its shape, which way is up and the prompt; must be cleared.",
        convictions=frozenset(),
        scores=lambda stimuli: [sees_all(stimulus) for stimulus in stimuli],
    ),
    SeeingControl(
        name="batch-dependent",
        description="Its scores lean a tenth of the way towards the mean of their batch.",
        convictions=frozenset({("sight", "alone")}),
        scores=_leaning,
    ),
    SeeingControl(
        name="centre-crop-only",
        description="Looks at the square in the middle only, as many preprocessing steps do.",
        convictions=frozenset({("sight", "border")}),
        scores=lambda stimuli: [sees_all(_cropped(stimulus)) for stimulus in stimuli],
    ),
    SeeingControl(
        name="orientation-blind",
        description="Scores a picture upside down as it scores it upright.",
        convictions=frozenset({("sight", "upside_down")}),
        scores=lambda stimuli: [matter(stimulus.image) + prompted(stimulus.prompt) for stimulus in stimuli],
    ),
    SeeingControl(
        name="prompt-blind",
        description="Says it needs the prompt and never looks at it.",
        convictions=frozenset({("sight", "swapped_prompt")}),
        scores=lambda stimuli: [matter(stimulus.image) + uprightness(stimulus.image) for stimulus in stimuli],
    ),
)
