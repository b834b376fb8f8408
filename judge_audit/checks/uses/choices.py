"""Choices: is the judge's first choice among candidates an annotator's as often as another annotator's is?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from judge_audit_schemas.rows import ChoicesRow

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.judge_and_raters import measure_row, missing_row, verdict_row
from judge_audit.checks.people.labelled_scores import PEOPLE, answers
from judge_audit.checks.uses.use_evidence import signed_percent
from judge_audit.core.digests import draw_seed
from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.measures.choices import NOBODY, Choices, first_choice
from judge_audit.measures.estimates import PASS_LEVEL, Estimate, corrected_level, items_needed
from judge_audit.measures.resampling import draws_for
from judge_audit.measures.within_prompt import groups as grouped

if TYPE_CHECKING:
    from judge_audit_schemas.rows import ResultRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.labelled_scores import Answers
    from judge_audit.measures.resampling import Resampled

    Floats = NDArray[np.float64]

NAME = "choices"
MEASURE = "first_choice"
MEASURES = {"beside": MEASURE, "judge": "judge_first_choice", "rater": "rater_first_choice"}
MEASURES |= {"chance": "chance_first_choice"}
MIXED = "(several sources)"
"""Source of a group whose candidates come from several."""


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates and what people chose among them: annotator to item."""

    candidates: tuple[str, ...]
    picks: dict[str, str]


def run(evidence: Evidence) -> Findings:
    """Hold the judge's first choices beside people's, dimension by dimension that ladders are read on."""
    findings = Findings()
    if evidence.is_control:
        return findings
    for dimension in evidence.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    given = answers(evidence, dimension)
    if evidence.choices is None:
        return _missing(evidence, dimension, say("choices.missing"))
    every = _groups(evidence, given)
    groups = [group for group in every if len(group.picks) > 1 and len(group.candidates) > 1]
    key = evidence.key(NAME, "left_out_groups", dimension=dimension)
    left: ResultRow = {**key, "value": 1 - len(groups) / len(every) if every else None, "n": len(every)}
    if not groups:
        alone = any(len(group.picks) == 1 for group in every)
        sentence = say("choices.one_annotator" if alone else "choices.unknown_candidates")
        return Findings(measures=(left,)) + _missing(evidence, dimension, sentence)
    claims = len(evidence.dimensions)
    held, sources, lost = _arranged(given, groups)
    draws, seed = draws_for(claims), draw_seed(evidence.seed, NAME, dimension)
    found = first_choice(held, draws, seed)
    if not found:
        return Findings(measures=(left,)) + _missing(evidence, dimension, say("choices.silent"))
    rows = _rows(evidence, dimension, found)
    for source in sorted(set(sources)):
        use = np.array([name == source for name in sources])
        part = Choices(held.picks[use], held.judge[use], held.sizes[use], held.clusters[use])
        own = first_choice(part, draws, draw_seed(seed, source))
        rows += _rows(evidence, dimension, own, source=source) if len(set(sources)) > 1 else []
    ways = [first_choice(_filled(held, right=right), draws, seed)["beside"] for right in (True, False)]
    decided = _verdict(
        evidence, dimension, found, ways if lost > evidence.limits["ladder.missing_share"] else []
    )
    return Findings(measures=(*rows, left), verdicts=(decided,))


def _missing(evidence: Evidence, dimension: str, reason: str) -> Findings:
    margin = evidence.limits["choices.margin"]
    row = missing_row(evidence, NAME, MEASURE, dimension, reason, limit_low=-margin)
    return Findings(verdicts=(row,))


def _groups(evidence: Evidence, given: Answers) -> list[Group]:
    """Gather the groups; candidates as the file names them, else the audit's items of the pick's prompt.

    A group with a candidate that is not in the audit has none: what the judge would have chosen is unknown.
    Annotators without a name cannot be told apart, and take no part.
    """
    assert evidence.choices is not None
    known = dict(zip(given.items, given.prompts.tolist(), strict=True))
    of_prompt: dict[str, list[str]] = {}
    for item, prompt in known.items():
        if prompt:
            of_prompt.setdefault(prompt, []).append(item)
    held: dict[str, list[ChoicesRow]] = {}
    for row in rows_of(evidence.choices, ChoicesRow):
        held.setdefault(row["group_id"], []).append(row)
    found = []
    for _, rows in sorted(held.items()):
        named = sorted({name for row in rows for name in row["candidates"] or ()})
        named = named or of_prompt.get(known.get(rows[0]["item_id"], ""), [])
        inside = set(named) <= set(known) and all(row["item_id"] in named for row in rows)
        if evidence.compared is not None:  # strengths mean something within one prompt alone
            inside = inside and len({known[name] for name in named}) == 1
        picks = {row["annotator_id"]: row["item_id"] for row in rows if row["annotator_id"]}
        found.append(Group(tuple(named) if inside else (), picks))
    return found


