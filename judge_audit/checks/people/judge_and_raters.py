"""Judge beside people: is the judge as close to the raters as they are to one another, and what does it miss?

The value over sources is judged, each source is shown, and the pooled value stands beside them: pooled numbers
mislead. Correlations are averaged plainly over raters and, by their numbers of items, over sources.

Rows of the judge beside people: measured per source, over sources, and pooled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.one_limit import however_filled, needed_above
from judge_audit.checks.people.labelled_scores import (
    always_the_same,
    answers,
    labelled,
    people_for,
    ratings,
    samples,
)
from judge_audit.checks.result_rows import deciding_level, interval_words
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import finite, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import PEOPLE, POOLED, Verdict
from judge_audit.measures.correlation import correlation
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level
from judge_audit.measures.judge_and_raters import measured, validity
from judge_audit.measures.resampling import UNDEFINED, Resampled, combined, derived, draws_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.labelled_scores import Answers, Ratings
    from judge_audit.checks.result_rows import RowWriter
    from judge_audit.measures.judge_and_raters import Sample

NAME = "beside_people"

POOLED_KIND = "pooled"
"""Kind of the value over all sources as if they were one; `*` is the value within sources, combined."""

BESIDE, VALIDITY = "judge_beside_people", "validity"
MEASURES = {
    "beside": BESIDE,
    "judge": "judge_agreement",
    "rater": "rater_agreement",
    "with_mean": "judge_on_mean",
    "with_rater": "judge_with_rater",
    "between_raters": "between_raters",
    "retest": "retest_on_labelled",
    "validity": VALIDITY,
}


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """What was measured in one dimension.

    Attributes:
        figures: Over sources, by name (the keys of `MEASURES`).
        rows: Rows of `measures`.
        left_out: Sources with labels in which no rater could be compared.
        left_share: Their share of the items.
        lost: Share of the labelled items whose score is missing.
        retest_known: Whether the judge's own noise is known.
    """

    figures: Mapping[str, Resampled]
    rows: tuple[MeasuresRow, ...]
    left_out: tuple[str, ...]
    left_share: float
    lost: float
    retest_known: bool


def compare(
    evidence: Evidence,
    dimension: str,
    scores: Answers,
    people: Ratings,
    *,
    claims: int,
    filled: float | None = None,
) -> Comparison:
    """Measure a dimension of the judge beside people's, source by source, and over sources."""
    per_source = samples(scores, people, deterministic=always_the_same(scores), filled=filled)
    whole = per_source.pop(POOLED)
    draws = draws_for(claims)
    parts = {
        source: measured(sample, draws, draw_seed(evidence.seed, NAME, dimension, source))
        for source, sample in per_source.items()
    }
    sizes = {source: int(np.isfinite(sample.judge).sum()) for source, sample in per_source.items()}
    left = tuple(source for source, figures in parts.items() if "beside" not in figures)
    figures = _over_sources(parts)
    writer = evidence.writer(NAME, dimension=dimension, baseline=PEOPLE)
    rows = _rows(writer, {**parts, POOLED: figures})
    rows += _pooled_rows(writer, whole)
    rows += _other_correlations(writer, per_source, whole)
    lost = np.isnan(whole.judge)
    total = max(1, sum(sizes.values()))
    return Comparison(
        figures,
        tuple(rows),
        left,
        sum(sizes[source] for source in left) / total,
        float(lost.mean()) if len(lost) else 0.0,
        figures["retest_known"] is not UNDEFINED,
    )


