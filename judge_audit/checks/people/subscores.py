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
from judge_audit.checks.people.labelled_scores import answers, labelled, means, ratings
from judge_audit.core.digests import draw_seed
from judge_audit.core.formatting import true_minus
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, PEOPLE, POOLED, Verdict
from judge_audit.measures.estimates import FAULT_ERROR, PASS_LEVEL
from judge_audit.measures.resampling import UNDEFINED, Resampled, combined, derived, draws_for
from judge_audit.measures.subscores import correlated, effective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow
    from numpy.typing import NDArray

    from judge_audit.checks.evidence import Evidence, Floats, Ints, Mask
    from judge_audit.checks.result_rows import RowWriter
    from judge_audit.measures.subscores import Pair

    Correlations = dict[str, dict[Pair, tuple[Resampled, Resampled]]]
    """By source and pair of columns: Spearman's and Pearson's."""

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
    clusters: Ints

    @property
    def labelled(self) -> Mask:
        """Rows that people labelled in every dimension of theirs."""
        return np.asarray(np.isfinite(self.people).all(axis=1) & bool(self.people_names))


def run(evidence: Evidence) -> Findings:
    """Correlate the sub-scores, and people's labels on the same items."""
    names = tuple(name for name in evidence.card.dimensions if name != OVERALL)
    writer = evidence.writer(NAME)
    if len(names) < 2:
        limit, reason = evidence.limits["subscores.copies"], say("subscores.no_dimensions")
        row = writer.verdict(EFFECTIVE, Verdict.MISSING, reason, "no_dimensions", limit_low=limit)
        return Findings(verdicts=(row,))
    table = _table(evidence, names)
    mine, theirs = _by_source(table, draw_seed(evidence.seed, NAME))
    use = table.labelled if theirs else np.ones(len(table.values), bool)
    rows = _rows(writer, use, table, table.names, table.values, mine)
    ranks, people_ranks = (
        [{pair: figures[0] for pair, figures in part.items()} for part in parts.values()]
        for parts in (mine, theirs)
    )
    own, silent = effective(ranks, len(names))
    ceiling, _ = effective(people_ranks, len(table.people_names))
    of_people = writer.at(subject=PEOPLE, baseline=evidence.judge_id)
    if theirs and not evidence.is_control:
        rows += _rows(of_people, use, table, table.people_names, table.people, theirs)
    if math.isfinite(own.value):
        rows.append(writer.figure(EFFECTIVE, own))
    if math.isfinite(ceiling.value) and not evidence.is_control:
        rows.append(of_people.figure(EFFECTIVE, ceiling))
    quiet = [names[at] for at in sorted(silent)]
    verdict = _verdict(evidence, own, ceiling, _alike(names, mine), quiet)
    return Findings(measures=tuple(rows), verdicts=(verdict,))


def _table(evidence: Evidence, names: Sequence[str]) -> _Table:
    """Keep the items with a score in every dimension, and people's labels where all their dimensions are there."""
    per_name = [answers(evidence, name) for name in names]
    whole = max(per_name, key=lambda part: len(part.items))
    place = {item: at for at, item in enumerate(whole.items)}
    values = np.full((len(whole.items), len(names)), np.nan)
    for at, part in enumerate(per_name):
        rows = np.array([place.get(item, -1) for item in part.items], int)
        values[rows[rows >= 0], at] = part.values[rows >= 0, 0]
    theirs = labelled(evidence)
    columns = [means(whole, labels) for name in theirs if (labels := ratings(evidence, (name,))) is not None]
    people = np.column_stack(columns) if len(columns) > 1 else np.full((len(values), 0), np.nan)
    use = np.isfinite(values).all(axis=1)
    names_of_people = theirs if len(columns) > 1 else ()
    return _Table(
        tuple(names), values[use], names_of_people, people[use], whole.sources[use], whole.clusters[use]
    )


def _by_source(table: _Table, seed: int) -> tuple[Correlations, Correlations]:
    """Correlate source by source; where people labelled, both on the labelled items and the same resamples."""
    mine: Correlations = {}
    theirs: Correlations = {}
    labels_known = table.labelled
    beside = labels_known.any()
    for source in sorted(set(table.sources.tolist())):
        rows = (table.sources == source) & (labels_known if beside else True)
        if len(np.unique(table.clusters[rows])) < 3:
            continue
        tables = [table.values[rows], *([table.people[rows]] if beside else [])]
        made = correlated(tables, table.clusters[rows], draws_for(1), draw_seed(seed, source))
        mine[source] = made[0]
        if beside:
            theirs[source] = made[1]
    return mine, theirs


def _rows(
    writer: RowWriter,
    use: Mask,
    table: _Table,
    names: Sequence[str],
    values: Floats,
    per_source: Correlations,
) -> list[MeasuresRow]:
    """Give every pair per source, over sources, and pooled."""
    rows: list[MeasuresRow] = []
    (pooled,) = correlated([values[use]], table.clusters[use], 0, 0) if use.any() else ({},)
    for pair in sorted({pair for part in per_source.values() for pair in part}):
        of_pair = writer.at(kind=f"{names[pair[0]]} / {names[pair[1]]}")
        for at, measure in enumerate(("subscore_correlation", "subscore_pearson")):
            figures = {source: part[pair][at] for source, part in per_source.items() if pair in part}
            figures[POOLED] = combined(list(figures.values()))
            rows += [of_pair.figure(measure, figure, source=source) for source, figure in figures.items()]
            if pair in pooled:
                rows.append(of_pair.figure(f"{measure}_pooled", pooled[pair][at]))
    return rows


def _alike(names: Sequence[str], mine: Correlations) -> list[str]:
    """Name the pairs that by interval behave as one score: 2 dimensions of n_eff < 1.5 is |C| > 1/√3."""
    sentences = []
    for pair in sorted({pair for part in mine.values() for pair in part}):
        figure = combined([part[pair][0] for part in mine.values() if pair in part])
        low, high = figure.interval(PASS_LEVEL)
        if low > 1 / math.sqrt(3) or high < -1 / math.sqrt(3):
            value = true_minus(f"{figure.value:.2f}")
            sentences.append(say("subscores.pair", one=names[pair[0]], other=names[pair[1]], value=value))
    return sentences


def _verdict(
    evidence: Evidence, own: Resampled, people: Resampled, alike: Sequence[str], quiet: Sequence[str]
) -> VerdictsRow:
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
    writer = evidence.writer(NAME)
    return writer.verdict(EFFECTIVE, verdict, " ".join(reason), finding, own, limit_low=limit)


CHECK = Check(NAME, run, judges=("effective_dimensions",))
