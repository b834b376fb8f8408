"""What the three questions asked of a ladder have in common: guards, rows and sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.evidence import Climb, Evidence, Findings, Zone
from judge_audit.checks.result_rows import RowWriter, deciding_level, interval_words
from judge_audit.checks.sight.sight import unseen
from judge_audit.core.formatting import about, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, READ, SMALL, Verdict, ZoneBasis
from judge_audit.measures.estimates import NOTHING, Answer, Estimate, items_needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Ints
    from judge_audit.measures.ladders import Edge


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict in the making.

    Attributes:
        verdict: The answer.
        finding: The fault, "" if none.
        notes: Sentences that qualify it.
    """

    verdict: Verdict
    finding: str
    notes: tuple[str, ...] = ()

    def opened(self, note: str = "") -> Judged:
        """Leave it open after all, and say why."""
        return Judged(Verdict.INCONCLUSIVE, "", (*self.notes, note) if note else self.notes)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits a verdict is held against, and the margin its open question turns on."""

    low: float | None
    high: float | None
    margin: float


@dataclass(frozen=True)
class Question:
    """One question asked of one axis in one dimension.

    Attributes:
        evidence: What may be looked at.
        check: The check that asks.
        measure: The measure that answers.
        axis: The axis.
        dimension: The dimension.
        bounds: The limits.
        kind: `*`, or `READ` where only items with readings of their own count.
    """

    evidence: Evidence
    check: str
    measure: str
    axis: str
    dimension: str
    bounds: Bounds
    kind: str = POOLED

    @cached_property
    def climbs(self) -> tuple[Climb, ...]:
        """The climbs whose stratum can rank anything."""
        found = self.evidence.climbs(self.axis, self.dimension)
        return tuple(climb for climb in found if climb.stratum.resolved)

    @cached_property
    def provisional(self) -> bool:
        """Whether the zones of the axis rest on visual-difference models."""
        return any(zone.provisional for _, zone in self._zones())

    @property
    def strengths(self) -> tuple[float, ...]:
        """The rungs."""
        return self.evidence.axes[self.axis].strengths

    def zone_of(self, item_id: str) -> Zone | None:
        """Give an item's zone, None where nobody can say."""
        zone = self.evidence.zone_of.get((item_id, self.axis))
        return None if zone is None or (self.kind == READ and zone.basis != ZoneBasis.READINGS) else zone

    def _zones(self) -> Iterator[tuple[str, Zone]]:
        """Items with a zone on this axis."""
        for item_id, axis in self.evidence.zone_of:
            if axis == self.axis and (zone := self.zone_of(item_id)) is not None:
                yield item_id, zone

    def variants(self) -> Iterator[Question]:
        """Give the question, and beside it the same on read items where others take their quantiles."""
        yield self
        bases = {zone.basis for _, zone in self._zones()}
        if {ZoneBasis.READINGS, ZoneBasis.QUANTILES} <= bases:
            yield replace(self, kind=READ)

    @property
    def rows(self) -> RowWriter:
        """What makes the rows on this axis."""
        return self.evidence.writer(self.check, axis=self.axis, dimension=self.dimension, kind=self.kind)

    def measured(self, estimate: Estimate, needed: int | None = None) -> MeasuresRow:
        """Make the row of `measures` that answers, with the number of items that would settle it."""
        return {**self.rows.figure(self.measure, estimate), "n_needed": needed}

    def answered(self, estimate: Estimate, judged: Judged, notes: Sequence[str] = ()) -> VerdictsRow:
        """Make a row of `verdicts`, with its reason in words."""
        needed = None
        sentences = [*judged.notes, *notes]
        unsettled = judged.verdict == Verdict.INCONCLUSIVE
        # What other reasons leave open, more items do not settle.
        if unsettled and estimate is not NOTHING and not judged.notes:
            needed, sentence = self._settling(estimate)
            sentences.insert(0, sentence)
        if self.provisional and judged.verdict != Verdict.MISSING:
            sentences.append(say("notes.provisional"))
        return self.rows.verdict(
            self.measure,
            judged.verdict,
            " ".join(part for part in [self._sentence(estimate, judged), *sentences] if part),
            judged.finding,
            estimate,
            deciding_level(judged.verdict, self.evidence.claims),
            n_needed=needed,
            limit_low=self.bounds.low,
            limit_high=self.bounds.high,
            provisional=self.provisional,
        )

    def _sentence(self, estimate: Estimate, judged: Judged) -> str:
        """Say what was found; "" where nothing could be."""
        nothing = judged.verdict == Verdict.INCONCLUSIVE and not estimate.usable
        if judged.verdict == Verdict.MISSING or nothing:
            return ""
        spoken = f"compared.{self.check}" if self.evidence.card.compares else self.check
        return say(
            f"{spoken}.{judged.finding or judged.verdict.value}", axis=self.axis, **interval_words(estimate)
        )

    def _settling(self, estimate: Estimate) -> tuple[int | None, str]:
        """Say how many items would settle an open question."""
        if not estimate.usable:
            return None, say("missing.clusters", axis=self.axis, clusters=estimate.n_clusters)
        bounds = self.bounds
        needed = items_needed(estimate, bounds.margin, self.evidence.claims, low=bounds.low, high=bounds.high)
        return needed, say("notes.settle", n=about(needed)) if needed else say("notes.close")

    def unanswered(self, why: str) -> Findings:
        """Say why the axis could not be judged.

        Args:
            why: Key of the sentence for items that can be ranked and have zones.
        """
        known = any(axis == self.axis for _, axis in self.evidence.zone_of)
        verdict = Verdict.INCONCLUSIVE
        if self.axis in self.evidence.unreliable_axes:
            why = "missing.unreliable"
        elif not known:
            verdict, why = Verdict.MISSING, "missing.zones"
        elif not self.climbs:
            why = "missing.resolution"
        judged = Judged(verdict, "", (say(why, axis=self.axis),))
        return Findings(verdicts=(self.answered(NOTHING, judged),))

    def unseen(self) -> Findings | None:
        """Say that the ladder provably lies outside what the judge looks at; None if that is not so.

        Neither a steady score nor an unmoved one then says anything of its taste.
        """
        if not unseen(self.evidence, self.axis, self.dimension):
            return None
        share = percent(self.evidence.limits["sight.unseen"])
        judged = Judged(Verdict.MISSING, "unseen", (say("missing.unseen", axis=self.axis, share=share),))
        return Findings(verdicts=(self.answered(NOTHING, judged),))

    def standing_notes(self) -> tuple[str, ...]:
        """Say what qualifies every verdict on these climbs."""
        notes = []
        if self.coarse:
            notes.append(say("notes.coarse", smallest=int(self.evidence.limits["ladder.coarse_reference"])))
        if any(climb.stratum.source == SMALL for climb in self.climbs):
            notes.append(say("notes.pooled"))
        single = [climb.stratum.source for climb in self.climbs if len(np.unique(climb.clusters)) < 2]
        if single:
            notes.append(say("notes.one_cluster", sources=", ".join(single)))
        return tuple(notes)

    @property
    def coarse(self) -> bool:
        """Whether a stratum is too small for its lifts to support a pass."""
        smallest = self.evidence.limits["ladder.coarse_reference"]
        ranked = [climb.stratum for climb in self.climbs if not climb.stratum.reference.direct]
        return any(len(stratum.items) < smallest for stratum in ranked)

    def complete(self, judged: Judged) -> Judged:
        """Leave open what too many missing untouched scores, or a source without resolution, leave open."""
        share = self.evidence.unanchored(self.axis, self.dimension)
        if share > self.evidence.limits["ladder.missing_share"]:
            return Judged(Verdict.INCONCLUSIVE, "", (say("notes.refusals", share=percent(share)),))
        mute = len(self.climbs) < len(self.evidence.climbs(self.axis, self.dimension))
        if mute and judged.verdict == Verdict.PASS:
            return judged.opened(say("missing.resolution", axis=self.axis))
        return judged

    def supported(self, judged: Judged) -> Judged:
        """Turn a pass into "open" where coarse lifts or the end of the scale cannot support it."""
        if judged.verdict != Verdict.PASS:
            return judged
        share = self.no_room_share(upwards=True)
        if share > self.evidence.limits["ladder.no_room_share"]:
            return judged.opened(say("notes.no_room", share=percent(share)))
        return judged.opened() if self.coarse else judged

    def no_room_share(self, *, upwards: bool) -> float:
        """Share of items whose untouched score already stands at the declared end in the tested direction."""
        low, high = self.evidence.card.scale_low, self.evidence.card.scale_high
        if low is None or high is None or not self.climbs:
            return 0.0
        ends = (low * self.evidence.sign, high * self.evidence.sign)
        originals = np.concatenate([climb.originals[:, 0] for climb in self.climbs])
        at_end = originals >= max(ends) if upwards else originals <= min(ends)
        known = np.isfinite(originals)
        return float(at_end[known].mean()) if known.any() else 0.0

    def stands_however_filled(self, share: float, judge: Callable[[bool | None], Judged]) -> Judged:
        """Judge what was observed; with too many missing scores, only if every way of filling agrees."""
        observed = judge(None)
        if share <= self.evidence.limits["ladder.missing_share"]:
            return observed
        others = [judge(way) for way in (True, False)]
        if all((other.verdict, other.finding) == (observed.verdict, observed.finding) for other in others):
            return observed
        return Judged(Verdict.INCONCLUSIVE, "", (say("notes.refusals", share=percent(share)),))