def _over_sources(per_source: Mapping[str, Mapping[str, Resampled]]) -> dict[str, Resampled]:
    """Combine every figure over the sources; validity is the ratio of the combined parts."""
    parts = list(per_source.values())
    names = dict.fromkeys([name for part in parts for name in part] + list(MEASURES))
    figures = {name: combined([part[name] for part in parts if name in part]) for name in names}
    both = [
        part
        for part in parts
        if all(np.isfinite(part[name].value) for name in ("with_rater", "between_raters") if name in part)
        and "with_rater" in part
    ]
    again = combined([part["retest"] for part in both])
    figures["retest_known"] = again
    close = combined([part["with_rater"] for part in both])
    ceiling = combined([part["between_raters"] for part in both])
    if again is UNDEFINED and both:
        again = Resampled(1.0, np.ones_like(close.replicates), close.n, close.n_clusters, close.df)
    figures["retest"], figures["between_raters"] = again, ceiling
    if both:
        figures["validity"] = derived(validity, close, ceiling, again)
    return figures


def _rows(writer: RowWriter, per_source: Mapping[str, Mapping[str, Resampled]]) -> list[MeasuresRow]:
    rows: list[MeasuresRow] = []
    for source, figures in per_source.items():
        for name, measure in MEASURES.items():
            figure = figures.get(name, UNDEFINED)
            if name == "retest" and source == POOLED and figures["retest_known"] is UNDEFINED:
                continue
            if np.isfinite(figure.value):
                rows.append(writer.figure(measure, figure, source=source))
    for name, figure in per_source[POOLED].items():
        if name.startswith("beside:"):
            rows.append(writer.figure(BESIDE, figure, rater=name.removeprefix("beside:")))
    return rows


def _pooled_rows(writer: RowWriter, whole: Sample) -> list[MeasuresRow]:
    """Give the values over all sources as if they were one; no interval, as nothing is judged by them."""
    return [
        writer.figure(MEASURES[name], figure, kind=POOLED_KIND)
        for name, figure in measured(whole, 0, 0).items()
        if name in MEASURES and np.isfinite(figure.value)
    ]


def _other_correlations(
    writer: RowWriter, per_source: Mapping[str, Sample], whole: Sample
) -> list[MeasuresRow]:
    """Give Pearson's and Kendall's correlation with the mean label too, for those who compare with a paper."""
    rows: list[MeasuresRow] = []
    for method in ("pearson", "kendall"):
        measure, values, sizes = f"judge_on_mean_{method}", [], []
        for source, sample in per_source.items():
            value = correlation(sample.judge, sample.mean, method)
            if np.isfinite(value):
                values.append(value)
                sizes.append(int((np.isfinite(sample.judge) & np.isfinite(sample.mean)).sum()))
                rows.append(writer.count(measure, value, sizes[-1], source=source))
        if values:
            n, pooled = sum(sizes), correlation(whole.judge, whole.mean, method)
            rows.append(writer.count(measure, finite(float(np.average(values, weights=sizes))), n))
            rows.append(writer.count(measure, finite(pooled), n, kind=POOLED_KIND))
    return rows


def run(evidence: Evidence) -> Findings:
    """Hold every dimension of the judge against the people's it is paired with."""
    return sum((_dimension(evidence, dimension) for dimension in evidence.card.dimensions), Findings())


def claims_of(evidence: Evidence) -> int:
    """Count the dimensions held against people: they are judged together."""
    return max(1, sum(bool(people_for(evidence, name)) for name in evidence.card.dimensions))


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    against = people_for(evidence, dimension)
    people = ratings(evidence, against)
    scores = answers(evidence, dimension)
    if people is None or not np.isfinite(scores.values).any():
        return _missing(evidence, dimension, _why_not(evidence, dimension))
    known = frozenset(people.items)
    if not any(item in known for item in scores.items):
        return _missing(evidence, dimension, say("beside.no_items"))
    claims = claims_of(evidence)
    made = compare(evidence, dimension, scores, people, claims=claims)
    notes = [] if against == (dimension,) else [say("beside.paired", list=", ".join(against))]
    if len(people.raters) < 2:
        key = "beside.one_rater" if people.raters else "beside.no_ids"
        return Findings(measures=tuple(made.rows)) + _missing(evidence, dimension, say(key))
    ways = (  # with the missing scores put below or above all others
        compare(evidence, dimension, scores, people, claims=claims, filled=end).figures["beside"]
        for end in (-1e30, 1e30)
        if made.lost > evidence.limits["ladder.missing_share"]
    )
    verdicts = (_beside(evidence, dimension, made, ways, notes), _validity(evidence, dimension, made))
    return Findings(measures=tuple(made.rows), verdicts=verdicts)


