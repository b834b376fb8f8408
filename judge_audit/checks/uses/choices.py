"""Choices: is the judge's first choice among candidates an annotator's as often as another annotator's is?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from judge_audit_schemas.rows import ChoicesRow

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.one_limit import answer, needed_above
from judge_audit.checks.people.labelled_scores import answers
from judge_audit.checks.result_rows import deciding_level
from judge_audit.checks.uses.use_evidence import share_words, shared_clusters, signed_percent
from judge_audit.core.digests import draw_seed
from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import PEOPLE, POOLED, Verdict
from judge_audit.measures.choices import NOBODY, Choices, first_choice
from judge_audit.measures.resampling import draws_for

if TYPE_CHECKING:
    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence, Floats
    from judge_audit.checks.people.labelled_scores import Answers
    from judge_audit.checks.result_rows import RowWriter
    from judge_audit.measures.resampling import Resampled

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
    if evidence.is_control:
        return Findings()
    return sum((_dimension(evidence, dimension) for dimension in evidence.dimensions), Findings())


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    scores, writer = answers(evidence, dimension), evidence.writer(NAME, dimension=dimension)
    if evidence.choices is None:
        return _missing(evidence, dimension, "choices.missing")
    every = _groups(evidence, scores)
    groups = [group for group in every if len(group.picks) > 1 and len(group.candidates) > 1]
    left = writer.count("left_out_groups", 1 - len(groups) / len(every) if every else None, len(every))
    if not groups:
        alone = any(len(group.picks) == 1 for group in every)
        why = "choices.one_annotator" if alone else "choices.unknown_candidates"
        return Findings(measures=(left,)) + _missing(evidence, dimension, why)
    arranged, sources, lost = _arranged(scores, groups)
    draws, seed = draws_for(len(evidence.dimensions)), draw_seed(evidence.seed, NAME, dimension)
    figures = first_choice(arranged, draws, seed)
    if not figures:
        return Findings(measures=(left,)) + _missing(evidence, dimension, "choices.silent")
    rows = _rows(writer, figures)
    for source in sorted(set(sources)) if len(set(sources)) > 1 else ():
        use = np.array([name == source for name in sources])
        part = Choices(arranged.picks[use], arranged.judge[use], arranged.sizes[use], arranged.clusters[use])
        rows += _rows(writer, first_choice(part, draws, draw_seed(seed, source)), source)
    filled = (_filled(arranged, right=right) for right in (True, False))
    some = lost > evidence.limits["ladder.missing_share"]
    ways = [first_choice(way, draws, seed)["beside"] for way in filled] if some else []
    return Findings(measures=(*rows, left), verdicts=(_verdict(evidence, dimension, figures, ways),))


def _missing(evidence: Evidence, dimension: str, why: str) -> Findings:
    limit, writer = -evidence.limits["choices.margin"], evidence.writer(NAME, dimension=dimension)
    return Findings(verdicts=(writer.verdict(MEASURE, Verdict.MISSING, say(why), limit_low=limit),))


def _groups(evidence: Evidence, scores: Answers) -> list[Group]:
    """Gather the groups; candidates as the file names them, else the audit's items of the pick's prompt.

    A group with a candidate that is not in the audit has none: what the judge would have chosen is unknown.
    Annotators without a name cannot be told apart, and take no part.
    """
    assert evidence.choices is not None
    known = dict(zip(scores.items, scores.prompts.tolist(), strict=True))
    of_prompt: dict[str, list[str]] = {}
    for item, prompt in known.items():
        if prompt:
            of_prompt.setdefault(prompt, []).append(item)
    of_group: dict[str, list[ChoicesRow]] = {}
    for row in rows_of(evidence.choices, ChoicesRow):
        of_group.setdefault(row["group_id"], []).append(row)
    groups = []
    for _, rows in sorted(of_group.items()):
        named = sorted({name for row in rows for name in row["candidates"] or ()})
        named = named or of_prompt.get(known.get(rows[0]["item_id"], ""), [])
        inside = set(named) <= set(known) and all(row["item_id"] in named for row in rows)
        if evidence.compared is not None:  # strengths mean something within one prompt alone
            inside = inside and len({known[name] for name in named}) == 1
        picks = {row["annotator_id"]: row["item_id"] for row in rows if row["annotator_id"]}
        groups.append(Group(tuple(named) if inside else (), picks))
    return groups


def _arranged(answered: Answers, groups: list[Group]) -> tuple[Choices, list[str], float]:
    """Set groups out as arrays, with the source of each and the share in which a score is missing."""
    place = {item: at for at, item in enumerate(answered.items)}
    raters = sorted({name for group in groups for name in group.picks})
    widest = max(len(group.candidates) for group in groups)
    picks = np.full((len(groups), len(raters)), NOBODY, dtype=np.intp)
    judge = np.zeros((len(groups), widest))
    sources, lost = [], 0
    for at, group in enumerate(groups):
        rows = [place[item] for item in group.candidates]
        scores = answered.values[rows, 0]
        lost += bool(np.isnan(scores).any())
        judge[at, : len(rows)] = _chosen(scores)
        for rater, item in group.picks.items():
            picks[at, raters.index(rater)] = group.candidates.index(item)
        names = set(answered.sources[rows].tolist())
        sources.append(names.pop() if len(names) == 1 else MIXED)
    numbers = np.repeat(np.arange(len(groups)), [len(group.candidates) for group in groups])
    rows = [place[item] for group in groups for item in group.candidates]
    clusters = shared_clusters(numbers, answered.clusters[rows])
    sizes = np.array([len(group.candidates) for group in groups], float)
    return Choices(picks, judge, sizes, clusters), sources, lost / len(groups)


def _chosen(scores: Floats) -> Floats:
    """Share the judge's first choice among the candidates at its top; one without a score is never chosen."""
    if np.isnan(scores).all():
        return np.full(len(scores), np.nan)
    top = scores >= np.nanmax(scores)
    return np.asarray(top / top.sum(), float)


