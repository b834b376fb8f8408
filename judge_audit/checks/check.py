"""A check: one question, what it needs to be asked, and what it would have judged where it cannot be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from judge_audit.checks.evidence import Findings
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import NOT_ASKED, OVERALL, POOLED, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.checks.evidence import Evidence


class Needs(Enum):
    """What a check has to have of a judge before it can be asked.

    Members:
        SCORES: A score of every picture.
        ANY: Whatever the judge gives: scores, choices between two pictures, or nothing at all.
    """

    SCORES = "scores"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Check:
    """One question asked of a judge.

    Attributes:
        name: Its name in the column `check`.
        run: What answers it.
        needs: What the judge has to give for it.
        judges: The measures whose verdicts are missing where the judge does not give that.
        every_ladder: Whether those verdicts are given ladder by ladder.
    """

    name: str
    run: Callable[[Evidence], Findings]
    needs: Needs = Needs.SCORES
    judges: tuple[str, ...] = ()
    every_ladder: bool = False

    def ask(self, evidence: Evidence) -> Findings:
        """Answer the question, or say that it cannot be asked of a judge that gives no scores."""
        if self.needs is Needs.ANY or evidence.compared is None:
            return self.run(evidence)
        return cannot_be_asked(evidence, self.name, self.judges, every_ladder=self.every_ladder)


def cannot_be_asked(
    evidence: Evidence, check: str, measures: tuple[str, ...], *, every_ladder: bool = False
) -> Findings:
    """Give the verdicts, missing every one, of a question that needs scores and has none.

    Args:
        evidence: What is known of the judge.
        check: The question.
        measures: What it would have judged.
        every_ladder: Whether it is asked of every ladder.
    """
    rows = evidence.writer(check, dimension=OVERALL)
    key = (
        f"compared.not_asked.{check}"  # said only where a verdict is due: not every check has such a sentence
    )
    return Findings(
        verdicts=tuple(
            rows.at(axis=axis).verdict(measure, Verdict.MISSING, say(key), NOT_ASKED)
            for measure in measures
            for axis in (evidence.axes if every_ladder else [POOLED])
        )
    )
