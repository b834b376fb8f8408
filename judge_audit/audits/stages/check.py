"""The third stage: measure, judge, prove the audit by its controls, and give the standings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import AuditsRow

from judge_audit.anchors import kept_anchors
from judge_audit.audits.control_proof import control_row, smallest_shown
from judge_audit.audits.plugins import find_checks, find_uses, part_digests
from judge_audit.audits.scope import scope_of
from judge_audit.audits.stages.answers import answers_of, responses
from judge_audit.audits.stages.findings_cache import FindingsCache
from judge_audit.audits.stages.plan import audit_row
from judge_audit.audits.stages.score import instruments
from judge_audit.checks.evidence import Evidence, Findings
from judge_audit.checks.ladders.purity import measure_purity
from judge_audit.core.digests import canonical_json
from judge_audit.core.errors import AuditError
from judge_audit.core.limits import read_limits
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL
from judge_audit.decisions.judge_change.change import compare_with
from judge_audit.decisions.standings import stand
from judge_audit.inputs.ingest.items import instrument
from judge_audit.judges.controls.pairwise_control import PairedJudge
from judge_audit.judges.controls.pixel_control import SeeingJudge
from judge_audit.judges.controls.recipe_control import PlantedJudge
from judge_audit.judges.instruments.covariates import covariate_table
from judge_audit.operations.status.document import Records

if TYPE_CHECKING:
    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.model import Answered, Answers, AnyControl, PeopleRecords, Prepared, ScoringSetup
    from judge_audit.audits.plugins import Part
    from judge_audit.checks.check import Check
    from judge_audit.core.limits import Limits
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake

    Row = dict[str, Any]

PAIR_COLUMNS = ["pair_id", "kind", "source", "cluster", "constructed", "intact", "damaged", "rung", "hold"]
"""What checks see of a pair; who built it how is no evidence."""


@dataclass(frozen=True, slots=True)
class _Basis:
    """What every judge of an audit is examined by.

    Attributes:
        setup: What the audit asks with.
        prepared: The audit.
        limits: The limits in force.
        covariates: The pictures' statistics.
        traffic: The sample of real traffic, None where none was given.
        cache: What was found before.
        checks: The checks.
        strengths: What judges that compare came to, item by item, as they are examined.
    """

    setup: ScoringSetup
    prepared: Prepared
    limits: Limits
    covariates: pa.Table
    traffic: pa.Table | None
    cache: FindingsCache
    checks: tuple[Part[Check], ...]
    strengths: list[Row] = field(default_factory=list)


def check(setup: ScoringSetup, inputs: AuditInputs, people: PeopleRecords, prepared: Prepared) -> None:
    """Measure and judge the judge and every control, prove the audit by them, and give the standings.

    Args:
        setup: What the audit asks with.
        inputs: What the team gave.
        people: What people said and did.
        prepared: The audit, whose judge and controls have answered.
    """
    configuration, plans = setup.configuration, setup.plans
    basis, ruled = _basis(setup, prepared, inputs.traffic)
    findings = _examine_judge(basis, people)
    verdicts = findings.verdicts
    zones = plans.zone_rows(prepared.plan_id, prepared.zones_id)
    zoned = {row["axis"] for row in zones if row["perceptible_low"] is not None}
    controls = setup.mode.controls(setup, prepared.zones_id)
    answers = answers_of(setup.lake, [control.card.judge_id for control in controls])
    for control in controls:
        of_control = _examine_control(basis, control, answers[control.card.judge_id])
        proof = control_row(prepared.audit_id, control.card.judge_id, control.control, of_control.verdicts)
        findings += of_control + Findings(verdicts=(proof,))
    claims = max(1, 4 * len(zoned & set(setup.stimuli.axes)))
    margin = basis.limits[setup.mode.premature_margin]
    findings += Findings(measures=tuple(smallest_shown(findings.measures, margin, claims)))
    findings += _purity(basis, ruled)
    basis.cache.save()
    uses = [part.thing for part in find_uses(configuration.project).values()]
    key = {"audit_id": prepared.audit_id, "judge_id": prepared.judge_id}
    complete = audit_row(setup, inputs, prepared, "complete")
    scope = scope_of(setup, prepared, rows_of(complete, AuditsRow)[0])
    standings = [key | row for row in stand(uses, verdicts, configuration.context, scope)]
    setup.lake.commit(
        {
            "curves": from_rows("curves", findings.curves),
            "measures": from_rows("measures", findings.measures),
            "verdicts": from_rows("verdicts", findings.verdicts),
            "standings": from_rows("standings", standings),
            **({"strengths": from_rows("strengths", basis.strengths)} if basis.strengths else {}),
            "audits": complete,
        },
        several=True,
    )
    compare_with_earlier(setup.lake, prepared.audit_id)


def _basis(setup: ScoringSetup, prepared: Prepared, traffic: pa.Table | None) -> tuple[_Basis, pa.Table]:
    """Lay out what judges are examined by, and give the ruler's responses."""
    plans, configuration = setup.plans, setup.configuration
    cards = (*(measuring.card for measuring in instruments()), instrument())
    measured = [responses(plans, prepared.plan_id, card.judge_id) for card in cards]
    pairs = plans.table("mismatches", prepared.plan_id)
    damaged = set(pairs["damaged"].to_pylist()) - set(pairs["intact"].to_pylist())
    items = plans.untouched_items(prepared.plan_id).to_pylist()
    items = [item for item in items if item["item_id"] not in damaged]
    basis = _Basis(
        setup,
        prepared,
        limits=read_limits(configuration.limits),
        covariates=covariate_table(items, (row for table in measured for row in _first(table))),
        traffic=traffic,
        cache=FindingsCache.of(
            setup.lake.storage.beside, prepared.judge_id, canonical_json(part_digests(configuration))
        ),
        checks=tuple(find_checks(configuration.project).values()),
    )
    return basis, measured[0]


