"""The third stage: measure, judge, prove the audit by its controls, and give the standings."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.anchors import kept_anchors
from judge_audit.audits.control_proof import control_row, smallest_shown
from judge_audit.audits.plugins import find_checks, find_uses, part_digests
from judge_audit.audits.session import answers_of, responses
from judge_audit.audits.stages.canaries import keep_to
from judge_audit.audits.stages.comparisons import comparing, heard_from, pair_controls, strength_rows
from judge_audit.audits.stages.control_sample import only_shown, shown_to_controls
from judge_audit.audits.stages.findings_cache import Memory
from judge_audit.audits.stages.history import remember
from judge_audit.audits.stages.plan import audit_row, combined_plans
from judge_audit.checks.evidence import Evidence, Findings
from judge_audit.checks.ladders.purity import measure_purity
from judge_audit.core.digests import canonical_json
from judge_audit.core.limits import read_limits
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL
from judge_audit.decisions.standings import stand
from judge_audit.inputs.ingest.items import instrument
from judge_audit.judges.controls.pairwise_control import PairedJudge
from judge_audit.judges.controls.pixel_control import SeeingJudge
from judge_audit.judges.controls.recipe_control import PlantedJudge
from judge_audit.judges.instruments.covariates import covariate_table

if TYPE_CHECKING:
    from judge_audit.audits.model import Prepared
    from judge_audit.audits.plugins import Part
    from judge_audit.audits.session import Answered, Session
    from judge_audit.checks.check import Check
    from judge_audit.judges.cards.card import Card


PAIR_COLUMNS = ["pair_id", "kind", "source", "cluster", "constructed", "intact", "damaged", "rung", "hold"]
"""What checks see of a pair; who built it how is no evidence."""


@dataclass(frozen=True, slots=True)
class _Looking:
    """What every judge of an audit is looked at with: the pictures' statistics, what was found before, the checks."""

    covariates: pa.Table
    memory: Memory
    checks: tuple[Part[Check], ...]


def check(current: Session, prepared: Prepared) -> None:
    """Measure and judge the judge and every control, prove the audit by them, and give the standings."""
    keep_to(current, prepared.canaries)
    cards = (current.ruler.card, current.surveyor.card, instrument())
    instruments = [responses(current, prepared.plan_id, card.judge_id) for card in cards]
    pairs = current.plan_table("mismatches", prepared.plan_id).to_pylist()
    damaged = {row["damaged"] for row in pairs} - {row["intact"] for row in pairs}
    items = current.items_of(prepared.plan_id).to_pylist()
    items = [item for item in items if item["item_id"] not in damaged]
    covariates = covariate_table(items, (row for held in instruments for row in _first(held)))
    memory = Memory.of(
        current.lake.storage.beside, prepared.judge_id, canonical_json(part_digests(current.configuration))
    )
    looking = _Looking(covariates, memory, tuple(find_checks(current.configuration.project).values()))
    findings, verdicts = _examine(current, prepared, current.judge.card, looking)
    zoned = {
        row["axis"]
        for row in current.zones(prepared.plan_id, prepared.zones_id).to_pylist()
        if row["perceptible_low"] is not None
    }
    controls = _controls(current, prepared)
    answers = answers_of(current, [control.card.judge_id for control in controls])
    for control in controls:
        own = answers[control.card.judge_id]
        found, told = _examine(current, prepared, control.card, looking, control=control, answers=own)
        proof = control_row(prepared.audit_id, control.card.judge_id, control.control, told)
        findings += found + Findings(verdicts=(proof,))
    claims = max(1, 4 * len(zoned & set(current.axes)))
    limit = "premature.preference" if comparing(current) else "premature.margin"
    margin = read_limits(current.configuration.limits)[limit]
    findings += Findings(measures=tuple(smallest_shown(findings.measures, margin, claims)))
    findings += _purity(current, prepared, instruments[0], memory)
    memory.keep()
    uses = [part.thing for part in find_uses(current.configuration.project).values()]
    held = {"audit_id": prepared.audit_id, "judge_id": prepared.judge_id}
    standings = [held | row for row in stand(uses, verdicts, current.configuration.context)]
    current.lake.commit(
        {
            "curves": from_rows("curves", findings.curves),
            "measures": from_rows("measures", findings.measures),
            "verdicts": from_rows("verdicts", findings.verdicts),
            "standings": from_rows("standings", standings),
        }
    )
    current.lake.commit({"audits": audit_row(current, prepared, "complete")})
    remember(current.lake, prepared.audit_id)


def _controls(current: Session, prepared: Prepared) -> list[PlantedJudge | SeeingJudge | PairedJudge]:
    """Give the controls that were asked beside the judge."""
    if comparing(current):
        return list(pair_controls(current, prepared.zones_id))
    return [*current.controls(prepared.zones_id), *current.seeing]


def _first(held: pa.Table) -> list[dict[str, Any]]:
    """Give the responses to the first asking of untouched items."""
    chosen = pc.and_(pc.equal(held["axis"], ORIGINAL), pc.equal(held["repeat"], 0))
    return held.filter(chosen).to_pylist()  # type: ignore[no-any-return]


