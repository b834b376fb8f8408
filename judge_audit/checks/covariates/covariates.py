"""Covariates: how much of the order inside a source do surface statistics alone explain?

Two verdicts. *echoes*: most of what separates the scores of one source is read off numbers that know
nothing of what a picture shows. The limit lies well above what reward models that look at content reach
(four of them on 840 edited photographs: −.02 to .34). This is observed, not done: only a ladder shows that
changing a statistic changes the score, so no checklist asks for this verdict. *unstable*: a weight differs
between two sources in lift and, in the same direction, in raw units; in lift alone the sources may only
spread differently.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.covariates.covariate_samples import Gathered, gather
from judge_audit.checks.evidence import Findings
from judge_audit.checks.result_rows import deciding_level, interval_words
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import finite, number, percent
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import NOTHING, PASS_LEVEL, Answer, Estimate, below, items_needed
from judge_audit.measures.regression import Fit, fit
from judge_audit.measures.source_comparisons import beyond, difference, heterogeneity, holm, within_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.result_rows import RowWriter

Fits = dict[str, Fit]

NAME = "covariates"
SHARE, DIFFERENCE = "explained_share", "weight_difference"
LIMITS = {SHARE: "covariates.explained", DIFFERENCE: "covariates.weight_difference"}
FINDINGS = {SHARE: "echoes", DIFFERENCE: "unstable"}
LEADING = 2
"""Statistics named in a sentence."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A weight held against the same weight in another source."""

    feature: str
    first: str
    second: str
    lift: Estimate
    raw: Estimate


def run(evidence: Evidence) -> Findings:
    """Regress the untouched scores of every dimension on the covariates, source by source."""
    return sum((_dimension(evidence, dimension) for dimension in evidence.dimensions), Findings())


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    if evidence.covariates is None:
        reason = say("covariates.unmeasured")
        verdicts = (
            _verdict(evidence, name, dimension, Verdict.MISSING, reason) for name in (SHARE, DIFFERENCE)
        )
        return Findings(verdicts=tuple(verdicts))
    gathered = gather(evidence, dimension)
    fits = _fits(evidence, dimension, gathered)
    alike = _comparable(evidence, dimension, gathered, fits)
    claims = _claims(alike)
    writer = evidence.writer(NAME, dimension=dimension)
    return Findings(
        measures=(
            *_explained_rows(writer, fits),
            *_share_rows(writer, fits),
            *_weight_rows(writer, fits),
            *_comparison_rows(writer, alike, claims),
        ),
        verdicts=(
            _explained_verdict(evidence, dimension, gathered, fits),
            _difference_verdict(evidence, dimension, gathered, fits, claims),
        ),
    )


def _fits(
    evidence: Evidence,
    dimension: str,
    gathered: Gathered,
    *,
    only: frozenset[str] | None = None,
    filled: float | None = None,
) -> Fits:
    """Fit every source that can carry a regression."""
    fits = {}
    for source in gathered.sources:
        sample = gathered.sample(source, only=only, filled=filled)
        made = fit(sample, seed=draw_seed(evidence.seed, NAME, dimension, source)) if sample else None
        if made is not None:
            fits[source] = made
    return fits


def _comparable(evidence: Evidence, dimension: str, gathered: Gathered, fits: Fits) -> Fits:
    """Give fits on the same statistics: a weight holds the others in the regression, and only those."""
    if len(fits) < 2:
        return {}
    shared = frozenset.intersection(*(frozenset(made.names) for made in fits.values()))
    if all(len(made.names) == len(shared) for made in fits.values()):
        return fits
    return _fits(evidence, dimension, gathered, only=shared) if shared else {}


def _verdict(
    evidence: Evidence,
    measure: str,
    dimension: str,
    verdict: Verdict,
    reason: str,
    estimate: Estimate = NOTHING,
    needed: int | None = None,
) -> VerdictsRow:
    limit = evidence.limits[LIMITS[measure]]
    limits: VerdictsRow = {"n_needed": needed, "limit_high": limit}
    if measure == DIFFERENCE:
        limits["limit_low"] = -limit
    finding = FINDINGS[measure] if verdict == Verdict.FAIL else ""
    writer = evidence.writer(NAME, dimension=dimension)
    return writer.verdict(measure, verdict, reason, finding, estimate, **limits)