def _why_not(evidence: Evidence, dimension: str) -> str:
    names = labelled(evidence)
    if not names:
        return say("beside.no_labels")
    if not people_for(evidence, dimension):
        return say("beside.no_dimension", dimension=dimension, list=", ".join(names))
    return say("scale.silent")


def _missing(evidence: Evidence, dimension: str, reason: str) -> Findings:
    limits = {BESIDE: -evidence.limits["beside.margin"], VALIDITY: evidence.limits["beside.validity"]}
    writer = evidence.writer(NAME, dimension=dimension)
    return Findings(
        verdicts=tuple(
            writer.verdict(measure, Verdict.MISSING, reason, "ceiling_unknown", limit_low=limit)
            for measure, limit in limits.items()
        )
    )


def _beside(
    evidence: Evidence, dimension: str, made: Comparison, ways: Iterable[Resampled], notes: list[str]
) -> VerdictsRow:
    claims = claims_of(evidence)
    figure, margin = made.figures["beside"], evidence.limits["beside.margin"]
    verdict, decides = however_filled(figure, ways, low=-margin, claims=claims)
    if decides:
        notes.append(say("notes.refusals", share=percent(made.lost)))
    if made.left_out:
        notes.append(say("beside.left_out", list=", ".join(made.left_out)))
        if verdict == Verdict.PASS and made.left_share > evidence.limits["ladder.missing_share"]:
            verdict = Verdict.INCONCLUSIVE
    finding = "worse_than_people" if verdict == Verdict.FAIL else ""
    needed = None
    if verdict == Verdict.INCONCLUSIVE and figure.usable:
        needed = needed_above(figure, margin, claims)
        notes.append(say("beside.settle", n=needed) if needed else say("notes.close"))
    sentence = say(
        f"beside.{finding or verdict.value}" if figure.usable else "beside.few",
        dimension=dimension,
        judge=f"{made.figures['judge'].value:.2f}",
        rater=f"{made.figures['rater'].value:.2f}",
        **interval_words(figure, deciding_level(verdict, claims)),
    )
    reason = " ".join([sentence, *notes])
    writer = evidence.writer(NAME, dimension=dimension)
    return writer.verdict(BESIDE, verdict, reason, finding, figure, limit_low=-margin, n_needed=needed)


def _validity(evidence: Evidence, dimension: str, made: Comparison) -> VerdictsRow:
    """Ask whether the judge is steady about something other than what people agree on."""
    claims, figures = claims_of(evidence), made.figures
    limit = evidence.limits["beside.validity"]
    figure, again = figures["validity"], figures["retest"]
    steadier = derived(lambda own, people: own - people, again, figures["between_raters"])
    level = corrected_level(claims)
    known = made.retest_known
    verdict, finding = Verdict.INCONCLUSIVE, ""
    if known and steadier.interval(level)[0] > 0 and figure.interval(level)[1] < limit:
        verdict, finding = Verdict.FAIL, "steadily_wrong"
    elif figure.interval(PASS_LEVEL)[0] > limit:
        verdict = Verdict.PASS
    reason = say(
        f"beside.validity_{finding or verdict.value}" if figure.usable else "beside.validity_few",
        dimension=dimension,
        retest=f"{again.value:.2f}",
        people=f"{figures['between_raters'].value:.2f}",
        **interval_words(figure, deciding_level(verdict, claims), "{:.2f}".format),
    )
    if not known:
        reason += " " + say("beside.retest_unknown")
    writer = evidence.writer(NAME, dimension=dimension)
    return writer.verdict(VALIDITY, verdict, reason, finding, figure, limit_low=limit)


CHECK = Check(NAME, run, judges=("judge_beside_people",))
