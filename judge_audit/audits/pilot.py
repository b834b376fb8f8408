"""A pilot: what an audit in the lake tells the planner of the judge's spread, ties and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from judge_audit.audits.power import RELIABILITY, Known, Need, needs
from judge_audit.core.errors import UsageError
from judge_audit.core.limits import Limits, read_limits
from judge_audit.core.messages import say
from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import OVERALL, WITHIN
from judge_audit.lake.audits import see_kept
from judge_audit.lake.connect import connect
from judge_audit.measures.pilot import Design, Noise, of_pilot
from judge_audit.report.facts import Facts, read_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from judge_audit.lake import Lake

    Floats = NDArray[np.float64]

LATEST = "latest"
FEWEST = 8
"""A source with fewer untouched items, or an axis with fewer changed ones, tells nothing."""

NEWEST = """
SELECT audit_id FROM audits WHERE status = 'complete' AND ($1 = 'latest' OR audit_id = $1)
ORDER BY ended_at DESC NULLS LAST, audit_id DESC LIMIT 1
"""
ASKED = """
SELECT item_id, source, axis, rung, strength, repeat, "value" FROM all_responses
WHERE plan_id = $1 AND judge_id = $2 AND dimension = $3 AND state = 'ok'
    AND (axis = 'original' OR rung > 0)
"""


class NeedsOptions(TypedDict, total=False):
    """What `power.needs` may be told: the power wanted, rehearsals at each size, the seed of the draws."""

    wanted: float
    draws: int
    seed: int


class Asked(TypedDict):
    """A row of `ASKED`: one score of an untouched or changed item."""

    item_id: str
    source: str
    axis: str
    rung: int
    strength: float
    repeat: int
    value: float


LATENCY = "SELECT median(latency_ms) FROM calls WHERE judge_id = $1 AND state = 'ok'"


def needed_for(lake: Lake, audit: str = LATEST, **options: Unpack[NeedsOptions]) -> list[Need]:
    """Say what each verdict would need, going by an audit in the lake.

    Args:
        lake: The lake.
        audit: An audit_id, or `latest`.
        options: Those of `power.needs`.

    Raises:
        UsageError: If the lake has no such audit, or it cannot serve as a pilot.
    """
    return needs(known_of(lake, audit), **options)


def known_of(
    lake: Lake, audit: str = LATEST, *, design: Mapping[str, int] | None = None, limits: Limits | None = None
) -> Known:
    """Learn from an audit what the planner goes by.

    Args:
        lake: The lake.
        audit: An audit_id, or `latest`.
        design: Numbers of the design that are to differ from the audit's.
        limits: Limits that are to hold instead of the audit's.

    Raises:
        UsageError: If the lake has no such audit, or it cannot serve as a pilot.
    """
    with connect(lake) as con:
        newest = con.execute(NEWEST, [audit]).fetchone()
        if newest is None:
            raise UsageError(
                f"--audit {audit}: the lake has no such complete audit. Run one, or state the spread: "
                "--spread 0.3 --retest 0 --step 0."
            )
        see_kept(lake, str(newest[0]))
        facts = read_facts(con, str(newest[0]))
        if facts.card.get("compares"):
            raise UsageError(
                f"--audit {audit}: its judge compares two pictures and gives no score; the planner goes by the "
                "spread of scores. State the spread: --spread 0.3 --retest 0 --step 0."
            )
        dimensions = list(facts.card.get("dimensions") or [OVERALL])
        dimension = OVERALL if OVERALL in dimensions else dimensions[0]
        asked = con.sql(ASKED, params=[facts.audit["plan_id"], facts.audit["judge_id"], dimension])
        rows = rows_of(asked.to_arrow_table(), Asked)
        latency = con.execute(LATENCY, [facts.audit["judge_id"]]).fetchone()
    return _known(facts, rows, float(latency[0] or 0.0) / 1000 if latency else 0.0, design or {}, limits)


def _known(
    facts: Facts, rows: Sequence[Asked], seconds: float, design: Mapping[str, int], limits: Limits | None
) -> Known:
    """Put together what an audit tells."""
    sign = 1.0 if facts.card.get("higher_is_better", True) else -1.0
    untouched = _scaled(rows, sign)
    if not untouched.scores:
        raise UsageError(
            f"the audit {facts.audit['audit_id']} has no source with {FEWEST} untouched scores that differ: it "
            "cannot serve as a pilot. State the spread: --spread 0.3 --retest 0 --step 0."
        )
    step = float(facts.card.get("scale_step") or 0.0) / untouched.unit
    base = of_pilot(_matrix(untouched.scores.values()), None, step)
    zones = {(row["item_id"], row["axis"]): row["perceptible_low"] for row in facts.zones}
    edge = _widest(rows, untouched, base, step, sign, zones)
    top = _widest(rows, untouched, base, step, sign, None)
    ladders = {(row["axis"], row["rung"]) for row in rows if row["rung"]}
    axes = len({axis for axis, _ in ladders})
    counted = len({row["item_id"] for row in rows if not row["rung"]})
    sources = max(1, facts.items["sources"])
    own = Design(
        items=max(1, facts.items["ladders"]),
        sources=sources,
        untouched=max(1, round(counted / sources)),
        repeats=int(facts.configuration.get("repeats", 1)),
    )
    names = {"audit": facts.audit["audit_id"], "judge": facts.judge}
    origin = say("planner.from_audit", **names, edge=edge[0] or "–", top=top[0] or "–")
    return Known(
        origin,
        edge[1],
        top[1],
        replace(own, **design),
        axes=axes or 1,
        rungs=len(ladders) / axes if axes else 1.0,
        reliability=_reliability(facts),
        seconds=seconds or None,
        plain=base,
        limits=limits or facts.limits or read_limits(),
    )


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Untouched scores, oriented, in standard deviations of their source.

    Attributes:
        scores: By item.
        places: Mean and standard deviation of each source.
        unit: The typical standard deviation.
    """

    scores: dict[str, list[float]]
    places: dict[str, tuple[float, float]]
    unit: float


