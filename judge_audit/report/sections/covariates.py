"""The covariate part of the report: how much of the score surface statistics explain, and what each weighs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.checks.covariates.covariates import DIFFERENCE, NAME, SHARE, name_of
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.judges.instruments.covariates import COVARIATES
from judge_audit.report.charts.covariate_charts import turns
from judge_audit.report.facts import where
from judge_audit.report.figures import figure_of, percent_text, source_name
from judge_audit.report.sections.ladders import verdict_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.report.facts import Facts
    from judge_audit.report.figures import Figure

    Row = Mapping[str, Any]

COUNTED_BY_PEOPLE = "face_count"
"""The statistic that only an items file can give."""


def covariates_of(facts: Facts) -> list[dict[str, Any]]:
    """Put together what is known of surface statistics, one entry per dimension; empty if nobody asked."""
    measures, verdicts = where(facts.measures, check=NAME), where(facts.verdicts, check=NAME)
    dimensions = dict.fromkeys(row["dimension"] for row in (*verdicts, *measures))
    return [
        _part(name, where(measures, dimension=name), where(verdicts, dimension=name)) for name in dimensions
    ]


def _part(dimension: str, measures: Sequence[MeasuresRow], verdicts: Sequence[VerdictsRow]) -> dict[str, Any]:
    wholes = {row["source"]: figure_of(row) for row in where(measures, measure=SHARE)}
    explained = wholes.pop(POOLED, None)
    statistics = _statistics(measures)
    known = {row["statistic"] for row in statistics}
    part = {
        "dimension": dimension,
        "explained": explained,
        "sources": [{"source": source, **figure} for source, figure in wholes.items()],
        "statistics": statistics,
        "unasked": [name for name in COVARIATES if name not in known] if explained else [],
        "verdicts": {row["measure"]: verdict_of(row) for row in verdicts},
    }
    return {**part, "sentence": _sentence(part), "advice": _advice(part)}


def _statistics(measures: Sequence[MeasuresRow]) -> list[dict[str, Any]]:
    """Give each statistic with its share and its weights, the largest share first."""
    named = [row for row in measures if row["measure"] in {"covariate_share", "covariate_weight"}]
    statistics = []
    for statistic in dict.fromkeys(row["kind"] for row in named):
        shares, weights = (
            {row["source"]: figure_of(row) for row in where(named, kind=statistic, measure=measure)}
            for measure in ("covariate_share", "covariate_weight")
        )
        by_source = [{"source": source, **figure} for source, figure in weights.items() if source != POOLED]
        statistics.append(
            {
                "statistic": statistic,
                "name": name_of(statistic),
                "share": shares.get(POOLED),
                "weight": weights.get(POOLED),
                "weights": by_source,
                "turns": {"up": _clear(by_source, 1.0), "down": _clear(by_source, -1.0)},
            }
        )
    return sorted(statistics, key=lambda row: (-_size(row["share"]), row["statistic"]))


def _size(figure: Figure | None) -> float:
    return -1.0 if figure is None or figure["value"] is None else figure["value"]


def _clear(weights: Sequence[Row], sign: float) -> list[str]:
    """Name the sources in which a weight is on one side of 0 with its whole interval."""
    ends = ("ci_low", "ci_high")
    return [
        row["source"] for row in weights if all(row[end] is not None and sign * row[end] > 0 for end in ends)
    ]


def _sentence(part: Row) -> str:
    """Say how much is explained."""
    whole = part["explained"]
    if whole is None or whole["value"] is None:
        return say("surface.lead_none")
    values = {"share": percent_text(whole["value"])}
    if whole["ci_low"] is None or whole["ci_high"] is None:
        return say("surface.lead_bare", **values)
    values |= {"low": percent_text(whole["ci_low"], ""), "high": percent_text(whole["ci_high"])}
    return say("surface.lead_little" if whole["ci_low"] <= 0 else "surface.lead", **values)


def _advice(part: Row) -> list[str]:
    """Say what to do about it."""
    advice = []
    row = part["verdicts"].get(SHARE)
    if row is not None and part["explained"] is not None:
        advice.append(_comparison(row, part["explained"]))
    elif row is not None and row["verdict"] == Verdict.INCONCLUSIVE:
        advice.append(say("surface.more"))
    advice += [
        say(
            "surface.turns",
            name=row["name"],
            **{way: _named(sources) for way, sources in row["turns"].items()},
        )
        for row in part["statistics"]
        if turns(row)
    ]
    if part["unasked"] and row is None:
        advice.append(say("surface.unasked", list=", ".join(name_of(name) for name in part["unasked"])))
    if COUNTED_BY_PEOPLE in part["unasked"]:
        advice.append(say("surface.faces", column=COUNTED_BY_PEOPLE))
    return advice


def _comparison(row: VerdictsRow, explained: Figure) -> str:
    """Compare the share explained with its limit, and say what follows."""
    limit, end = row["limit_high"], explained["ci_high"]
    if row["verdict"] == Verdict.FAIL:
        key = f"report.fix.{row['finding']}"
        return say(key if knows(key) else "report.fix.other")
    values = {"limit": "–" if limit is None else percent_text(limit), "n": row["n_needed"]}
    if row["verdict"] == Verdict.PASS:
        return say("surface.fine", **values)
    if end is not None and limit is not None and end < limit:
        return say("surface.partly", **values)
    return say("surface.settle" if row["n_needed"] else "surface.open", **values)


def fresh(reason: str, said: str) -> str:
    """Leave out of a reason the sentences that another has given already."""
    known = {sentence.rstrip(".") for sentence in said.split(". ")}
    sentences = [sentence.rstrip(".") for sentence in reason.split(". ") if sentence.rstrip(".") not in known]
    return ". ".join(sentences) + "." if sentences else ""


NOTES = ("unresolved", "few", "constant", "unknown")
"""What a covariate verdict adds about what was left out."""


def without_notes(reason: str) -> str:
    """Leave out of a reason what was left out of the regression: its own part says that."""
    starts = [reason.find(say(f"covariates.{name}", list="").rstrip(". ")) for name in NOTES]
    places = [start for start in starts if start > 0]
    return reason[: min(places)].rstrip() if places else reason


def _named(sources: Iterable[str]) -> str:
    return ", ".join(source_name(name) for name in sources)


QUESTIONS = (SHARE, DIFFERENCE)
"""What is judged, in the order a reader asks."""
