"""Appeals: how often a rejection is appealed against and overturned, and does either rise?

Rising appeals: the judge blocks. Rising overturns: it blocks wrongly. No appeals without a recorded channel are no
appeals at all, not accuracy.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.result_rows import point
from judge_audit.checks.uses.use_evidence import signed_percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL
from judge_audit.measures.stratified_rates import Rate, Stratum
from judge_audit.measures.trend import WINDOW_LEVEL, Period, trend

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from judge_audit_schemas.rows import CurvesRow, VerdictsRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.result_rows import RowWriter

    Row = Mapping[str, Any]

NAME = "appeals"
TRENDS = {
    "appeal_trend": ("appeal_rate", "rising_appeals"),
    "overturn_trend": ("settled_overturn_rate", "rising_overturns"),
}
"""Verdict to the rate it is about and the fault."""


def run(evidence: Evidence) -> Findings:
    """Give the rates over all and by week, and ask whether they rise."""
    if evidence.is_control:
        return Findings()
    if evidence.decisions is None:
        return _all_missing(evidence, say("appeals.no_decisions"))
    if evidence.appeals is None and not evidence.declared.get("acceptance", {}).get("appeal_channel"):
        return _all_missing(evidence, say("appeals.no_channel"))
    decisions = evidence.decisions.to_pylist()
    appeals = evidence.appeals.to_pylist() if evidence.appeals is not None else []
    rejected = {row["decision_id"]: row for row in decisions if row["decision"] == "reject"}
    if not rejected:
        return _all_missing(evidence, say("appeals.no_rejections"))
    against = [row for row in appeals if row["decision_id"] in rejected]
    settled = [row for row in against if row["outcome"] != "open"]
    appealed = {row["decision_id"] for row in against}
    turned = {row["decision_id"] for row in against if row["outcome"] == "overturned"}
    writer = evidence.writer(NAME)
    rows = [
        writer.figure("appeal_rate", _share(len(appealed), len(rejected))),
        writer.figure("overturned_share", _share(len(turned), len(rejected))),
    ]
    if against:
        rows.append(writer.figure("open_share", _share(len(against) - len(settled), len(against))))
    if settled:
        hits = sum(row["outcome"] == "overturned" for row in settled)
        rows.append(writer.figure("settled_overturn_rate", _share(hits, len(settled))))
    weeks = {
        "appeal_trend": _weeks(
            (row["decided_at"], row["decision_id"] in appealed) for row in rejected.values()
        ),
        "overturn_trend": _weeks(
            (row["resolved_at"] or row["appealed_at"], row["outcome"] == "overturned") for row in settled
        ),
    }
    curves = [row for name, periods in weeks.items() for row in _curve(writer, TRENDS[name][0], periods)]
    verdicts = [_rising(evidence, name, periods) for name, periods in weeks.items()]
    return Findings(tuple(curves), tuple(rows), tuple(verdicts))


def _all_missing(evidence: Evidence, reason: str) -> Findings:
    return Findings(verdicts=tuple(_missing(evidence, name, reason) for name in TRENDS))


def _missing(evidence: Evidence, name: str, reason: str) -> VerdictsRow:
    limit = evidence.limits["appeals.rise"]
    return evidence.writer(NAME).verdict(name, Verdict.MISSING, reason, limit_high=limit)


def _share(hits: int, n: int) -> Rate:
    return Rate((Stratum("all", float(n), float(hits), float(n)),))


def _weeks(events: Iterable[tuple[datetime | None, bool]]) -> list[Period]:
    """Count events by the week (ISO 8601) of their time; those without a time are left out."""
    counted: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for when, hit in events:
        if when is not None:
            year, week, _ = when.isocalendar()
            name = f"{year}-W{week:02d}"
            counted[name] += 1
            hits[name] += hit
    return [Period(name, hits[name], counted[name]) for name in sorted(counted)]


def _curve(writer: RowWriter, measure: str, periods: Sequence[Period]) -> list[CurvesRow]:
    """Give a rate by week; column kind names the week."""
    return [
        point(writer.share(measure, week.hits, week.n, kind=week.name), at, float(at))
        | {"n_clusters": week.n}
        for at, week in enumerate(periods)
    ]


def _rising(evidence: Evidence, name: str, periods: Sequence[Period]) -> VerdictsRow:
    limit = evidence.limits["appeals.rise"]
    found = trend(periods, PASS_LEVEL)
    if found is None:
        return _missing(evidence, name, say(f"appeals.{name}_missing"))
    verdict, finding = Verdict.INCONCLUSIVE, ""
    if found.rises:
        verdict, finding = Verdict.FAIL, TRENDS[name][1]
        found = trend(periods, WINDOW_LEVEL) or found
    elif found.high < limit:
        verdict = Verdict.PASS
    texts = {
        name: signed_percent(getattr(found, name)) for name in ("before", "after", "value", "low", "high")
    }
    reason = say(f"appeals.{name}_{verdict.value}", **texts)
    shown: VerdictsRow = {"value": found.value, "ci_low": found.low, "ci_high": found.high, "n": found.n}
    return evidence.writer(NAME).verdict(name, verdict, reason, finding, **shown | {"limit_high": limit})


CHECK = Check(NAME, run)
