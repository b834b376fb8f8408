"""Agreement of people with people: the ceiling that any judge stands under.

Figures do not depend on the judge: they carry the subject `people`, and are left to the audited judge's own
run, so that controls do not repeat them. Where disagreement concentrates is shown, never judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.checks.check import Check, Needs
from judge_audit.checks.evidence import Findings
from judge_audit.checks.people.agreement_figures import (
    NAME,
    agreement_cells,
    cell_rows,
    concentration_rows,
    dimension_rows,
)
from judge_audit.checks.people.people_faults import (
    beyond_verdicts,
    constant_verdicts,
    copy_verdicts,
    missing_rows,
    reversed_verdicts,
    undefined_verdicts,
    unnamed_verdict,
)
from judge_audit.checks.people.people_labels import gather
from judge_audit.checks.people.people_raters import (
    ceiling_rows,
    common_pairs,
    kappa_rows,
    likeness_rows,
    likenesses,
    others_figures,
    others_rows,
    sort_copies,
)
from judge_audit.core.vocabulary import WITHIN
from judge_audit.measures.raters import PEARSON, SPEARMAN

if TYPE_CHECKING:
    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.people.agreement_figures import Shown
    from judge_audit.checks.people.people_labels import Labelled

__all__ = ["NAME", "run"]


def run(evidence: Evidence) -> Findings:
    """Measure how far people agree, dimension by dimension; nothing if nobody has labelled."""
    if evidence.is_control or evidence.labels is None or not evidence.labels.num_rows:
        return Findings()
    findings = Findings()
    wholes: dict[str, Shown] = {}
    for labelled in gather(evidence.labels):
        cells = agreement_cells(labelled)
        for place, figures in cells:
            shown = figures.get(("alpha", labelled.level))
            if place == {"source": WITHIN} and shown is not None:
                wholes[labelled.dimension] = shown
        missing, unequal = missing_rows(evidence, labelled)
        findings += Findings(
            measures=(
                *cell_rows(evidence, labelled.dimension, cells),
                *concentration_rows(evidence, labelled),
                *missing,
            ),
            verdicts=(
                *undefined_verdicts(evidence, labelled, cells),
                *unnamed_verdict(evidence, labelled),
                *beyond_verdicts(evidence, labelled),
                *constant_verdicts(evidence, labelled),
                *unequal,
            ),
        )
        findings += _raters(evidence, labelled)
    return findings + Findings(measures=tuple(dimension_rows(evidence, wholes)))


def _raters(evidence: Evidence, labelled: Labelled) -> Findings:
    """Measure what needs to know who said what."""
    pairs = common_pairs(labelled.named, int(evidence.limits["agreement.min_common"]))
    limit = evidence.limits["agreement.copy_lead"]
    many = common_pairs(labelled.named, int(evidence.limits["agreement.copy_common"]))
    found = likenesses(labelled, many, limit)
    copies = sort_copies(found, limit)
    measures = [*kappa_rows(evidence, labelled, pairs), *likeness_rows(evidence, labelled, found)]
    verdicts = copy_verdicts(evidence, labelled, copies) if labelled.raters else []
    if labelled.ordered and len(labelled.raters) > 1:
        named = [part.pair for part in (*copies.named, *copies.suspected)]
        figures = {kind: others_figures(labelled, labelled.named, kind) for kind in (SPEARMAN, PEARSON)}
        measures += others_rows(evidence, labelled, figures)
        measures += ceiling_rows(evidence, labelled, figures, named)
        verdicts += reversed_verdicts(evidence, labelled, figures[SPEARMAN])
    return Findings(measures=tuple(measures), verdicts=tuple(verdicts))


CHECK = Check(NAME, run, needs=Needs.ANY)
