"""One total under four names."""

from judge_audit.judges.controls.recipe_control import SUBSCORES, Control, honest

CONTROL = Control(
    name="conflated",
    description="Its four sub-scores are one score, given four times.",
    convictions=frozenset({("mismatch", "copies")}),
    # One score cannot hold where another falls, nor follow what people rate in each dimension by itself.
    tolerated=frozenset({("mismatch", f"halo {name}") for name in SUBSCORES})
    | frozenset({("subscores", "*"), ("beside_people", "*")}),
    answer=honest,
    dimensions=SUBSCORES,
    pairs_only=True,
    copies=True,
)
