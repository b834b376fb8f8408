"""Acceptance: how many bad items are let through, how many good ones turned away, how many rejections overturned?

False accepts are judged as P(bad | accepted), what the receiver meets, and false rejects as P(good | rejected), what
the rejected suffer; P(accepted | bad) and P(rejected | good) stand beside them under their own names. All are rates of
all decisions of this judge, from the recorded probabilities with which decisions were drawn for review.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.one_limit import however_filled
from judge_audit.checks.result_rows import deciding_level
from judge_audit.checks.uses.use_evidence import Drawn, drawn, share_words, signed_percent, stratum_of
from judge_audit.core.formatting import percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.stratified_rates import Part, Rate, Stratum

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit_schemas.rows import MeasuresRow

    from judge_audit.checks.evidence import Evidence

    Row = Mapping[str, Any]

NAME = "acceptance"
QUEUES = ("boundary", "beyond", "appeal", "")
ACCEPT, REJECT = "accept", "reject"
CLAIMS = 3
"""The three rates are judged together."""


@dataclass(frozen=True, slots=True)
class Question:
    """One rate that a team declares a limit and an owner for.

    Attributes:
        measure: Its name.
        declared: Its key under `uses: acceptance:` in audit.yaml.
        side: The decision it is about.
        kind: Which conditioning is judged.
        turned: The other conditioning, shown beside it.
        finding: The fault.
    """

    measure: str
    declared: str
    side: str
    kind: str
    turned: str
    finding: str


FALSE_ACCEPT = Question(
    "false_accept_rate",
    "false_accept",
    ACCEPT,
    "bad_given_accepted",
    "accepted_given_bad",
    "lets_bad_through",
)
FALSE_REJECT = Question(
    "false_reject_rate",
    "false_reject",
    REJECT,
    "good_given_rejected",
    "rejected_given_good",
    "turns_good_away",
)
OVERTURN = Question("overturn_rate", "overturn", REJECT, "settled_appeals", "", "often_overturned")


def run(evidence: Evidence) -> Findings:
    """Estimate the three rates and hold each against what the team declares."""
    if evidence.is_control:
        return Findings()
    findings = Findings()
    for question in (FALSE_ACCEPT, FALSE_REJECT):
        findings += _reviewed(evidence, question)
    return findings + _overturned(evidence)


def _reviewed(evidence: Evidence, question: Question) -> Findings:
    """Answer a question that reviews of decisions answer."""
    rates, why = _rates(evidence, good=question.side == REJECT)
    if why:
        return _missing(evidence, question, why)
    writer = evidence.writer(NAME)
    own = rates[question.side]
    other = rates[REJECT if question.side == ACCEPT else ACCEPT]
    rows = [writer.figure(question.measure, own, kind=question.kind)]
    turned = Part(own, other)
    if own.size and other.size:
        rows.append(writer.figure(question.measure, turned, kind=question.turned))
    rows += _by_source(evidence, question)
    words = {"turned": signed_percent(turned.value), "n": str(own.n)}
    return Findings(measures=tuple(rows)) + _judged(evidence, question, own, words)


def _decisions(evidence: Evidence) -> dict[str, Row]:
    def made() -> dict[str, Row]:
        rows = evidence.decisions.to_pylist() if evidence.decisions is not None else []
        return {row["decision_id"]: row for row in rows}

    return evidence.once("decisions", made)


def _drawn(evidence: Evidence) -> list[Drawn]:
    """Give what was drawn among this judge's decisions with a recorded probability."""
    decided = _decisions(evidence)
    every = evidence.once("drawn decisions", lambda: drawn(evidence, QUEUES))
    return [entry for entry in every if entry.inclusion is not None and entry.decision_id in decided]


def _rates(evidence: Evidence, *, good: bool) -> tuple[dict[str, Rate], str]:
    """Give the rate of good (or of bad) among the accepted and the rejected, or say why there is none."""
    if evidence.decisions is None:
        return {}, say("acceptance.no_decisions")
    decided = _decisions(evidence)
    entries = _drawn(evidence)
    if not any(entry.good is not None for entry in entries):
        unrecorded = any(entry.good is not None for entry in drawn(evidence, QUEUES))
        return {}, say("acceptance.unrecorded" if unrecorded else "acceptance.no_reviews")
    rates = {side: _rate(evidence, entries, side, good=good) for side in (ACCEPT, REJECT)}
    if hollow := _hollow(entries, decided, rates):
        return {}, say("acceptance.hollow", list=hollow)
    return rates, ""


def _rate(evidence: Evidence, entries: Iterable[Drawn], side: str, *, good: bool) -> Rate:
    """Put the decisions of one side that were drawn back into their strata."""
    decided = _decisions(evidence)
    by_stratum: dict[str, list[Drawn]] = {}
    for entry in entries:
        if decided[entry.decision_id]["decision"] == side:
            by_stratum.setdefault(entry.stratum, []).append(entry)
    clusters = evidence.once(
        "clusters", lambda: {row["item_id"]: row["cluster"] for row in evidence.originals}
    )
    strata = sorted(by_stratum.items())
    return Rate(tuple(stratum_of(name, part, clusters, good=good) for name, part in strata))


