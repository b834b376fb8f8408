"""Rows and sentences of the response matrix.

Verdicts on single cells of the response matrix: what each sub-score does on each kind of damage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from judge_audit.checks.mismatches.mismatch_pairs import CONSTRUCTED
from judge_audit.checks.result_rows import deciding_level
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import number
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.measures.dimensions import drops, effective_dimensions, selectivity, silent_dimensions, spill
from judge_audit.measures.estimates import Answer, Estimate
from judge_audit.measures.lifts import combined_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Unpack

    from judge_audit_schemas.rows import KeyParts, MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.mismatches.mismatch_pairs import Matched
    from judge_audit.checks.result_rows import RowWriter
    from judge_audit.measures.dimensions import Draws, Resampled

NAME = "mismatch"
SELECTIVITY, EFFECTIVE = "selectivity", "n_eff"


@dataclass(frozen=True)
class Matrix:
    """The responses to the pairs of one origin, with the rows they make.

    Attributes:
        evidence: What may be looked at.
        matched: The pairs and their answers; sub-scores first, then the total if there is one.
        subscores: How many of the dimensions are sub-scores that a kind of damage is aimed at.
        subject: The judge, or people.
    """

    evidence: Evidence
    matched: Matched
    subscores: int
    subject: str

    @property
    def judged(self) -> tuple[str, ...]:
        """The sub-scores."""
        return self.matched.dimensions[: self.subscores]

    @property
    def seed(self) -> int:
        """Seed of the draws of this matrix."""
        return draw_seed(self.evidence.seed, NAME, self.subject, self.matched.origin)

    @cached_property
    def aimed(self) -> tuple[int, ...]:
        """Sub-scores whose own damage was done: the others say nothing of independence."""
        aims = {self.evidence.kinds[kind].damages for kind in self.matched.kinds}
        return tuple(at for at, name in enumerate(self.judged) if name in aims)

    @cached_property
    def drawn(self) -> Draws | None:
        """Δ of the sub-scores whose own damage was done, resampled."""
        found = self.matched.responses(self.aimed) if len(self.aimed) > 1 else None
        return found.drawn(seed=self.seed) if found else None

    @cached_property
    def fallen(self) -> frozenset[str]:
        """Kinds on which the damaged sub-score fell: only there can another be asked whether it held."""
        own = ((kind, self.own(kind)) for kind in self.matched.kinds)
        return frozenset(
            kind for kind, at in own if at is not None and self.fall(kind, at).verdict == Verdict.PASS
        )

    def own(self, kind: str) -> int | None:
        """Give the sub-score a kind damages, None if the judge returns none of that name."""
        name = self.evidence.kinds[kind].damages
        return self.judged.index(name) if name in self.judged else None

    def kind_key(self, kind: str = "") -> str:
        """Write a kind for a key column: constructed pairs are told apart from hand-made ones."""
        if self.matched.origin != CONSTRUCTED:
            return kind or POOLED
        return f"{kind} ({CONSTRUCTED})" if kind else CONSTRUCTED

    def writer(self, kind: str = "", /, **place: Unpack[KeyParts]) -> RowWriter:
        """Give what makes the rows of these pairs."""
        return self.evidence.writer(NAME, **place).at(subject=self.subject, kind=self.kind_key(kind))

    def response(self, kind: str, at: int) -> Estimate:
        """Mean lift of a dimension on a kind of damage."""
        return combined_mean([g.lifts(g.of_kind(kind), at) for g in self.matched.usable(at)])

    def response_raw(self, kind: str, at: int) -> Estimate:
        """Mean difference in robust standard deviations."""
        return combined_mean([g.raw(g.of_kind(kind), at) for g in self.matched.usable(at)])

    def fall(self, kind: str, at: int) -> Answer:
        """Ask whether a sub-score falls on its own damage, whatever missing answers would have been."""
        limits = self.evidence.limits
        claims = sum(self.own(name) is not None for name in self.matched.kinds)
        some = self.matched.missing_share(kind, at) > limits["ladder.missing_share"]
        answers = []
        for way in (None, True, False) if some else (None,):
            parts = [g.lifts(g.of_kind(kind), at, highest=way) for g in self.matched.usable(at)]
            answers.append(drops(combined_mean(parts), limits["mismatch.fall"], claims))
        unanchored = some and self.matched.unanchored.get(kind, 0) > 0
        return answers[0] if len(set(answers)) == 1 and not unanchored else Answer(Verdict.INCONCLUSIVE)

    def measures(self) -> Iterator[MeasuresRow]:
        """Give every cell in lifts and in standard deviations, and what several sub-scores say together.

        That is how much of each damage's response every other sub-score shows too, the selectivity of every
        sub-score, and the effective number of dimensions.
        """
        for kind in self.matched.kinds:
            for at, dimension in enumerate(self.matched.dimensions):
                writer = self.writer(kind, dimension=dimension)
                yield writer.figure("response_lift", self.response(kind, at))
                yield writer.figure("response_sd", self.response_raw(kind, at))
        for kind in self.matched.kinds if self.drawn is not None else ():
            own = self.own(kind)
            for at in self.aimed if kind in self.fallen else ():
                if self.drawn is not None and own is not None and own != at:
                    places = self.matched.kinds.index(kind), self.aimed.index(own), self.aimed.index(at)
                    spilt = spill(self.drawn, *places)
                    yield self.writer(kind, dimension=self.judged[at]).figure("spill", spilt)
        for at, dimension in enumerate(self.judged):
            if (figure := self.selectivity(at)) is not None:
                yield self.writer(dimension=dimension).figure(SELECTIVITY, figure)
        if (effective := self.effective()) is not None:
            yield self.writer().figure(EFFECTIVE, effective[0])

    def holding(self, at: int) -> list[tuple[str, int]]:
        """List the kinds on which a sub-score must hold, each with the sub-score it damages."""
        kinds = []
        for kind in self.matched.kinds:
            own = self.own(kind)
            asked = any(g.of_kind(kind, dimension=self.judged[at]).any() for g in self.matched.groups)
            if own is not None and own != at and asked:
                kinds.append((kind, own))
        return kinds

    def selectivity(self, at: int) -> Resampled | None:
        """Give 1 − the largest spill into a sub-score; None where nothing was to hold."""
        damaged = [(kind, own) for kind, own in self.holding(at) if kind in self.fallen]
        if self.drawn is None or at not in self.aimed or not damaged:
            return None
        rows = [(self.matched.kinds.index(kind), self.aimed.index(own)) for kind, own in damaged]
        return selectivity(self.drawn, rows, self.aimed.index(at))

    def effective(self) -> tuple[Resampled, tuple[str, ...]] | None:
        """Give the effective number of dimensions, and the silent ones."""
        if self.drawn is None:
            return None
        silent = silent_dimensions(self.drawn)
        names = tuple(self.judged[at] for at, mute in zip(self.aimed, silent, strict=True) if mute)
        return effective_dimensions(self.drawn), names

    def largest(self, at: int) -> tuple[str, float] | None:
        """Name the kind of damage that moved a dimension most, with its lift."""
        lifts = [(kind, self.response(kind, at).value) for kind in self.matched.kinds]
        known = [entry for entry in lifts if math.isfinite(entry[1])]
        return max(known, key=lambda entry: abs(entry[1])) if known else None


def damage(kind: str) -> str:
    """Name a kind of damage for people."""
    key = f"mismatch.kinds.{kind}"
    return say(key) if knows(key) else kind.replace("_", " ")


def subscore(dimension: str) -> str:
    """Name a sub-score for people."""
    key = f"mismatch.dimensions.{dimension}"
    return say(key) if knows(key) else dimension


def listed(entries: Sequence[tuple[str, float]]) -> str:
    """Name damages with the lifts they cause, the largest first."""
    ordered = sorted(entries, key=lambda entry: -abs(entry[1]))
    return "; ".join(say("mismatch.cell", damage=damage(kind), value=number(lift)) for kind, lift in ordered)


CELL = "response_lift"
"""The measure a cell's verdict is about; the sub-score's own verdict says the same in one row."""

FINDINGS = {"drops": "deaf", "hold": "halo"}


def cell_rows(matrix: Matrix, holds: Mapping[tuple[str, int], Answer], claims: int) -> list[VerdictsRow]:
    """Give a row per cell that must drop or hold; one that may follow is never judged.

    Args:
        matrix: The responses.
        holds: Answers of the cells that must hold, by kind and place of the sub-score.
        claims: How many of them are tested together.
    """
    own = {kind: at for kind in matrix.matched.kinds if (at := matrix.own(kind)) is not None}
    falls = [_row(matrix, (kind, at), "drops", matrix.fall(kind, at), len(own)) for kind, at in own.items()]
    return falls + [_row(matrix, place, "hold", answer, claims) for place, answer in holds.items()]


def _row(matrix: Matrix, place: tuple[str, int], expected: str, answer: Answer, claims: int) -> VerdictsRow:
    kind, at = place
    words = {"dimension": subscore(matrix.judged[at]), "damage": damage(kind)}
    return matrix.writer(kind, dimension=matrix.judged[at]).verdict(
        CELL,
        answer.verdict,
        say(f"mismatch.cells.{expected}_{answer.verdict.value}", **words),
        FINDINGS[expected] if answer.verdict == Verdict.FAIL else "",
        matrix.response(kind, at),
        deciding_level(answer.verdict, claims),
        limit_high=-matrix.evidence.limits["mismatch.fall"] if expected == "drops" else None,
    )
