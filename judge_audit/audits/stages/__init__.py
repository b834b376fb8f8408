"""What each stage of an audit does: read tables, call the library, commit tables.

A stage may import any room below `audits`, its session and its values; `pipeline` alone says in which order they run.
"""

from judge_audit.audits.model import Prepared
from judge_audit.audits.stages.budget import budget_lines, estimate, settle_budget, spent_so_far
from judge_audit.audits.stages.canaries import canaries_due
from judge_audit.audits.stages.check import check
from judge_audit.audits.stages.combinations import chosen_at_most, combine
from judge_audit.audits.stages.controls import score_controls
from judge_audit.audits.stages.gate import Gated, gate_audit
from judge_audit.audits.stages.plan import prepare
from judge_audit.audits.stages.report import Outcome, report
from judge_audit.audits.stages.score import pace, score
from judge_audit.stimuli.planning.blocks import Block, BlockQueue, Pace, named, rounds

__all__ = [
    "Block",
    "BlockQueue",
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