def _hollow(entries: Iterable[Drawn], decided: Mapping[str, Row], rates: Mapping[str, Rate]) -> str:
    """Name what nobody has looked into: a side, a stratum drawn from, or one that decisions name."""
    names = []
    for side, rate in rates.items():
        if not rate.n:
            names.append(say(f"acceptance.side_{side}"))
        names += [part.name or say(f"acceptance.side_{side}") for part in rate.strata if not part.n]
    blind = any(entry.blind for entry in entries)
    known = {decided[entry.decision_id]["stratum"] for entry in entries if entry.good is not None}
    if not blind:
        names += sorted({row["stratum"] for row in decided.values() if row["stratum"]} - known)
    return ", ".join(dict.fromkeys(names))


def _by_source(evidence: Evidence, question: Question) -> list[MeasuresRow]:
    """Give the rate of each source: diagnosis, no verdict."""
    decided = _decisions(evidence)
    sources = sorted({row["source"] for row in decided.values() if row["source"]})
    rows: list[MeasuresRow] = []
    for source in sources if len(sources) > 1 else ():
        entries = [entry for entry in _drawn(evidence) if decided[entry.decision_id]["source"] == source]
        rate = _rate(evidence, entries, question.side, good=question.side == REJECT)
        if rate.n and all(part.n for part in rate.strata):
            rows.append(
                evidence.writer(NAME).figure(question.measure, rate, kind=question.kind, source=source)
            )
    return rows


def _overturned(evidence: Evidence) -> Findings:
    """Answer how many of the settled appeals were overturned."""
    if evidence.appeals is None:
        channel = evidence.declared.get(NAME, {}).get("appeal_channel")
        why = say("acceptance.no_appeals" if channel else "acceptance.no_channel")
        return _missing(evidence, OVERTURN, why)
    outcomes = evidence.appeals["outcome"].to_pylist()
    settled = [outcome for outcome in outcomes if outcome != "open"]
    waiting = len(outcomes) - len(settled)
    if not settled:
        return _missing(evidence, OVERTURN, say("acceptance.none_settled", n=waiting))
    hits = float(settled.count("overturned"))
    rate = Rate((Stratum("appeals", float(len(settled)), hits, float(len(settled)), float(waiting)),))
    row = evidence.writer(NAME).figure(OVERTURN.measure, rate, kind=OVERTURN.kind)
    return Findings(measures=(row,)) + _judged(evidence, OVERTURN, rate, {"n": str(len(settled))})


def _limit(evidence: Evidence, question: Question) -> tuple[float | None, str]:
    """Give the declared limit and owner; "" where nobody is named."""
    entry = evidence.declared.get(NAME, {}).get(question.declared) or {}
    return entry.get("limit"), str(entry.get("owner") or "").strip()


def _missing(evidence: Evidence, question: Question, why: str) -> Findings:
    limit, owner = _limit(evidence, question)
    reason = " ".join(filter(None, [why, _undeclared(question, limit, owner)]))
    writer = evidence.writer(NAME, kind=question.kind)
    row = writer.verdict(question.measure, Verdict.MISSING, reason, limit_high=limit)
    return Findings(verdicts=(row,))


def _undeclared(question: Question, limit: float | None, owner: str) -> str:
    """Say what nobody has declared."""
    if limit is not None and owner:
        return ""
    lacks = "both" if limit is None and not owner else "limit" if limit is None else "owner"
    return say(f"acceptance.undeclared_{lacks}", name=question.declared)


def _judged(evidence: Evidence, question: Question, rate: Rate, words: Mapping[str, str]) -> Findings:
    """Hold a rate against its declared limit; without limit or owner nothing is proved, whatever the rate."""
    limit, owner = _limit(evidence, question)
    sentence = f"acceptance.{question.measure}"
    if limit is None or not owner:
        return _missing(evidence, question, say(sentence, **words, **share_words(rate)))
    unseen = rate.unseen_share > evidence.limits["ladder.missing_share"]
    ways = [rate.filled(hit=hit) for hit in (True, False)] if unseen else []
    verdict, decides = however_filled(rate, ways, high=limit, claims=CLAIMS)
    level = deciding_level(verdict, CLAIMS)
    sentences = [
        say(sentence, **words, **share_words(rate, level)),
        say(f"acceptance.held_{verdict.value}", limit=signed_percent(limit), owner=owner),
    ]
    if decides:
        sentences.append(say("uses.unseen_decide", share=percent(rate.unseen_share)))
    reason, finding = " ".join(sentences), question.finding if verdict == Verdict.FAIL else ""
    writer = evidence.writer(NAME, kind=question.kind)
    row = writer.verdict(question.measure, verdict, reason, finding, rate, level, limit_high=limit)
    return Findings(verdicts=(row,))


CHECK = Check(NAME, run, judges=("false_accept_rate", "false_reject_rate", "overturn_rate"))
