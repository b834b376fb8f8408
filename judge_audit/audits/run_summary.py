"""What a run came to, as values; the lines that a person reads are made of them at the very end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.audits.stages.budget import budget_of, estimate
from judge_audit.audits.stages.canaries import canaries_due
from judge_audit.audits.stages.combinations import chosen_at_most
from judge_audit.audits.stages.score import pace
from judge_audit.core.messages import say
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.audits.context import AuditContext
    from judge_audit.audits.model import Prepared
    from judge_audit.audits.pipeline import CompletedAudit
    from judge_audit.audits.stages.budget import Estimate
    from judge_audit.audits.stages.gate import Gated

SHORTEST = 0.1
"""Minutes below which a dry run speaks of seconds."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit came to.

    Attributes:
        audit_id: The run.
        position: The highest step the judge holds today.
        report_path: Path of the report.
        new_calls: Answers bought.
        reused_calls: Answers that were in the lake already.
        canaries: What the canaries of a judge whose weights are not pinned showed, and of which order they moved.
        failures: What failed outside the checklists: what it is about, and the reason.
        warnings: What a person should know before trusting the figures.
        lake: Where the results are.
        questions: Queries that the lake answers, to begin with.
        document: The report's content, for programs.
    """

    audit_id: str
    position: str
    report_path: str
    new_calls: int
    reused_calls: int
    canaries: tuple[str, ...]
    failures: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    lake: str
    questions: tuple[str, ...]
    document: dict[str, Any]

    @property
    def state_message(self) -> str:
        """What it came to, as the message of a run's last state."""
        return message(self.position, self.canaries)

    @property
    def lines(self) -> list[str]:
        """The same for a person: the position first, then what failed, then how to go on."""
        return [
            *_standing(self),
            *(f"{about}: {reason}" for about, reason in self.failures),
            *_notes(self.warnings),
            f"{self.new_calls:,} new answers from the judge, {self.reused_calls:,} taken from the lake.",
            "Ask the lake:",
            *(f'  judge-audit lake sql --lake "{self.lake}" "{question}"' for question in self.questions),
            f"Report: {self.report_path}",
        ]


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """What a release came to.

    Attributes:
        audit: The candidate's audit.
        gated: What the gate said.
    """

    audit: AuditResult
    gated: Gated

    @property
    def code(self) -> int:
        """The gate's exit code."""
        return self.gated.code

    @property
    def document(self) -> dict[str, Any]:
        """The report's content and the gate's answer, for programs."""
        return {"report": self.audit.document, "gate": self.gated.document}

    @property
    def state_message(self) -> str:
        """What it came to, as the message of a run's last state."""
        return message(self.audit.position, self.audit.canaries, self.gated.lines)

    @property
    def lines(self) -> list[str]:
        """The same for a person."""
        return [*_standing(self.audit), f"Report: {self.audit.report_path}", *self.gated.lines]


@dataclass(frozen=True, slots=True)
class DryRun:
    """What an audit would ask.

    Attributes:
        document: The figures, for programs.
        unit: What is planned, in a word.
        costs: What it would cost.
        asks_anchors: Whether the judge is asked about the anchors.
    """

    document: dict[str, Any]
    unit: str
    costs: Estimate
    asks_anchors: bool = True

    @property
    def lines(self) -> list[str]:
        """What would be asked, for a person."""
        figures, costs = self.document, self.costs
        rungs, anchors = figures["rungs_per_ladder_item"], figures["anchors"]
        sample, looks, built = figures["sight_items"], figures["sight_probes"], figures["pairs_built"]
        more, tried = figures["chosen_calls_at_most"], figures["tried_calls"]
        minutes = figures["expected_minutes"]
        canaries = say("canaries.report.plan", n=figures["canaries"], calls=figures["canary_calls"])
        wait = f"About {minutes:.1f} minutes" if minutes >= SHORTEST else "A few seconds"
        kept = f"; {tried} untouched pictures were tried, their answers are kept" if tried else ""
        by_hand = figures["pairs"] - built
        probes = (
            f"{figures['probes']:,} {self.unit}: {figures['new_calls']:,} calls to the judge, "
            f"{figures['reused_calls']:,} answers are in the lake already."
        )
        lines = [
            (f"{figures['items']} items, {len(figures['axes'])} ladders with {rungs} rungs together.", True),
            (f"{anchors} anchors are asked before anything else.", self.asks_anchors and anchors),
            (canaries, figures["canaries"]),
            (
                f"{sample} of the items are shown {looks} times more, to find out what the judge can see.",
                sample,
            ),
            (
                f"{figures['pairs']} deliberate mismatches: {built} built by rule, {by_hand} made by hand.",
                True,
            ),
            (probes, True),
            (f"Up to {more:,} more follow: combined changes, chosen by these answers.", more),
            (f"{wait} at {1000 * figures['seconds_per_call']:.1f} ms a call, one at a time{kept}.", True),
            (costs.line, costs.cost is not None),
        ]
        return [*(line for line, applies in lines if applies), *_notes(figures["warnings"])]


