"""Verdicts about people's columns: constant, reversed, beyond the ends, unnamed, unequally missing, copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.evidence import joined
from judge_audit.checks.people.agreement_figures import people_key
from judge_audit.checks.people.people_raters import highest, lowest, one_sided, others_figures, told
from judge_audit.core.formatting import finite, number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, WITHIN, Verdict
from judge_audit.measures.estimates import NOTHING, PASS_LEVEL, Estimate, corrected_level, wilson
from judge_audit.measures.influence import averaged
from judge_audit.measures.raters import SPEARMAN
from judge_audit.measures.source_comparisons import share_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import KeyParts, ResultRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.agreement_figures import Figures
    from judge_audit.checks.people.people_labels import Labelled
    from judge_audit.checks.people.people_raters import Copies, Likeness, Others
    from judge_audit.measures.influence import Figure

    Rows = list[ResultRow]

PANEL_SHARE = 0.5
"""A rater of at least this share of the items is one of a panel that was asked for all of them."""

NAMED_IN_A_SENTENCE = 5


def verdict_row(  # noqa: PLR0913 - the columns of a verdict
    evidence: Evidence,
    measure: str,
    labelled: Labelled,
    verdict: Verdict,
    reason: str,
    *,
    finding: str = "",
    estimate: Estimate = NOTHING,
    level: float = PASS_LEVEL,
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `verdicts` about people."""
    limits: dict[str, Any] = {name: parts.pop(name) for name in ("limit_low", "limit_high") if name in parts}
    low, high = estimate.interval(level)
    row: ResultRow = {
        **people_key(evidence, measure, dimension=labelled.dimension, **parts),
        "value": finite(estimate.value),
        "ci_low": finite(low),
        "ci_high": finite(high),
        "n": estimate.n,
        "verdict": verdict.value,
        "finding": finding,
        "reason": reason,
        "provisional": False,
    }
    return joined(row, **limits)


def undefined_verdicts(
    evidence: Evidence, labelled: Labelled, cells: Sequence[tuple[KeyParts, Figures]]
) -> Rows:
    """Say why α has no number where it has none; each reason once, with the places."""
    places: dict[str, list[str]] = {}
    for place, figures in cells:
        shown = figures.get(("alpha", labelled.level))
        if shown is None or shown.figure.defined:
            continue
        name = place.get("source", place.get("topic", say("agreement.everywhere")))
        places.setdefault(shown.figure.why, []).append(name)
        if not place:  # what is undefined in the whole is undefined in every part
            break
    if not places:
        return []
    told_places = [say(f"agreement.undefined_{why}", list=listed(at)) for why, at in sorted(places.items())]
    given: dict[str, Any] = {"kind": labelled.level, "finding": "undefined"}
    return [verdict_row(evidence, "alpha", labelled, Verdict.MISSING, " ".join(told_places), **given)]


def listed(names: Sequence[str]) -> str:
    """Name the first few, and how many more there are."""
    more = len(names) - NAMED_IN_A_SENTENCE
    told_names = ", ".join(names[:NAMED_IN_A_SENTENCE])
    return f"{told_names} {say('agreement.more', count=more)}" if more > 0 else told_names


def unnamed_verdict(evidence: Evidence, labelled: Labelled) -> Rows:
    """Name missing annotator ids as a limitation of every figure that needs them."""
    share = labelled.unnamed_share
    notes = []
    if share:
        notes.append(say("agreement.unnamed", share=percent(share)))
    if labelled.repeated:
        notes.append(say("agreement.repeated", count=labelled.repeated))
    answer = Verdict.MISSING if share else Verdict.PASS
    reason = " ".join(notes) or say("agreement.all_named")
    count = len(labelled.ratings.values)
    row = verdict_row(evidence, "unnamed_share", labelled, answer, reason, finding="unnamed" if share else "")
    return [{**row, "value": share, "n": count}]


