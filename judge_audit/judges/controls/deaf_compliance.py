"""Four sub-scores, of which the compliance one does not hear its own damage."""

from judge_audit.judges.controls.recipe_control import deaf

CONTROL = deaf("compliance", "broken rules")
