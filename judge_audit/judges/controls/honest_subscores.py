"""Four sub-scores, each with an eye of its own: must be cleared."""

from judge_audit.judges.controls.recipe_control import SUBSCORES, Control, honest

CONTROL = Control(
    name="honest sub-scores",
    description="Four sub-scores that each fall on their own damage and hold on the others'; must be cleared.",
    convictions=frozenset(),
    answer=honest,
    dimensions=SUBSCORES,
    pairs_only=True,
)
