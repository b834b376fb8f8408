"""What each stage of an audit does: read tables, call the library, commit tables.

The flows and the in-process audit for notebooks call these same functions.
"""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit import __version__
from judge_audit.axes import fingerprint
from judge_audit.calling import score_block, score_control
from judge_audit.checks.evidence import Evidence, Findings
from judge_audit.covariates import covariate_table
from judge_audit.digests import canonical_json, file_digest, row_digest, text_digest
from judge_audit.errors import UsageError
from judge_audit.imports.covariates import instrument
from judge_audit.imports.planning import plan_table_audit
from judge_audit.judges.controls.planted import PlantedJudge
from judge_audit.lake.connect import connect
from judge_audit.limits import read_limits
from judge_audit.parts import find_checks, find_uses, part_digests
from judge_audit.people.zones import VERSION as ZONES_VERSION
from judge_audit.people.zones import make_zones
from judge_audit.probes import Block, blocks, make_plan
from judge_audit.purity import measure_purity
from judge_audit.report import build_report, write_report
from judge_audit.selfproof import control_row, smallest_shown
from judge_audit.session import responses
from judge_audit.sight import SIGHT
from judge_audit.standings import POSITION_ROW, stand
from judge_audit.tables import from_rows
from judge_audit.vocabulary import ORIGINAL, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from judge_audit.calling import BatchResult
    from judge_audit.judges.cards import Card
    from judge_audit.judges.controls.seeing import SeeingJudge
    from judge_audit.judges.protocol import Judge
    from judge_audit.probes import Plan
    from judge_audit.session import Session


