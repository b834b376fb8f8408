"""Judge beside people: is the judge as close to the raters as they are to one another, and what does it miss?

The value over sources is judged, each source is shown, and the pooled value stands beside them: pooled numbers
mislead. Correlations are averaged plainly over raters and, by their numbers of items, over sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.judge_and_raters_rows import compare, missing_row, verdict_row
from judge_audit.checks.people.labelled_scores import answers, labelled, people_for, ratings
from judge_audit.core.formatting import number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, Estimate, corrected_level, items_needed
from judge_audit.measures.resampling import Resampled, derived

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.judge_and_raters_rows import Comparison
    from judge_audit.checks.people.labelled_scores import Answers, Ratings

NAME = "beside_people"
BESIDE = "judge_beside_people"
VALIDITY = "validity"


def run(evidence: Evidence) -> Findings:
    """Hold every dimension of the judge against the people's it is paired with."""
    findings = Findings()
    for dimension in evidence.card.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def claims_of(evidence: Evidence) -> int:
    """Count the dimensions held against people: they are judged together."""
    return max(1, sum(bool(people_for(evidence, name)) for name in evidence.card.dimensions))


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    against = people_for(evidence, dimension)
    people = ratings(evidence, against)
    given = answers(evidence, dimension)
    if people is None or not np.isfinite(given.values).any():
        return _missing(evidence, dimension, _why_not(evidence, dimension))
    known = frozenset(people.items)
    if not any(item in known for item in given.items):
        return _missing(evidence, dimension, say("beside.no_items"))
    made = compare(evidence, dimension, given, people, claims=claims_of(evidence))
    notes = [] if against == (dimension,) else [say("beside.paired", list=", ".join(against))]
    if len(people.raters) < 2:
        key = "beside.one_rater" if people.raters else "beside.no_ids"
        return Findings(measures=tuple(made.rows)) + _missing(evidence, dimension, say(key))
    state = _State(evidence, dimension, given, people, made)
    return Findings(measures=tuple(made.rows), verdicts=(_beside(state, notes), _validity(state)))


def _why_not(evidence: Evidence, dimension: str) -> str:
    names = labelled(evidence)
    if not names:
        return say("beside.no_labels")
    if not people_for(evidence, dimension):
        return say("beside.no_dimension", dimension=dimension, list=", ".join(names))
    return say("scale.silent")


def _missing(evidence: Evidence, dimension: str, reason: str) -> Findings:
    limits = {BESIDE: -evidence.limits["beside.margin"], VALIDITY: evidence.limits["beside.validity"]}
    return Findings(
        verdicts=tuple(
            missing_row(
                evidence, NAME, measure, dimension, reason, limit_low=limit, finding="ceiling_unknown"
            )
            for measure, limit in limits.items()
        )
    )


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """One dimension under judgement."""

    evidence: Evidence
    dimension: str
    given: Answers
    people: Ratings
    made: Comparison

    @property
    def claims(self) -> int:
        """Dimensions judged together."""
        return claims_of(self.evidence)


def _answer(figure: Resampled, margin: float, claims: int) -> Verdict:
    """Pass wholly above −margin at 90 %; fail wholly below it at the corrected level."""
    if figure.interval(PASS_LEVEL)[0] > -margin:
        return Verdict.PASS
    return Verdict.FAIL if figure.interval(corrected_level(claims))[1] < -margin else Verdict.INCONCLUSIVE


def _beside(state: _State, notes: list[str]) -> dict[str, Any]:
    evidence, figure = state.evidence, state.made.figures["beside"]
    margin = evidence.limits["beside.margin"]
    verdict = _answer(figure, margin, state.claims)
    if verdict != Verdict.INCONCLUSIVE and state.made.lost > evidence.limits["ladder.missing_share"]:
        ways = [_filled(state, end) for end in (-1e30, 1e30)]
        if any(_answer(way, margin, state.claims) != verdict for way in ways):
            verdict = Verdict.INCONCLUSIVE
            notes.append(say("notes.refusals", share=percent(state.made.lost)))
    if state.made.left_out:
        notes.append(say("beside.left_out", list=", ".join(state.made.left_out)))
        if verdict == Verdict.PASS and state.made.left_share > evidence.limits["ladder.missing_share"]:
            verdict = Verdict.INCONCLUSIVE
    finding = "worse_than_people" if verdict == Verdict.FAIL else ""
    low, high = figure.interval(corrected_level(state.claims) if finding else PASS_LEVEL)
    needed = None
    if verdict == Verdict.INCONCLUSIVE and figure.usable:
        found = figure.as_estimate()
        turned = Estimate(-found.value, found.variance, found.df, found.n, found.n_clusters)
        needed = items_needed(turned, margin, state.claims, high=margin)
        notes.append(say("beside.settle", n=needed) if needed else say("notes.close"))
    words = {"judge": "judge", "rater": "rater"}
    shown = {name: f"{state.made.figures[part].value:.2f}" for name, part in words.items()}
    key = f"beside.{finding or verdict.value}" if figure.usable else "beside.few"
    sentence = say(
        key,
        dimension=state.dimension,
        **shown,
        value=number(figure.value),
        low=number(low),
        high=number(high),
    )
    return verdict_row(
        evidence,
        NAME,
        BESIDE,
        state.dimension,
        figure,
        verdict=verdict,
        finding=finding,
        reason=" ".join([sentence, *notes]),
        n_needed=needed,
        limit_low=-margin,
    )


def _filled(state: _State, end: float) -> Resampled:
    """Compare once more with the missing scores put below or above all others."""
    made = compare(
        state.evidence, state.dimension, state.given, state.people, claims=state.claims, filled=end
    )
    return made.figures["beside"]


def _validity(state: _State) -> dict[str, Any]:
    """Ask whether the judge is steady about something other than what people agree on."""
    evidence, figures = state.evidence, state.made.figures
    limit = evidence.limits["beside.validity"]
    figure, again = figures["validity"], figures["retest"]
    steadier = derived(lambda own, people: own - people, again, figures["between_raters"])
    level = corrected_level(state.claims)
    known = state.made.retest_known
    verdict, finding = Verdict.INCONCLUSIVE, ""
    if known and steadier.interval(level)[0] > 0 and figure.interval(level)[1] < limit:
        verdict, finding = Verdict.FAIL, "steadily_wrong"
    elif figure.interval(PASS_LEVEL)[0] > limit:
        verdict = Verdict.PASS
    low, high = figure.interval(level if finding else PASS_LEVEL)
    key = f"beside.validity_{finding or verdict.value}" if figure.usable else "beside.validity_few"
    reason = say(
        key,
        dimension=state.dimension,
        value=f"{figure.value:.2f}",
        low=f"{low:.2f}",
        high=f"{high:.2f}",
        retest=f"{again.value:.2f}",
        people=f"{figures['between_raters'].value:.2f}",
    )
    if not known:
        reason += " " + say("beside.retest_unknown")
    return verdict_row(
        evidence,
        NAME,
        VALIDITY,
        state.dimension,
        figure,
        verdict=verdict,
        finding=finding,
        reason=reason,
        limit_low=limit,
    )


CHECK = Check(NAME, run, judges=("judge_beside_people",))
