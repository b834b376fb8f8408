"""The audit of a judge that scores every picture it is shown, and what all audits of pictures have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.audits.model import Answers, AuditMode, Outstanding, Share
from judge_audit.audits.stages.answers import is_first, responses, work_of
from judge_audit.audits.stages.budget import budget_of
from judge_audit.audits.stages.controls import have_controls_score, only_shown, shown_to_controls
from judge_audit.audits.stages.plan import count_asked, plan_pictures, unanswered
from judge_audit.audits.stages.score import TRIED, buy
from judge_audit.judges.controls import builtin_controls, seeing_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.model import Answered, AnyControl, Planned, Prepared, ScoringSetup
    from judge_audit.audits.plan_tables import PlanTables
    from judge_audit.judges.cards.card import Card
    from judge_audit.stimuli.planning.probes import Plan

QUESTIONS = (
    'SELECT axis, \\"check\\", verdict, finding, value, ci_low, ci_high FROM covariate_verdicts',
    "SELECT * FROM percentiles LIMIT 20",
    "SELECT * FROM worst_movers LIMIT 10",
)


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


@dataclass(frozen=True, slots=True)
class ScoredMode(PicturesMode):
    """Pictures are scored one by one."""

    lake_questions: tuple[str, ...] = QUESTIONS

    def outstanding(self, setup: ScoringSetup, inputs: AuditInputs, plan: Plan) -> Outstanding:
        """Count the calls that are not in the lake."""
        del inputs
        new, left = unanswered(setup.lake, plan.probes, setup.judge.card)
        return Outstanding(count_asked(plan.probes), new, left)

    def score(self, setup: ScoringSetup, prepared: Prepared, share: Share) -> int:
        """Have the judge score every probe of some blocks."""
        damage = setup.stimuli.damage(prepared.plan_id)
        return buy(setup, setup.judge, share, damage)

    def try_out(self, setup: ScoringSetup, prepared: Prepared) -> int:
        """Time a judge that has never answered by three untouched pictures."""
        if setup.lake.answered(setup.judge.card.judge_id).num_rows:
            return 0
        shown = [
            (item, [probe for probe in probes if is_first(probe)])
            for item, probes in work_of(setup.plans, prepared)[:TRIED]
        ]
        share = Share(work=shown, budget=budget_of(setup, prepared.audit_id))
        return buy(setup, setup.judge, share, setup.stimuli.damage(prepared.plan_id))

    def controls(self, setup: ScoringSetup, zones_id: str) -> Sequence[AnyControl]:
        """Give the controls that answer from recipes, and those that are shown pixels where sight is tried."""
        planted = builtin_controls(zones_id, setup.configuration.seed)
        return [*planted, *(seeing_controls() if self.shows_sight else ())]

    def score_controls(self, setup: ScoringSetup, prepared: Prepared) -> None:
        """Have every control score: most from the recipes of probes, those that see from the pictures."""
        have_controls_score(setup, prepared, self.controls(setup, prepared.zones_id))

    def read_answers(
        self, setup: ScoringSetup, prepared: Prepared, card: Card, answered: Answered | None
    ) -> Answers:
        """Give a judge's scores; a control's are those of the sample that it is shown."""
        plans = (prepared.soundings_id, prepared.combinations_id(card.judge_id))
        rows = responses(setup.plans, prepared.plan_id, card.judge_id, *plans, answered=answered)
        if answered is not None:
            seed = setup.configuration.seed
            rows = only_shown(rows, self.shown_to_controls(setup.plans, prepared.plan_id, seed))
        return Answers(rows)
