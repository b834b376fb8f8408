"""Four sub-scores, of which the semantic one does not hear its own damage."""

from judge_audit.judges.controls.recipe_control import deaf

CONTROL = deaf("semantic", "its prompt: exchanging it changes nothing")