def _first(rows: pa.Table) -> list[dict[str, Any]]:
    """Give the responses to the first asking of untouched items."""
    chosen = pc.and_(pc.equal(rows["axis"], ORIGINAL), pc.equal(rows["repeat"], 0))
    return rows.filter(chosen).to_pylist()  # type: ignore[no-any-return]


def _purity(basis: _Basis, ruled: pa.Table) -> Findings:
    """Measure what every rung of every axis moved, or take it from the cache."""
    axes, audit_id = basis.setup.stimuli.axes, basis.prepared.audit_id
    key = basis.cache.key({"ruled": ruled}, {"purity": sorted(axes)})
    findings = basis.cache.get(key, audit_id)
    if findings is None:
        findings = measure_purity(audit_id, ruled.to_pylist(), axes)
        basis.cache.put(key, findings)
    return findings


def _examine_judge(basis: _Basis, people: PeopleRecords) -> Findings:
    """Run every check on the judge, with all that people said of the items and did about its decisions."""
    setup, prepared, card = basis.setup, basis.prepared, basis.setup.judge.card
    answers = setup.mode.read_answers(setup, prepared, card, None)
    labels, acts = people.labels(prepared.plan_id), people.acts(prepared.plan_id, card.judge_id)
    evidence = replace(
        _evidence(basis, card, answers),
        labels=labels.table,
        damaged_labels=labels.damaged,
        anchors=_anchors(setup, prepared),
        decisions=acts.decisions,
        reviews=acts.reviews,
        draws=acts.draws,
        appeals=acts.appeals,
        choices=acts.choices,
        pairs=_pairs(setup, prepared.plan_id),
    )
    return _ask(basis, evidence)


def _examine_control(basis: _Basis, control: AnyControl, answered: Answered) -> Findings:
    """Run every check on a control, which is held against labels made of its own hidden qualities."""
    setup, prepared = basis.setup, basis.prepared
    answers = setup.mode.read_answers(setup, prepared, control.card, answered)
    labels = None
    if isinstance(control, PairedJudge) or (
        isinstance(control, PlantedJudge) and not control.control.pairs_only
    ):
        labels = pa.Table.from_pylist(control.labels(_untouched(answers.responses)))
    evidence = replace(
        _evidence(basis, control.card, answers, is_control=True),
        labels=labels,
        pairs=None if isinstance(control, SeeingJudge) else _pairs(setup, prepared.plan_id),
    )
    return _ask(basis, evidence)


def _evidence(basis: _Basis, card: Card, answers: Answers, *, is_control: bool = False) -> Evidence:
    """Put down what is known of any judge, and its strengths where it compares."""
    setup, prepared = basis.setup, basis.prepared
    basis.strengths.extend(dict(row) for row in answers.strengths or ())
    columns = basis.covariates.drop_columns(["item_id"]).columns
    measured = any(column.null_count < basis.covariates.num_rows for column in columns)
    return Evidence(
        audit_id=prepared.audit_id,
        judge_id=card.judge_id,
        is_control=is_control,
        card=card,
        seed=setup.configuration.seed,
        responses=answers.responses,
        zones=setup.plans.zones(prepared.plan_id, prepared.zones_id),
        axes=setup.stimuli.axes,
        limits=basis.limits,
        covariates=basis.covariates if measured else None,
        traffic=basis.traffic,
        declared=setup.configuration.uses,
        kinds=setup.stimuli.kinds,
        compared=answers.compared,
    )