def _arranged(given: Answers, groups: list[Group]) -> tuple[Choices, list[str], float]:
    """Set groups out as arrays, with the source of each and the share in which a score is missing."""
    place = {item: at for at, item in enumerate(given.items)}
    raters = sorted({name for group in groups for name in group.picks})
    widest = max(len(group.candidates) for group in groups)
    picks = np.full((len(groups), len(raters)), NOBODY, dtype=np.intp)
    judge = np.zeros((len(groups), widest))
    sources, lost = [], 0
    for at, group in enumerate(groups):
        rows = [place[item] for item in group.candidates]
        scores = given.values[rows, 0]
        lost += bool(np.isnan(scores).any())
        judge[at, : len(rows)] = _chosen(scores)
        for rater, item in group.picks.items():
            picks[at, raters.index(rater)] = group.candidates.index(item)
        names = set(given.sources[rows].tolist())
        sources.append(names.pop() if len(names) == 1 else MIXED)
    every = [
        (str(at), given.clusters[place[item]]) for at, group in enumerate(groups) for item in group.candidates
    ]
    numbers = np.array([int(name) for name, _ in every])
    wide = len(str(len(groups)))
    padded = np.array([str(number).zfill(wide) for number in numbers])
    clusters = grouped(padded, np.unique([cluster for _, cluster in every], return_inverse=True)[1]).clusters
    sizes = np.array([len(group.candidates) for group in groups], float)
    return Choices(picks, judge, sizes, clusters), sources, lost / len(groups)


def _chosen(scores: Floats) -> Floats:
    """Share the judge's first choice among the candidates at its top; one without a score is never chosen."""
    if np.isnan(scores).all():
        return np.full(len(scores), np.nan)
    top = scores >= np.nanmax(scores)
    return np.asarray(top / top.sum(), float)


def _filled(given: Choices, *, right: bool) -> Choices:
    """Let the judge choose, where it chose nothing, what most annotators chose, or something nobody did."""
    judge = given.judge.copy()
    for row in np.flatnonzero(np.isnan(judge).any(axis=1)):
        votes = np.bincount(given.picks[row][given.picks[row] >= 0], minlength=judge.shape[1])
        judge[row] = 0.0
        if right:
            judge[row, int(votes.argmax())] = 1.0
    return Choices(given.picks, judge, given.sizes, given.clusters)


def _rows(
    evidence: Evidence, dimension: str, found: dict[str, Resampled], source: str = POOLED
) -> list[ResultRow]:
    return [
        measure_row(evidence, NAME, MEASURES[name], dimension, figure, baseline=PEOPLE, source=source)
        for name, figure in found.items()
    ]


def _answer(figure: Resampled, margin: float, claims: int) -> Verdict:
    if figure.interval(PASS_LEVEL)[0] > -margin:
        return Verdict.PASS
    return Verdict.FAIL if figure.interval(corrected_level(claims))[1] < -margin else Verdict.INCONCLUSIVE


def _verdict(
    evidence: Evidence, dimension: str, found: dict[str, Resampled], ways: list[Resampled]
) -> ResultRow:
    figure, margin = found["beside"], evidence.limits["choices.margin"]
    claims = len(evidence.dimensions)
    verdict = _answer(figure, margin, claims)
    notes = []
    if any(_answer(way, margin, claims) != verdict for way in ways):
        verdict = Verdict.INCONCLUSIVE
        notes.append(say("choices.refusals"))
    needed = None
    if verdict == Verdict.INCONCLUSIVE and figure.usable and not notes:
        told = figure.as_estimate()
        turned = Estimate(-told.value, told.variance, told.df, told.n, told.n_clusters)
        needed = items_needed(turned, margin, claims, high=margin)
        notes.append(say("choices.settle", n=needed) if needed else say("notes.close"))
    finding = "chooses_unlike_people" if verdict == Verdict.FAIL else ""
    low, high = figure.interval(corrected_level(claims) if finding else PASS_LEVEL)
    words = {name: signed_percent(found[name].value) for name in ("judge", "rater", "chance")}
    words |= {"low": signed_percent(low), "high": signed_percent(high), "n": str(figure.n)}
    key = f"choices.{verdict.value}" if figure.usable else "choices.few"
    reason = " ".join([say(key, **words), *notes])
    parts = {"finding": finding, "reason": reason, "n_needed": needed, "limit_low": -margin}
    return verdict_row(evidence, NAME, MEASURE, dimension, figure, verdict=verdict, **parts)


CHECK = Check(NAME, run, needs=Needs.ANY)