KEYS = ["probe_id", "repeat"]
"""What names a call of a judge."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned audit, named by ids: what the later stages are handed.

    Attributes:
        audit_id: This run.
        plan_id: What it asks.
        zones_id: What people see of the ladders.
        judge_id: Whom it asks.
        blocks: The shares of work.
        new_calls: Answers still to be bought.
        reused_calls: Answers that are in the lake already.
        warnings: What a person should know before trusting the figures.
        started_at: When it began, as ISO 8601 text.
        imports: Digest of each imported file it goes by, by `import <import_id>`.
    """

    audit_id: str
    plan_id: str
    zones_id: str
    judge_id: str
    blocks: tuple[Block, ...]
    new_calls: int
    reused_calls: int
    warnings: tuple[str, ...]
    started_at: str
    imports: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an audit came to.

    Attributes:
        position: The highest step the judge holds today.
        report: Path of the report.
        document: The report's content as plain values.
    """

    position: str
    report: str
    document: dict[str, Any]


def prepare(current: Session, *, on_image: Callable[[int, int], None] | None = None) -> Prepared:
    """Read the items, plan every probe, settle the zones, and put all of it into the lake.

    Args:
        current: The session.
        on_image: Told (decoded, all) while images are read.

    Raises:
        UsageError: If the judge, the items or the readings cannot be used; names every fault.
    """
    lake = current.lake
    started = datetime.now(UTC)
    card = current.judge.card
    plan, warnings, imports = _planned(current, on_image)
    lake.commit({"items": plan.items, "refusals": plan.refusals, "probes": plan.probes})
    zones_id, notes = _settle_zones(current, plan.plan_id, plan.items, plan.ladder_items)
    instruments = (current.ruler.card, current.surveyor.card)
    planted = [control.card for control in current.controls(zones_id)]
    register(current, [card, *instruments, *planted, *(seeing.card for seeing in current.seeing)])
    new, unsettled = _unsettled(current, plan.probes)
    asked = plan.probes.select(KEYS).group_by(KEYS).aggregate([]).num_rows
    prepared = Prepared(
        audit_id=f"{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
        plan_id=plan.plan_id,
        zones_id=zones_id,
        judge_id=card.judge_id,
        blocks=tuple(block for block in blocks(plan) if unsettled.intersection(block.item_ids)),
        new_calls=new,
        reused_calls=asked - new,
        warnings=(*warnings, *notes, *current.labels(plan.plan_id).notes),
        started_at=started.isoformat(),
        imports={**imports, **current.labels(plan.plan_id).imports},
    )
    lake.commit({"audits": _audit_row(current, prepared, "started")})
    return prepared


def _planned(
    current: Session, on_image: Callable[[int, int], None] | None
) -> tuple[Plan, tuple[str, ...], dict[str, str]]:
    """Plan the audit: from the items file, or from the lake alone where the judge is a table of scores.

    Returns:
        The plan, what a person should know, and the imported files it goes by.
    """
    configuration = current.configuration
    if current.is_table:
        made = plan_table_audit(current.lake, current.judge.card)
        ignored = (IGNORED_ITEMS,) if configuration.items else ()
        return made.plan, (*ignored, *made.notes), made.imports
    read = current.items(on_image)
    plan = make_plan(
        read.items,
        read.refusals,
        current.axes,
        ladder_items=configuration.ladder_items,
        repeats=configuration.repeats,
        seed=configuration.seed,
    )
    imports = {} if configuration.readings else current.imported_readings[1]
    return plan, (*read.warnings, *_left_out(read.refusals)), imports


IGNORED_ITEMS = (
    "The judge is a table of scores: the items file was not read, the items are those of the table."
)


def _unsettled(current: Session, probes: pa.Table) -> tuple[int, set[str]]:
    """Count the judge's answers that are not in the lake, and name the items with anything left to ask.

    An answer drawn by other library versions counts as left to ask: its pixels must be compared.
    """
    items: set[str] = set()
    new = 0
    if current.is_table:
        return new, items
    for card in (current.judge.card, current.ruler.card, current.surveyor.card):
        held = current.lake.answered(card.judge_id)
        usable = pc.and_(
            pc.equal(held["renderer"], fingerprint()), pc.not_equal(held["state"], State.FAILED.value)
        )
        settled = held.filter(usable).select(KEYS)
        asked = _shown_to_instruments(probes, once=card is current.surveyor.card)
        asked = probes if card is current.judge.card else asked
        left = asked.select(["item_id", *KEYS]).join(settled, KEYS, join_type="left anti")
        items.update(left["item_id"].to_pylist())
        if card is current.judge.card:
            new = left.select(KEYS).group_by(KEYS).aggregate([]).num_rows
    return new, items


def _shown_to_instruments(probes: pa.Table, *, once: bool) -> pa.Table:
    """Keep what instruments measure: untouched items and ladders; only the first askings of the former if `once`."""
    if once:
        return probes.filter(pc.and_(pc.equal(probes["axis"], ORIGINAL), pc.equal(probes["repeat"], 0)))
    return probes.filter(pc.invert(pc.is_in(probes["axis"], value_set=pa.array(sorted(SIGHT)))))


TRIED = 3
"""Pictures by which a judge is timed that has never answered before."""


def pace(current: Session, prepared: Prepared) -> tuple[float, int]:
    """Say how long the judge takes, from its answers in the lake, else from three untouched pictures.

    Returns:
        Seconds per picture, and how many pictures were shown to find out; their answers are kept.
    """
    card = current.judge.card
    if not current.lake.answered(card.judge_id).num_rows:
        shown = [
            (item, [probe for probe in probes if _is_first(probe)])
            for item, probes in _work(current, prepared, None)[:TRIED]
        ]
        bought = _buy(current, current.judge, shown)
    else:
        bought = 0
    held = current.lake.read("calls", judge_id=card.judge_id, state=State.OK.value)["latency_ms"]
    return float(pc.approximate_median(held).as_py() or 0.0) / 1000, bought


def _left_out(refusals: Sequence[object]) -> tuple[str, ...]:
    """Say how many rows were left out."""
    return (
        (f"{len(refusals)} faulty rows of the items file were left out; they are listed in the lake.",)
        if refusals
        else ()
    )


def _settle_zones(
    current: Session, plan_id: str, items: pa.Table, ladder_items: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Settle what people see of each ladder, from readings or else from visual-difference models."""
    configuration, lake = current.configuration, current.lake
    if current.is_table:
        return text_digest("zones", plan_id, "no ladders"), ()
    readings = current.readings
    read = row_digest(readings) if readings is not None else "models"
    zones_id = text_digest("zones", ZONES_VERSION, plan_id, read, fingerprint(), str(configuration.seed))
    if readings is None and lake.read("zones", plan_id=plan_id, zones_id=zones_id).num_rows:
        return zones_id, ()
    carriers = items.filter(pc.is_in(items["item_id"], value_set=pa.array(ladder_items, pa.string())))
    made = make_zones(
        current.axes, carriers, readings, lambda row: current.pixels(row["uri"]), seed=configuration.seed
    )
    rows = [{**row, "plan_id": plan_id, "zones_id": zones_id} for row in made.table.to_pylist()]
    if rows:
        lake.commit({"zones": from_rows("zones", rows)})
    return zones_id, made.notes


