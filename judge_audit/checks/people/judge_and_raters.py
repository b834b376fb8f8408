"""Judge beside people: is the judge as close to the raters as they are to one another, and what does it miss?

The value over sources is judged, each source is shown, and the pooled value stands beside them: pooled numbers
mislead. Correlations are averaged plainly over raters and, by their numbers of items, over sources.

Rows of the judge beside people: measured per source, over sources, and pooled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings, joined
from judge_audit.checks.people.labelled_scores import (
    PEOPLE,
    always_the_same,
    answers,
    labelled,
    people_for,
    ratings,
    samples,
)
from judge_audit.checks.result_rows import figure_columns
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import finite, number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.measures.correlation import correlation
from judge_audit.measures.estimates import PASS_LEVEL, Estimate, corrected_level, items_needed
from judge_audit.measures.judge_and_raters import measured, validity
from judge_audit.measures.resampling import UNDEFINED, Resampled, combined, derived, draws_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.labelled_scores import Answers, Ratings
    from judge_audit.measures.judge_and_raters import Sample


NAME = "beside_people"

POOLED_KIND = "pooled"
"""Kind of the value over all sources as if they were one; `*` is the value within sources, combined."""

MEASURES = {
    "beside": "judge_beside_people",
    "judge": "judge_agreement",
    "rater": "rater_agreement",
    "with_mean": "judge_on_mean",
    "with_rater": "judge_with_rater",
    "between_raters": "between_raters",
    "retest": "retest_on_labelled",
    "validity": "validity",
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
    rows: tuple[ResultRow, ...]
    left_out: tuple[str, ...]
    left_share: float
    lost: float
    retest_known: bool


def measure_row(
    evidence: Evidence,
    check: str,
    measure: str,
    dimension: str,
    figure: Resampled,
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `measures` with the 90 % interval."""
    return evidence.key(check, measure, dimension=dimension, **parts) | figure_columns(figure)


def verdict_row(
    evidence: Evidence,
    check: str,
    measure: str,
    dimension: str,
    figure: Resampled,
    *,
    verdict: Verdict,
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `verdicts` with the 90 % interval."""
    row = measure_row(evidence, check, measure, dimension, figure)
    del row["n_clusters"]
    return joined(row, {"verdict": verdict.value, "finding": "", "provisional": False}, **parts)


def missing_row(
    evidence: Evidence,
    check: str,
    measure: str,
    dimension: str,
    reason: str,
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `verdicts` for evidence that is not there."""
    key = evidence.key(check, measure, dimension=dimension)
    missing: ResultRow = {"verdict": Verdict.MISSING.value, "finding": "", "reason": reason}
    return joined(key, missing, {"provisional": False}, **parts)


def compare(
    evidence: Evidence,
    dimension: str,
    given: Answers,
    people: Ratings,
    *,
    claims: int,
    filled: float | None = None,
) -> Comparison:
    """Measure a dimension of the judge beside people's, source by source, and over sources."""
    found = samples(given, people, deterministic=always_the_same(given), filled=filled)
    whole = found.pop(POOLED)
    draws = draws_for(claims)
    held = {
        source: measured(sample, draws, draw_seed(evidence.seed, NAME, dimension, source))
        for source, sample in found.items()
    }
    sizes = {source: int(np.isfinite(sample.judge).sum()) for source, sample in found.items()}
    left = tuple(source for source, parts in held.items() if "beside" not in parts)
    figures = _over_sources(held)
    rows = _rows(evidence, dimension, {**held, POOLED: figures})
    rows += _pooled_rows(evidence, dimension, whole)
    rows += _other_correlations(evidence, dimension, found, whole)
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


def _over_sources(held: Mapping[str, Mapping[str, Resampled]]) -> dict[str, Resampled]:
    """Combine every figure over the sources; validity is the ratio of the combined parts."""
    parts = list(held.values())
    names = {name for part in parts for name in part} | set(MEASURES)
    found = {name: combined([part[name] for part in parts if name in part]) for name in names}
    both = [
        part
        for part in parts
        if all(np.isfinite(part[name].value) for name in ("with_rater", "between_raters") if name in part)
        and "with_rater" in part
    ]
    again = combined([part["retest"] for part in both])
    found["retest_known"] = again
    close = combined([part["with_rater"] for part in both])
    ceiling = combined([part["between_raters"] for part in both])
    if again is UNDEFINED and both:
        again = Resampled(1.0, np.ones_like(close.replicates), close.n, close.n_clusters, close.df)
    found["retest"], found["between_raters"] = again, ceiling
    if both:
        found["validity"] = derived(validity, close, ceiling, again)
    return found


def _rows(evidence: Evidence, dimension: str, held: Mapping[str, Mapping[str, Resampled]]) -> list[ResultRow]:
    rows: list[ResultRow] = []
    for source, figures in held.items():
        for name, measure in MEASURES.items():
            figure = figures.get(name, UNDEFINED)
            if name == "retest" and source == POOLED and figures["retest_known"] is UNDEFINED:
                continue
            if np.isfinite(figure.value):
                parts = {"source": source, "baseline": PEOPLE}
                rows.append(measure_row(evidence, NAME, measure, dimension, figure, **parts))
    for name, figure in held[POOLED].items():
        if name.startswith("beside:"):
            parts = {"rater": name.removeprefix("beside:"), "baseline": PEOPLE}
            rows.append(measure_row(evidence, NAME, MEASURES["beside"], dimension, figure, **parts))
    return rows


def _pooled_rows(evidence: Evidence, dimension: str, whole: Sample) -> list[ResultRow]:
    """Give the values over all sources as if they were one; no interval, as nothing is judged by them."""
    rows: list[ResultRow] = []
    for name, figure in measured(whole, 0, 0).items():
        if name in MEASURES and np.isfinite(figure.value):
            parts = {"kind": POOLED_KIND, "baseline": PEOPLE}
            rows.append(measure_row(evidence, NAME, MEASURES[name], dimension, figure, **parts))
    return rows


def _other_correlations(
    evidence: Evidence, dimension: str, found: Mapping[str, Sample], whole: Sample
) -> list[ResultRow]:
    """Give Pearson's and Kendall's correlation with the mean label too, for those who compare with a paper."""
    rows: list[ResultRow] = []
    for method in ("pearson", "kendall"):
        values, sizes = [], []
        for source, sample in found.items():
            value = correlation(sample.judge, sample.mean, method)
            if not np.isfinite(value):
                continue
            values.append(value)
            sizes.append(int((np.isfinite(sample.judge) & np.isfinite(sample.mean)).sum()))
            key = {"source": source, "baseline": PEOPLE}
            made = evidence.key(NAME, f"judge_on_mean_{method}", dimension=dimension, **key)
            rows.append({**made, "value": value, "n": sizes[-1]})
        if not values:
            continue
        both = {"*": float(np.average(values, weights=sizes))}
        both[POOLED_KIND] = correlation(whole.judge, whole.mean, method)
        for kind, value in both.items():
            made = evidence.key(
                NAME, f"judge_on_mean_{method}", dimension=dimension, kind=kind, baseline=PEOPLE
            )
            rows.append({**made, "value": finite(value), "n": sum(sizes)})
    return rows


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


def _beside(state: _State, notes: list[str]) -> ResultRow:
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


def _validity(state: _State) -> ResultRow:
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
