"""Within-prompt signal: does the score tell the candidates of one prompt apart, and as people do?

One verdict, on the gain: how much more often the judge's first choice is one of people's than a random one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.judge_and_raters import measure_row, missing_row, verdict_row
from judge_audit.checks.people.labelled_scores import (
    PEOPLE,
    answers,
    means,
    people_for,
    rater_values,
    ratings,
)
from judge_audit.core.digests import draw_seed
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, items_needed
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
    from judge_audit_schemas.rows import ResultRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.labelled_scores import Answers

    Floats = NDArray[np.float64]

NAME = "within_prompt"
GAIN = "top1_gain"


def run(evidence: Evidence) -> Findings:
    """Look inside the prompts, dimension by dimension."""
    findings = Findings()
    for dimension in evidence.card.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    given = answers(evidence, dimension)
    limit = evidence.limits["within_prompt.gain"]
    use = given.prompts != ""
    if use.any():
        _, at, sizes = np.unique(given.prompts[use], return_inverse=True, return_counts=True)
        use[use] = sizes[at] > 1
    if not use.any():
        reason = say("within_prompt.no_groups")
        return Findings(verdicts=(missing_row(evidence, NAME, GAIN, dimension, reason, limit_low=limit),))
    rows = _own_rows(evidence, dimension, given, use)
    people = ratings(evidence, people_for(evidence, dimension))
    if people is None:
        reason = say("within_prompt.no_labels")
        missing = missing_row(evidence, NAME, GAIN, dimension, reason, limit_low=limit)
        return Findings(measures=tuple(rows), verdicts=(missing,))
    held = groups(given.prompts[use], given.clusters[use])
    labels, raters = means(given, people)[use], rater_values(given, people)[use]
    more, verdict = _beside_people(evidence, dimension, held, (given.values[use, 0], labels, raters))
    return Findings(measures=(*rows, *more), verdicts=(verdict,))


def _own_rows(evidence: Evidence, dimension: str, given: Answers, use: NDArray[np.bool_]) -> list[ResultRow]:
    """Give what needs no people: ties, and the share of variance within prompts."""
    scored = use & np.isfinite(given.values[:, 0])
    if not scored.any():
        return []
    held = groups(given.prompts[scored], given.clusters[scored])
    first = given.values[scored, 0]
    again = given.values[scored, 1] if given.values.shape[1] > 1 else np.full(len(first), np.nan)
    draws, seed = draws_for(1), draw_seed(evidence.seed, NAME, dimension)
    found = {"tie_rate": ratio_over_prompts(*ties(first, held), held, draws, seed)}
    if evidence.compared is None:  # strengths have no mean of their prompt: all their variance lies within
        found["within_share"] = variance_share(first, again, held, draws, seed)
    rows = [
        measure_row(evidence, NAME, name, dimension, figure)
        for name, figure in found.items()
        if np.isfinite(figure.value)
    ]
    if evidence.compared is not None:
        return rows
    known = int(np.isfinite(again).sum())
    return [*rows, {**evidence.key(NAME, "within_share_retests", dimension=dimension), "value": float(known)}]


def _beside_people(
    evidence: Evidence, dimension: str, held: Groups, columns: tuple[Floats, Floats, Floats]
) -> tuple[list[ResultRow], ResultRow]:
    """Hold the judge's first choices against people's."""
    judge, labels, raters = columns
    claims = max(1, sum(bool(people_for(evidence, name)) for name in evidence.card.dimensions))
    draws, seed = draws_for(claims), draw_seed(evidence.seed, NAME, dimension, PEOPLE)

    def mean(values: Floats) -> Resampled:
        return ratio_over_prompts(values, np.ones(held.count), held, draws, seed)

    recovery, chance = top_one(judge, labels, held)
    own = [top_one(raters[:, at], others_mean(raters, at), held)[0] for at in range(raters.shape[1])]
    sizes = np.bincount(held.of_item, minlength=held.count)
    known = np.isfinite(recovery)
    found = {
        "top1_recovery": mean(recovery),
        "top1_chance": mean(chance),
        "top1_one_over_size": mean(np.where(known, 1 / sizes, np.nan)),
        GAIN: mean(recovery - chance),
        "inside_spearman": mean(inside_correlations(judge, labels, held)),
    }
    if raters.shape[1] > 1 and np.isfinite(own).any():
        count = np.isfinite(own).sum(axis=0)
        total = np.nansum(own, axis=0)
        found["rater_top1_recovery"] = mean(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    rows = [
        measure_row(evidence, NAME, name, dimension, figure, baseline=PEOPLE)
        for name, figure in found.items()
        if np.isfinite(figure.value)
    ]
    tied = known.size - int(known.sum())
    key = evidence.key(NAME, "top1_left_out", dimension=dimension, baseline=PEOPLE)
    rows.append({**key, "value": tied / known.size, "n": int(known.size)})
    return rows, _verdict(evidence, dimension, found, claims)


def _verdict(evidence: Evidence, dimension: str, found: dict[str, Resampled], claims: int) -> ResultRow:
    gain, limit = found[GAIN], evidence.limits["within_prompt.gain"]
    verdict, finding, needed = Verdict.INCONCLUSIVE, "", None
    if gain.interval(PASS_LEVEL)[0] > limit:
        verdict = Verdict.PASS
    elif gain.interval(corrected_level(claims))[1] < limit:
        # As far below chance as a passing judge is above it: the order within a prompt is people's, turned round.
        below = gain.interval(corrected_level(claims))[1] < -limit
        verdict, finding = Verdict.FAIL, "worse_than_chance" if below else "blind_within_prompt"
    elif gain.usable:
        needed = items_needed(gain.as_estimate(), limit, claims, low=limit)
    low, high = gain.interval(corrected_level(claims) if finding else PASS_LEVEL)
    key = f"within_prompt.{finding or verdict.value}" if gain.usable else "within_prompt.few"
    reason = say(
        key,
        value=_share(found["top1_recovery"].value),
        chance=_share(found["top1_chance"].value),
        low=_share(low),
        high=_share(high),
        n=gain.n,
    )
    if needed:
        reason += " " + say("within_prompt.settle", n=needed)
    told = {"finding": finding, "reason": reason, "n_needed": needed, "limit_low": limit}
    return verdict_row(evidence, NAME, GAIN, dimension, gain, verdict=verdict, **told)


def _share(value: float) -> str:
    return f"{100 * value:.0f} %".replace("-", "−") if np.isfinite(value) else "unknown"


CHECK = Check(NAME, run, needs=Needs.ANY)
