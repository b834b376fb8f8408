"""Four sub-scores, of which the structure one does not hear its own damage."""

from judge_audit.judges.controls.planted import deaf

CONTROL = deaf("structure", "hidden structural errors")
