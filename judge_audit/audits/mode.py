"""The mode of an audit: what differs where a judge scores pictures, compares them, or is a table of scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judge_audit.audits.stages.controls import shown_to_controls
from judge_audit.audits.stages.plan import plan_pictures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    import pyarrow as pa

    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.model import Answers, Outstanding, Planned, PlanTables, Prepared, ScoringSetup
    from judge_audit.audits.stages.answers import Answered
    from judge_audit.audits.stages.score import Share
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.controls.pairwise_control import PairedJudge
    from judge_audit.judges.controls.pixel_control import SeeingJudge
    from judge_audit.judges.controls.recipe_control import PlantedJudge
    from judge_audit.stimuli.planning.probes import Plan

    AnyControl = PlantedJudge | SeeingJudge | PairedJudge


@dataclass(frozen=True, slots=True)
class AuditMode(ABC):
    """What differs between audits by what their judge gives.

    Attributes:
        flow: The Prefect flow that makes such an audit.
        asks_judge: Whether pictures are read and the judge is asked; else everything is in the lake already.
        asks_anchors: Whether the judge is asked about the anchors.
        climbs_ladders: Whether axes are climbed, and readings of them looked at.
        shows_sight: Whether it is found out what the judge can see.
        combines: Whether changes are combined by the scores of the ladders.
        answers: The table of the judge's answers.
        unit: What is planned, in a word.
        premature_margin: The limit of a lift below the visible point.
        lake_questions: Queries that such an audit's lake answers, to begin with.
    """

    flow: str = "audit_flow"
    asks_judge: bool = True
    asks_anchors: bool = True
    climbs_ladders: bool = True
    shows_sight: bool = True
    combines: bool = True
    answers: str = "calls"
    unit: str = "probes"
    premature_margin: str = "premature.margin"
    lake_questions: tuple[str, ...] = ()

    def only_mismatches(self) -> Self:
        """Give the same without ladders and sight: the pairs, and the untouched items they are held against."""
        return replace(
            self,
            flow="mismatches_flow",
            climbs_ladders=False,
            shows_sight=False,
            lake_questions=("SELECT * FROM response_matrix", "SELECT * FROM unsuited"),
        )

    def questions(self, configuration: Configuration) -> tuple[str, ...]:
        """Say what to ask the lake after an audit."""
        del configuration
        return self.lake_questions

    def plan(
        self, setup: ScoringSetup, inputs: AuditInputs, on_image: Callable[[int, int], None] | None
    ) -> Planned:
        """Say what is asked: of the pictures of the items file."""
        return plan_pictures(setup, inputs, on_image)

    @abstractmethod
    def outstanding(self, setup: ScoringSetup, inputs: AuditInputs, plan: Plan) -> Outstanding:
        """Count what is not answered yet."""

    @abstractmethod
    def score(self, setup: ScoringSetup, prepared: Prepared, share: Share) -> int:
        """Have the judge answer a share of the plan, and count the answers bought."""

    @abstractmethod
    def try_out(self, setup: ScoringSetup, prepared: Prepared) -> int:
        """Time a judge that has never answered by a few questions; count those that were asked."""

    @abstractmethod
    def controls(self, setup: ScoringSetup, zones_id: str) -> Sequence[AnyControl]:
        """Give the controls that answer as the judge does, bound to the given zones."""

    @abstractmethod
    def score_controls(self, setup: ScoringSetup, prepared: Prepared) -> None:
        """Have every control answer what the judge was asked."""

    def shown_to_controls(
        self, plans: PlanTables, plan_id: str, seed: int
    ) -> tuple[frozenset[str], frozenset[str]] | None:
        """Name the items that controls answer untouched, and those whose ladders they answer; None for all."""
        tables = (plans.table(name, plan_id) for name in ("probes", "mismatches"))
        return shown_to_controls(plans.untouched_items(plan_id), *tables, seed=seed)

    def items_of_controls(self, plans: PlanTables, plan_id: str) -> pa.Array | None:
        """Name the items that controls answer at all; None for all."""
        del plans, plan_id
        return None

    @abstractmethod
    def read_answers(
        self, setup: ScoringSetup, prepared: Prepared, card: Card, answered: Answered | None
    ) -> Answers:
        """Give what a judge, or a control, answered as checks see it.

        Args:
            setup: What the audit asks with.
            prepared: The audit.
            card: Whose answers.
            answered: The answers of a control, which were read already; None for the judge's.
        """