def _ask(basis: _Basis, evidence: Evidence) -> Findings:
    """Run the checks: the package's own if the same evidence was not looked at before, a team's always."""
    audit_id = basis.prepared.audit_id
    key = basis.cache.key(*_cache_key(evidence))
    findings = basis.cache.get(key, audit_id)
    if findings is None:
        findings = Findings()
        for part in basis.checks:
            findings += Findings() if part.digest else part.thing.ask(evidence)
        basis.cache.put(key, findings)
    for part in basis.checks:
        findings += part.thing.ask(evidence) if part.digest else Findings()
    return findings


def _cache_key(evidence: Evidence) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Give everything that the package's own checks are handed: tables, and plain values."""
    values = {entry.name: getattr(evidence, entry.name) for entry in fields(evidence) if entry.init}
    tables = {name: value for name, value in values.items() if isinstance(value, pa.Table)}
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


def _anchors(setup: ScoringSetup, prepared: Prepared) -> pa.Table | None:
    """Read the anchors the audit goes by, each with the item that is the same picture and prompt, if one is."""
    if prepared.anchors is None:
        return None
    anchors = kept_anchors(setup.lake, prepared.anchors.set_id, prepared.anchors.version)
    probes = setup.plans.table("probes", prepared.plan_id).select(["item_id", "axis", "probe_id"]).to_pylist()
    items = {row["probe_id"]: row["item_id"] for row in probes if row["axis"] == ORIGINAL}
    shown = {row["item_id"]: row["probe_id"] for row in probes if row["axis"] == ANCHOR}
    same = [items.get(shown.get(name, "")) for name in anchors["item_id"].to_pylist()]
    return anchors.append_column("same_as", pa.array(same, pa.string()))


def _pairs(setup: ScoringSetup, plan_id: str) -> pa.Table | None:
    """Give the pairs as checks see them; None if there are none."""
    planned = setup.plans.table("mismatches", plan_id).select(PAIR_COLUMNS)
    pairs = planned.rename_columns([{"hold": "holds"}.get(name, name) for name in PAIR_COLUMNS])
    return pairs if pairs.num_rows else None


def _untouched(rows: pa.Table) -> list[dict[str, Any]]:
    """Give the items that were scored untouched, once each."""
    untouched = rows.filter(pc.equal(rows["axis"], ORIGINAL)).to_pylist()
    return list({row["item_id"]: row for row in untouched}.values())


def compare_with_earlier(lake: Lake, audit_id: str) -> None:
    """Compare the order of the anchors with that of the night before and of the judge approved then.

    The same judge has the same order, and without anchors there is none: then nothing is written. What cannot be
    compared any more, because answers are gone, is left unknown.

    Args:
        lake: The lake.
        audit_id: A complete audit.
    """
    row = rows_of(lake.read("audits", audit_id=audit_id, status="complete"), AuditsRow)[0]
    if row["anchor_set"] is None:
        return
    for other in earlier(lake, row):
        try:
            compare_with(lake, row, [other])
        except AuditError:
            continue


def earlier(lake: Lake, row: AuditsRow) -> list[AuditsRow]:
    """Find what view `nights` calls before and approved, from the few files that know: a lake may hold thousands.

    Args:
        lake: The lake.
        row: A complete audit's row of `audits`.

    Returns:
        Rows of `audits`, each once.
    """
    ended = row["ended_at"]
    assert ended is not None
    status = Records(lake, ended)
    name, place = status.name_of(row["judge_id"]), (ended, row["audit_id"])
    others: dict[str, AuditsRow] = {}
    for read in ("recent_audits", "all_audits"):  # all of them only where the latest do not tell
        audits: list[AuditsRow] = getattr(status, read)
        of_name = (audit for audit in audits if status.name_of(audit["judge_id"]) == name)
        if own := [audit for audit in of_name if (audit["ended_at"], audit["audit_id"]) < place]:
            others[own[-1]["audit_id"]] = own[-1]
            break
    for approval in status.approvals:
        if status.name_of(approval["judge_id"]) == name and approval["approved_at"] <= ended:
            others |= {audit["audit_id"]: audit for audit in status.audits([approval["audit_id"]])}
            break
    others.pop(row["audit_id"], None)
    return list(others.values())