def register(current: Session, cards: Sequence[Card]) -> None:
    """Put judges and their labels into the lake; one seen before costs nothing."""
    for card in cards:
        control = card.kind in {"control", "ruler"}
        judge = {"judge_id": card.judge_id, "kind": card.kind, "card": card.as_json(), "is_control": control}
        label = {"judge_id": card.judge_id, "name": card.name, "version": card.version, "is_control": control}
        current.lake.commit({"judges": from_rows("judges", [{**judge, "registered_at": datetime.now(UTC)}])})
        current.lake.commit({"judge_labels": from_rows("judge_labels", [label])})


def _audit_row(current: Session, prepared: Prepared, status: str) -> pa.Table:
    """Write down a state of the run."""
    configuration = current.configuration
    inputs = {"items": configuration.items, **part_digests(configuration), **prepared.imports}
    files = () if current.is_table else (configuration.items, configuration.readings)
    files = (*files, configuration.traffic)
    for path in filter(None, files):
        inputs[path] = file_digest(Path(path).read_bytes())
    row = {
        "audit_id": prepared.audit_id,
        "status": status,
        "judge_id": prepared.judge_id,
        "plan_id": prepared.plan_id,
        "started_at": datetime.fromisoformat(prepared.started_at),
        "ended_at": datetime.now(UTC) if status == "complete" else None,
        "code_version": __version__,
        "configuration": canonical_json({**configuration.as_json(), "zones_id": prepared.zones_id}),
        "seed": configuration.seed,
        "input_digests": canonical_json(inputs),
        "commits": [],
    }
    return from_rows("audits", [row])


def score(
    current: Session, prepared: Prepared, block: Block, *, on_probes: Callable[[int], None] | None = None
) -> int:
    """Have the judge and the ruler answer every probe of a block, the surveyor only the untouched ones.

    Each batch is committed as it comes.

    Args:
        current: The session.
        prepared: The audit.
        block: The share of work.
        on_probes: Told how many probes of the judge were settled.

    Returns:
        How many answers were bought from the judge.
    """
    if current.judge.card.judge_id != prepared.judge_id:
        raise UsageError(
            f"the judge “{current.judge.card.name}” came out as another one when it was loaded again, so it holds "
            "something that differs each time. Give it an attribute `identity`: a text that changes when it does."
        )
    work = _work(current, prepared, block)
    # The instruments need no turn of the judge's: they measure while it thinks.
    with ThreadPoolExecutor(1, thread_name_prefix="instruments") as beside:
        measured = beside.submit(_measure, current, work)
        bought = _buy(current, current.judge, work, on_probes)
        measured.result()
    return bought


def _measure(current: Session, work: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]) -> None:
    """Have the ruler answer every probe of a share of work but those of sight, the surveyor the untouched ones."""
    ruled = [(item, [probe for probe in probes if probe["axis"] not in SIGHT]) for item, probes in work]
    surveyed = [(item, [probe for probe in probes if _is_first(probe)]) for item, probes in work]
    for measuring, share in ((current.ruler, ruled), (current.surveyor, surveyed)):
        _buy(current, measuring, share)


