"""The ladder part of the report: curves with zones, verdicts, and the images whose score rose most."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from judge_audit.checks.mismatches.mismatch_rows import CELL
from judge_audit.core.vocabulary import IMAGES, POOLED, READ, Verdict
from judge_audit.report.facts import placed, where
from judge_audit.report.figures import finite
from judge_audit.report.percentiles import lift

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import VerdictsRow, ZonesRow

    from judge_audit.report.facts import Changed, Facts, Untouched
    from judge_audit.report.percentiles import Placing
    from judge_audit.stimuli.axes.axis import Axis

    Row = Mapping[str, Any]

QUESTIONS = ("premature", "jitter", "top_response")
MOVERS_EACH = 3
"""Pictures a group of movers shows."""

BLIND = frozenset({"border_blind", "aspect_blind", "orientation_blind"})

RANKS = (
    "silent", "constant", "no_order", "prefers_left", "prefers_right", "batch_dependent", "order_dependent",
    "prompt_blind", "not_repeatable", "reversed", "rewarded", "prefers_damaged", "climbs", "hackable",
    "dead", "worse_than_people", "steadily_wrong", "misses_damage", "deaf", "copies", "halo", "echoes",
    "falls", "erratic", "jitters", "unstable", "blind_within_prompt", "copies", "silent_on_some",
    "out_of_scale", "stacked", "unreachable", "no_absolute_scale",
)  # fmt: skip
"""Findings, the gravest first."""

SMALLEST_RISE = 0.05
"""Smaller rises are not worth a picture."""


def ladder_sections(facts: Facts, axes: Mapping[str, Axis]) -> list[dict[str, Any]]:
    """Put together what is known of each ladder, one entry per axis and dimension."""
    keys = {
        (row["axis"], row["dimension"])
        for row in (*facts.verdicts, *facts.curves)
        if row["check"] in QUESTIONS
    }
    place = placed(axes)
    ordered = sorted(keys, key=lambda key: (place(key[0]), key[1]))
    return [_section(facts, axes.get(axis), axis, dimension) for axis, dimension in ordered]


def _section(facts: Facts, axis: Axis | None, name: str, dimension: str) -> dict[str, Any]:
    mine = where(facts.curves, measure="mean_lift", axis=name, dimension=dimension)
    sources = sorted({row["source"] for row in mine} - {POOLED})
    answers = where(facts.verdicts, axis=name, dimension=dimension)
    inert = where(facts.measures, subject=IMAGES, measure="inert_share", axis=name)
    return {
        "axis": name,
        "dimension": dimension,
        "unit": axis.unit if axis else "",
        "description": axis.description if axis else "",
        "points": [_point(row) for row in where(mine, source=POOLED)],
        "sources": {source: [_point(row) for row in where(mine, source=source)] for source in sources},
        "zones": zones_of(facts.zones, name),
        "verdicts": _by_question(where(answers, kind=POOLED)),
        "verdicts_on_read_items": _by_question(where(answers, kind=READ)),
        "inert_share": inert[0]["value"] if inert else None,
    }


def _by_question(rows: Sequence[VerdictsRow]) -> dict[str, VerdictsRow]:
    return {check: verdict_of(row) for check in QUESTIONS for row in where(rows, check=check)}


def _point(row: Row) -> dict[str, Any]:
    return {name: finite(row[name]) for name in ("rung", "strength", "value", "ci_low", "ci_high", "n")}


def verdict_of(row: VerdictsRow) -> VerdictsRow:
    """Take what the report shows of a verdict out of its row."""
    wanted = (
        "check", "measure", "axis", "dimension", "kind", "verdict", "finding", "provisional", "reason",
        "value", "ci_low", "ci_high", "limit_low", "limit_high", "n", "n_needed",
    )  # fmt: skip
    shown: Row = row
    return cast("VerdictsRow", {name: finite(shown[name]) for name in wanted})


def zones_of(zones: Sequence[ZonesRow], axis: str) -> dict[str, Any] | None:
    """Summarise the zones of an axis by medians over its items; None where nobody can say.

    A median beyond every rung ("never noticed") is None.
    """
    known = [row for row in where(zones, axis=axis) if row["perceptible_low"] is not None]
    if not known:
        return None
    return {
        "unseen_below": _median(row["perceptible_low"] for row in known),
        "seen_from": _median(row["perceptible_high"] for row in known),
        "overdone_from": _median(row["objectionable"] for row in known),
        "items": len(known),
        "provisional": any(row["provisional"] for row in known),
    }


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return finite(float(median(known))) if known else None


def find_movers(facts: Facts, placing: Mapping[str, Placing]) -> list[dict[str, Any]]:
    """Find the images that rose most: where nobody sees a change, where it is visible, where it is overdone.

    Each image and each axis appears once in a group. Lifts leave out the image's own cluster.

    Returns:
        Rows with group (unseen, seen, overdone, unknown), item_id, source, axis, strength, scores and percentiles
        before and after, and lift; largest lift first within a group.
    """
    zone_of = {(row["item_id"], row["axis"]): row for row in facts.zones}
    risen = rises(facts.untouched, facts.changed, placing)
    risen.sort(key=lambda row: (-row["lift"], row["item_id"], row["axis"]))
    groups: dict[str, list[dict[str, Any]]] = {"unseen": [], "seen": [], "overdone": [], "unknown": []}
    for row in risen:
        members = groups[_group(row, zone_of.get((row["item_id"], row["axis"])))]
        fresh = not any(
            row["axis"] == other["axis"] or row["item_id"] == other["item_id"] for other in members
        )
        if fresh and len(members) < MOVERS_EACH:
            members.append(row)
    return [{"group": group, **row} for group, members in groups.items() for row in members]


def _group(row: Row, zone: ZonesRow | None) -> str:
    if zone is None or zone["perceptible_low"] is None:
        return "unknown"
    if row["strength"] < zone["perceptible_low"]:
        return "unseen"
    bad = zone["objectionable"]
    return "overdone" if bad is not None and row["strength"] >= bad else "seen"


def rises(
    untouched: Sequence[Untouched], changed: Sequence[Changed], placing: Mapping[str, Placing]
) -> list[dict[str, Any]]:
    """Give every answer that rose by more than a trifle."""
    before = {(row["item_id"], row["dimension"]): row for row in untouched}
    risen = []
    for dimension, reference in placing.items():
        own: dict[tuple[str, str], list[float]] = {}
        for row in where(untouched, dimension=dimension):
            key = (reference.group[row["source"]], row["cluster"])
            own.setdefault(key, []).append(reference.sign * row["value"])
        sorted_own = {key: np.sort(np.round(values, 9)) for key, values in own.items()}
        for row in where(changed, dimension=dimension):
            first = before.get((row["item_id"], dimension))
            if first is None or reference.sign * (row["value"] - first["value"]) <= 0:
                continue
            group = reference.group[row["source"]]
            rise = lift(
                reference.scores[group],
                sorted_own[group, row["cluster"]],
                reference.sign * first["value"],
                reference.sign * row["value"],
            )
            if rise > SMALLEST_RISE:
                risen.append(_rise(row, first, reference, rise))
    return risen


def _rise(row: Changed, first: Untouched, reference: Placing, rise: float) -> dict[str, Any]:
    names = ("item_id", "source", "axis", "dimension", "rung", "strength")
    about: Row = row
    return {
        **{name: about[name] for name in names},
        "placed_in": reference.group[row["source"]],
        "before": first["value"],
        "after": row["value"],
        "percentile_before": reference.percentile(first["value"], row["source"]),
        "percentile_after": reference.percentile(row["value"], row["source"]),
        "lift": rise,
    }


def severity(verdict: VerdictsRow) -> tuple[int, int, float]:
    """Order faults: proved before provisional, what an optimiser would ride first, then by size.

    Blindness comes last, proved as it is: a judge may well be used for what it does see.
    """
    rank = RANKS.index(verdict["finding"]) if verdict["finding"] in RANKS else len(RANKS)
    group = 2 if verdict["finding"] in BLIND else int(verdict["provisional"])
    return group, rank, -abs(verdict["value"] or 0.0)


def is_fault(verdict: VerdictsRow) -> bool:
    """Whether a verdict convicts the judge; those on read items or on one cell only accompany others."""
    own = verdict["kind"] != READ and verdict["subject"] != IMAGES and verdict["measure"] != CELL
    return bool(verdict["verdict"] == Verdict.FAIL and own)
