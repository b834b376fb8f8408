"""The content of the report, as plain values: what report.json holds and the page shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from judge_audit.checks.ladders.premature import NAME as PREMATURE
from judge_audit.core.formatting import share_text
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import IMAGES, ORIGINAL, OVERALL, POOLED, State, Verdict
from judge_audit.decisions.standings import POSITION_ROW, capability_of
from judge_audit.report.facts import Facts, parsed, placed, read_facts, where
from judge_audit.report.figures import finite
from judge_audit.report.percentiles import meaning, placing_of
from judge_audit.report.sections.anchors import anchors_of
from judge_audit.report.sections.canaries import canaries_of, canary_caveat
from judge_audit.report.sections.comparisons import comparisons_of
from judge_audit.report.sections.covariates import covariates_of
from judge_audit.report.sections.dimensions import dimensions_of
from judge_audit.report.sections.headroom import headroom_of
from judge_audit.report.sections.history import history_of
from judge_audit.report.sections.ladders import find_movers, is_fault, ladder_sections, severity, verdict_of
from judge_audit.report.sections.people import people_of
from judge_audit.report.sections.scale import refused_of, scale_of
from judge_audit.report.sections.sight import sight_of
from judge_audit.report.sections.source_stability import source_stability_of
from judge_audit.report.sections.strips import strips_of
from judge_audit.report.sections.use_evidence import use_evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb
    from judge_audit_schemas.rows import CurvesRow, MeasuresRow

    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.mismatches.kind import Kind

    Row = Mapping[str, Any]

FORMAT = 1
"""Number of the JSON's shape; changes are additive within a number."""

THEN_LISTED = 4
"""Further faults listed under the first."""


def make_document(
    con: duckdb.DuckDBPyConnection,
    audit_id: str,
    *,
    axes: Mapping[str, Axis],
    warnings: Sequence[str],
    kinds: Mapping[str, Kind],
) -> dict[str, Any]:
    """Gather the content of an audit's report.

    Raises:
        UsageError: If the lake has no such audit.
    """
    facts = read_facts(con, audit_id)
    canaries = canaries_of(con, facts)
    sign = 1.0 if facts.card.get("higher_is_better", True) else -1.0
    place = placed([OVERALL, *facts.card.get("dimensions", ())])
    dimensions = sorted({row["dimension"] for row in facts.untouched}, key=place)
    smallest = facts.limits["ladder.coarse_reference"]
    placing = {name: placing_of(facts.untouched, name, sign=sign, smallest=smallest) for name in dimensions}
    sections = [section for section in ladder_sections(facts, axes) if section["axis"] != POOLED]
    standings = {row["use"]: row for row in facts.standings}
    first = {POSITION_ROW: {"standing": "none", "reasons": [], "missing": []}, **standings}[POSITION_ROW]
    return {
        "format": FORMAT,
        "position": first["standing"],
        "position_reasons": first["reasons"],
        "judge": facts.judge,
        "higher_is_better": sign > 0,
        "capability": capability_of(facts.verdicts).value,
        "meaning": [{"dimension": name, **meaning(placing[name], facts.card)} for name in dimensions],
        "sight": sight_of(facts, list(axes)),
        "comparisons": comparisons_of(facts),
        "fix_first": _fix_first(facts, first),
        "caveats": _caveats(facts, sections, warnings) + ([canary_caveat(canaries)] if canaries else []),
        "canaries": canaries,
        "uses": [
            {name: row[name] for name in ("use", "standing", "reasons", "missing")}
            for row in facts.standings
            if row["use"] != POSITION_ROW
        ],
        "ladders": sections,
        "strips": strips_of(con, facts, axes),
        "covariates": covariates_of(facts),
        "anchors": anchors_of(facts),
        "people": people_of(facts),
        "use_evidence": use_evidence_of(facts),
        "movers": find_movers(facts, placing),
        "hacking": headroom_of(con, facts, placing),
        "between": source_stability_of(facts),
        "dimensions": dimensions_of(facts, kinds),
        "refused": refused_of(facts.verdicts),
        "history": history_of(con, facts),
        "scale": [scale_of(facts, name) for name in dimensions],
        "purity": purity_of(facts, axes),
        "controls": _controls(facts),
        "states": states_of(facts),
        "limits": dict(facts.limits.values),
        "provenance": _provenance(facts),
    }


def _fix_first(facts: Facts, position: Row) -> dict[str, Any]:
    """Name the gravest fault with what to do about it, then the next ones; else what is missing first."""
    faults = sorted((row for row in facts.verdicts if is_fault(row)), key=severity)
    entries = [{**verdict_of(row), "advice": _advice(row["finding"])} for row in faults]
    return {
        "faults": entries[: 1 + THEN_LISTED],
        "further": max(0, len(entries) - 1 - THEN_LISTED),
        "missing": list(position["missing"])[:1],
    }


def _advice(finding: str) -> str:
    """Say what to do about a fault."""
    key = f"report.fix.{finding}"
    return say(key if knows(key) else "report.fix.other")


def _caveats(facts: Facts, sections: Sequence[Row], warnings: Sequence[str]) -> list[str]:
    """Say what a person should know before reading a number."""
    caveats = []
    if facts.audit["status"] != "complete":
        caveats.append(say("report.caveats.incomplete"))
    caveats += _control_caveats(facts)
    if where(facts.verdicts, check=PREMATURE, axis=POOLED):
        caveats.append(say("missing.pictures"))
    zones_of = {
        "provisional": [row for row in sections if row["zones"] and row["zones"]["provisional"]],
        "unread": [row for row in sections if not row["zones"]],
    }
    for key, rows in zones_of.items():
        if rows:
            named = dict.fromkeys(row["axis"] for row in rows)
            caveats.append(say(f"report.caveats.{key}", axes=", ".join(named)))
    caveats += _evidence_caveats(facts)
    if leaks := _leaks(facts):
        caveats.append(say("report.caveats.leaks", list=leaks))
    if facts.items["refused"] and not warnings:
        caveats.append(say("report.caveats.refused_rows", n=facts.items["refused"]))
    return [*caveats, *(text for text in warnings if text not in caveats)]


