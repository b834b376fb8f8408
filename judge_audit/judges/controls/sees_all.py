"""Sees everything and is steady: must be convicted of nothing."""

from __future__ import annotations

from judge_audit.judges.controls.pixel_control import SeeingControl, sees_all

CONTROL = SeeingControl(
    name="sees-all",
    description="Looks at the whole picture, its shape, which way is up and the prompt; must be cleared.",
    convictions=frozenset(),
    scores=lambda stimuli: [sees_all(stimulus) for stimulus in stimuli],
)
