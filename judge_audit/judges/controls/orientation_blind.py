"""Does not know which way is up."""

from __future__ import annotations

from judge_audit.judges.controls.pixel_control import SeeingControl, matter, prompted

CONTROL = SeeingControl(
    name="orientation-blind",
    description="Scores a picture upside down as it scores it upright.",
    convictions=frozenset({("sight", "upside_down")}),
    scores=lambda stimuli: [matter(stimulus.image) + prompted(stimulus.prompt) for stimulus in stimuli],
)