def _notes(gathered: Gathered, fits: Mapping[str, Fit]) -> list[str]:
    """Say what was left out."""
    notes = []
    mute = [source for source in gathered.sources if source in gathered.unresolved]
    few = [source for source in gathered.sources if source not in fits and source not in mute]
    constant = {name for made in fits.values() for name in made.constant}
    everywhere = sorted(name for name in constant if all(name in made.constant for made in fits.values()))
    for key, names in (
        ("unresolved", mute),
        ("few", few),
        ("constant", [name_of(name) for name in everywhere]),
        ("unknown", [name_of(name) for name in sorted(gathered.unknown)]),
    ):
        if names:
            notes.append(say(f"covariates.{key}", list=", ".join(names)))
    return notes


def _answer(evidence: Evidence, fits: Fits) -> tuple[Estimate, Answer]:
    """Hold the share explained inside sources against its limit."""
    whole = within_sources([made.explained for made in fits.values()])
    return whole, below(whole, evidence.limits[LIMITS[SHARE]], len(evidence.dimensions))


def _explained_verdict(evidence: Evidence, dimension: str, gathered: Gathered, fits: Fits) -> VerdictsRow:
    whole, answer = _answer(evidence, fits)
    verdict, notes = answer.verdict, _notes(gathered, fits)
    if verdict == Verdict.PASS and len(fits) < len(gathered.sources):
        verdict = Verdict.INCONCLUSIVE
    if verdict != Verdict.INCONCLUSIVE and gathered.lost > evidence.limits["ladder.missing_share"]:
        ways = [_fits(evidence, dimension, gathered, filled=end) for end in (-np.inf, np.inf)]
        if any(_answer(evidence, way)[1].verdict != verdict for way in ways):
            verdict = Verdict.INCONCLUSIVE
            notes.insert(0, say("notes.refusals", share=percent(gathered.lost)))
    needed = None
    if whole is not NOTHING:
        level = deciding_level(verdict, len(evidence.dimensions))
        words = interval_words(whole, level, lambda end: percent(min(1.0, max(0.0, end))))
        words["share"] = percent(max(0.0, whole.value))
        shares = sorted(_shares(fits).items(), key=lambda entry: -entry[1].value)[:LEADING]
        leading = ", ".join(name_of(name) for name, _ in shares)
        key = FINDINGS[SHARE] if verdict == Verdict.FAIL else verdict.value
        notes.insert(0, say(f"covariates.{key}", leading=leading, **words))
        if answer.verdict == Verdict.INCONCLUSIVE:
            limit = evidence.limits[LIMITS[SHARE]]
            needed = items_needed(whole, limit, len(evidence.dimensions), high=limit)
    return _verdict(evidence, SHARE, dimension, verdict, " ".join(notes), whole, needed)


def _difference_verdict(
    evidence: Evidence, dimension: str, gathered: Gathered, fits: Fits, claims: Sequence[Claim]
) -> VerdictsRow:
    """Judge whether weights stay the same from source to source: in lift and, in the same sign, raw."""
    limit, raw_limit = (evidence.limits[f"{LIMITS[DIFFERENCE]}{part}"] for part in ("", "_raw"))
    notes = _notes(gathered, fits)
    if len(gathered.sources) < 2:
        return _verdict(evidence, DIFFERENCE, dimension, Verdict.MISSING, say("covariates.one_source"))
    if not claims:
        return _verdict(evidence, DIFFERENCE, dimension, Verdict.INCONCLUSIVE, " ".join(notes))
    m = len(evidence.dimensions)
    lifts = [beyond(claim.lift, limit) for claim in claims]
    raws = [beyond(claim.raw, raw_limit) for claim in claims]
    both = [max(a[1], b[1]) if a[0] == b[0] else 1.0 for a, b in zip(lifts, raws, strict=True)]
    apart, only_lift = (
        [claim for claim, stands in zip(claims, holm([m * p for p in errors]), strict=True) if stands]
        for errors in (both, [p for _, p in lifts])
    )
    calm = all(-limit < low and high < limit for low, high in (c.lift.interval(PASS_LEVEL) for c in claims))
    whole = len(fits) == len(gathered.sources)
    widest = max(apart or claims, key=lambda claim: abs(claim.lift.value))
    verdict, sentence = Verdict.INCONCLUSIVE, say("covariates.steady_open", list=_listed([widest]))
    if gathered.lost > evidence.limits["ladder.missing_share"]:
        notes.insert(0, say("covariates.refusals", share=percent(gathered.lost)))
    elif apart:
        verdict, sentence = Verdict.FAIL, say("covariates.unstable", list=_listed(apart))
    elif calm and whole:
        verdict, sentence = Verdict.PASS, say("covariates.steady")
    notes.insert(0, sentence)
    if only_lift and not apart:
        notes.append(say("covariates.spread_differs", list=_listed(only_lift)))
    return _verdict(evidence, DIFFERENCE, dimension, verdict, " ".join(notes), widest.lift)