def ask_ladders(
    evidence: Evidence, check: str, measure: str, bounds: Bounds, judge: Callable[[Question], Findings]
) -> Findings:
    """Ask a question of every axis in every dimension, and say where it cannot be asked.

    It cannot without a picture in reach to draw ladders on, nor of a ladder outside what the judge looks at.
    """
    if not evidence.axes:
        reason = say("missing.pictures")
        verdicts = (
            evidence.writer(check, dimension=dimension).verdict(measure, Verdict.MISSING, reason)
            for dimension in evidence.dimensions
        )
        return Findings(verdicts=tuple(verdicts))
    questions = (
        Question(evidence, check, measure, axis, dimension, bounds)
        for dimension in evidence.dimensions
        for axis in evidence.axes
    )
    variants = (variant for question in questions for variant in question.variants())
    return sum((variant.unseen() or judge(variant) for variant in variants), Findings())


def item_rungs(entries: Sequence[Edge | None]) -> Ints:
    """Give each item's rung, −1 where it has none."""
    return np.array([-1 if entry is None else entry.rung for entry in entries])


def decided(answer: Answer, findings: tuple[str, str]) -> Judged:
    """Turn an answer into a verdict; `findings` names the fault below and the one above."""
    finding = {-1: findings[0], 1: findings[1], 0: ""}[answer.side]
    return Judged(answer.verdict, finding)
