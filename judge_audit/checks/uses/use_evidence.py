"""Verdicts on what a use asks for: a figure against one limit, whatever nobody has looked at yet.

What people found in the items that were drawn for review, put back into the strata they were drawn from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.checks.evidence import Findings, joined
from judge_audit.checks.people.judge_and_raters import missing_row
from judge_audit.checks.result_rows import figure_columns
from judge_audit.core.formatting import finite, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, POOLED, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level
from judge_audit.measures.stratified_rates import Stratum, weighted_stratum

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.result_rows import Figure as Figured

    Row = Mapping[str, Any]
    Unit = tuple[str, str, str]


def answer(figure: Figured, *, low: float | None, high: float | None, claims: int) -> Verdict:
    """Hold a whole interval against one limit: pass wholly inside at 90 %, fail wholly beyond, corrected."""
    if math.isnan(figure.value):
        return Verdict.INCONCLUSIVE
    passing, failing = figure.interval(PASS_LEVEL), figure.interval(corrected_level(claims))
    if low is not None:
        passed, failed = passing[0] > low, failing[1] < low
    else:
        assert high is not None
        passed, failed = passing[1] < high, failing[0] > high
    return Verdict.PASS if passed else Verdict.FAIL if failed else Verdict.INCONCLUSIVE


def however_filled(
    figure: Figured,
    ways: Sequence[Figured],
    *,
    low: float | None = None,
    high: float | None = None,
    claims: int,
) -> tuple[Verdict, bool]:
    """Answer by what was seen; with ways of filling in what was not, only if all of them agree.

    Returns:
        The verdict, and whether what nobody has looked at decides.
    """
    observed = answer(figure, low=low, high=high, claims=claims)
    others = [answer(way, low=low, high=high, claims=claims) for way in ways]
    decides = observed != Verdict.INCONCLUSIVE and any(other != observed for other in others)
    return (Verdict.INCONCLUSIVE if decides else observed), decides


def figure_row(
    evidence: Evidence,
    check: str,
    measure: str,
    figure: Figured,
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `measures`."""
    return evidence.key(check, measure, **parts) | figure_columns(figure)


def judged_row(  # noqa: PLR0913 - what a verdict says
    evidence: Evidence,
    check: str,
    measure: str,
    figure: Figured,
    *,
    verdict: Verdict,
    reason: str,
    claims: int,
    finding: str = "",
    **parts: Any,  # noqa: ANN401
) -> ResultRow:
    """Make a row of `verdicts`, with the interval at the level that decided."""
    row = figure_row(evidence, check, measure, figure)
    del row["n_clusters"]
    if verdict == Verdict.FAIL:
        low, high = figure.interval(corrected_level(claims))
        row |= {"ci_low": finite(low), "ci_high": finite(high)}
    row |= {"verdict": verdict.value, "finding": finding if verdict == Verdict.FAIL else ""}
    return joined(row, {"provisional": False, "reason": reason}, **parts)


def missing(evidence: Evidence, check: str, measure: str, reason: str, **parts: Any) -> Findings:  # noqa: ANN401
    """Say that the evidence is not there."""
    return Findings(verdicts=(missing_row(evidence, check, measure, POOLED, reason, **parts),))


def ends(figure: Figured, level: float = PASS_LEVEL) -> dict[str, str]:
    """Write a share and its interval for a sentence."""
    low, high = figure.interval(level)
    return {"value": signed_percent(figure.value), "low": signed_percent(low), "high": signed_percent(high)}


def signed_percent(share: float) -> str:
    """Write a share that may be negative; small ones with a decimal."""
    if not math.isfinite(share):
        return say("uses.unknown")
    if 0 < abs(share) < 0.0995:
        return f"{100 * share:.1f} %".replace("-", "−")
    return percent(share).replace("-", "−")