def _purity(current: Session, prepared: Prepared, ruled: pa.Table, memory: Memory) -> Findings:
    """Measure what every rung of every axis moved, or remember it."""
    key = memory.key({"ruled": ruled}, {"purity": sorted(current.axes)})
    found = memory.recall(key, prepared.audit_id)
    if found is None:
        found = measure_purity(prepared.audit_id, ruled.to_pylist(), current.axes)
        memory.learn(key, found)
    return found


def _measured(covariates: pa.Table) -> bool:
    """Tell whether anybody has measured any surface statistic."""
    return any(
        covariates[name].null_count < covariates.num_rows
        for name in covariates.column_names
        if name != "item_id"
    )


def _examine(
    current: Session,
    prepared: Prepared,
    card: Card,
    looking: _Looking,
    *,
    control: PlantedJudge | SeeingJudge | PairedJudge | None = None,
    answers: Answered | None = None,
) -> tuple[Findings, list[dict[str, Any]]]:
    """Run every check on one judge; a control is held against labels made of its own hidden qualities."""
    combined = combined_plans(prepared, card.judge_id)
    compared = heard_from(current, prepared.plan_id, card.judge_id) if card.compares else None
    if compared is not None:
        given = compared.responses
        rows = strength_rows(compared, prepared.audit_id, card.judge_id, is_control=control is not None)
        current.lake.commit({"strengths": from_rows("strengths", rows)})
    else:
        given = responses(current, prepared.plan_id, card.judge_id, *combined, answers=answers)
        if control is not None:
            given = only_shown(given, shown_to_controls(current, prepared.plan_id))
    told = current.labels(prepared.plan_id) if control is None else None
    labels = told.table if told else None
    if isinstance(control, PairedJudge) or (
        isinstance(control, PlantedJudge) and not control.control.pairs_only
    ):
        labels = pa.Table.from_pylist(control.labels(_untouched(given)))
    acts = current.acts(prepared.plan_id) if control is None else None
    evidence = Evidence(
        audit_id=prepared.audit_id,
        judge_id=card.judge_id,
        is_control=control is not None,
        card=card,
        seed=current.configuration.seed,
        responses=given,
        zones=current.zones(prepared.plan_id, prepared.zones_id),
        axes=current.axes,
        limits=read_limits(current.configuration.limits),
        covariates=looking.covariates if _measured(looking.covariates) else None,
        labels=labels,
        traffic=current.traffic,
        anchors=_anchors(current, prepared) if control is None else None,
        decisions=acts.decisions if acts else None,
        reviews=acts.reviews if acts else None,
        draws=acts.draws if acts else None,
        appeals=acts.appeals if acts else None,
        choices=acts.choices if acts else None,
        declared=current.configuration.uses,
        pairs=None if isinstance(control, SeeingJudge) else _pairs(current, prepared.plan_id),
        damaged_labels=told.damaged if told else None,
        kinds=current.kinds,
        compared=compared.compared if compared is not None else None,
    )
    key = looking.memory.key(*_told(evidence))
    found = looking.memory.recall(key, prepared.audit_id)
    if found is None:
        found = Findings()
        for part in looking.checks:
            found += Findings() if part.digest else part.thing.ask(evidence)
        looking.memory.learn(key, found)
    for part in looking.checks:
        found += part.thing.ask(evidence) if part.digest else Findings()
    return found, list(found.verdicts)


def _told(evidence: Evidence) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Give everything that the package's own checks are handed: tables, and plain values."""
    held = {entry.name: getattr(evidence, entry.name) for entry in fields(evidence) if entry.init}
    tables = {name: table for name, table in held.items() if isinstance(table, pa.Table)}
    return tables, {
        "judge_id": evidence.judge_id,
        "card": evidence.card.as_json(),
        "is_control": evidence.is_control,
        "seed": evidence.seed,
        "limits": dict(evidence.limits.values),
        "declared": evidence.declared,
        "axes": {
            name: [axis.strengths, axis.overdone, axis.recipe_version] for name, axis in evidence.axes.items()
        },
        "kinds": sorted(evidence.kinds),
    }


def _anchors(current: Session, prepared: Prepared) -> pa.Table | None:
    """Read the anchors the audit goes by, each with the item that is the same picture and prompt, if one is."""
    if prepared.anchors is None:
        return None
    held = kept_anchors(current.lake, prepared.anchors.set_id, prepared.anchors.version)
    probes = (
        current.plan_table("probes", prepared.plan_id).select(["item_id", "axis", "probe_id"]).to_pylist()
    )
    items = {row["probe_id"]: row["item_id"] for row in probes if row["axis"] == ORIGINAL}
    shown = {row["item_id"]: row["probe_id"] for row in probes if row["axis"] == ANCHOR}
    twins = [items.get(shown.get(name, "")) for name in held["item_id"].to_pylist()]
    return held.append_column("same_as", pa.array(twins, pa.string()))


def _pairs(current: Session, plan_id: str) -> pa.Table | None:
    """Give the pairs as checks see them; None if there are none."""
    planned = current.plan_table("mismatches", plan_id)
    told = planned.select(PAIR_COLUMNS).rename_columns([{"hold": "holds"}.get(n, n) for n in PAIR_COLUMNS])
    return told if told.num_rows else None


def _untouched(given: pa.Table) -> list[dict[str, Any]]:
    """Give the items that were scored untouched, once each."""
    rows = given.filter(pc.equal(given["axis"], ORIGINAL)).to_pylist()
    return list({row["item_id"]: row for row in rows}.values())
