"""The honest judge: blind below the visible point, falling beyond it; must be convicted of nothing."""

from judge_audit.judges.controls.recipe_control import Control, honest

CONTROL = Control(
    name="honest",
    description="Answers every axis as people would; must be cleared.",
    convictions=frozenset(),
    answer=honest,
)