def constant_verdicts(evidence: Evidence, labelled: Labelled) -> Rows:
    """Find raters who always say the same where others do not."""
    ratings = labelled.named
    least = evidence.limits["agreement.min_ratings"]
    rows: list[ResultRow] = []
    for rater, name in enumerate(labelled.raters):
        own = ratings.raters == rater
        values = np.unique(ratings.values[own])
        if own.sum() < least or len(values) != 1:
            continue
        mine = np.isin(ratings.items, ratings.items[own]) & ~own
        if len(np.unique(ratings.values[mine])) > 1:
            reason = say("agreement.constant", rater=name, value=f"{values[0]:g}", n=int(own.sum()))
            row = verdict_row(
                evidence, "distinct_values", labelled, Verdict.FAIL, reason, finding="constant", rater=name
            )
            rows.append({**row, "value": 1.0, "n": int(own.sum()), "limit_low": 2.0})
    if rows or not labelled.raters:
        return rows
    reason = say("agreement.none_constant")
    return [verdict_row(evidence, "distinct_values", labelled, Verdict.PASS, reason, limit_low=2.0)]


def beyond_verdicts(evidence: Evidence, labelled: Labelled) -> Rows:
    """Name raters with values beyond the declared ends; these enter no figure."""
    rows: list[ResultRow] = []
    for name, count in sorted(labelled.beyond.items()):
        whole = labelled.given[name]
        reason = say(
            "agreement.beyond_ends", rater=name or say("agreement.nobody_known"), count=count, n=whole
        )
        row = verdict_row(
            evidence,
            "beyond_ends",
            labelled,
            Verdict.FAIL,
            reason,
            finding="beyond_ends",
            rater=name or POOLED,
            limit_high=0.0,
        )
        rows.append({**row, "value": count / whole, "n": whole})
    if rows:
        return rows
    reason = say("agreement.within_ends")
    return [verdict_row(evidence, "beyond_ends", labelled, Verdict.PASS, reason, limit_high=0.0)]


def reversed_verdicts(evidence: Evidence, labelled: Labelled, others: Others) -> Rows:
    """Find raters who fall where all others rise; of two nobody can say which."""
    ratings, limit = labelled.named, evidence.limits["agreement.reversed"]
    figures = {rater: places[WITHIN] for rater, places in others.items() if WITHIN in places}
    if not figures:
        return []
    level = corrected_level(len(figures))
    below = {rater: figure for rater, figure in figures.items() if highest(figure, level) < -limit}
    measure = "rater_to_others"
    parts: dict[str, Any] = {"kind": SPEARMAN, "source": WITHIN, "limit_low": -limit}
    if len(figures) == 2 and below:
        pair = told(labelled, (min(figures), max(figures)))
        reason = say("agreement.opposed", rater=pair)
        return [
            verdict_row(
                evidence,
                measure,
                labelled,
                Verdict.INCONCLUSIVE,
                reason,
                finding="reversed",
                rater=pair,
                **parts,
            )
        ]
    rows: list[ResultRow] = []
    for rater, figure in below.items():
        rest = others_figures(labelled, ratings.where(ratings.raters != rater), SPEARMAN)
        mutual = averaged([places[WITHIN] for places in rest.values() if WITHIN in places])
        if mutual is None or lowest(mutual, PASS_LEVEL) <= 0:
            continue
        name = labelled.raters[rater]
        estimate = figure.estimate()
        reason = say("agreement.reversed", rater=name, value=number(estimate.value))
        given: dict[str, Any] = {
            "finding": "reversed",
            "rater": name,
            "estimate": estimate,
            "level": level,
            **parts,
        }
        rows.append(verdict_row(evidence, measure, labelled, Verdict.FAIL, reason, **given))
    return rows or [_none_reversed(evidence, labelled, figures, parts)]


def _none_reversed(
    evidence: Evidence, labelled: Labelled, figures: dict[int, Figure], parts: dict[str, Any]
) -> ResultRow:
    calm = all(lowest(figure, PASS_LEVEL) > parts["limit_low"] for figure in figures.values())
    answer = Verdict.PASS if calm else Verdict.INCONCLUSIVE
    reason = say("agreement.none_reversed" if calm else "agreement.reversed_open")
    return verdict_row(evidence, "rater_to_others", labelled, answer, reason, **parts)