def _claims(fits: Fits) -> list[Claim]:
    """List every statistic × pair of sources."""
    return [
        Claim(
            name,
            first,
            second,
            difference(fits[first].weights[at], fits[second].weights[at]),
            difference(fits[first].raw_weights[at], fits[second].raw_weights[at]),
        )
        for first, second in itertools.combinations(fits, 2)
        for at, name in enumerate(fits[first].names)
    ]


def _explained_rows(writer: RowWriter, fits: Fits) -> Iterator[MeasuresRow]:
    """Give the share explained per source and inside sources, with R² as it stands in the sample."""
    for source, made in fits.items():
        yield writer.figure(SHARE, made.explained, source=source)
        yield writer.count("explained_in_sample", made.in_sample, made.explained.n, source=source)
    if fits:
        whole = within_sources([made.explained for made in fits.values()])
        yield writer.figure(SHARE, whole)
        plain = sum(made.in_sample * made.explained.n for made in fits.values()) / whole.n
        yield writer.count("explained_in_sample", plain, whole.n)


def _features(fits: Fits) -> list[str]:
    """List the statistics of all fits, in the order they first come."""
    return list(dict.fromkeys(name for made in fits.values() for name in made.names))


def _shares(fits: Fits) -> dict[str, Estimate]:
    """Share of each statistic inside sources; where it does not vary it explains nothing."""
    shares = {}
    for name in _features(fits):
        parts = [
            made.shares[made.names.index(name)]
            if name in made.names
            else Estimate(0.0, 0.0, 0, made.explained.n, made.explained.n_clusters)
            for made in fits.values()
        ]
        shares[name] = within_sources(parts)
    return shares


def _share_rows(writer: RowWriter, fits: Fits) -> Iterator[MeasuresRow]:
    """Give each statistic's share of the variance, per source and inside sources."""
    for source, made in fits.items():
        for name, share in zip(made.names, made.shares, strict=True):
            yield writer.figure("covariate_share", share, source=source, kind=name)
    for name, share in _shares(fits).items():
        yield writer.figure("covariate_share", share, kind=name)


def _weight_rows(writer: RowWriter, fits: Fits) -> Iterator[MeasuresRow]:
    """Give the weights per source and inside sources, in lift and in raw units."""
    for measure, attribute in (("covariate_weight", "weights"), ("covariate_weight_raw", "raw_weights")):
        for name in _features(fits):
            weights = {
                source: getattr(made, attribute)[made.names.index(name)]
                for source, made in fits.items()
                if name in made.names
            }
            for source, weight in weights.items():
                yield writer.figure(measure, weight, source=source, kind=name)
            yield writer.figure(measure, within_sources(list(weights.values())), kind=name)


def _comparison_rows(writer: RowWriter, fits: Fits, claims: Sequence[Claim]) -> Iterator[MeasuresRow]:
    """Give differences of weights for every pair of sources, and Q and I² over all of them."""
    for claim in claims:
        of_claim = writer.at(source=claim.first, baseline=claim.second, kind=claim.feature)
        yield of_claim.figure(DIFFERENCE, claim.lift)
        yield of_claim.figure(f"{DIFFERENCE}_raw", claim.raw)
    for name in _features(fits):
        q, inconsistency = heterogeneity([made.weights[made.names.index(name)] for made in fits.values()])
        yield writer.count("weight_q", finite(q), len(fits), kind=name)
        yield writer.count("weight_i2", finite(inconsistency), len(fits), kind=name)


def _listed(claims: Sequence[Claim]) -> str:
    """Name weights and the two sources they differ between."""
    return "; ".join(
        say(
            "covariates.pair",
            name=name_of(claim.feature),
            first=claim.first,
            second=claim.second,
            value=number(claim.lift.value),
        )
        for claim in sorted(claims, key=lambda entry: -abs(entry.lift.value))[:LEADING]
    )


def name_of(feature: str) -> str:
    """Name a statistic for people."""
    key = f"covariates.names.{feature}"
    return say(key) if knows(key) else feature


CHECK = Check(NAME, run, judges=("explained_share",))
