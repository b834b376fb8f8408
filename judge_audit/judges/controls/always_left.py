"""Always names the picture shown first: a judge that answered "A" 1,734 times in 1,735 was sold as one."""

from judge_audit.core.vocabulary import Choice
from judge_audit.judges.controls.pairwise_control import PairControl
from judge_audit.judges.controls.recipe_control import ALL_AXES

CONTROL = PairControl(
    name="always left",
    description="Names the picture shown first, whichever that is.",
    convictions=frozenset({("position_bias", "*"), ("scale", "*"), ("top_response", ALL_AXES)}),
    # It tells neither candidates nor damages apart, where there are enough of them.
    tolerated=frozenset({("within_prompt", "*"), ("mismatch", "misses_damage overall")}),
    always=Choice.LEFT,
)