def missing_rows(evidence: Evidence, labelled: Labelled) -> tuple[Rows, Rows]:
    """Count per source the items with two ratings and those each rater rated; judge whether sources differ."""
    items, ratings = labelled.items, labelled.ratings
    sizes = np.bincount(items.of_source, minlength=len(items.sources))
    columns = {("paired_share", POOLED): ratings.counts() >= 2}
    for rater, name in enumerate(labelled.raters):
        rated = np.zeros(len(items.of_source), bool)
        rated[ratings.items[ratings.raters == rater]] = True
        columns["rated_share", name] = rated
    measures: Rows = []
    claims = []
    for (measure, rater_name), rated in columns.items():
        hits = np.bincount(items.of_source[rated], minlength=len(sizes))
        for place, got, due in (
            (POOLED, int(hits.sum()), int(sizes.sum())),
            *zip(items.sources, hits.tolist(), sizes.tolist(), strict=True),
        ):
            low, high = wilson(got, due)
            key = people_key(evidence, measure, dimension=labelled.dimension, rater=rater_name, source=place)
            measures.append({**key, "value": got / due, "ci_low": low, "ci_high": high, "n": due})
        if measure == "paired_share" or rated.mean() >= PANEL_SHARE:
            claims += [(rater_name, at, hits, sizes) for at in range(len(sizes))]
    verdicts = _unequal(evidence, labelled, claims) if len(sizes) > 1 else []
    return measures, verdicts


def _unequal(evidence: Evidence, labelled: Labelled, claims: list[tuple[str, int, Any, Any]]) -> Rows:
    """Hold the share rated in each source against that in all others."""
    limit = evidence.limits["agreement.missing_difference"]
    level = corrected_level(len(claims))
    apart, calm = [], True
    for rater, at, hits, sizes in claims:
        shares = (int(hits[at]), int(sizes[at]), int(hits.sum() - hits[at]), int(sizes.sum() - sizes[at]))
        low, high = share_difference(*shares, level)
        if low > limit or high < -limit:
            apart.append((abs(shares[0] / shares[1] - shares[2] / shares[3]), rater, at, shares))
        low, high = share_difference(*shares, PASS_LEVEL)
        calm = calm and -limit < low and high < limit
    parts: dict[str, Any] = {"limit_high": limit, "limit_low": -limit}
    if not apart:
        answer = Verdict.PASS if calm else Verdict.INCONCLUSIVE
        reason = say("agreement.evenly_missing" if calm else "agreement.missing_open")
        return [verdict_row(evidence, "rated_share", labelled, answer, reason, **parts)]
    size, rater, at, shares = max(apart)
    reason = say(
        "agreement.unequal",
        rater=say("agreement.two_raters") if rater == POOLED else rater,
        source=labelled.items.sources[at],
        share=percent(shares[0] / shares[1]),
        rest=percent(shares[2] / shares[3]),
    )
    row = verdict_row(evidence, "rated_share", labelled, Verdict.FAIL, reason, finding="unequal", **parts)
    return [{**row, "value": size, "n": shares[1]}]


def copy_verdicts(evidence: Evidence, labelled: Labelled, copies: Copies) -> Rows:
    """Name near-copies and those who may be; they are never removed."""
    limit = evidence.limits["agreement.copy_lead"]
    count = len(labelled.raters)
    total = sum(len(group) for group in (copies.named, copies.suspected, copies.cleared, copies.open))
    level = one_sided(total)

    def row(part: Likeness, verdict: Verdict, sentence: str) -> ResultRow:
        reason = say(f"agreement.{sentence}", rater=told(labelled, part.pair), value=number(part.lead.value))
        figure = part.unexplained if verdict == Verdict.FAIL else part.lead
        parts: dict[str, Any] = {"rater": told(labelled, part.pair), "source": WITHIN, "limit_high": limit}
        given: dict[str, Any] = {
            "finding": "near_copies",
            "estimate": figure.estimate(),
            "level": level,
            **parts,
        }
        return verdict_row(evidence, "near_copies", labelled, verdict, reason, **given)

    rows = [row(part, Verdict.FAIL, "near_copies") for part in copies.named]
    rows += [row(part, Verdict.INCONCLUSIVE, "near_copies_open") for part in copies.suspected]
    if rows:
        return rows
    parts: dict[str, Any] = {"limit_high": limit, "source": WITHIN}
    if count < 3 or not any(part.lead.defined for part in (*copies.cleared, *copies.open)):
        reason = say("agreement.copies_unchecked")
        return [verdict_row(evidence, "near_copies", labelled, Verdict.MISSING, reason, **parts)]
    answer = Verdict.INCONCLUSIVE if copies.open else Verdict.PASS
    pairs = listed([told(labelled, part.pair) for part in copies.open])
    reason = say("agreement.copies_open", list=pairs) if copies.open else say("agreement.no_copies")
    return [verdict_row(evidence, "near_copies", labelled, answer, reason, **parts)]
