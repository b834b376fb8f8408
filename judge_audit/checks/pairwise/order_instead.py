"""What a judge that compares has in the place of a scale: an order of the candidates of a prompt, or none.

Its capability is ranker by construction, never an absolute scale: strengths mean something among the candidates of
one prompt alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.checks.evidence import Findings
from judge_audit.checks.pairwise.position_bias import PAIRS, UNTOUCHED, told
from judge_audit.checks.result_rows import figure_columns
from judge_audit.core.formatting import number
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import NOT_ASKED, OVERALL, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, wilson

if TYPE_CHECKING:
    from judge_audit_schemas.rows import ResultRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.measures.estimates import Estimate

NAME = "scale"


def order_instead(evidence: Evidence) -> Findings:
    """Ask whether the two orders of a pair agree; say of the scale that there is none.

    Agreement 1 is an order, 0 a coin, −1 a place (see `Orders.agreement`). Pass wholly above
    `position_bias.order` at 90 %, fail (*no order*) wholly below it.
    """
    rows = [_capability(evidence)]
    for measure in ("pile", "absolute"):
        row = _told(Verdict.MISSING, NOT_ASKED, say("compared.no_scale"))
        rows.append(evidence.key(NAME, measure, dimension=OVERALL) | row)
    return Findings(verdicts=tuple(rows))


def _told(verdict: Verdict, finding: str, reason: str) -> ResultRow:
    return {"verdict": verdict.value, "finding": finding, "reason": reason, "provisional": False}


def _capability(evidence: Evidence) -> ResultRow:
    key = evidence.key(NAME, "capability", dimension=OVERALL)
    held = told(evidence)
    if held and not any(len(found.orders.plain) for found in held.values()):
        return key | _told(Verdict.FAIL, "silent", say("compared.order.silent"))
    kind = next((name for name in (UNTOUCHED, PAIRS) if name in held and len(held[name].orders.plain)), None)
    if kind is None:
        return key | _told(Verdict.MISSING, "", say("compared.order.missing"))
    figure = held[kind].orders.agreement()
    columns = figure_columns(figure)
    del columns["n_clusters"]
    limit = evidence.limits["position_bias.order"]
    orders = held[kind].orders
    # The agreement is no larger than the share of pairs that were no tie in either order.
    most = wilson(orders.same_winner()[1], len(orders.plain), corrected_level(1))[1]
    return {**key, **columns, "limit_low": limit, **_judged(figure, most, limit, kind)}


def _judged(figure: Estimate, most: float, limit: float, kind: str) -> ResultRow:
    low, high = figure.interval(PASS_LEVEL)
    words = {"value": number(figure.value), "low": number(low), "high": number(high), "n": f"{figure.n:,}"}
    words["kind"] = say(f"compared.about.{kind}")
    if not figure.usable:
        return _told(Verdict.INCONCLUSIVE, "", say("compared.order.few", clusters=figure.n_clusters, **words))
    if low > limit:
        return _told(Verdict.PASS, "", say("compared.order.pass", **words))
    if min(figure.interval(corrected_level(1))[1], most) < limit:
        finding = "place" if figure.value < -limit else "chance"
        return _told(Verdict.FAIL, "no_order", say(f"compared.order.{finding}", **words))
    return _told(Verdict.INCONCLUSIVE, "", say("compared.order.inconclusive", **words))
