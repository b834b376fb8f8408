"""What a judge that compares has in the place of a scale: an order of the candidates of a prompt, or none.

Its capability is ranker by construction, never an absolute scale: strengths mean something among the candidates of
one prompt alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.checks.evidence import Findings
from judge_audit.checks.pairwise.position_bias import by_kind
from judge_audit.checks.result_rows import interval_words
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import NOT_ASKED, OVERALL, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, wilson
from judge_audit.stimuli.planning.comparisons import PAIRS, UNTOUCHED

if TYPE_CHECKING:
    from judge_audit_schemas.rows import VerdictsRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.result_rows import RowWriter

NAME, MEASURE = "scale", "capability"


def order_instead(evidence: Evidence) -> Findings:
    """Ask whether the two orders of a pair agree; say of the scale that there is none.

    Agreement 1 is an order, 0 a coin, −1 a place (see `Orders.agreement`). Pass wholly above
    `position_bias.order` at 90 %, fail (*no order*) wholly below it.
    """
    writer = evidence.writer(NAME, dimension=OVERALL)
    reason = say("compared.no_scale")
    scales = (writer.verdict(name, Verdict.MISSING, reason, NOT_ASKED) for name in ("pile", "absolute"))
    return Findings(verdicts=(_capability(evidence, writer), *scales))


def _capability(evidence: Evidence, writer: RowWriter) -> VerdictsRow:
    sorted_answers = by_kind(evidence)
    if sorted_answers and not any(len(part.orders.plain) for part in sorted_answers.values()):
        return writer.verdict(MEASURE, Verdict.FAIL, say("compared.order.silent"), "silent")
    kinds = (name for name in (UNTOUCHED, PAIRS) if name in sorted_answers)
    kind = next((name for name in kinds if len(sorted_answers[name].orders.plain)), None)
    if kind is None:
        return writer.verdict(MEASURE, Verdict.MISSING, say("compared.order.missing"))
    orders = sorted_answers[kind].orders
    figure, limit = orders.agreement(), evidence.limits["position_bias.order"]
    # The agreement is no larger than the share of pairs that were no tie in either order.
    most = wilson(orders.same_winner()[1], len(orders.plain), corrected_level(1))[1]
    verdict, finding, sentence = Verdict.INCONCLUSIVE, "", "inconclusive"
    if not figure.usable:
        sentence = "few"
    elif figure.interval(PASS_LEVEL)[0] > limit:
        verdict, sentence = Verdict.PASS, "pass"
    elif min(figure.interval(corrected_level(1))[1], most) < limit:
        verdict, finding = Verdict.FAIL, "no_order"
        sentence = "place" if figure.value < -limit else "chance"
    reason = say(
        f"compared.order.{sentence}",
        clusters=figure.n_clusters,
        n=f"{figure.n:,}",
        kind=say(f"compared.about.{kind}"),
        **interval_words(figure),
    )
    return writer.verdict(MEASURE, verdict, reason, finding, figure, limit_low=limit)
