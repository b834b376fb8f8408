"""The values that the stages of an audit are handed, and hand on to one another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from judge_audit_schemas.rows import ItemsRow, MismatchesRow, ProbesRow, ZonesRow

from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import ANCHOR
from judge_audit.judges.canaries import at_epoch
from judge_audit.people.labels import Labels, labels_of
from judge_audit.people.production_events import Acts, acts_of
from judge_audit.stimuli.combinations import chosen_id, soundings_id

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence
    from threading import BoundedSemaphore

    import pyarrow as pa

    from judge_audit.anchors import AnchorsUsed
    from judge_audit.audits.mode import AuditMode
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.canaries import Watched
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import Judge
    from judge_audit.lake import Lake
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.mismatches.kind import Kind
    from judge_audit.stimuli.planning.blocks import Block
    from judge_audit.stimuli.planning.probes import Plan
    from judge_audit.stimuli.rendering import Damage


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
class PlanTables:
    """The tables of the plans in a lake, each read once per process.

    Attributes:
        lake: The lake.
    """

    lake: Lake
    _read: dict[tuple[str, str], pa.Table] = field(default_factory=dict, repr=False, compare=False)

    def table(self, name: str, plan_id: str) -> pa.Table:
        """Give a table of a plan."""
        if (name, plan_id) in self._read:
            return self._read[name, plan_id]
        table = self.lake.read(name, plan_id=plan_id)
        # A plan of combined probes is asked for before it is made; nothing is not remembered.
        if table.num_rows:
            self._read[name, plan_id] = table
        return table

    def items(self, plan_id: str) -> list[ItemsRow]:
        """Give the items of a plan."""
        return rows_of(self.table("items", plan_id), ItemsRow)

    def probes(self, plan_id: str) -> list[ProbesRow]:
        """Give the probes of a plan."""
        return rows_of(self.table("probes", plan_id), ProbesRow)

    def mismatches(self, plan_id: str) -> list[MismatchesRow]:
        """Give the pairs of a plan."""
        return rows_of(self.table("mismatches", plan_id), MismatchesRow)

    def zone_rows(self, plan_id: str, zones_id: str) -> list[ZonesRow]:
        """Give the zones of a plan."""
        return rows_of(self.zones(plan_id, zones_id), ZonesRow)

    def untouched_items(self, plan_id: str) -> pa.Table:
        """Give the items of a plan without its anchors."""
        probes, items = self.table("probes", plan_id), self.table("items", plan_id)
        anchors = probes.filter(pc.equal(probes["axis"], ANCHOR))["item_id"]
        return items.filter(pc.invert(pc.is_in(items["item_id"], value_set=anchors.combine_chunks())))

    def zones(self, plan_id: str, zones_id: str) -> pa.Table:
        """Give the zones of a plan as a table."""
        table = self.table("zones", plan_id)
        return table.filter(pc.equal(table["zones_id"], zones_id))


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