def _scaled(rows: Iterable[Asked], sign: float) -> _Scaled:
    by_source: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if not row["rung"]:
            values_of_item = by_source.setdefault(row["source"], {}).setdefault(row["item_id"], [])
            values_of_item.append(sign * row["value"])
    scores: dict[str, list[float]] = {}
    places: dict[str, tuple[float, float]] = {}
    for source, items in sorted(by_source.items()):
        means = np.array([np.mean(values) for values in items.values()])
        spread = float(means.std())
        if len(means) < FEWEST or not spread:
            continue
        places[source] = float(means.mean()), spread
        for item, values in sorted(items.items()):
            scores[item] = [(value - means.mean()) / spread for value in values]
    unit = float(np.median([spread for _, spread in places.values()])) if places else 1.0
    return _Scaled(scores, places, unit)


def _matrix(lists: Iterable[Sequence[float]]) -> Floats:
    """Lay lists of different lengths under one another, NaN where they end."""
    rows = list(lists)
    matrix = np.full((len(rows), max(map(len, rows))), np.nan)
    for at, values in enumerate(rows):
        matrix[at, : len(values)] = values
    return matrix


def _widest(
    rows: Iterable[Asked],
    untouched: _Scaled,
    base: Noise,
    step: float,
    sign: float,
    visible: Mapping[tuple[str, str], float | None] | None,
) -> tuple[str, Noise]:
    """Find the axis that answers items most unlike, each at its strongest rung below the visible point, if given."""
    rungs: dict[str, dict[str, dict[int, list[float]]]] = {}
    for row in rows:
        if not row["rung"]:
            continue
        point = math.inf if visible is None else visible.get((row["item_id"], row["axis"]))
        if point is None or row["strength"] >= point or row["item_id"] not in untouched.scores:
            continue
        mean, spread = untouched.places[row["source"]]
        by_rung = rungs.setdefault(row["axis"], {}).setdefault(row["item_id"], {})
        by_rung.setdefault(row["rung"], []).append((sign * row["value"] - mean) / spread)
    widest = "", base
    for axis, items in sorted(rungs.items()):
        if len(items) < FEWEST:
            continue
        last = _matrix(by_rung[max(by_rung)] for by_rung in items.values())
        before = _matrix(untouched.scores[item] for item in items)
        scale = float(np.nanstd(np.nanmean(before, axis=1))) or 1.0
        change = of_pilot(before, last, step / scale).change * scale
        if not widest[0] or change.std() > widest[1].change.std():
            widest = axis, replace(base, change=change)
    return widest


def _reliability(facts: Facts) -> float:
    """Read how far one annotator correlates with another, where people labelled; else what is usual."""
    correlations = [
        row["value"]
        for row in facts.people_measures
        if row["measure"] == "rater_to_rater" and row["source"] == WITHIN and row["value"] is not None
    ]
    return min(0.95, max(0.05, float(np.mean(correlations)))) if correlations else RELIABILITY
