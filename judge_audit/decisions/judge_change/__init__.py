"""A judge compared with the one before it: what changed of it, of the order of the anchors, and of past decisions.

It may import what `decisions` may, and not the gate.
"""

from judge_audit.decisions.judge_change.change import (
    CHECK,
    OLD_ANCHORS,
    Change,
    OnAnchors,
    compare,
    compare_judges,
)
from judge_audit.decisions.judge_change.compared_judges import ANCHOR, SCORES, AnchorSet, Side
from judge_audit.decisions.judge_change.identity import Difference, difference
from judge_audit.decisions.judge_change.replay import Replay, draw_sample, replay

__all__ = [
    "ANCHOR",
    "CHECK",
    "OLD_ANCHORS",
    "SCORES",
    "AnchorSet",
    "Change",
    "Difference",
    "OnAnchors",
    "Replay",
    "Side",
    "compare",
    "compare_judges",
    "difference",
    "draw_sample",
    "replay",
]
