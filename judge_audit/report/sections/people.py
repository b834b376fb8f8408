"""People and the judge: how far people agree, and how the judge compares, dimension by dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, WITHIN, Verdict
from judge_audit.report.facts import placed, where
from judge_audit.report.figures import bounded, figure_of, finite, plain, shared, turned
from judge_audit.report.sections.ladders import verdict_of
from judge_audit.report.sections.people_agreement import agreement_of, disagreement_of, matrices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit_schemas.rows import MeasuresRow

    from judge_audit.report.facts import Facts
    from judge_audit.report.figures import Figure

    Row = Mapping[str, Any]

BESIDE, CEILING, CHOICE, PEOPLE_CHECK = "beside_people", "ceiling", "within_prompt", "agreement"
SPEARMAN = "spearman"
THROWN_TOGETHER = "pooled"

QUESTIONS = {
    "judge_beside_people": "beside",
    "validity": "validity",
    "top1_gain": "gain",
    "missing_difference": "missing",
}
"""Verdicts about a dimension compared with people, in the order a reader asks."""

CHOICES = {
    "judge": "top1_recovery",
    "random": "top1_chance",
    "people": "rater_top1_recovery",
    "ties": "tie_rate",
}
"""Figures of choosing within a prompt, and their measures."""

HINTS = frozenset({"near_copies", "reversed"})
"""Findings about people's columns that are reported even while they are open."""


def people_of(facts: Facts) -> dict[str, Any]:
    """Put together what is known of people and of the judge compared with them.

    Returns:
        labelled (whether anybody has labelled), missing (what to do if not), dimensions, agreement, disagreement,
        subscores, choices and limitations; all empty if nobody has labelled.
    """
    if not facts.people_measures and not where(facts.measures, check=BESIDE, measure="judge_agreement"):
        known: dict[str, Any] = {"dimensions": [], "agreement": [], "disagreement": None, "subscores": None}
        return {"labelled": False, "missing": say("people.nobody"), **known, "choices": [], "limitations": []}
    names = _dimension_names(facts)
    return {
        "labelled": True,
        "missing": None,
        "dimensions": [_dimension(facts, name) for name in names],
        "agreement": agreement_of(facts.people_measures, names),
        "disagreement": disagreement_of(facts.people_measures, names),
        "subscores": matrices_of(facts),
        "choices": choices_of(facts),
        "limitations": limitations_of(facts),
    }


def _dimension_names(facts: Facts) -> list[str]:
    """List the judge's dimensions that are compared with people, then those that only people know."""
    compared = where(facts.measures, check=BESIDE, measure="judge_agreement")
    own = {row["dimension"] for row in (*where(facts.verdicts, check=BESIDE), *compared)}
    theirs = {row["dimension"] for row in where(facts.people_measures, measure="alpha")}
    return [*sorted(own, key=placed(facts.card.get("dimensions") or ())), *sorted(theirs - own)]


def _figures(
    rows: Iterable[MeasuresRow], check: str, measure: str, dimension: str, kind: str | None = None
) -> dict[str, Figure]:
    """Give the defined figures of a measure by source, of one kind if one is given."""
    return {
        row["source"]: figure_of(row)
        for row in where(rows, check=check, measure=measure, rater=POOLED, dimension=dimension)
        if kind in {None, row["kind"]} and finite(row["value"]) is not None
    }


def _dimension(facts: Facts, name: str) -> dict[str, Any]:
    figures = {
        key: _figures(facts.measures, BESIDE, measure, name, POOLED)
        for key, measure in (
            ("people", "rater_agreement"),
            ("judge", "judge_agreement"),
            ("difference", "judge_beside_people"),
        )
    }
    alone = _figures(facts.people_measures, PEOPLE_CHECK, f"{CEILING}_without_copies", name, SPEARMAN)
    ceiling = _figures(facts.people_measures, PEOPLE_CHECK, CEILING, name, SPEARMAN)
    alone.pop(POOLED, None)
    pooled_ceiling = ceiling.pop(POOLED, None)
    figures["people"] = figures["people"] or _over_sources(ceiling)
    figures["without_copies"] = _over_sources(alone)
    named = {source for by_source in (*figures.values(), _over_sources(ceiling)) for source in by_source}
    places = [
        {"source": source, **{key: by_source.get(source) for key, by_source in figures.items()}}
        for source in sorted(named, key=lambda source: (source != POOLED, source))
    ]
    verdicts = where(facts.verdicts, dimension=name, kind=POOLED)
    single = _figures(facts.people_measures, PEOPLE_CHECK, f"{CEILING}_one_rater", name, SPEARMAN)
    part = {
        "dimension": name,
        "places": [place for place in places if place["people"] or place["judge"]],
        "thrown_together": _pooled_sources(facts, name, pooled_ceiling),
        "ceiling_one_rater": single.get(WITHIN),
        "on_mean": _figures(facts.measures, BESIDE, "judge_on_mean", name, POOLED).get(POOLED),
        "retest": _figures(facts.measures, "retest", "retest_spearman", name).get(POOLED),
        "verdicts": {name: verdict_of(row) for name in QUESTIONS for row in where(verdicts, measure=name)},
    }
    return {**part, "sentence": _sentence(part), "notes": _notes(part)}