def _filled(choices: Choices, *, right: bool) -> Choices:
    """Let the judge choose, where it chose nothing, what most annotators chose, or something nobody did."""
    judge = choices.judge.copy()
    for row in np.flatnonzero(np.isnan(judge).any(axis=1)):
        votes = np.bincount(choices.picks[row][choices.picks[row] >= 0], minlength=judge.shape[1])
        judge[row] = 0.0
        if right:
            judge[row, int(votes.argmax())] = 1.0
    return Choices(choices.picks, judge, choices.sizes, choices.clusters)


def _rows(writer: RowWriter, figures: dict[str, Resampled], source: str = POOLED) -> list[MeasuresRow]:
    return [
        writer.figure(MEASURES[name], figure, baseline=PEOPLE, source=source)
        for name, figure in figures.items()
    ]


def _verdict(
    evidence: Evidence, dimension: str, figures: dict[str, Resampled], ways: list[Resampled]
) -> VerdictsRow:
    figure, margin = figures["beside"], evidence.limits["choices.margin"]
    claims = len(evidence.dimensions)
    verdict, notes, needed = answer(figure, low=-margin, claims=claims), [], None
    if any(answer(way, low=-margin, claims=claims) != verdict for way in ways):
        verdict = Verdict.INCONCLUSIVE
        notes.append(say("choices.refusals"))
    elif verdict == Verdict.INCONCLUSIVE and figure.usable:
        needed = needed_above(figure, margin, claims)
        notes.append(say("choices.settle", n=needed) if needed else say("notes.close"))
    finding = "chooses_unlike_people" if verdict == Verdict.FAIL else ""
    words = share_words(figure, deciding_level(verdict, claims))
    words |= {name: signed_percent(figures[name].value) for name in ("judge", "rater", "chance")}
    key = f"choices.{verdict.value}" if figure.usable else "choices.few"
    reason = " ".join([say(key, n=str(figure.n), **words), *notes])
    writer = evidence.writer(NAME, dimension=dimension)
    return writer.verdict(MEASURE, verdict, reason, finding, figure, n_needed=needed, limit_low=-margin)


CHECK = Check(NAME, run, needs=Needs.ANY)