GOOD = "good"


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item that was drawn for a queue.

    Attributes:
        queue: The queue.
        item_id: The item.
        decision_id: The decision it was drawn by, "" if none.
        partner: The other member of its pair, "" if none.
        stratum: What it was drawn from.
        size: How many that held; None where nobody recorded it.
        inclusion: With which probability; None where nobody recorded it.
        good: Share of its reviewers who call it good; None where nobody has looked.
        blind: Whether it came to people in a pack, which shows neither scores nor queues.
    """

    queue: str
    item_id: str
    decision_id: str
    partner: str
    stratum: str
    size: float | None
    inclusion: float | None
    good: float | None
    blind: bool


def drawn(evidence: Evidence, queues: Collection[str], dimension: str = OVERALL) -> list[Drawn]:
    """Give what was drawn for some queues, with what people found in one dimension."""
    if evidence.reviews is None:
        return []
    rows = [row for row in evidence.reviews.to_pylist() if row["queue"] in queues and not row["axis"]]
    found = goods(row for row in rows if row["dimension"] == dimension)
    pack_rows = [row for row in _draws(evidence) if row["queue"] in queues]
    asked = [_of(row, found.get(_unit(row)), blind=True) for row in pack_rows]
    first: dict[Unit, Row] = {}
    for row in rows:
        if not row["pack_id"]:
            first.setdefault(_unit(row), row)
    return asked + [_of(row, found.get(unit), blind=False) for unit, row in first.items()]


def _draws(evidence: Evidence) -> list[Row]:
    return [] if evidence.draws is None else evidence.draws.to_pylist()


def _unit(row: Row) -> Unit:
    return row["queue"], row["item_id"], row["decision_id"]


def _of(row: Row, good: float | None, *, blind: bool) -> Drawn:
    names = ("queue", "item_id", "decision_id", "partner", "stratum")
    told = {name: row[name] or "" for name in names}
    return Drawn(**told, size=row["stratum_size"], inclusion=row["inclusion"], good=good, blind=blind)


def goods(rows: Iterable[Row]) -> dict[Unit, float]:
    """Give the share of reviewers who call a thing good."""
    held: dict[Unit, list[bool]] = {}
    for row in rows:
        held.setdefault(_unit(row), []).append(row["outcome"] == GOOD)
    return {unit: sum(votes) / len(votes) for unit, votes in held.items()}


def axes_named(evidence: Evidence, queue: str) -> dict[str, int]:
    """Count the items of a queue on which somebody named an axis as what is wrong, by axis."""
    assert evidence.reviews is not None
    rows = [row for row in evidence.reviews.to_pylist() if row["queue"] == queue and row["axis"]]
    held: dict[str, set[str]] = {}
    for row in rows:
        held.setdefault(row["axis"], set()).add(row["item_id"])
    return {axis: len(items) for axis, items in sorted(held.items())}


def stratum_of(
    name: str, found: Iterable[Drawn], clusters: Mapping[str, str], *, good: bool, size: float | None = None
) -> Stratum:
    """Make a stratum of what was drawn from it.

    Items of one cluster are one independent item. Those that nobody has looked at are counted as unseen.

    Args:
        name: Its name.
        found: What was drawn.
        clusters: Cluster of each item that has one.
        good: Whether the property is to be good, else to be bad.
        size: How much of the population it holds; else what was recorded, or the sum of 1/inclusion.
    """
    everything = list(found)
    seen = [entry for entry in everything if entry.good is not None]
    hits = [entry.good if good else 1 - entry.good for entry in seen if entry.good is not None]
    inclusions = [entry.inclusion or 1.0 for entry in seen]
    made = weighted_stratum(name, hits, inclusions)
    independent = len({clusters.get(entry.item_id, entry.item_id) for entry in seen})
    shrunk = independent / len(seen) if seen else 1.0
    recorded = next((entry.size for entry in everything if entry.size), None)
    held = size if size is not None else recorded or sum(1 / (entry.inclusion or 1.0) for entry in everything)
    unseen = float(len(everything) - len(seen))
    return Stratum(name, held, made.hits * shrunk, made.n * shrunk, unseen)