def _buy(
    current: Session,
    judge: Judge,
    work: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]],
    on_probes: Callable[[int], None] | None = None,
) -> int:
    """Ask a judge for what is not in the lake yet, commit batch by batch, and count the answers."""
    bought = 0
    with current.turn(judge.card):
        for batch in _batches(current, judge, work):
            if batch.calls:
                _keep(current, batch.calls, batch.scores)
            bought += sum(call["state"] != State.INERT for call in batch.calls)
            if on_probes:
                on_probes(batch.probes)
    return bought


def _batches(
    current: Session,
    judge: Judge,
    work: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]],
) -> Iterator[BatchResult]:
    """Ask a judge for what is not in the lake yet."""
    held = current.lake.answered(judge.card.judge_id).to_pylist()
    return score_block(
        judge,
        work,
        axes=current.axes,
        load=lambda item: current.pixels(item["uri"]),
        answered={(row["probe_id"], row["repeat"]): row for row in held},
        mask=current.mask,
    )


def _keep(current: Session, calls: list[dict[str, Any]], scores: list[dict[str, Any]]) -> None:
    """Put answers into the lake."""
    current.lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})


def _is_first(probe: Mapping[str, Any]) -> bool:
    return bool(probe["axis"] == ORIGINAL and probe["repeat"] == 0)


def _work(
    current: Session, prepared: Prepared, block: Block | None
) -> list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Give items with their probes, in the order of the plan; those of one block, or all."""
    items = current.plan_table("items", prepared.plan_id)
    probes = current.plan_table("probes", prepared.plan_id)
    if block is not None:
        wanted = pa.array(block.item_ids, pa.string())
        items = items.filter(pc.is_in(items["item_id"], value_set=wanted))
        probes = probes.filter(pc.is_in(probes["item_id"], value_set=wanted))
    held: dict[str, list[Mapping[str, Any]]] = {item_id: [] for item_id in items["item_id"].to_pylist()}
    order = [("item_id", "ascending"), ("axis", "ascending"), ("rung", "ascending"), ("repeat", "ascending")]
    for probe in probes.sort_by(order).to_pylist():
        held[probe["item_id"]].append(probe)
    return [(item, held[item["item_id"]]) for item in items.sort_by("item_id").to_pylist()]


def _sight_work(
    current: Session, prepared: Prepared
) -> list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Give the items by which it is found out what a judge can see, with those probes and the untouched ones."""
    wanted = {ORIGINAL, *SIGHT}
    return [
        (item, [probe for probe in probes if probe["axis"] in wanted])
        for item, probes in _work(current, prepared, None)
        if any(probe["axis"] in SIGHT for probe in probes)
    ]


SHOWN_TO_CONTROLS = 2_000
"""Items of a table that the controls answer: enough to convict a scale, however long the table is."""


