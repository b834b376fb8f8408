"""What each stage of an audit does: read tables, call the library, commit tables.

The flows and the in-process audit for notebooks call these same functions.
"""

from judge_audit.blocks import Block, Deal, Pace, named, rounds
from judge_audit.stages.asking import pace, score
from judge_audit.stages.combining import chosen_at_most, combine
from judge_audit.stages.examining import check
from judge_audit.stages.gating import Gated, gate_audit
from judge_audit.stages.paying import budget_lines, estimate, settle_budget, spent_so_far
from judge_audit.stages.planning import Prepared, prepare
from judge_audit.stages.proving import score_controls
from judge_audit.stages.reporting import Outcome, report
from judge_audit.stages.watching import canaries_due

__all__ = [
    "Block",
    "Deal",
    "Gated",
    "Outcome",
    "Pace",
    "Prepared",
    "budget_lines",
    "canaries_due",
    "check",
    "chosen_at_most",
    "combine",
    "estimate",
    "gate_audit",
    "named",
    "pace",
    "prepare",
    "report",
    "rounds",
    "score",
    "score_controls",
    "settle_budget",
    "spent_so_far",
]
