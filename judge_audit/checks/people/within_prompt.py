"""Within-prompt signal: does the score tell the candidates of one prompt apart, and as people do?

One verdict, on the gain: how much more often the judge's first choice is one of people's than a random one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.one_limit import answer
from judge_audit.checks.people.judge_and_raters import claims_of
from judge_audit.checks.people.labelled_scores import answers, means, people_for, rater_values, ratings
from judge_audit.checks.result_rows import deciding_level, interval_words
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import percent, true_minus
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import PEOPLE, Verdict
from judge_audit.measures.estimates import corrected_level, items_needed
from judge_audit.measures.judge_and_raters import others_mean
from judge_audit.measures.resampling import Resampled, draws_for
from judge_audit.measures.within_prompt import (
    Groups,
    groups,
    inside_correlations,
    ratio_over_prompts,
    ties,
    top_one,
    variance_share,
)

if TYPE_CHECKING:
    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence, Floats, Mask
    from judge_audit.checks.people.labelled_scores import Answers

NAME = "within_prompt"
GAIN = "top1_gain"


def run(evidence: Evidence) -> Findings:
    """Look inside the prompts, dimension by dimension."""
    return sum((_dimension(evidence, dimension) for dimension in evidence.card.dimensions), Findings())


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    scores, writer = answers(evidence, dimension), evidence.writer(NAME, dimension=dimension)
    limit = evidence.limits["within_prompt.gain"]
    use = scores.prompts != ""
    if use.any():
        _, at, sizes = np.unique(scores.prompts[use], return_inverse=True, return_counts=True)
        use[use] = sizes[at] > 1
    people = ratings(evidence, people_for(evidence, dimension))
    rows = _own_rows(evidence, dimension, scores, use) if use.any() else []
    if people is None or not use.any():
        reason = say("within_prompt.no_labels" if use.any() else "within_prompt.no_groups")
        missing = writer.verdict(GAIN, Verdict.MISSING, reason, limit_low=limit)
        return Findings(measures=tuple(rows), verdicts=(missing,))
    prompts = groups(scores.prompts[use], scores.clusters[use])
    labels, raters = means(scores, people)[use], rater_values(scores, people)[use]
    columns = (scores.values[use, 0], labels, raters)
    return Findings(measures=tuple(rows)) + _beside_people(evidence, dimension, prompts, columns)


def _own_rows(evidence: Evidence, dimension: str, scores: Answers, use: Mask) -> list[MeasuresRow]:
    """Give what needs no people: ties, and the share of variance within prompts."""
    scored = use & np.isfinite(scores.values[:, 0])
    if not scored.any():
        return []
    prompts = groups(scores.prompts[scored], scores.clusters[scored])
    first = scores.values[scored, 0]
    again = scores.values[scored, 1] if scores.values.shape[1] > 1 else np.full(len(first), np.nan)
    draws, seed = draws_for(1), draw_seed(evidence.seed, NAME, dimension)
    figures = {"tie_rate": ratio_over_prompts(*ties(first, prompts), prompts, draws, seed)}
    if evidence.compared is None:  # strengths have no mean of their prompt: all their variance lies within
        figures["within_share"] = variance_share(first, again, prompts, draws, seed)
    writer = evidence.writer(NAME, dimension=dimension)
    rows = [writer.figure(name, figure) for name, figure in figures.items() if np.isfinite(figure.value)]
    if evidence.compared is None:
        rows.append(writer.count("within_share_retests", float(np.isfinite(again).sum())))
    return rows


def _beside_people(
    evidence: Evidence, dimension: str, prompts: Groups, columns: tuple[Floats, Floats, Floats]
) -> Findings:
    """Hold the judge's first choices against people's."""
    judge, labels, raters = columns
    claims = claims_of(evidence)
    draws, seed = draws_for(claims), draw_seed(evidence.seed, NAME, dimension, PEOPLE)

    def mean(values: Floats) -> Resampled:
        return ratio_over_prompts(values, np.ones(prompts.count), prompts, draws, seed)

    recovery, chance = top_one(judge, labels, prompts)
    own = [top_one(raters[:, at], others_mean(raters, at), prompts)[0] for at in range(raters.shape[1])]
    sizes = np.bincount(prompts.of_item, minlength=prompts.count)
    known = np.isfinite(recovery)
    figures = {
        "top1_recovery": mean(recovery),
        "top1_chance": mean(chance),
        "top1_one_over_size": mean(np.where(known, 1 / sizes, np.nan)),
        GAIN: mean(recovery - chance),
        "inside_spearman": mean(inside_correlations(judge, labels, prompts)),
    }
    if raters.shape[1] > 1 and np.isfinite(own).any():
        count = np.isfinite(own).sum(axis=0)
        total = np.nansum(own, axis=0)
        figures["rater_top1_recovery"] = mean(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    writer = evidence.writer(NAME, dimension=dimension, baseline=PEOPLE)
    rows = [writer.figure(name, figure) for name, figure in figures.items() if np.isfinite(figure.value)]
    tied = known.size - int(known.sum())
    rows.append(writer.count("top1_left_out", tied / known.size, int(known.size)))
    return Findings(measures=tuple(rows), verdicts=(_verdict(evidence, dimension, figures, claims),))


def _verdict(evidence: Evidence, dimension: str, figures: dict[str, Resampled], claims: int) -> VerdictsRow:
    gain, limit = figures[GAIN], evidence.limits["within_prompt.gain"]
    verdict = answer(gain, low=limit, claims=claims)
    finding, needed = "", None
    if verdict == Verdict.FAIL:
        # As far below chance as a passing judge is above it: the order within a prompt is people's, turned round.
        below = gain.interval(corrected_level(claims))[1] < -limit
        finding = "worse_than_chance" if below else "blind_within_prompt"
    if verdict == Verdict.INCONCLUSIVE and gain.usable:
        needed = items_needed(gain.as_estimate(), limit, claims, low=limit)
    words = interval_words(gain, deciding_level(verdict, claims), _share)
    words |= {"value": _share(figures["top1_recovery"].value), "chance": _share(figures["top1_chance"].value)}
    key = f"within_prompt.{finding or verdict.value}" if gain.usable else "within_prompt.few"
    reason = say(key, n=gain.n, **words)
    if needed:
        reason += " " + say("within_prompt.settle", n=needed)
    writer = evidence.writer(NAME, dimension=dimension)
    return writer.verdict(GAIN, verdict, reason, finding, gain, n_needed=needed, limit_low=limit)


def _share(value: float) -> str:
    return true_minus(percent(value)) if np.isfinite(value) else "unknown"


CHECK = Check(NAME, run, needs=Needs.ANY)
