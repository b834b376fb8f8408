"""Sight: what does the judge look at, and does it say the same of the same picture?

A judge's answers to the sight probes, its own unsteadiness, and whether an equal score means anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.result_rows import Share
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import NOT_ASKED, ORIGINAL, POOLED, State, Verdict
from judge_audit.measures.estimates import NOTHING, PASS_LEVEL, corrected_level, wilson
from judge_audit.measures.scale import tied_share
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence, Floats
    from judge_audit.checks.result_rows import Figure


Asking = tuple[str, int]
"""An axis or sight probe, and a repeat."""

UNTOUCHED: Asking = (ORIGINAL, 0)


@dataclass(frozen=True, slots=True)
class Changes:
    """How far each item's score lies from its reference: a sight probe's from the original's.

    Attributes:
        points: Oriented differences, shape (n,).
        spreads: Robust SD of the item's source, shape (n,).
        lost: Pairs that were asked for and are not both there.
    """

    points: Floats
    spreads: Floats
    lost: int = 0

    @property
    def n(self) -> int:
        """Pairs compared."""
        return len(self.points)

    @property
    def deviations(self) -> Floats:
        """The differences in robust SDs of the source."""
        return self.points / np.where(self.spreads > 0, self.spreads, np.nan)

    def moved(self, share_of_spread: float, noise: float = 0.0) -> int:
        """Count differences beyond a share of the source's spread and beyond `noise` points."""
        return int((np.abs(self.points) > np.maximum(share_of_spread * self.spreads, noise)).sum())


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What the same request asked twice says.

    Attributes:
        repeats: Differences between two identical requests.
        steady: Whether every pair was the same, as far as it was asked.
        noise: Largest difference, in points; 0 for a steady judge.
        resolved: Whether scores of different pictures seldom tie, so that equal ones mean something.
    """

    repeats: Changes
    steady: bool
    noise: float
    resolved: bool


def _scores(evidence: Evidence, dimension: str) -> dict[tuple[str, int], dict[str, float | None]]:
    """Oriented scores off the ladders by (axis, repeat) and item, None where none came back."""
    found: dict[tuple[str, int], dict[str, float | None]] = {}
    for axis in (ORIGINAL, *SIGHT):
        for row in evidence.of_axis(axis):
            if row["dimension"] in (dimension, POOLED) and row["state"] != State.INERT:
                scored = row["state"] == State.OK and row["value"] is not None
                value = evidence.sign * (row["value"] or 0.0) if scored else None
                found.setdefault((axis, row["repeat"]), {})[row["item_id"]] = value
    return found


def changes(evidence: Evidence, dimension: str, asking: Asking, before: Asking) -> Changes:
    """Compare one asking (axis and repeat) with another on every item that was asked both ways."""
    scores = evidence.once(f"sight\0{dimension}", lambda: _scores(evidence, dimension))
    spread_of = {item: stratum.spread for stratum in evidence.strata(dimension) for item in stratum.items}
    new, old = scores.get(asking, {}), scores.get(before, {})
    asked = sorted(new.keys() & old.keys())
    whole = [
        (spread, after - prior)
        for spread, after, prior in ((spread_of.get(item), new[item], old[item]) for item in asked)
        if spread is not None and after is not None and prior is not None
    ]
    spreads, points = (np.array([pair[at] for pair in whole], np.float64) for at in (0, 1))
    return Changes(points, spreads, len(asked) - len(whole))


def steadiness(evidence: Evidence, dimension: str) -> Steadiness:
    """Say how far the judge repeats itself, by requests of one picture if there are any.

    Two untouched askings within batches need not have had the same company; they serve where a judge does not
    repeat itself anyway, and where nothing was asked alone.
    """
    return evidence.once(f"steadiness\0{dimension}", lambda: _steadiness(evidence, dimension))


def _steadiness(evidence: Evidence, dimension: str) -> Steadiness:
    limits = evidence.limits
    alone = changes(evidence, dimension, ("alone", 1), ("alone", 0))
    within = changes(evidence, dimension, (ORIGINAL, 1), UNTOUCHED)
    repeats = alone if alone.n else within
    steady = repeats.n >= limits["sight.min_items"] and not repeats.moved(limits["sight.rounding"])
    sizes = np.abs(repeats.points if steady else np.concatenate([alone.points, within.points]))
    untouched = [stratum.reference.values for stratum in evidence.strata(dimension)]
    ties = tied_share(np.concatenate(untouched)) if untouched else 1.0
    noise = float(sizes.max()) if len(sizes) else 0.0
    return Steadiness(repeats, steady, noise, resolved=ties <= limits["sight.ties"])


def unrest(evidence: Evidence, dimension: str) -> float:
    """Give the largest difference that the same picture may make: asked again, alone, or elsewhere in the order."""
    sizes = [steadiness(evidence, dimension).noise]
    for name in ("alone", "copy"):
        found = changes(evidence, dimension, (name, 0), UNTOUCHED)
        sizes += [float(np.abs(found.points).max())] if found.n else []
    return max(sizes)


@dataclass(frozen=True, slots=True)
class Ladder:
    """What came of a ladder, whatever people see of it.

    Attributes:
        items: Items that carry it.
        same: Scores that equal the original's exactly although pixels differ.
        n: Scores of rungs whose pixels differ.
        moved: Share of items moved per rung, NaN where no pixel differs, shape (K,).
    """

    items: int
    same: int
    n: int
    moved: Floats


def ladder(evidence: Evidence, axis: str, dimension: str) -> Ladder:
    """Compare every rung of an axis with its original."""
    noise, rounding = unrest(evidence, dimension), evidence.limits["sight.rounding"]
    climbs = evidence.climbs(axis, dimension)
    rungs = len(evidence.axes[axis].strengths)
    hits, asked = np.zeros(rungs), np.zeros(rungs)
    same = n = 0
    for climb in climbs:
        change = climb.scores[:, :, 0] - climb.originals[:, :1]
        known = np.isfinite(change)
        floor = max(rounding * climb.stratum.spread, noise)
        hits += (known & (np.abs(np.where(known, change, 0.0)) > floor)).sum(axis=0)
        asked += known.sum(axis=0)
        same += int((change[known] == 0).sum())
        n += int(known.sum())
    moved = np.where(asked > 0, hits / np.maximum(asked, 1), np.nan)
    return Ladder(sum(len(climb.items) for climb in climbs), same, n, moved)


def unseen(evidence: Evidence, axis: str, dimension: str) -> bool:
    """Say whether a ladder provably lies outside what the judge looks at.

    It must leave part of every picture as it is: a change of the whole picture reaches any view of it, and a
    judge that ties even where it is overdone has answered. The judge must repeat itself, tie seldom, and give
    (nearly) every rung exactly the original's score although pixels differ.
    """
    if not evidence.axes[axis].local:
        return False
    steady, found = steadiness(evidence, dimension), ladder(evidence, axis, dimension)
    return (
        steady.steady
        and steady.resolved
        and found.items >= evidence.limits["sight.min_items"]
        and found.n > 0
        and found.same >= evidence.limits["sight.unseen"] * found.n
    )


NAME = "sight"


@dataclass(frozen=True, slots=True)
class Question:
    """One question of sight.

    Attributes:
        name: Beginning of its measures' names.
        axis: The sight probe that answers it.
        asking: Which of its askings.
        before: What that is held against.
        moving: What a judge is called that moves; "" where it ought to, or may.
        blind: What a judge is called that does not move; "" where it ought not to move.
    """

    name: str
    axis: str
    asking: Asking
    before: Asking = UNTOUCHED
    moving: str = ""
    blind: str = ""


QUESTIONS = (
    Question("repeat", ORIGINAL, ("alone", 1), ("alone", 0)),
    Question("batch", "alone", ("alone", 0), moving="batch_dependent"),
    Question("copy", "copy", ("copy", 0), moving="order_dependent"),
    Question("border", "border", ("border", 0), blind="border_blind"),
    Question("aspect", "stretched", ("stretched", 0), blind="aspect_blind"),
    Question("orientation", "upside_down", ("upside_down", 0), blind="orientation_blind"),
    Question("prompt", "swapped_prompt", ("swapped_prompt", 0), blind="prompt_blind"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: verdict, finding, and the name of its sentence."""

    verdict: Verdict
    finding: str
    sentence: str


