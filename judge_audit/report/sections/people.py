"""People and the judge: how far people agree, and the judge beside them, dimension by dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED, WITHIN, Verdict
from judge_audit.report.figures import bounded, figure_of, finite, plain, shared, turned
from judge_audit.report.sections.ladders import verdict_of
from judge_audit.report.sections.people_agreement import agreement_of, disagreement_of, matrices_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
"""Verdicts about a dimension beside people, in the order a reader asks."""

HINTS = frozenset({"near_copies", "reversed"})
"""Findings about people's columns that are told even while they are open."""


def people_of(facts: Facts) -> dict[str, Any]:
    """Put together what is known of people and of the judge beside them.

    Returns:
        labelled (whether anybody has labelled), missing (what to do if not), dimensions, agreement, disagreement,
        subscores, choices and limitations; all empty if nobody has labelled.
    """
    empty: dict[str, Any] = {"dimensions": [], "agreement": [], "disagreement": None, "subscores": None}
    empty |= {"choices": [], "limitations": []}
    if not facts.people_measures and not _of(facts.measures, BESIDE, "judge_agreement"):
        return {"labelled": False, "missing": say("people.nobody"), **empty}
    names = dimensions_of(facts)
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


def dimensions_of(facts: Facts) -> list[str]:
    """List the judge's dimensions that are held against people, then those that only people know."""
    own = [row["dimension"] for row in facts.verdicts if row["check"] == BESIDE]
    own += [row["dimension"] for row in _of(facts.measures, BESIDE, "judge_agreement")]
    declared = {name: place for place, name in enumerate(facts.card.get("dimensions") or ())}
    ordered = sorted(dict.fromkeys(own), key=lambda name: (declared.get(name, len(declared)), name))
    theirs = [row["dimension"] for row in facts.people_measures if row["measure"] == "alpha"]
    return list(dict.fromkeys([*ordered, *sorted(set(theirs))]))


def _of(rows: Iterable[Row], check: str, measure: str, **parts: str) -> list[Row]:
    return [
        row
        for row in rows
        if row["check"] == check
        and row["measure"] == measure
        and all(row[name] == value for name, value in parts.items())
    ]


def _figures(rows: Iterable[Row], check: str, measure: str, **parts: str) -> dict[str, Figure]:
    """Give the defined figures of a measure by source."""
    found = _of(rows, check, measure, rater=POOLED, **parts)
    return {row["source"]: figure_of(row) for row in found if finite(row["value"]) is not None}


def _dimension(facts: Facts, name: str) -> dict[str, Any]:
    told = {
        key: _figures(facts.measures, BESIDE, measure, dimension=name, kind=POOLED)
        for key, measure in (
            ("people", "rater_agreement"),
            ("judge", "judge_agreement"),
            ("difference", "judge_beside_people"),
        )
    }
    for key, measure in (("ceiling", CEILING), ("without_copies", f"{CEILING}_without_copies")):
        held = _figures(facts.people_measures, PEOPLE_CHECK, measure, dimension=name, kind=SPEARMAN)
        thrown = held.pop(POOLED, None)
        told[key] = {POOLED if source == WITHIN else source: figure for source, figure in held.items()}
        if key == "ceiling":
            pooled_ceiling = thrown
    told["people"] = told["people"] or told["ceiling"]
    named = {source for held in told.values() for source in held}
    sources = sorted(named, key=lambda source: (source != POOLED, source))
    places = [
        {"source": source, **{key: held.get(source) for key, held in told.items() if key != "ceiling"}}
        for source in sources
    ]
    verdicts = {
        row["measure"]: verdict_of(row)
        for row in facts.verdicts
        if row["dimension"] == name and row["measure"] in QUESTIONS and row["kind"] == POOLED
    }
    single = _figures(
        facts.people_measures, PEOPLE_CHECK, f"{CEILING}_one_rater", dimension=name, kind=SPEARMAN
    )
    part = {
        "dimension": name,
        "places": [place for place in places if place["people"] or place["judge"]],
        "thrown_together": _thrown_together(facts, name, pooled_ceiling),
        "ceiling_one_rater": single.get(WITHIN),
        "on_mean": _figures(facts.measures, BESIDE, "judge_on_mean", dimension=name, kind=POOLED).get(POOLED),
        "retest": _figures(facts.measures, "retest", "retest_spearman", dimension=name).get(POOLED),
        "verdicts": {measure: verdicts[measure] for measure in QUESTIONS if measure in verdicts},
    }
    return {**part, "sentence": _sentence(part), "notes": _notes(part)}


