"""The modes of an audit, one file each: pictures scored, pictures compared, a table of scores.

They may import the mode's definition and the stages' functions; nothing else knows which mode it is in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.audits.modes.compared import ComparedMode
from judge_audit.audits.modes.scored import ScoredMode
from judge_audit.audits.modes.table import TableMode
from judge_audit.core.errors import UsageError
from judge_audit.judges.adapters.table import KIND as TABLE_KIND
from judge_audit.judges.pairwise.protocol import ComparingJudge

if TYPE_CHECKING:
    from judge_audit.audits.model import AuditMode
    from judge_audit.judges.protocol import Judge


def mode_of(judge: Judge, *, only: str = "") -> AuditMode:
    """Say how a judge is audited.

    Args:
        judge: The judge.
        only: "mismatches" leaves out everything but the pairs.

    Raises:
        UsageError: If its card says that it compares and it has no method for it.
    """
    card = judge.card
    if card.kind == TABLE_KIND:
        return TableMode()
    if card.compares and not isinstance(judge, ComparingJudge):
        raise UsageError(
            f"the card of “{card.name}” says compares: true, which judges of kind {card.kind} do not do."
        )
    mode: AuditMode = ComparedMode() if card.compares else ScoredMode()
    return mode.only_mismatches() if only else mode
