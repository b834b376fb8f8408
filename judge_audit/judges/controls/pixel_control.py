"""What the controls that act on pixels are made of: a judge that sees everything, and one planted blindness.

They are shown the few pictures by which it is found out what a judge can see, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    """

    name: str
    description: str
    convictions: frozenset[tuple[str, str]]
    scores: Scores

    @property
    def tolerated(self) -> frozenset[tuple[str, str]]:
        """Further pairs that also follow from the fault: none."""
        return frozenset()


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