def score_controls(current: Session, prepared: Prepared) -> None:
    """Have every control answer: most from the recipes of probes, those that see from the pictures."""
    shown = _sight_work(current, prepared)
    for seeing in current.seeing:
        batches = list(_batches(current, seeing, shown))
        calls = [call for batch in batches for call in batch.calls]
        if calls:
            _keep(current, calls, [score for batch in batches for score in batch.scores])
    drawn = {
        (row["probe_id"], row["repeat"]): row for row in current.lake.answered(prepared.judge_id).to_pylist()
    }
    zones = current.zones(prepared.plan_id, prepared.zones_id).to_pylist()
    visible = {(row["item_id"], row["axis"]): row["perceptible_low"] for row in zones}
    work = _work(current, prepared, None)
    if current.is_table:
        work = work[:: max(1, -(-len(work) // SHOWN_TO_CONTROLS))]
    for control in current.controls(prepared.zones_id):
        known = current.lake.answered(control.card.judge_id).select(["probe_id", "repeat"]).to_pylist()
        held = {(row["probe_id"], row["repeat"]) for row in known}
        missing = {key: row for key, row in drawn.items() if key not in held}
        batch = score_control(control, work, axes=current.axes, visible=visible, drawn=missing)
        if batch.calls:
            _keep(current, batch.calls, batch.scores)


def check(current: Session, prepared: Prepared) -> None:
    """Measure and judge the judge and every control, prove the audit by them, and give the standings."""
    cards = (current.ruler.card, current.surveyor.card, instrument())
    instruments = [responses(current, prepared.plan_id, card.judge_id).to_pylist() for card in cards]
    items = current.plan_table("items", prepared.plan_id).to_pylist()
    covariates = covariate_table(items, (row for rows in instruments for row in rows if _is_first(row)))
    findings, verdicts = _examine(current, prepared, current.judge.card, covariates)
    zoned = {
        row["axis"]
        for row in current.zones(prepared.plan_id, prepared.zones_id).to_pylist()
        if row["perceptible_low"] is not None
    }
    controls: list[PlantedJudge | SeeingJudge] = [*current.controls(prepared.zones_id), *current.seeing]
    for control in controls:
        found, told = _examine(current, prepared, control.card, covariates, control=control)
        proof = control_row(prepared.audit_id, control.card.judge_id, control.control, told, zoned)
        findings += found + Findings(verdicts=(proof,))
    claims = max(1, 4 * len(zoned & set(current.axes)))
    margin = read_limits(current.configuration.limits)["premature.margin"]
    findings += Findings(measures=tuple(smallest_shown(findings.measures, margin, claims)))
    findings += measure_purity(prepared.audit_id, instruments[0], current.axes)
    uses = [part.thing for part in find_uses(current.configuration.project).values()]
    standings = [
        {**row, "audit_id": prepared.audit_id, "judge_id": prepared.judge_id} for row in stand(uses, verdicts)
    ]
    current.lake.commit(
        {
            "curves": from_rows("curves", findings.curves),
            "measures": from_rows("measures", findings.measures),
            "verdicts": from_rows("verdicts", findings.verdicts),
            "standings": from_rows("standings", standings),
        }
    )
    current.lake.commit({"audits": _audit_row(current, prepared, "complete")})


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
    covariates: pa.Table,
    *,
    control: PlantedJudge | SeeingJudge | None = None,
) -> tuple[Findings, list[dict[str, Any]]]:
    """Run every check on one judge; a control is held against labels made of its own hidden qualities."""
    given = responses(current, prepared.plan_id, card.judge_id)
    labels = current.labels(prepared.plan_id).table if control is None else None
    if isinstance(control, PlantedJudge):
        labels = pa.Table.from_pylist(control.labels(_untouched(given)))
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
        covariates=covariates if _measured(covariates) else None,
        labels=labels,
        traffic=current.traffic,
    )
    findings = Findings()
    for part in find_checks(current.configuration.project).values():
        findings += part.thing(evidence)
    return findings, list(findings.verdicts)


def _untouched(given: pa.Table) -> list[dict[str, Any]]:
    """Give the items that were scored untouched, once each."""
    rows = given.filter(pc.equal(given["axis"], ORIGINAL)).to_pylist()
    return list({row["item_id"]: row for row in rows}.values())


def report(current: Session, prepared: Prepared) -> Outcome:
    """Write the report of a complete audit."""
    items = {row["item_id"]: row for row in current.plan_table("items", prepared.plan_id).to_pylist()}
    with connect(current.lake) as connection:
        built = build_report(
            connection,
            prepared.audit_id,
            pixels=lambda item_id: current.pixels(items[item_id]["uri"]),
            axes=current.axes,
            warnings=prepared.warnings,
            masks=lambda item_id: current.mask(items[item_id]),
        )
        (position,) = connection.execute(
            "SELECT standing FROM standings WHERE audit_id = $1 AND use = $2",
            [prepared.audit_id, POSITION_ROW],
        ).fetchall()[0]
    path = write_report(built, Path(current.configuration.report or "judge-audit-report"))
    return Outcome(position, str(path), built.document)
