"""Four sub-scores, of which the compliance one does not hear its own damage."""

from judge_audit.judges.controls.planted import deaf

CONTROL = deaf("compliance", "broken rules")
