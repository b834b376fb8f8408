"""The audit as a Prefect flow: prepare, score block by block, controls, checks, report.

One flow, a task per block of items of one source with all their ladders and pairs. A subflow per source was tried on
paper and left out: each costs a second and sources would wait for one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit_flows.runtime.run_record import begun, done, recorded_flow
from judge_audit_flows.runtime.server import embedded_server
from judge_audit_flows.runtime.task_runners import check_runner, task_runner
from judge_audit_flows.runtime.worker_failures import server_told

from judge_audit.audits import stages
from judge_audit.audits.session import session
from judge_audit.core.messages import say
from judge_audit.operations.runs import RUN
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from judge_audit.audits.session import Session
    from judge_audit.core.configuration import Configuration
    from judge_audit.core.progress import Progress
    from judge_audit.operations.runs import Run


MISMATCHES_FLOW = "mismatches_flow"

SHORTEST = 0.1
"""Minutes below which a dry run speaks of seconds."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What a run came to.

    Attributes:
        audit_id: The run; empty for a dry run.
        position: The highest step the judge holds today.
        report_path: Path of the report.
        new_calls: Answers bought.
        reused_calls: Answers that were in the lake already.
        lines: What to print.
        document: The same for programs.
    """

    audit_id: str
    position: str
    report_path: str
    new_calls: int
    reused_calls: int
    lines: list[str]
    document: dict[str, Any]


def run_audit(configuration: Configuration, progress: Progress, *, dry_run: bool = False) -> AuditResult:
    """Audit a judge through Prefect, starting a server for the time being where none is configured.

    Args:
        configuration: What to do.
        progress: Where progress is shown.
        dry_run: Plan and say what would be asked; a judge never timed before is shown three pictures.

    Raises:
        AuditError: With a plain message, when the audit cannot be made.
    """
    if dry_run:
        return _dry(configuration, progress)
    with recorded_flow(configuration, RUN, progress) as run:
        current = ready(configuration, progress)
        begun(run, current)
        name = MISMATCHES_FLOW if configuration.only else "audit_flow"
        if current.is_table:
            prepared, bought, told = from_tables(current, progress)
        else:
            prepared, bought, told = through_prefect(configuration, progress, name, run=run)
        done(run, prepared)
    return result_of(configuration, prepared, bought, told)


def ready(configuration: Configuration, progress: Progress) -> Session:
    """Read everything an audit goes by: faulty input is told before a server is started for it."""
    check_runner(configuration)
    current = session(configuration)
    _ = current.judge, current.axes, current.purse("")
    if not current.is_table:
        progress.stage("reading pictures")
        current.items(progress.at)
        _ = current.readings, current.traffic, current.anchors
    return current


def through_prefect(
    configuration: Configuration,
    progress: Progress,
    name: str,
    *arguments: str | None,
    run: Run | None = None,
) -> Any:  # noqa: ANN401 - what the flow returns
    """Run a flow, with a server for the time being where none is configured.

    Args:
        configuration: What to do.
        progress: Where progress is shown.
        name: The flow.
        arguments: What it takes after the configuration.
        run: The record that keeps the flow run's id.
    """
    progress.stage("starting")
    local = "://" not in configuration.lake
    with embedded_server(Path(configuration.lake) / "prefect" if local else None):
        flow = _flow(name).with_options(task_runner=task_runner(configuration))
        with server_told():
            state = flow(configuration.as_json(), *arguments, return_state=True)
            outcome = state.result(raise_on_failure=False)
    if run is not None and run.flow_run is None and state.state_details.flow_run_id:
        run.flow_run = str(state.state_details.flow_run_id)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def from_tables(current: Session, progress: Progress) -> tuple[stages.Prepared, int, stages.Outcome]:
    """Audit imported scores: seconds of reading and measuring, for which no server is started."""
    progress.stage("planning")
    prepared = stages.prepare(current)
    progress.stage("asking the controls")
    stages.score_controls(current, prepared)
    progress.stage("measuring")
    stages.check(current, prepared)
    progress.stage("writing the report")
    return prepared, 0, stages.report(current, prepared)


def result_of(
    configuration: Configuration, prepared: stages.Prepared, bought: int, told: stages.Outcome
) -> AuditResult:
    """Say what a run came to."""
    return AuditResult(
        audit_id=prepared.audit_id,
        position=told.position,
        report_path=told.report,
        new_calls=bought,
        reused_calls=prepared.reused_calls,
        lines=closing_lines(configuration, prepared, bought, told),
        document=told.document,
    )


def _flow(name: str) -> Any:  # noqa: ANN401 - Prefect's flows are generic in their parameters
    """Give a flow by name; Prefect reads its settings once, when it is first imported."""
    from judge_audit_flows import mismatches, pipeline  # noqa: PLC0415

    return getattr(mismatches if name == MISMATCHES_FLOW else pipeline, name)


def closing_lines(
    configuration: Configuration, prepared: stages.Prepared, bought: int, told: stages.Outcome
) -> list[str]:
    """Write the last lines of a run: the position first, then how to go on."""
    lying_here = configuration.items == "" and bool(prepared.imports)
    questions: tuple[str, ...] = (
        ("SELECT * FROM percentiles LIMIT 20", "SELECT * FROM scale_summary")
        if lying_here
        else ("SELECT * FROM response_matrix", "SELECT * FROM unsuited")
        if configuration.only
        else (
            "SELECT * FROM comparisons_by_position",
            "SELECT * FROM pairwise_ranks LIMIT 20",
            'SELECT axis, \\"check\\", verdict, finding, value, ci_low, ci_high FROM covariate_verdicts',
        )
        if told.document["comparisons"]
        else (
            'SELECT axis, \\"check\\", verdict, finding, value, ci_low, ci_high FROM covariate_verdicts',
            "SELECT * FROM percentiles LIMIT 20",
            "SELECT * FROM worst_movers LIMIT 10",
        )
    )
    return [
        f"Position: {told.position}",
        *(f"Canaries: {line}" for line in canary_lines(prepared, told)),
        *(f"Comparisons: {reason}" for reason in (told.document["comparisons"] or {"failed": ()})["failed"]),
        *(f"Sight: {row['reason']}" for row in told.document["sight"]["answers"] if row["verdict"] == "fail"),
        *(
            f"Pairs: {row['reason']}"
            for matrix in (told.document["dimensions"] or {"matrices": ()})["matrices"]
            for row in matrix["verdicts"]
            if row["verdict"] == "fail"
        ),
        *(f"Note: {warning}" for warning in prepared.warnings),
        f"{bought:,} new answers from the judge, {prepared.reused_calls:,} taken from the lake.",
        "Ask the lake:",
        *(f'  judge-audit lake sql --lake "{configuration.lake}" "{question}"' for question in questions),
        f"Report: {told.report}",
    ]


def canary_lines(prepared: stages.Prepared, told: stages.Outcome) -> list[str]:
    """Say what the canaries of a judge whose weights are not pinned showed, and where they moved, of which order."""
    if prepared.canaries is None:
        return []
    held = told.document["canaries"] or {"order": []}
    return [*prepared.canaries.lines, *held["order"]]


def _dry_table(current: Session, prepared: stages.Prepared) -> AuditResult:
    """Say what lies in the lake: nothing would be asked."""
    items = current.items_of(prepared.plan_id)
    labels = current.labels(prepared.plan_id).table
    document = {
        "items": items.num_rows,
        "sources": len(set(items["source"].to_pylist())),
        "new_calls": 0,
        "reused_calls": prepared.reused_calls,
        "labels": labels.num_rows,
        "warnings": list(prepared.warnings),
    }
    lines = [
        f"{document['items']:,} items from {document['sources']} sources, {prepared.reused_calls:,} answers to them.",
        f"{document['labels']:,} labels of people on these items. Nothing is asked; it takes seconds.",
        *(f"Note: {warning}" for warning in prepared.warnings),
    ]
    return AuditResult("", "", "", 0, prepared.reused_calls, lines, document)


def _dry(configuration: Configuration, progress: Progress) -> AuditResult:
    """Plan and time the judge; what was planned and answered stays in the lake and costs nothing later."""
    current = session(configuration)
    progress.stage("reading pictures")
    prepared = stages.prepare(current, on_image=progress.at, dry=True)
    if current.is_table:
        return _dry_table(current, prepared)
    seconds, tried = stages.pace(current, prepared)
    costs = stages.estimate(current, prepared)
    if (purse := current.purse(prepared.audit_id)) is not None:
        purse.remove()
    tried_words = f"; {tried} untouched pictures were tried, their answers are kept" if tried else ""
    ladders = sum(len(axis.strengths) for axis in current.axes.values())
    probes = current.plan_table("probes", prepared.plan_id)
    looked_at = [row for row in probes.select(["item_id", "axis"]).to_pylist() if row["axis"] in SIGHT]
    sample = len({row["item_id"] for row in looked_at})
    minutes = prepared.new_calls * seconds / 60
    wait = f"About {minutes:.1f} minutes" if minutes >= SHORTEST else "A few seconds"
    more = stages.chosen_at_most(current, prepared)
    compares = current.judge.card.compares
    anchors = len(current.anchors.ever()) if current.anchors else 0
    canaries, canary_calls = stages.canaries_due(current, prepared)
    pairs = current.plan_table("mismatches", prepared.plan_id).to_pylist()
    built = sum(row["constructed"] for row in pairs)
    unsuited = current.plan_table("unsuited", prepared.plan_id).num_rows
    document = {
        "items": current.items_of(prepared.plan_id).num_rows,
        "anchors": anchors,
        "axes": sorted(current.axes),
        "rungs_per_ladder_item": ladders,
        "sight_items": sample,
        "sight_probes": len(looked_at),
        "pairs": len(pairs),
        "pairs_built": built,
        "unsuited": unsuited,
        "probes": prepared.new_calls + prepared.reused_calls,
        "new_calls": prepared.new_calls,
        "reused_calls": prepared.reused_calls,
        "chosen_calls_at_most": more,
        "canaries": canaries,
        "canary_calls": canary_calls,
        "seconds_per_call": seconds,
        "tried_calls": tried,
        "expected_minutes": minutes,
        "expected_cost": costs.cost,
        "currency": costs.currency or None,
        "warnings": list(prepared.warnings),
    }
    lines = [
        f"{document['items']} items, {len(current.axes)} ladders with {ladders} rungs together.",
        *([] if compares or not anchors else [f"{anchors} anchors are asked before anything else."]),
        *([say("canaries.report.plan", n=canaries, calls=canary_calls)] if canaries else []),
        *(
            [
                f"{sample} of the items are shown {len(looked_at)} times more, to find out what the judge can see."
            ]
            if sample
            else []
        ),
        f"{len(pairs)} deliberate mismatches: {built} built by rule, {len(pairs) - built} made by hand.",
        (
            f"{document['probes']:,} {'comparisons' if compares else 'probes'}: "
            f"{prepared.new_calls:,} calls to the judge, "
            f"{prepared.reused_calls:,} answers are in the lake already."
        ),
        *([f"Up to {more:,} more follow: combined changes, chosen by these answers."] if more else []),
        f"{wait} at {1000 * seconds:.1f} ms a call, one at a time{tried_words}.",
        *([costs.line] if costs.cost is not None else []),
        *(f"Note: {warning}" for warning in prepared.warnings),
    ]
    return AuditResult("", "", "", 0, prepared.reused_calls, lines, document)
