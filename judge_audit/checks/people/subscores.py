"""Sub-score independence on tables: do the sub-scores say more than one thing, and do people's?

Correlations are Spearman's within a source, averaged plainly over sources by their numbers of items; Pearson's
stand beside them, and the pooled values too. Copies are named only where people's own labels on the same items
are by interval more than one thing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.checks.check import Check
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.judge_and_raters import measure_row, missing_row, verdict_row
from judge_audit.checks.people.labelled_scores import PEOPLE, answers, labelled, means, ratings
from judge_audit.core.digests import draw_seed
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, POOLED, Verdict
from judge_audit.measures.estimates import FAULT_ERROR, PASS_LEVEL
from judge_audit.measures.resampling import UNDEFINED, Resampled, combined, derived, draws_for
from judge_audit.measures.subscores import correlated, effective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import ResultRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence
    from judge_audit.measures.subscores import Pair

    Floats = NDArray[np.float64]
    Correlations = list[dict[Pair, tuple[Resampled, Resampled]]]

NAME = "subscores"
EFFECTIVE = "effective_dimensions"


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Complete rows of some dimensions: (n, D), with source and cluster of each, and people's beside them."""

    names: tuple[str, ...]
    values: Floats
    people_names: tuple[str, ...]
    people: Floats
    sources: NDArray[np.str_]
    clusters: NDArray[np.intp]


def run(evidence: Evidence) -> Findings:
    """Correlate the sub-scores, and people's labels on the same items."""
    names = tuple(name for name in evidence.card.dimensions if name != OVERALL)
    limit = evidence.limits["subscores.copies"]
    if len(names) < 2:
        parts = {"finding": "no_dimensions", "limit_low": limit}
        row = missing_row(evidence, NAME, EFFECTIVE, POOLED, say("subscores.no_dimensions"), **parts)
        return Findings(verdicts=(row,))
    table = _table(evidence, names)
    seed = draw_seed(evidence.seed, NAME)
    mine, theirs = _by_source(table, seed)
    rows = _rows(evidence, table, mine, theirs)
    own, silent = effective([_ranks(part) for part in mine.values()], len(names))
    ceiling, _ = effective([_ranks(part) for part in theirs.values()], len(table.people_names))
    if math.isfinite(own.value):
        rows.append(measure_row(evidence, NAME, EFFECTIVE, POOLED, own))
    if math.isfinite(ceiling.value) and not evidence.is_control:
        rows.append(_of_people(measure_row(evidence, NAME, EFFECTIVE, POOLED, ceiling), evidence))
    quiet = [names[at] for at in sorted(silent)]
    verdict = _verdict(evidence, own, ceiling, _alike(names, mine), quiet)
    return Findings(measures=tuple(rows), verdicts=(verdict,))


def _table(evidence: Evidence, names: Sequence[str]) -> _Table:
    """Keep the items with a score in every dimension, and people's labels where all their dimensions are there."""
    given = [answers(evidence, name) for name in names]
    whole = max(given, key=lambda part: len(part.items))
    place = {item: at for at, item in enumerate(whole.items)}
    values = np.full((len(whole.items), len(names)), np.nan)
    for at, part in enumerate(given):
        rows = np.array([place.get(item, -1) for item in part.items], int)
        values[rows[rows >= 0], at] = part.values[rows >= 0, 0]
    theirs = labelled(evidence)
    columns = [means(whole, found) for name in theirs if (found := ratings(evidence, (name,))) is not None]
    people = np.column_stack(columns) if len(columns) > 1 else np.full((len(values), 0), np.nan)
    use = np.isfinite(values).all(axis=1)
    names_of_people = theirs if len(columns) > 1 else ()
    return _Table(
        tuple(names), values[use], names_of_people, people[use], whole.sources[use], whole.clusters[use]
    )


def _by_source(table: _Table, seed: int) -> tuple[dict[str, dict[Pair, tuple[Resampled, Resampled]]], ...]:
    """Correlate source by source; where people labelled, both on the labelled items and the same resamples."""
    mine: dict[str, dict[Pair, tuple[Resampled, Resampled]]] = {}
    theirs: dict[str, dict[Pair, tuple[Resampled, Resampled]]] = {}
    told = np.isfinite(table.people).all(axis=1) & bool(table.people_names)
    beside = told.any()
    for source in sorted(set(table.sources.tolist())):
        rows = (table.sources == source) & (told if beside else True)
        if len(np.unique(table.clusters[rows])) < 3:
            continue
        tables = [table.values[rows], *([table.people[rows]] if beside else [])]
        own = draw_seed(seed, source)
        made = correlated(tables, table.clusters[rows], draws_for(1), own)
        mine[source] = made[0]
        if beside:
            theirs[source] = made[1]
    return mine, theirs


