"""What a process keeps of one audit: the loaded judge, the plans it has read, and turns; stages get values of it.

Tasks are named by ids and paths alone, so they can run in any process; a judge is loaded once per process.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from judge_audit.audits.inputs import AuditInputs
from judge_audit.audits.model import PeopleRecords, ScoringSetup, Stimuli
from judge_audit.audits.modes import mode_of
from judge_audit.audits.plan_tables import PlanTables
from judge_audit.audits.plugins import configured_judge, find_mismatches, select_axes
from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.judges.canaries.epochs import at_epoch, known_epoch
from judge_audit.lake import Lake

if TYPE_CHECKING:
    from judge_audit.audits.model import AuditMode, Prepared
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import Judge


@dataclass(eq=False)
class AuditContext:
    """Everything loaded for one configuration in one process.

    Attributes:
        configuration: What the audit was asked to do.
        given_judge: A judge handed over in Python, instead of the configuration's name for one.
        requests: Requests of the judge that this process may have under way at most, where it is one of several;
            0 for what the card says.
    """

    configuration: Configuration
    given_judge: Judge | None = None
    requests: int = 0
    _turns: dict[str, threading.BoundedSemaphore] = field(default_factory=dict)

    @cached_property
    def lake(self) -> Lake:
        """The lake, made if it is not there."""
        return Lake.open(self.configuration.lake)

    @cached_property
    def judge(self) -> Judge:
        """The judge under audit, of the epoch it is in by what the lake has seen."""
        judge = self.given_judge or configured_judge(self.configuration, self.requests)
        return at_epoch(judge, known_epoch(self.configuration.lake, judge.card))

    @cached_property
    def mode(self) -> AuditMode:
        """What differs by what the judge gives, and by what the audit leaves out."""
        return mode_of(self.judge, only=self.configuration.only)

    @cached_property
    def plans(self) -> PlanTables:
        """The plans in the lake."""
        return PlanTables(self.lake)

    @cached_property
    def people(self) -> PeopleRecords:
        """What people said and did."""
        return PeopleRecords(self.plans)

    @cached_property
    def inputs(self) -> AuditInputs:
        """What the team gave."""
        axes = select_axes(self.configuration) if self.mode.climbs_ladders else {}
        kinds = {name: part.thing for name, part in find_mismatches(self.configuration.project).items()}
        return AuditInputs(
            self.configuration, self.mode.climbs_ladders, self.judge, lambda: self.lake, axes, kinds
        )

    def setup(self, prepared: Prepared | None = None) -> ScoringSetup:
        """Give what it takes to ask the judge.

        Args:
            prepared: An audit under way, which goes on with the judge it began with, whatever another audit has
                found of it since.
        """
        inputs = self.inputs
        stimuli = Stimuli(inputs.axes, inputs.kinds, partial(inputs.damage, self.plans))
        setup = ScoringSetup(self.configuration, self.mode, self.judge, self.plans, stimuli, self._turn)
        return setup.at_epoch(prepared.canaries.epoch) if prepared and prepared.canaries else setup

    def _turn(self, card: Card) -> threading.BoundedSemaphore:
        """Give the gate through which at most `concurrency` requests of a judge pass in this process."""
        with _lock:
            if card.judge_id not in self._turns:
                self._turns[card.judge_id] = threading.BoundedSemaphore(card.concurrency)
            return self._turns[card.judge_id]


_contexts: dict[str, AuditContext] = {}
_lock = threading.Lock()


def context_of(configuration: Configuration, requests: int = 0) -> AuditContext:
    """Give this process's context of a configuration, the same one each time.

    Args:
        configuration: The configuration.
        requests: Requests of the judge that this process may have under way; 0 for what the card says.
    """
    name = text_digest(canonical_json(configuration.as_json()), str(requests))
    with _lock:
        if name not in _contexts:
            _contexts.clear()
            _contexts[name] = AuditContext(configuration, requests=requests)
        return _contexts[name]
