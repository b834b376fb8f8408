"""Review: do people pass what the judge puts at the top, and more of it than of what it puts at the bottom?

Asked of the reviewed top and bottom quantiles of each source; the middle takes no part. Over sources the rates are
weighted by how many scored items each source has, the same for top and bottom.
"""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.one_limit import however_filled
from judge_audit.checks.result_rows import deciding_level
from judge_audit.checks.uses.use_evidence import Drawn, axes_named, drawn, share_words, stratum_of
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, Verdict
from judge_audit.measures.stratified_rates import Difference, Rate, Stratum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence

NAME = "review"
DIFFERENCE, RATE, TOP_RATE = "quantile_difference", "pass_rate", "top_pass_rate"
TOP, BOTTOM = "top", "bottom"
CLAIMS = 2
"""The difference and the top's own rate are judged together."""


def run(evidence: Evidence) -> Findings:
    """Compare the pass rates of the reviewed ends of the judge's order."""
    if evidence.is_control:
        return Findings()
    writer = evidence.writer(NAME)
    per_source = _by_source(evidence, OVERALL)
    both = {
        source: parts for source, parts in per_source.items() if all(part.n > 0 for part in parts.values())
    }
    if not both:
        reason = say("review.missing" if not per_source else "review.one_end")
        limit = evidence.limits["review.difference"]
        return Findings(verdicts=(writer.verdict(DIFFERENCE, Verdict.MISSING, reason, limit_low=limit),))
    rates = {end: Rate(tuple(parts[end] for parts in both.values())) for end in (TOP, BOTTOM)}
    rows = [writer.figure(RATE, rate, kind=end) for end, rate in rates.items()]
    for source, parts in both.items():
        single = {end: Rate((part,)) for end, part in parts.items()}
        rows += [writer.figure(RATE, rate, kind=end, source=source) for end, rate in single.items()]
        rows.append(writer.figure(DIFFERENCE, _difference(single), source=source))
    rows.append(writer.figure(DIFFERENCE, _difference(rates)))
    rows += _named(evidence)
    left = sorted(set(per_source) - set(both))
    return Findings(measures=tuple(rows), verdicts=tuple(_verdicts(evidence, rates, left)))


def _by_source(evidence: Evidence, dimension: str) -> dict[str, dict[str, Stratum]]:
    """Give the reviewed top and bottom of each source, in one dimension."""
    items = evidence.once("reviewable", lambda: {row["item_id"]: row for row in evidence.originals})
    sizes = Counter(row["source"] for row in items.values())
    entries_of: dict[str, dict[str, list[Drawn]]] = {}
    reviews = evidence.reviews.to_pylist() if evidence.reviews is not None else []
    # Outside a pack, only what this judge's order drew tells of it.
    judged = {row["item_id"] for row in reviews if row["judge"] == evidence.judge_id}
    for entry in drawn(evidence, (TOP, BOTTOM), dimension):
        if entry.item_id in items and (entry.blind or entry.item_id in judged):
            ends = entries_of.setdefault(items[entry.item_id]["source"], {TOP: [], BOTTOM: []})
            ends[entry.queue].append(entry)
    clusters = {name: row["cluster"] for name, row in items.items()}
    return {
        source: {
            end: stratum_of(source, entries, clusters, good=True, size=sizes[source])
            for end, entries in ends.items()
        }
        for source, ends in sorted(entries_of.items())
    }


def _difference(rates: Mapping[str, Rate]) -> Difference:
    return Difference(rates[TOP], rates[BOTTOM], rates[TOP].n + rates[BOTTOM].n)


def _named(evidence: Evidence) -> list[MeasuresRow]:
    """Give what people found by dimension, and on which axes, over all sources."""
    assert evidence.reviews is not None
    rows: list[MeasuresRow] = []
    writer = evidence.writer(NAME)
    reviewed = {row["dimension"] for row in evidence.reviews.to_pylist() if row["queue"] in {TOP, BOTTOM}}
    for dimension in sorted(reviewed - {OVERALL}):
        parts = _by_source(evidence, dimension).values()
        for end in (TOP, BOTTOM):
            strata = tuple(part[end] for part in parts if part[end].n > 0)
            if strata:
                rows.append(writer.figure(RATE, Rate(strata), kind=end, dimension=dimension))
    for end in (TOP, BOTTOM):
        looked = sum(entry.good is not None for entry in drawn(evidence, (end,)))
        for axis, count in axes_named(evidence, end).items():
            one = Rate((Stratum(end, 1.0, float(count), float(max(looked, count))),))
            rows.append(writer.figure("axis_share", one, kind=end, axis=axis))
    return rows


def _verdicts(evidence: Evidence, rates: Mapping[str, Rate], left: list[str]) -> list[VerdictsRow]:
    limits, writer = evidence.limits, evidence.writer(NAME)
    unseen = max(rate.unseen_share for rate in rates.values())
    ways: list[dict[str, Rate]] = []
    if unseen > limits["ladder.missing_share"]:
        ways = [
            {TOP: rates[TOP].filled(hit=up), BOTTOM: rates[BOTTOM].filled(hit=not up)} for up in (True, False)
        ]
    notes = [say("review.left_out", list=", ".join(left))] if left else []
    rows: list[VerdictsRow] = []
    shares = {end: share_words(rate)["value"] for end, rate in rates.items()}
    difference = (DIFFERENCE, "cuts_no_better", limits["review.difference"], _difference)
    top = (TOP_RATE, "top_not_good", limits["review.top"], itemgetter(TOP))
    for measure, finding, limit, of in (difference, top):
        figure = of(rates)
        verdict, decides = however_filled(figure, map(of, ways), low=limit, claims=CLAIMS)
        level = deciding_level(verdict, CLAIMS)
        words = {**shares, **share_words(figure, level)}
        sentences = [say(f"review.{measure}_{verdict.value}", n=figure.n, **words)]
        if decides:
            sentences.append(say("uses.unseen_decide", share=percent(unseen)))
        reason, fault = " ".join([*sentences, *notes]), finding if verdict == Verdict.FAIL else ""
        rows.append(writer.verdict(measure, verdict, reason, fault, figure, level, limit_low=limit))
    return rows


CHECK = Check(NAME, run, judges=("quantile_difference",))