def _thrown_together(facts: Facts, name: str, ceiling: Figure | None) -> dict[str, Any]:
    """Give people and the judge with all sources as one."""
    held = {
        key: _figures(facts.measures, BESIDE, measure, dimension=name, kind=THROWN_TOGETHER).get(POOLED)
        for key, measure in (("people", "rater_agreement"), ("judge", "judge_agreement"))
    }
    return {"people": held["people"] or ceiling, "judge": held["judge"]}


def _whole(part: Row) -> Row:
    """Give the figures over sources, with None for what is unknown."""
    nothing = {"people": None, "judge": None, "difference": None, "without_copies": None}
    return next((place for place in part["places"] if place["source"] == POOLED), nothing)


def _sentence(part: Row) -> str:
    """Say in one sentence how far people agree, and where the judge stands to them."""
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
    """Say what stands beside the sentence: near-copies, one rater's ceiling, all sources as one, retest."""
    found = []
    if _whole(part)["judge"] is None and part["on_mean"] is not None:
        found.append(say("people.on_mean", value=bounded(part["on_mean"])))
    if (alone := _whole(part)["without_copies"]) is not None:
        found.append(say("people.copies", people=bounded(alone)))
    if part["ceiling_one_rater"] is not None:
        found.append(say("people.one_rater_ceiling", value=bounded(part["ceiling_one_rater"])))
    thrown = part["thrown_together"]
    several = len([place for place in part["places"] if place["source"] != POOLED]) > 1
    if several and thrown["people"] and thrown["judge"]:
        values = {key: plain(figure["value"]) for key, figure in thrown.items()}
        found.append(say("people.pooled", **values))
    if part["retest"] is not None:
        found.append(say("people.retest", value=bounded(part["retest"])))
    return found


def beyond_lead(part: Row, measure: str) -> str:
    """Give a verdict's reason, without the figures where the sentence on top has given them."""
    reason: str = part["verdicts"][measure]["reason"]
    if measure != "judge_beside_people":
        return reason
    whole = _whole(part)
    return reason.partition("). ")[2] if whole["judge"] and whole["people"] else ""


def choices_of(facts: Facts) -> list[dict[str, Any]]:
    """Give what is known of choosing within a prompt, one entry per dimension."""
    rows = [row for row in facts.measures if row["check"] == CHOICE and row["source"] == POOLED]
    found = []
    known = {row["dimension"] for row in rows}
    for name in dict.fromkeys([*dimensions_of(facts), *sorted(known)]):
        held = {row["measure"]: figure_of(row) for row in rows if row["dimension"] == name}
        part = {
            "dimension": name,
            "judge": held.get("top1_recovery"),
            "random": held.get("top1_chance"),
            "people": held.get("rater_top1_recovery"),
            "ties": held.get("tie_rate"),
        }
        if name in known and (part["judge"] or part["ties"]):
            found.append({**part, "sentence": _choice(part)})
    return found


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
    held: dict[str, list[str]] = {}
    for row in (*facts.people_verdicts, *(row for row in facts.verdicts if row["check"] == "missingness")):
        limits = row["verdict"] in {Verdict.FAIL, Verdict.MISSING}
        if limits or (row["verdict"] == Verdict.INCONCLUSIVE and row["finding"] in HINTS):
            held.setdefault(row["reason"], []).append(row["dimension"])
    return [
        say("people.in_dimension", dimension=_named(names), text=reason)
        if (names := [name for name in dimensions if name != POOLED])
        else reason
        for reason, dimensions in held.items()
    ]


def _named(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