def _leaks(facts: Facts) -> str:
    """List the axes that moved another statistic more than their own."""
    leaks: dict[str, list[str]] = {}
    for row in where(facts.measures, measure="leakage", subject=IMAGES):
        if (row["value"] or 0) > facts.limits["purity.leak"]:
            leaks.setdefault(row["axis"], []).append(say(f"report.statistic.{row['kind']}"))
    return "; ".join(f"{axis}: {', '.join(kinds)}" for axis, kinds in leaks.items())


def _control_caveats(facts: Facts) -> list[str]:
    if not facts.controls:
        return [say("report.controls.none")]
    kinds = {Verdict.FAIL: "control_wrong", Verdict.INCONCLUSIVE: "control_missed"}
    names = {key: [row["kind"] for row in where(facts.controls, verdict=kind)] for kind, key in kinds.items()}
    return [say(f"report.caveats.{key}", what=", ".join(what)) for key, what in names.items() if what]


def _evidence_caveats(facts: Facts) -> list[str]:
    """Say what the images and the answers cannot carry."""
    caveats = []
    smallest = facts.limits["ladder.coarse_reference"]
    first = facts.untouched[0]["dimension"] if facts.untouched else ""
    counts = Counter(row["source"] for row in where(facts.untouched, dimension=first))
    if any(count < smallest for count in counts.values()):
        caveats.append(say("report.caveats.small", smallest=f"{smallest:g}"))
    if len(counts) == 1:
        caveats.append(say("report.caveats.one_source"))
    asked = sum(row["calls"] for row in facts.states if row["state"] != State.INERT)
    states = states_of(facts)
    if states:
        lost = sum(row["calls"] for row in states)
        kinds = dict.fromkeys(row["state"] for row in states)
        listed = ", ".join(say(f"report.states.{state}") for state in kinds)
        caveats.append(say("report.caveats.missing_scores", share=share_text(lost / asked), list=listed))
    caveats += _coverage_caveats(facts)
    if facts.card and not facts.card.get("pinned") and facts.audit.get("canary_asking") is None:
        caveats.append(say("report.caveats.unpinned"))
    return caveats


def _coverage_caveats(facts: Facts) -> list[str]:
    """Say how far the images are from real traffic, or that nobody knows."""
    rows = where(facts.verdicts, check="coverage")
    if not rows:
        return [say("report.caveats.no_traffic")]
    return [row["reason"] for row in rows if row["verdict"] != Verdict.PASS]


def states_of(facts: Facts) -> list[dict[str, Any]]:
    """Count the calls that gave no score, by source, axis and what happened."""
    fine = {State.OK, State.INERT}
    return [dict(row) for row in facts.states if row["state"] not in fine]


def purity_of(facts: Facts, axes: Mapping[str, Axis]) -> list[dict[str, Any]]:
    """Give, per axis, what it moved at its strongest: as a share of its own statistic, and in SDs."""
    shares, shifts = _by_axis(facts.measures, "leakage"), _by_axis(facts.curves, "shift")
    return [
        {
            "axis": axis,
            "own": axes[axis].statistic if axis in axes else None,
            "leakage": shares.get(axis, {}),
            "shift": shifts[axis],
        }
        for axis in sorted(shifts, key=placed(axes))
    ]


def _by_axis(rows: Iterable[MeasuresRow | CurvesRow], measure: str) -> dict[str, dict[str, float]]:
    """Gather what a measure about the images is, by axis and kind."""
    values: dict[str, dict[str, float]] = {}
    for row in where(rows, subject=IMAGES, measure=measure):
        value: float | None = finite(row["value"])
        if value is not None:
            values.setdefault(row["axis"], {})[row["kind"]] = value
    return values


def _controls(facts: Facts) -> dict[str, Any]:
    """Give what became of each control, and the smallest rise this corpus would have shown."""
    smallest = [
        {"axis": row["axis"], "dimension": row["dimension"], "value": finite(row["value"]), "n": row["n"]}
        for row in where(facts.measures, check="controls", measure="smallest_lift")
    ]
    results = [
        {"control": row["kind"], "verdict": row["verdict"], "reason": row["reason"]} for row in facts.controls
    ]
    return {"results": results, "smallest_lift": smallest}


def _provenance(facts: Facts) -> dict[str, Any]:
    """Give everything that leads back from a figure to what it was made of."""
    audit = facts.audit
    times = {
        name: when.isoformat(timespec="seconds") if when else None
        for name, when in (("started_at", audit["started_at"]), ("ended_at", audit["ended_at"]))
    }
    untouched = sum(row["calls"] for row in facts.states if row["axis"] == ORIGINAL)
    return {
        **{
            name: audit[name]
            for name in ("audit_id", "judge_id", "plan_id", "code_version", "seed", "status")
        },
        **times,
        "zones_id": facts.configuration.get("zones_id"),
        "lake": facts.configuration.get("lake"),
        "items": {name: n for name, n in facts.items.items() if name != "source_names"},
        "calls": sum(row["calls"] for row in facts.states),
        "untouched_calls": untouched,
        "card": facts.card,
        "configuration": facts.configuration,
        "input_digests": parsed(audit["input_digests"]),
    }