def run(evidence: Evidence) -> Findings:
    """Measure what sight probes change, and how much of each ladder reaches the judge.

    What ought not to move a score (asked again, alone, in another place) convicts a judge that repeats itself
    as soon as `sight.moved_items` items move beyond rounding, one that does not by the share of items moved
    beyond its noise. What ought to (border, shape, orientation, prompt) convicts of blindness when fewer than
    half of the items move, by interval. A judge whose scores tie often is never cleared by equal scores, nor
    convicted by them.
    """
    findings = Findings()
    for dimension in evidence.dimensions:
        shaken = False
        for question in QUESTIONS:
            inquiry = Inquiry(evidence, dimension, question)
            answer = inquiry.answer()
            if question.name == "copy" and shaken and answer.verdict == Verdict.FAIL:
                answer = Answer(Verdict.INCONCLUSIVE, "", "copy_follows")
            shaken |= question.name == "batch" and answer.verdict == Verdict.FAIL
            findings += inquiry.findings(answer)
        if not evidence.is_control:  # nobody asks which rungs a control would have seen
            findings += _ladders(evidence, dimension)
    return findings


@dataclass(frozen=True)
class Inquiry:
    """One question put to one judge in one dimension."""

    evidence: Evidence
    dimension: str
    question: Question

    @cached_property
    def steady(self) -> Steadiness:
        """How far the judge repeats itself."""
        return steadiness(self.evidence, self.dimension)

    @cached_property
    def found(self) -> Changes:
        """What changed."""
        asking, before = self.question.asking, self.question.before
        found = changes(self.evidence, self.dimension, asking, before)
        return self.steady.repeats if self.question.name == "repeat" and not found.n else found

    @cached_property
    def floor(self) -> tuple[float, float]:
        """What does not count as a move: a share of the spread, and points."""
        if self.question.blind:
            return self.limit("seen"), unrest(self.evidence, self.dimension)
        return self.limit("rounding"), 0.0 if self.question.name == "repeat" else self.steady.noise

    def limit(self, name: str) -> float:
        """Give a limit in force."""
        return self.evidence.limits[f"{NAME}.{name}"]

    def answer(self) -> Answer:
        """Answer the question, if missing scores do not decide it."""
        found = self.found
        if not found.n and not found.lost:
            if self.question.name == "prompt":
                return Answer(Verdict.MISSING, "", "one_prompt")
            return Answer(Verdict.MISSING, NOT_ASKED, "unasked")
        if found.n < self.limit("min_items"):
            return Answer(Verdict.INCONCLUSIVE, "", "few")
        judge = self._seeing if self.question.blind else self._staying
        judge = self._repeating if self.question.name == "repeat" else judge
        hits = found.moved(*self.floor)
        answers = {judge(moved, found.n + found.lost) for moved in (hits, hits + found.lost)}
        return answers.pop() if len(answers) == 1 else Answer(Verdict.INCONCLUSIVE, "", "refusals")

    def _repeating(self, hits: int, n: int) -> Answer:
        """A judge that does not repeat itself has retest noise; a fault only where its card rules that out."""
        del n
        if hits and self.evidence.card.decoding.get("temperature") == 0:
            return Answer(Verdict.FAIL, "not_repeatable", "not_repeatable")
        if hits:
            return Answer(Verdict.PASS, "retest_noise", "retest_noise")
        return self._same(Answer(Verdict.PASS, "", "repeat_pass"))

    def _staying(self, hits: int, n: int) -> Answer:
        """Answer whether a score stays where the same picture is shown."""
        if self.steady.steady:
            fault = hits >= self.limit("moved_items")
        else:
            fault = wilson(hits, n, corrected_level(len(QUESTIONS)))[0] > self.limit("moved_share")
        if fault:
            return Answer(Verdict.FAIL, self.question.moving, self.question.moving)
        if wilson(hits, n, PASS_LEVEL)[1] < self.limit("moved_share"):
            single = self.question.name == "batch" and self.evidence.card.batch_size == 1
            sentence = "batch_single" if single else f"{self.question.name}_pass"
            return self._same(Answer(Verdict.PASS, "", sentence))
        return Answer(Verdict.INCONCLUSIVE, "", f"{self.question.name}_open")

    def _seeing(self, hits: int, n: int) -> Answer:
        """Answer whether a score moves where another picture, or another prompt, is shown."""
        name, half = self.question.name, self.limit("seen_share")
        if wilson(hits, n, PASS_LEVEL)[0] > half:
            return Answer(Verdict.PASS, "", f"{name}_pass")
        if name == "prompt" and not self.evidence.card.needs_prompt:
            return Answer(Verdict.PASS, "no_prompt", "no_prompt")
        spread, noise = self.floor
        if noise > spread * float(np.median(self.found.spreads)):
            return Answer(Verdict.INCONCLUSIVE, "", "noisy")
        if wilson(hits, n, corrected_level(len(QUESTIONS)))[1] < half:
            return self._same(Answer(Verdict.FAIL, self.question.blind, self.question.blind))
        return Answer(Verdict.INCONCLUSIVE, "", f"{name}_open")

    def _same(self, answer: Answer) -> Answer:
        """Let equal scores prove something only where scores seldom tie."""
        return answer if self.steady.resolved else Answer(Verdict.INCONCLUSIVE, "", "coarse")

    def findings(self, answer: Answer) -> Findings:
        """Write down the size of the changes, the share of items moved, and the verdict."""
        found, name = self.found, self.question.name
        writer = self.evidence.writer(NAME, axis=self.question.axis, dimension=self.dimension)
        measures = []
        words = {"n": str(found.n), "share": percent(0.0), "smallest": f"{self.limit('min_items'):g}"}
        for suffix, values in (("", found.points), ("_sd", found.deviations)):
            for kind, of in (("median", np.median), ("largest", np.max)):
                size = float(of(np.abs(values))) if len(values) else 0.0
                words[f"{kind}{suffix}"] = f"{size:.2g}"
                if found.n and np.isfinite(size):
                    measures.append(writer.count(f"{name}_change{suffix}", size, found.n, kind=kind))
        figure: Figure = NOTHING
        if found.n:
            figure = Share(found.moved(*self.floor), found.n)
            words["share"] = percent(figure.value)
            measures.append(writer.share(f"{name}_moved", figure.hits, found.n))
        reason = say(f"sight.{answer.sentence}", **words)
        limits: VerdictsRow = {}
        if self.question.blind:
            limits = {"limit_low": self.limit("seen_share")}
        elif self.question.moving:
            limits = {"limit_high": self.limit("moved_share")}
        row = writer.verdict(f"{name}_moved", answer.verdict, reason, answer.finding, figure, **limits)
        return Findings(measures=tuple(measures), verdicts=(row,))


def _ladders(evidence: Evidence, dimension: str) -> Findings:
    """Say per axis from which rung on most scores move at all, and how many equal the original's exactly."""
    measures: list[MeasuresRow] = []
    verdicts: list[VerdictsRow] = []
    for axis, knob in evidence.axes.items():
        found = ladder(evidence, axis, dimension)
        if not found.n:
            continue
        writer = evidence.writer(NAME, axis=axis, dimension=dimension)
        measure, share = "unseen_share", Share(found.same, found.n)
        rungs = np.flatnonzero(found.moved >= evidence.limits["sight.seen_share"])
        first = knob.strengths[rungs[0]] if len(rungs) else None
        measures.append(writer.share(measure, found.same, found.n))
        measures.append(writer.count("seen_from", first, found.items))
        if unseen(evidence, axis, dimension):
            limit = evidence.limits["sight.unseen"]
            reason = say("missing.unseen", axis=axis, share=percent(limit))
            row = writer.verdict(measure, Verdict.MISSING, reason, "unseen", share, limit_high=limit)
            verdicts.append(row)
    return Findings(measures=tuple(measures), verdicts=tuple(verdicts))


CHECK = Check(NAME, run, judges=("batch_moved",))
