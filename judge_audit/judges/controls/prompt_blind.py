"""Says it needs the prompt and never looks at it."""

from __future__ import annotations

from judge_audit.judges.controls.pixel_control import SeeingControl, matter, uprightness

CONTROL = SeeingControl(
    name="prompt-blind",
    description="Says it needs the prompt and never looks at it.",
    convictions=frozenset({("sight", "swapped_prompt")}),
    scores=lambda stimuli: [matter(stimulus.image) + uprightness(stimulus.image) for stimulus in stimuli],
)