@dataclass(frozen=True, slots=True)
class TableContents:
    """What the lake holds of a table of scores, of which nothing would be asked."""

    document: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        """The same for a person."""
        figures = self.document
        sources, answers = figures["sources"], figures["reused_calls"]
        return [
            f"{figures['items']:,} items from {sources} sources, {answers:,} answers to them.",
            f"{figures['labels']:,} labels of people on these items. Nothing is asked; it takes seconds.",
            *_notes(figures["warnings"]),
        ]


def result_of(context: AuditContext, audit: CompletedAudit) -> AuditResult:
    """Say what an audit came to."""
    prepared, outcome = audit.prepared, audit.outcome
    document, canaries = outcome.document, prepared.canaries
    order = (document["canaries"] or {"order": []})["order"]
    comparisons = (document["comparisons"] or {"failed": ()})["failed"]
    sight = [row["reason"] for row in document["sight"]["answers"] if row["verdict"] == "fail"]
    matrices = (document["dimensions"] or {"matrices": ()})["matrices"]
    pairs = [row["reason"] for matrix in matrices for row in matrix["verdicts"] if row["verdict"] == "fail"]
    return AuditResult(
        audit_id=prepared.audit_id,
        position=outcome.position,
        report_path=outcome.report,
        new_calls=audit.bought,
        reused_calls=prepared.reused_calls,
        canaries=(*canaries.lines, *order) if canaries is not None else (),
        failures=(
            *(("Comparisons", reason) for reason in comparisons),
            *(("Sight", reason) for reason in sight),
            *(("Pairs", reason) for reason in pairs),
        ),
        warnings=prepared.warnings,
        lake=context.configuration.lake,
        questions=context.mode.questions(context.configuration),
        document=document,
    )


def dry_run_of(context: AuditContext, prepared: Prepared) -> DryRun | TableContents:
    """Say what a planned audit would ask, and time the judge; what it answers to that is kept."""
    if not context.mode.asks_judge:
        items = context.plans.untouched_items(prepared.plan_id)
        return TableContents(
            {
                "items": items.num_rows,
                "sources": len(set(items["source"].to_pylist())),
                "new_calls": 0,
                "reused_calls": prepared.reused_calls,
                "labels": context.people.labels(prepared.plan_id).table.num_rows,
                "warnings": list(prepared.warnings),
            }
        )
    setup, plans = context.setup(prepared), context.plans
    seconds, tried = pace(setup, prepared)
    costs = estimate(setup, prepared)
    if (budget := budget_of(setup, prepared.audit_id)) is not None:
        budget.remove()
    probes = plans.table("probes", prepared.plan_id).select(["item_id", "axis"]).to_pylist()
    sight = [row["item_id"] for row in probes if row["axis"] in SIGHT]
    canaries, canary_calls = canaries_due(setup, prepared)
    pairs = plans.mismatches(prepared.plan_id)
    axes, anchors = setup.stimuli.axes, context.inputs.anchors
    document = {
        "items": plans.untouched_items(prepared.plan_id).num_rows,
        "anchors": len(anchors.ever()) if anchors else 0,
        "axes": sorted(axes),
        "rungs_per_ladder_item": sum(len(axis.strengths) for axis in axes.values()),
        "sight_items": len(set(sight)),
        "sight_probes": len(sight),
        "pairs": len(pairs),
        "pairs_built": sum(row["constructed"] for row in pairs),
        "unsuited": plans.table("unsuited", prepared.plan_id).num_rows,
        "probes": prepared.new_calls + prepared.reused_calls,
        "new_calls": prepared.new_calls,
        "reused_calls": prepared.reused_calls,
        "chosen_calls_at_most": chosen_at_most(setup, prepared),
        "canaries": canaries,
        "canary_calls": canary_calls,
        "seconds_per_call": seconds,
        "tried_calls": tried,
        "expected_minutes": prepared.new_calls * seconds / 60,
        "expected_cost": costs.cost,
        "currency": costs.currency or None,
        "warnings": list(prepared.warnings),
    }
    return DryRun(document, setup.mode.unit, costs, asks_anchors=setup.mode.asks_anchors)


def message(position: str, canaries: Sequence[str], gate: Sequence[str] = ()) -> str:
    """Say how the gate is where it was asked, the position, what canaries showed, and what keeps the gate shut."""
    return "\n".join([*gate[:1], f"Position: {position}", *_canaries(canaries), *gate[1:]])


def _standing(result: AuditResult) -> list[str]:
    return [f"Position: {result.position}", *_canaries(result.canaries)]


def _canaries(lines: Sequence[str]) -> list[str]:
    return [f"Canaries: {line}" for line in lines]


def _notes(warnings: Sequence[str]) -> list[str]:
    return [f"Note: {warning}" for warning in warnings]
