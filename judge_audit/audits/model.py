"""The values that the stages of an audit are handed, and hand on to one another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judge_audit.judges.canaries.epochs import at_epoch
from judge_audit.people.labels import Labels, labels_of
from judge_audit.people.production_events import Acts, acts_of
from judge_audit.stimuli.combinations import chosen_id, soundings_id

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence
    from threading import BoundedSemaphore
    from typing import Self

    import pyarrow as pa
    from judge_audit_schemas.rows import ItemsRow, ProbesRow

    from judge_audit.anchors import AnchorsUsed
    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.plan_tables import PlanTables
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.calling.budget import Budget
    from judge_audit.judges.canaries.verdict import Watched
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.controls.pairwise_control import PairedJudge
    from judge_audit.judges.controls.pixel_control import SeeingJudge
    from judge_audit.judges.controls.recipe_control import PlantedJudge
    from judge_audit.judges.protocol import Judge
    from judge_audit.lake import Lake
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.mismatches.kind import Kind
    from judge_audit.stimuli.planning.blocks import Block
    from judge_audit.stimuli.planning.probes import Plan
    from judge_audit.stimuli.rendering import Damage

    AnyControl = PlantedJudge | SeeingJudge | PairedJudge
    Work = Sequence[tuple[ItemsRow, Sequence[ProbesRow]]]
    """Items, each with its probes."""

    Answered = tuple[pa.Table, pa.Table]
    """Calls (probe_id, repeat, state) and scores (probe_id, repeat, dimension, value, state) of one judge."""


KEYS = ["probe_id", "repeat"]
"""What names a call of a judge."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned audit, named by ids: what the later stages are handed.

    Attributes:
        audit_id: This run.
        plan_id: What it asks.
        zones_id: What people see of the ladders.
        judge_id: Whom it asks.
        blocks: The shares of work.
        new_calls: Answers still to be bought.
        reused_calls: Answers that are in the lake already.
        warnings: What a person should know before trusting the figures.
        started_at: When it began, as ISO 8601 text.
        imports: Digest of each imported file it goes by, by `import <import_id>`.
        anchors: Which anchors it goes by; None if none were given.
        canaries: What the judge's canaries showed; None where its weights are pinned, and in a dry run.
    """

    audit_id: str
    plan_id: str
    zones_id: str
    judge_id: str
    blocks: tuple[Block, ...]
    new_calls: int
    reused_calls: int
    warnings: tuple[str, ...]
    started_at: str
    imports: Mapping[str, str]
    anchors: AnchorsUsed | None = None
    canaries: Watched | None = None

    @property
    def soundings_id(self) -> str:
        """The plan of the pairs of axes by which combinations are chosen."""
        return soundings_id(self.plan_id, self.zones_id)

    def combinations_id(self, judge_id: str) -> str:
        """Name the plan of the combinations that a judge's scores chose."""
        return chosen_id(self.plan_id, self.zones_id, judge_id)


@dataclass(frozen=True, slots=True)
class Planned:
    """What an audit asks.

    Attributes:
        plan: The plan.
        notes: What a person should know of it.
        imports: Digest of each imported file it goes by, by `import <import_id>`.
    """

    plan: Plan
    notes: tuple[str, ...]
    imports: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outstanding:
    """What a judge is asked by a plan, and how much of it is not answered yet.

    Attributes:
        asked: Different answers that the plan asks for.
        new: Those of them that are not in the lake.
        left: The same by item; an item with something left for an instrument alone is named with 0.
        planned: Answers by item where they are not counted by probe.
        notes: What limits them.
    """

    asked: int
    new: int
    left: Mapping[str, int]
    planned: Counter[str] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answers:
    """One judge's answers, as checks see them.

    Attributes:
        responses: A row a score, see `stages.answers.responses`.
        compared: Every comparison of a judge that compares, see `checks.pairwise.answers`.
        strengths: Rows of `strengths` that these came to, where there are comparisons.
    """

    responses: pa.Table
    compared: pa.Table | None = None
    strengths: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Stimuli:
    """What an audit's pictures are made with.

    Attributes:
        axes: The axes it climbs, by name.
        kinds: The mismatch kinds, by name.
        damage: Gives what draws the damaged members of a plan's pairs.
    """

    axes: Mapping[str, Axis]
    kinds: Mapping[str, Kind]
    damage: Callable[[str], Damage]


@dataclass(frozen=True, slots=True)
class ScoringSetup:
    """What it takes to ask the judge of an audit, and to make sense of what it answers.

    Attributes:
        configuration: What the audit was asked to do.
        mode: What differs by what the judge gives.
        judge: The judge, of the epoch that the audit goes by.
        plans: The plans' tables.
        stimuli: What pictures are made with.
        turn: Gives what at most `concurrency` requests of a judge pass at a time in this process.
    """

    configuration: Configuration
    mode: AuditMode
    judge: Judge
    plans: PlanTables
    stimuli: Stimuli
    turn: Callable[[Card], BoundedSemaphore]

    @property
    def lake(self) -> Lake:
        """The lake."""
        return self.plans.lake

    def at_epoch(self, epoch: int) -> ScoringSetup:
        """Give the same for the judge of another epoch."""
        return replace(self, judge=at_epoch(self.judge, epoch))


@dataclass(frozen=True, slots=True)
class PeopleRecords:
    """What people said of an audit's items and did about its judge's decisions, each read once per process.

    Attributes:
        plans: The plans' tables.
    """

    plans: PlanTables
    _labels: dict[str, Labels] = field(default_factory=dict, repr=False, compare=False)
    _acts: dict[tuple[str, str], Acts] = field(default_factory=dict, repr=False, compare=False)

    def labels(self, plan_id: str) -> Labels:
        """Read the labels of a plan's items."""
        if plan_id not in self._labels:
            items, mismatches = (self.plans.table(name, plan_id) for name in ("items", "mismatches"))
            self._labels[plan_id] = labels_of(self.plans.lake, items, mismatches)
        return self._labels[plan_id]

    def acts(self, plan_id: str, judge_id: str) -> Acts:
        """Read what production decided by a judge and what people did about it."""
        key = plan_id, judge_id
        if key not in self._acts:
            self._acts[key] = acts_of(self.plans.lake, self.plans.table("items", plan_id), judge_id)
        return self._acts[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share of an audit's plan, which is answered at a stretch.

    Attributes:
        work: Items, each with its probes.
        blocks: The blocks they are from; none where they were picked one by one.
        budget: What the answers are paid from.
        on_settled: Called with how many planned answers were settled.
    """

    work: Work
    blocks: tuple[Block, ...] = ()
    budget: Budget | None = None
    on_settled: Callable[[int], None] | None = None

    @property
    def ends(self) -> frozenset[str]:
        """Items that are the last of a block: no batch goes on beyond them."""
        return frozenset(block.item_ids[-1] for block in self.blocks)


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

    @abstractmethod
    def plan(
        self, setup: ScoringSetup, inputs: AuditInputs, on_image: Callable[[int, int], None] | None
    ) -> Planned:
        """Say what is asked."""

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

    @abstractmethod
    def shown_to_controls(
        self, plans: PlanTables, plan_id: str, seed: int
    ) -> tuple[frozenset[str], frozenset[str]] | None:
        """Name the items that controls answer untouched, and those whose ladders they answer; None for all."""

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
