"""What audits of pictures have in common, whether their judge scores them or compares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.audits.model import AuditMode
from judge_audit.audits.stages.controls import shown_to_controls
from judge_audit.audits.stages.plan import plan_pictures

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.model import Planned, ScoringSetup
    from judge_audit.audits.plan_tables import PlanTables


@dataclass(frozen=True, slots=True)
class PicturesMode(AuditMode):
    """An audit whose judge is shown pictures."""

    def plan(
        self, setup: ScoringSetup, inputs: AuditInputs, on_image: Callable[[int, int], None] | None
    ) -> Planned:
        """Plan what is asked of the pictures of the items file."""
        return plan_pictures(setup, inputs, on_image)

    def shown_to_controls(
        self, plans: PlanTables, plan_id: str, seed: int
    ) -> tuple[frozenset[str], frozenset[str]] | None:
        """Name the items that controls answer untouched, and those whose ladders they answer; None for all."""
        tables = (plans.table(name, plan_id) for name in ("probes", "mismatches"))
        return shown_to_controls(plans.untouched_items(plan_id), *tables, seed=seed)