def _ranks(part: dict[Pair, tuple[Resampled, Resampled]]) -> dict[Pair, Resampled]:
    return {pair: figures[0] for pair, figures in part.items()}


def _of_people(row: ResultRow, evidence: Evidence) -> ResultRow:
    return {**row, "subject": PEOPLE, "baseline": evidence.judge_id}


def _rows(
    evidence: Evidence,
    table: _Table,
    mine: dict[str, dict[Pair, tuple[Resampled, Resampled]]],
    theirs: dict[str, dict[Pair, tuple[Resampled, Resampled]]],
) -> list[ResultRow]:
    """Give every pair per source, over sources, and pooled; people's under their own subject."""
    rows: list[ResultRow] = []
    told = np.isfinite(table.people).all(axis=1) if theirs else np.ones(len(table.values), bool)
    for held, names, values in (
        (mine, table.names, table.values),
        (theirs, table.people_names, table.people),
    ):
        if held is theirs and (not theirs or evidence.is_control):
            continue
        (pooled,) = correlated([values[told]], table.clusters[told], 0, 0) if told.any() else ({},)
        for one, other in sorted({pair for part in held.values() for pair in part}):
            kind = f"{names[one]} / {names[other]}"
            for at, measure in enumerate(("subscore_correlation", "subscore_pearson")):
                found = {
                    source: part[one, other][at] for source, part in held.items() if (one, other) in part
                }
                found[POOLED] = combined(list(found.values()))
                made = [
                    measure_row(evidence, NAME, measure, POOLED, figure, source=source, kind=kind)
                    for source, figure in found.items()
                ]
                if (one, other) in pooled:
                    figure = pooled[one, other][at]
                    made.append(measure_row(evidence, NAME, f"{measure}_pooled", POOLED, figure, kind=kind))
                rows += [_of_people(row, evidence) for row in made] if held is theirs else made
    return rows


def _alike(names: Sequence[str], mine: dict[str, dict[Pair, tuple[Resampled, Resampled]]]) -> list[str]:
    """Name the pairs that by interval behave as one score: 2 dimensions of n_eff < 1.5 is |C| > 1/√3."""
    found = []
    for pair in sorted({pair for part in mine.values() for pair in part}):
        figure = combined([part[pair][0] for part in mine.values() if pair in part])
        low, high = figure.interval(PASS_LEVEL)
        if low > 1 / math.sqrt(3) or high < -1 / math.sqrt(3):
            value = f"{figure.value:.2f}".replace("-", "−")
            found.append(say("subscores.pair", one=names[pair[0]], other=names[pair[1]], value=value))
    return found


def _verdict(
    evidence: Evidence, own: Resampled, people: Resampled, alike: Sequence[str], quiet: Sequence[str]
) -> ResultRow:
    limit = evidence.limits["subscores.copies"]
    level = 1 - FAULT_ERROR
    one_thing = own.interval(level)[1] < limit
    more = people.interval(level)[0] > limit
    gap = derived(lambda a, b: a - b, people, own) if one_thing and more else UNDEFINED
    verdict, finding = Verdict.INCONCLUSIVE, ""
    if one_thing and more and gap.interval(level)[0] > 0:
        verdict, finding = Verdict.FAIL, "copies"
    elif own.interval(PASS_LEVEL)[0] > limit:
        verdict = Verdict.PASS
    key = finding or ("inconclusive" if own.usable else "few")
    if verdict == Verdict.PASS:
        key = "pass"
    elif one_thing and not finding:
        key = "one_thing_too" if math.isfinite(people.value) else "one_thing"
    shown = {"value": f"{own.value:.1f}", "people": f"{people.value:.1f}"}
    reason = [say(f"subscores.{key}", **shown)]
    if alike:
        reason.append(say("subscores.alike", list="; ".join(alike)))
    if quiet:
        reason.append(say("subscores.silent", list=", ".join(quiet)))
    told = {"finding": finding, "reason": " ".join(reason), "limit_low": limit}
    return verdict_row(evidence, NAME, EFFECTIVE, POOLED, own, verdict=verdict, **told)


CHECK = Check(NAME, run, judges=("effective_dimensions",))
