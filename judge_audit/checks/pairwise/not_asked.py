"""What cannot be asked of a judge that compares two pictures: said plainly, never passed over as if it had passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.checks.evidence import Findings
from judge_audit.messages import say
from judge_audit.standings import NOT_ASKED
from judge_audit.vocabulary import OVERALL, POOLED, Verdict

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Evidence

ASKED = frozenset(
    {
        "agreement",
        "choices",
        "completeness",
        "coverage",
        "mismatch",
        "position_bias",
        "premature",
        "scale",
        "top_response",
        "within_prompt",
    }
)
"""Checks that a judge that compares can answer, or that are about people and pictures alone."""

MEASURES = {
    "acceptance": ("false_accept_rate", "false_reject_rate", "overturn_rate"),
    "beside_people": ("judge_beside_people",),
    "covariates": ("explained_share",),
    "headroom": ("headroom",),
    "jitter": ("jitter",),
    "mismatch": ("selectivity",),
    "retest": ("retest_spearman",),
    "review": ("quantile_difference",),
    "separation": ("separated",),
    "sight": ("batch_moved",),
    "stability": ("edge_difference",),
    "subscores": ("effective_dimensions",),
}
"""What the other checks would have judged."""

OF_LADDERS = frozenset({"jitter"})
"""Those that are asked of every ladder."""


def not_asked(evidence: Evidence, check: str) -> Findings:
    """Say of a check that it needs scores; of one that is asked of every ladder, ladder by ladder."""
    axes = list(evidence.axes) if check in OF_LADDERS else [POOLED]
    return Findings(
        verdicts=tuple(
            {
                **evidence.key(check, measure, dimension=OVERALL, axis=axis),
                "verdict": Verdict.MISSING.value,
                "finding": NOT_ASKED,
                "reason": say(f"compared.not_asked.{check}"),
                "provisional": False,
            }
            for measure in MEASURES.get(check, ())
            for axis in axes
        )
    )
