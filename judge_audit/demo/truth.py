"""What is true of a staged scene in each of the four dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.demo.figure import ARMS, FINGERS, reach
from judge_audit.demo.scenes import Camera

if TYPE_CHECKING:
    from judge_audit.demo.scenes import Scene

SHARP = Camera(softness=0.0012, grain=1.2)
POOR = Camera(softness=0.0125, grain=26.0)
"""The camera of a sound scene, and that of one of poor quality."""

MARGIN = 0.02
"""The person keeps this share of the picture's side away from its edges: a brand rule."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a scene in each dimension, 1 for sound, down to 0.

    Attributes:
        semantic: Share of the prompt's statements (counts, colours, hour, setting, shirt) that hold.
        structure: Share of arms, hands and reflections that are right.
        aesthetic: 1 at the sound camera, 0 at the poor one.
        compliance: Share of the three brand rules (no badge, margin, empty space) that are kept.
    """

    semantic: float
    structure: float
    aesthetic: float
    compliance: float


def truth_of(shown: Scene, asked: Scene) -> Truth:
    """Say what is true of a scene under the prompt of another, or of itself."""
    return Truth(
        semantic=_share(_statements(shown, asked)),
        structure=_share(_structures(shown)),
        aesthetic=_quality(shown),
        compliance=_share(_rules_kept(shown)),
    )


def _share(held: list[bool]) -> float:
    return sum(held) / len(held)


def _statements(shown: Scene, asked: Scene) -> list[bool]:
    """Say of each statement of a prompt whether it holds."""
    held = [shown.hour == asked.hour, shown.setting == asked.setting]
    if asked.figure is not None:
        held.append(shown.figure is not None and shown.figure.colour == asked.figure.colour)
    for kind in sorted({thing.thing for thing in asked.placed}):
        seen, told = (
            sorted(it.colour for it in scene.placed if it.thing == kind) for scene in (shown, asked)
        )
        held += [len(seen) == len(told), set(seen) == set(told)]
    return held


def _structures(scene: Scene) -> list[bool]:
    """Say of arms, hands and reflection whether they are right."""
    held = [scene.mirrored is None or scene.mirrored == scene.placed]
    if scene.figure is not None:
        held += [scene.figure.arms == ARMS, all(count == FINGERS for count in scene.figure.fingers)]
    return held


def _quality(scene: Scene) -> float:
    """Say how good the camera is."""
    camera = scene.camera or SHARP
    parts = [
        (camera.softness - SHARP.softness) / (POOR.softness - SHARP.softness),
        (camera.grain - SHARP.grain) / (POOR.grain - SHARP.grain),
    ]
    return float(1 - np.clip(parts, 0, 1).mean())


def _rules_kept(scene: Scene) -> list[bool]:
    """Say of each brand rule whether it is kept."""
    names = {mark.thing for mark in scene.marks}
    clear = True
    if scene.figure is not None:
        left, _, right, _ = reach(scene.figure)
        clear = left >= MARGIN and right <= 1 - MARGIN
    return ["badge" not in names, clear, "copy" not in names]
