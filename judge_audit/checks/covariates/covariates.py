"""Covariates: how much of the order inside a source do surface statistics alone explain?

Two verdicts. *echoes*: most of what separates the scores of one source is read off numbers that know
nothing of what a picture shows. The limit lies well above what reward models that look at content reach
(four of them on 840 edited photographs: −.02 to .34). This is observed, not done: only a ladder shows that
changing a statistic changes the score, so no checklist asks for this verdict. *unstable*: a weight differs
between two sources in lift and, in the same direction, in raw units; in lift alone the sources may only
spread differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.covariates.covariate_rows import (
    DIFFERENCE,
    LEADING,
    NAME,
    SHARE,
    Gathered,
    claims_of,
    comparison_rows,
    explained_rows,
    gather,
    name_of,
    row_of,
    share_rows,
    shares_of,
    told,
    weight_rows,
)
from judge_audit.checks.evidence import Findings
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import (
    NOTHING,
    PASS_LEVEL,
    Answer,
    Estimate,
    below,
    corrected_level,
    items_needed,
)
from judge_audit.measures.regression import Fit, fit
from judge_audit.measures.source_comparisons import beyond, holm, within_sources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.covariates.covariate_rows import Claim
    from judge_audit.checks.evidence import Evidence

Fits = dict[str, Fit]


def run(evidence: Evidence) -> Findings:
    """Regress the untouched scores of every dimension on the covariates, source by source."""
    findings = Findings()
    for dimension in evidence.dimensions:
        findings += _dimension(evidence, dimension)
    return findings


def _dimension(evidence: Evidence, dimension: str) -> Findings:
    if evidence.covariates is None:
        reason = say("covariates.unmeasured")
        return Findings(
            verdicts=tuple(
                _verdict(evidence, measure, dimension, Verdict.MISSING, "", reason, limit)
                for measure, limit in (
                    (SHARE, evidence.limits["covariates.explained"]),
                    (DIFFERENCE, evidence.limits["covariates.weight_difference"]),
                )
            )
        )
    gathered = gather(evidence, dimension)
    fits = _fits(evidence, dimension, gathered)
    alike = _comparable(evidence, dimension, gathered, fits)
    claims = claims_of(alike)
    return Findings(
        measures=(
            *explained_rows(evidence, dimension, fits),
            *share_rows(evidence, dimension, fits),
            *weight_rows(evidence, dimension, fits),
            *comparison_rows(evidence, dimension, alike, claims),
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
    found = {}
    for source in gathered.sources:
        sample = gathered.sample(source, only=only, filled=filled)
        made = fit(sample, seed=draw_seed(evidence.seed, NAME, dimension, source)) if sample else None
        if made is not None:
            found[source] = made
    return found


def _comparable(evidence: Evidence, dimension: str, gathered: Gathered, fits: Fits) -> Fits:
    """Give fits on the same statistics: a weight holds the others in the regression, and only those."""
    if len(fits) < 2:
        return {}
    shared = frozenset.intersection(*(frozenset(made.names) for made in fits.values()))
    if all(len(made.names) == len(shared) for made in fits.values()):
        return fits
    return _fits(evidence, dimension, gathered, only=shared) if shared else {}


def _verdict(  # noqa: PLR0913, PLR0917 - the columns of a verdict
    evidence: Evidence,
    measure: str,
    dimension: str,
    verdict: Verdict,
    finding: str,
    reason: str,
    limit: float,
    estimate: Estimate = NOTHING,
    needed: int | None = None,
) -> ResultRow:
    row = row_of(evidence, measure, dimension, estimate)
    del row["n_clusters"]
    return {
        **row,
        "n_needed": needed,
        "limit_high": limit,
        "limit_low": -limit if measure == DIFFERENCE else None,
        "verdict": verdict.value,
        "finding": finding,
        "reason": reason,
        "provisional": False,
    }


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
    return whole, below(whole, evidence.limits["covariates.explained"], len(evidence.dimensions))


def _explained_verdict(evidence: Evidence, dimension: str, gathered: Gathered, fits: Fits) -> ResultRow:
    limit = evidence.limits["covariates.explained"]
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
    finding = "echoes" if verdict == Verdict.FAIL else ""
    if whole is not NOTHING:
        level = corrected_level(len(evidence.dimensions)) if finding else PASS_LEVEL
        low, high = (min(1.0, max(0.0, end)) for end in whole.interval(level))
        shares = sorted(shares_of(fits).items(), key=lambda entry: -entry[1].value)[:LEADING]
        leading = ", ".join(name_of(name) for name, _ in shares)
        values = {"share": percent(max(0.0, whole.value)), "low": percent(low), "high": percent(high)}
        notes.insert(0, say(f"covariates.{finding or verdict.value}", leading=leading, **values))
        if answer.verdict == Verdict.INCONCLUSIVE:
            needed = items_needed(whole, limit, len(evidence.dimensions), high=limit)
    return _verdict(evidence, SHARE, dimension, verdict, finding, " ".join(notes), limit, whole, needed)


def _difference_verdict(
    evidence: Evidence, dimension: str, gathered: Gathered, fits: Fits, claims: Sequence[Claim]
) -> ResultRow:
    """Judge whether weights stay the same from source to source: in lift and, in the same sign, raw."""
    limit, raw_limit = (evidence.limits[f"covariates.weight_difference{part}"] for part in ("", "_raw"))
    notes = _notes(gathered, fits)
    if len(gathered.sources) < 2:
        reason = say("covariates.one_source")
        return _verdict(evidence, DIFFERENCE, dimension, Verdict.MISSING, "", reason, limit)
    if not claims:
        return _verdict(evidence, DIFFERENCE, dimension, Verdict.INCONCLUSIVE, "", " ".join(notes), limit)
    m = len(evidence.dimensions)
    lifts = [beyond(claim.lift, limit) for claim in claims]
    raws = [beyond(claim.raw, raw_limit) for claim in claims]
    both = [max(a[1], b[1]) if a[0] == b[0] else 1.0 for a, b in zip(lifts, raws, strict=True)]
    apart, only_lift = (
        [claim for claim, stands in zip(claims, holm([m * p for p in given]), strict=True) if stands]
        for given in (both, [p for _, p in lifts])
    )
    calm = all(-limit < low and high < limit for low, high in (c.lift.interval(PASS_LEVEL) for c in claims))
    whole = len(fits) == len(gathered.sources)
    widest = max(apart or claims, key=lambda claim: abs(claim.lift.value))
    verdict, finding, sentence = Verdict.INCONCLUSIVE, "", say("covariates.steady_open", list=told([widest]))
    if gathered.lost > evidence.limits["ladder.missing_share"]:
        notes.insert(0, say("covariates.refusals", share=percent(gathered.lost)))
    elif apart:
        verdict, finding, sentence = Verdict.FAIL, "unstable", say("covariates.unstable", list=told(apart))
    elif calm and whole:
        verdict, sentence = Verdict.PASS, say("covariates.steady")
    notes.insert(0, sentence)
    if only_lift and not apart:
        notes.append(say("covariates.spread_differs", list=told(only_lift)))
    return _verdict(evidence, DIFFERENCE, dimension, verdict, finding, " ".join(notes), limit, widest.lift)


CHECK = Check(NAME, run, judges=("explained_share",))