def _over_sources(figures: dict[str, Figure]) -> dict[str, Figure]:
    """Give the figure over sources the name that the judge's has."""
    return {POOLED if source == WITHIN else source: figure for source, figure in figures.items()}


def _pooled_sources(facts: Facts, name: str, ceiling: Figure | None) -> dict[str, Any]:
    """Give people and the judge with all sources as one."""
    people, judge = (
        _figures(facts.measures, BESIDE, measure, name, THROWN_TOGETHER).get(POOLED)
        for measure in ("rater_agreement", "judge_agreement")
    )
    return {"people": people or ceiling, "judge": judge}


def _whole(part: Row) -> Row:
    """Give the figures over sources, with None for what is unknown."""
    nothing = {"people": None, "judge": None, "difference": None, "without_copies": None}
    return next((place for place in part["places"] if place["source"] == POOLED), nothing)


def _sentence(part: Row) -> str:
    """Say in one sentence how far people agree, and how the judge compares with them."""
    name, whole = part["dimension"], _whole(part)
    row = part["verdicts"].get("judge_beside_people")
    people, judge, difference = whole["people"], whole["judge"], whole["difference"]
    if judge is None or people is None or difference is None:
        why = say("people.no_score") if row is None else row["reason"]
        key = "people.lead_unknown" if people is None else "people.lead_ceiling"
        return say(key, dimension=name, people=bounded(people), why=why)
    verdict = row["verdict"] if row else Verdict.INCONCLUSIVE
    key = {Verdict.FAIL: "worse", Verdict.PASS: "as_good"}.get(verdict, "open")
    return say(
        f"people.lead_{key}",
        dimension=name,
        people=bounded(people),
        judge=bounded(judge),
        gap=bounded(turned(difference)),
        difference=bounded(difference),
    )


def _notes(part: Row) -> list[str]:
    """Say what accompanies the sentence: near-copies, one rater's ceiling, all sources as one, retest."""
    notes = []
    if _whole(part)["judge"] is None and part["on_mean"] is not None:
        notes.append(say("people.on_mean", value=bounded(part["on_mean"])))
    if (alone := _whole(part)["without_copies"]) is not None:
        notes.append(say("people.copies", people=bounded(alone)))
    if part["ceiling_one_rater"] is not None:
        notes.append(say("people.one_rater_ceiling", value=bounded(part["ceiling_one_rater"])))
    thrown = part["thrown_together"]
    several = len([place for place in part["places"] if place["source"] != POOLED]) > 1
    if several and thrown["people"] and thrown["judge"]:
        values = {key: plain(figure["value"]) for key, figure in thrown.items()}
        notes.append(say("people.pooled", **values))
    if part["retest"] is not None:
        notes.append(say("people.retest", value=bounded(part["retest"])))
    return notes


def beyond_lead(part: Row, measure: str) -> str:
    """Give a verdict's reason, without the figures where the sentence on top has given them."""
    reason: str = part["verdicts"][measure]["reason"]
    if measure != "judge_beside_people":
        return reason
    whole = _whole(part)
    return reason.partition("). ")[2] if whole["judge"] and whole["people"] else ""


def choices_of(facts: Facts) -> list[dict[str, Any]]:
    """Give what is known of choosing within a prompt, one entry per dimension."""
    rows = where(facts.measures, check=CHOICE, source=POOLED)
    parts = []
    known = {row["dimension"] for row in rows}
    for name in dict.fromkeys([*_dimension_names(facts), *sorted(known)]):
        figures = {row["measure"]: figure_of(row) for row in where(rows, dimension=name)}
        part = {"dimension": name, **{key: figures.get(measure) for key, measure in CHOICES.items()}}
        if name in known and (part["judge"] or part["ties"]):
            parts.append({**part, "sentence": _choice(part)})
    return parts


def _choice(part: Row) -> str:
    name, ties = part["dimension"], part["ties"]
    if part["judge"] is None or part["random"] is None:
        return say("people.choice_only_ties", dimension=name, ties=shared(ties))
    return say(
        "people.choice",
        dimension=name,
        judge=shared(part["judge"]),
        chance=shared(part["random"]),
        n=part["judge"]["n"],
        person=say("people.choice_person", people=shared(part["people"])) if part["people"] else "",
        ties=say("people.choice_ties", ties=shared(ties)) if ties else "",
    )


def limitations_of(facts: Facts) -> list[str]:
    """Name what limits these figures, each once with the dimensions it holds for."""
    dimensions_of_reason: dict[str, list[str]] = {}
    for row in (*facts.people_verdicts, *where(facts.verdicts, check="missingness")):
        limits = row["verdict"] in {Verdict.FAIL, Verdict.MISSING}
        if limits or (row["verdict"] == Verdict.INCONCLUSIVE and row["finding"] in HINTS):
            dimensions_of_reason.setdefault(row["reason"], []).append(row["dimension"])
    return [
        say("people.in_dimension", dimension=", ".join(dict.fromkeys(names)), text=reason)
        if (names := [name for name in dimensions if name != POOLED])
        else reason
        for reason, dimensions in dimensions_of_reason.items()
    ]
