"""Judges whose weights are not pinned: a few pictures asked afresh in every audit tell whether it is the same judge.

It may import cards, `lake` and `measures`.

What makes a judge but for its epoch is its *lineage*. Each time its canaries are asked is an *asking*; what an
asking showed, and which epoch it therefore is, is one row of `canary_nights`, and the first one written counts.
"""

from judge_audit.judges.canaries.epochs import at_epoch, epoch_in, is_watched, known_epoch
from judge_audit.judges.canaries.evidence import answers_of, services_of
from judge_audit.judges.canaries.history import Past, read_past
from judge_audit.judges.canaries.selection import Canary, choose
from judge_audit.judges.canaries.verdict import (
    CHANGED,
    FEWEST,
    Compared,
    Watched,
    compared,
    night_row,
    watched,
)

__all__ = [
    "CHANGED",
    "FEWEST",
    "Canary",
    "Compared",
    "Past",
    "Watched",
    "answers_of",
    "at_epoch",
    "choose",
    "compared",
    "epoch_in",
    "is_watched",
    "known_epoch",
    "night_row",
    "read_past",
    "services_of",
    "watched",
]
