"""Compares as people would: a tie where nothing is seen, the better picture elsewhere; must be convicted of nothing."""

from judge_audit.judges.controls.pairwise_control import PairControl

CONTROL = PairControl(
    name="honest comparer",
    description="Compares any two pictures as people would; must be cleared.",
    convictions=frozenset(),
)
