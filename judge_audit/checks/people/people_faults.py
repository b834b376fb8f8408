"""Verdicts about people's columns: constant, reversed, beyond the ends, unnamed, unequally missing, copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.people.people_raters import highest, lowest, one_sided, others_figures
from judge_audit.core.formatting import number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, WITHIN, Verdict
from judge_audit.measures.estimates import NOTHING, PASS_LEVEL, corrected_level
from judge_audit.measures.influence import averaged
from judge_audit.measures.raters import SPEARMAN
from judge_audit.measures.source_comparisons import share_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import KeyParts, MeasuresRow, VerdictsRow

    from judge_audit.checks.people.agreement import Figures
    from judge_audit.checks.people.people_labels import Labelled
    from judge_audit.checks.people.people_raters import Copies, Likeness, Others

PANEL_SHARE = 0.5
"""A rater of at least this share of the items is one of a panel that was asked for all of them."""

NAMED_IN_A_SENTENCE = 5


def undefined_verdicts(labelled: Labelled, cells: Sequence[tuple[KeyParts, Figures]]) -> list[VerdictsRow]:
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
    reason = " ".join(
        say(f"agreement.undefined_{why}", list=listed(names)) for why, names in sorted(places.items())
    )
    writer = labelled.rows.at(kind=labelled.level)
    return [writer.verdict("alpha", Verdict.MISSING, reason, "undefined", NOTHING)]


def listed(names: Sequence[str]) -> str:
    """Name the first few, and how many more there are."""
    more = len(names) - NAMED_IN_A_SENTENCE
    first = ", ".join(names[:NAMED_IN_A_SENTENCE])
    return f"{first} {say('agreement.more', count=more)}" if more > 0 else first


def unnamed_verdict(labelled: Labelled) -> VerdictsRow:
    """Name missing annotator ids as a limitation of every figure that needs them."""
    share = labelled.unnamed_share
    notes = []
    if share:
        notes.append(say("agreement.unnamed", share=percent(share)))
    if labelled.repeated:
        notes.append(say("agreement.repeated", count=labelled.repeated))
    answer, finding = (Verdict.MISSING, "unnamed") if share else (Verdict.PASS, "")
    reason = " ".join(notes) or say("agreement.all_named")
    count = len(labelled.ratings.values)
    return labelled.rows.verdict("unnamed_share", answer, reason, finding, value=share, n=count)


def constant_verdicts(labelled: Labelled) -> list[VerdictsRow]:
    """Find raters who always say the same where others do not."""
    ratings, measure, limit = labelled.named, "distinct_values", 2.0
    least = labelled.limits["agreement.min_ratings"]
    rows: list[VerdictsRow] = []
    for rater, name in enumerate(labelled.raters):
        own = ratings.raters == rater
        n, values = int(own.sum()), np.unique(ratings.values[own])
        if n < least or len(values) != 1:
            continue
        of_others = np.isin(ratings.items, ratings.items[own]) & ~own
        if len(np.unique(ratings.values[of_others])) > 1:
            reason = say("agreement.constant", rater=name, value=f"{values[0]:g}", n=n)
            shown: VerdictsRow = {"rater": name, "value": 1.0, "n": n, "limit_low": limit}
            rows.append(labelled.rows.verdict(measure, Verdict.FAIL, reason, "constant", **shown))
    if rows or not labelled.raters:
        return rows
    reason = say("agreement.none_constant")
    return [labelled.rows.verdict(measure, Verdict.PASS, reason, "", NOTHING, limit_low=limit)]


def beyond_verdicts(labelled: Labelled) -> list[VerdictsRow]:
    """Name raters with values beyond the declared ends; these enter no figure."""
    rows: list[VerdictsRow] = []
    measure, limit = "beyond_ends", 0.0
    for name, count in sorted(labelled.beyond.items()):
        n, rater = labelled.received[name], name or say("agreement.nobody_known")
        reason = say("agreement.beyond_ends", rater=rater, count=count, n=n)
        shown: VerdictsRow = {"rater": name or POOLED, "value": count / n, "n": n, "limit_high": limit}
        rows.append(labelled.rows.verdict(measure, Verdict.FAIL, reason, "beyond_ends", **shown))
    if rows:
        return rows
    reason = say("agreement.within_ends")
    return [labelled.rows.verdict(measure, Verdict.PASS, reason, "", NOTHING, limit_high=limit)]


def reversed_verdicts(labelled: Labelled, others: Others) -> list[VerdictsRow]:
    """Find raters who fall where all others rise; of two nobody can say which."""
    ratings, limit = labelled.named, -labelled.limits["agreement.reversed"]
    figures = {rater: places[WITHIN] for rater, places in others.items() if WITHIN in places}
    if not figures:
        return []
    level = corrected_level(len(figures))
    below = {rater: figure for rater, figure in figures.items() if highest(figure, level) < limit}
    measure, writer = "rater_to_others", labelled.rows.at(kind=SPEARMAN, source=WITHIN)
    limits: VerdictsRow = {"limit_low": limit}
    if len(figures) == 2 and below:
        pair = labelled.pair_name((min(figures), max(figures)))
        reason = say("agreement.opposed", rater=pair)
        answer = Verdict.INCONCLUSIVE
        return [writer.at(rater=pair).verdict(measure, answer, reason, "reversed", NOTHING, **limits)]
    rows: list[VerdictsRow] = []
    for rater, figure in below.items():
        rest = others_figures(labelled, ratings.where(ratings.raters != rater), SPEARMAN)
        mutual = averaged([places[WITHIN] for places in rest.values() if WITHIN in places])
        if mutual is None or lowest(mutual, PASS_LEVEL) <= 0:
            continue
        name, estimate = labelled.raters[rater], figure.estimate()
        reason = say("agreement.reversed", rater=name, value=number(estimate.value))
        one = writer.at(rater=name)
        rows.append(one.verdict(measure, Verdict.FAIL, reason, "reversed", estimate, level, **limits))
    if rows:
        return rows
    calm = all(lowest(figure, PASS_LEVEL) > limit for figure in figures.values())
    answer = Verdict.PASS if calm else Verdict.INCONCLUSIVE
    reason = say("agreement.none_reversed" if calm else "agreement.reversed_open")
    return [writer.verdict(measure, answer, reason, "", NOTHING, **limits)]


def missing_rows(labelled: Labelled) -> tuple[list[MeasuresRow], list[VerdictsRow]]:
    """Count per source the items with two ratings and those each rater rated; judge whether sources differ."""
    items, ratings = labelled.items, labelled.ratings
    sizes = np.bincount(items.of_source, minlength=len(items.sources))
    columns = {("paired_share", POOLED): ratings.counts() >= 2}
    for rater, name in enumerate(labelled.raters):
        rated = np.zeros(len(items.of_source), bool)
        rated[ratings.items[ratings.raters == rater]] = True
        columns["rated_share", name] = rated
    measures: list[MeasuresRow] = []
    claims = []
    for (measure, rater_name), rated in columns.items():
        hits = np.bincount(items.of_source[rated], minlength=len(sizes))
        for place, got, due in (
            (POOLED, int(hits.sum()), int(sizes.sum())),
            *zip(items.sources, hits.tolist(), sizes.tolist(), strict=True),
        ):
            measures.append(labelled.rows.share(measure, got, due, rater=rater_name, source=place))
        if measure == "paired_share" or rated.mean() >= PANEL_SHARE:
            claims += [(rater_name, at, hits, sizes) for at in range(len(sizes))]
    return measures, [_unequal(labelled, claims)] if len(sizes) > 1 else []


def _unequal(labelled: Labelled, claims: list[tuple[str, int, Any, Any]]) -> VerdictsRow:
    """Hold the share rated in each source against that in all others."""
    limit = labelled.limits["agreement.missing_difference"]
    level = corrected_level(len(claims))
    apart, calm = [], True
    for rater, at, hits, sizes in claims:
        shares = (int(hits[at]), int(sizes[at]), int(hits.sum() - hits[at]), int(sizes.sum() - sizes[at]))
        low, high = share_difference(*shares, level)
        if low > limit or high < -limit:
            apart.append((abs(shares[0] / shares[1] - shares[2] / shares[3]), rater, at, shares))
        low, high = share_difference(*shares, PASS_LEVEL)
        calm = calm and -limit < low and high < limit
    limits: VerdictsRow = {"limit_low": -limit, "limit_high": limit}
    if not apart:
        answer = Verdict.PASS if calm else Verdict.INCONCLUSIVE
        reason = say("agreement.evenly_missing" if calm else "agreement.missing_open")
        return labelled.rows.verdict("rated_share", answer, reason, "", NOTHING, **limits)
    size, rater, at, shares = max(apart)
    reason = say(
        "agreement.unequal",
        rater=say("agreement.two_raters") if rater == POOLED else rater,
        source=labelled.items.sources[at],
        share=percent(shares[0] / shares[1]),
        rest=percent(shares[2] / shares[3]),
    )
    shown: VerdictsRow = {"value": size, "n": shares[1], **limits}
    return labelled.rows.verdict("rated_share", Verdict.FAIL, reason, "unequal", **shown)


def copy_verdicts(labelled: Labelled, copies: Copies) -> list[VerdictsRow]:
    """Name near-copies and those who may be; they are never removed."""
    total = sum(len(group) for group in (copies.named, copies.suspected, copies.cleared, copies.open))
    measure, level, writer = "near_copies", one_sided(total), labelled.rows.at(source=WITHIN)
    limits: VerdictsRow = {"limit_high": labelled.limits["agreement.copy_lead"]}

    def row(part: Likeness, verdict: Verdict, sentence: str) -> VerdictsRow:
        pair = labelled.pair_name(part.pair)
        reason = say(f"agreement.{sentence}", rater=pair, value=number(part.lead.value))
        figure = part.unexplained if verdict == Verdict.FAIL else part.lead
        one = writer.at(rater=pair)
        return one.verdict(measure, verdict, reason, "near_copies", figure.estimate(), level, **limits)

    rows = [row(part, Verdict.FAIL, "near_copies") for part in copies.named]
    rows += [row(part, Verdict.INCONCLUSIVE, "near_copies_open") for part in copies.suspected]
    if rows:
        return rows
    known = any(part.lead.defined for part in (*copies.cleared, *copies.open))
    if len(labelled.raters) < 3 or not known:
        answer, reason = Verdict.MISSING, say("agreement.copies_unchecked")
    elif copies.open:
        pairs = listed([labelled.pair_name(part.pair) for part in copies.open])
        answer, reason = Verdict.INCONCLUSIVE, say("agreement.copies_open", list=pairs)
    else:
        answer, reason = Verdict.PASS, say("agreement.no_copies")
    return [writer.verdict(measure, answer, reason, "", NOTHING, **limits)]
