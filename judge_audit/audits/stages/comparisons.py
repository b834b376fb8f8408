"""The stages of an audit whose judge compares two pictures: what is planned, asking it, its controls, its answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from judge_audit.checks.pairwise.answers import heard
from judge_audit.core.errors import UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import PAIR_AXIS, State
from judge_audit.judges.calling.comparison_calls import Easel, compare_block, row_of, settled
from judge_audit.judges.calling.score_calls import recipe_of
from judge_audit.judges.controls import comparing_controls
from judge_audit.judges.pairwise.protocol import ComparingJudge, Preference
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.planning.comparisons import ComparisonPlan, plan_comparisons
from judge_audit.stimuli.rendering import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judge_audit.audits.session import Session
    from judge_audit.checks.pairwise.answers import Heard
    from judge_audit.judges.calling.budget import Purse
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.controls.pairwise_control import PairedJudge
    from judge_audit.judges.protocol import Recipe
    from judge_audit.stimuli.planning.blocks import Block
    from judge_audit.stimuli.planning.comparisons import Asked, Key

    Row = Mapping[str, Any]

_plans: WeakKeyDictionary[Session, dict[str, ComparisonPlan]] = WeakKeyDictionary()


def comparing(current: Session) -> bool:
    """Tell whether the judge under audit compares two pictures.

    Raises:
        UsageError: If its card says so and it has no method for it.
    """
    judge = current.judge
    if judge.card.compares and not isinstance(judge, ComparingJudge):
        raise UsageError(
            f"the card of “{judge.card.name}” says compares: true, which judges of kind {judge.card.kind} do not do."
        )
    return judge.card.compares


def comparison_plan(current: Session, plan_id: str) -> ComparisonPlan:
    """List what the judge is asked to compare by a plan in the lake; made once per process."""
    held = _plans.setdefault(current, {})
    if plan_id not in held:
        held[plan_id] = plan_comparisons(
            current.plan_table("items", plan_id).to_pylist(),
            current.plan_table("probes", plan_id).to_pylist(),
            current.plan_table("mismatches", plan_id).to_pylist(),
            repeats=current.configuration.repeats,
            seed=current.configuration.seed,
            most_pairs=current.configuration.candidate_pairs,
        )
    return held[plan_id]


def outstanding(current: Session, plan_id: str) -> tuple[int, Counter[str], Counter[str]]:
    """Say what is left to ask.

    Returns:
        How many comparisons are not in the lake; how many are planned by the item that they begin with; and how
        many of those are left.
    """
    answers, renderer = answers_of(current, current.judge.card.judge_id), fingerprint()
    plan = comparison_plan(current, plan_id)
    left = {asked.key: asked for asked in plan.asked if not settled(answers.get(asked.key), renderer)}
    waiting = Counter(str(asked.first["item_id"]) for asked in left.values())
    begun = {asked.key: str(asked.first["item_id"]) for asked in plan.asked}
    return len(left), Counter(begun.values()), waiting


def plan_notes(current: Session, plan_id: str) -> tuple[str, ...]:
    """Say what limits the comparisons."""
    plan = comparison_plan(current, plan_id)
    notes = []
    if not plan.groups:
        notes.append(say("compared.notes.no_groups"))
    if plan.left_out:
        notes.append(say("compared.notes.left_out", kept=len(plan.groups), left=plan.left_out))
    if current.anchors:
        notes.append(say("compared.notes.anchors"))
    return tuple(notes)


def answers_of(current: Session, judge_id: str) -> dict[Key, Row]:
    """Read what a judge answered so far."""
    rows = current.lake.read("comparisons", judge_id=judge_id).to_pylist()
    return {(row["left_probe"], row["right_probe"], row["repeat"]): row for row in rows}


def buy_comparisons(
    current: Session,
    plan_id: str,
    *,
    blocks: Sequence[Block] | None = None,
    most: int | None = None,
    on_settled: Callable[[int], None] | None = None,
    purse: Purse | None = None,
) -> int:
    """Ask for what is not in the lake yet, commit batch by batch, and count the answers.

    Args:
        current: The session.
        plan_id: The audit's plan.
        blocks: The shares of work: of each the comparisons that begin with its items, in batches of its own.
        most: Comparisons at most, from the first on.
        on_settled: Told how many planned comparisons were settled.
        purse: What the answers are paid from.
    """
    judge = current.judge
    assert isinstance(judge, ComparingJudge)
    work = comparison_plan(current, plan_id).asked
    shares = [work] if blocks is None else _dealt(work, blocks)
    items = {row["item_id"]: row for row in current.plan_table("items", plan_id).to_pylist()}
    drawing = Drawing(current.axes, current.damage(plan_id))
    easel = Easel(items, drawing, current.planned_pixels, current.mask)
    answered = answers_of(current, judge.card.judge_id)
    bought = 0
    with current.turn(judge.card):
        asked = (compare_block(judge, share[:most], easel, answered, purse) for share in shares)
        for batch in chain.from_iterable(asked):
            if batch.rows:
                current.lake.commit({"comparisons": from_rows("comparisons", batch.rows)})
            bought += sum(row["state"] != State.INERT for row in batch.rows)
            if on_settled:
                on_settled(batch.settled)
    return bought


def _dealt(work: Sequence[Asked], blocks: Sequence[Block]) -> list[list[Asked]]:
    """Give each block its comparisons, in the order of the plan."""
    place = {name: at for at, block in enumerate(blocks) for name in block.item_ids}
    shares: list[list[Asked]] = [[] for _ in blocks]
    for asked in work:
        if (at := place.get(str(asked.first["item_id"]))) is not None:
            shares[at].append(asked)
    return shares


def pair_controls(current: Session, zones_id: str) -> tuple[PairedJudge, ...]:
    """Give the controls that compare, answering to the given zones."""
    return comparing_controls(zones_id, current.configuration.seed)


def control_cards(current: Session, zones_id: str) -> list[Card]:
    """Name the controls that are asked beside the judge: those that answer as it does, with scores or choices."""
    if comparing(current):
        return [control.card for control in pair_controls(current, zones_id)]
    planted = [control.card for control in current.controls(zones_id)]
    return [*planted, *(seeing.card for seeing in current.seeing)]


def have_controls_compare(current: Session, plan_id: str, zones_id: str) -> None:
    """Have the controls that compare answer, from the recipes of both pictures, what the judge was asked."""
    plan = comparison_plan(current, plan_id)
    drawn = answers_of(current, current.judge.card.judge_id)
    recipes = _recipes(current, plan_id, zones_id)
    for control in pair_controls(current, zones_id):
        held = answers_of(current, control.card.judge_id)
        rows: dict[Key, dict[str, Any]] = {}
        for asked in plan.asked:
            key = asked.key
            if key in drawn and key not in held and key not in rows:
                rows[key] = _control_row(control, asked, drawn[key], recipes)
        if rows:
            current.lake.commit({"comparisons": from_rows("comparisons", list(rows.values()))})


def _control_row(
    control: PairedJudge, asked: Asked, drawn: Row, recipes: Callable[[Row], Recipe]
) -> dict[str, Any]:
    if drawn["state"] == State.INERT:
        answer = Preference(state=State.INERT, attempts=0)
    else:
        left, right = (replace(recipes(probe), repeat=asked.repeat) for probe in (asked.left, asked.right))
        answer = control.prefer(left, right)
    row = row_of(control.card, asked, answer)
    row |= {name: drawn[name] for name in ("renderer", "left_digest", "right_digest")}
    return {**row, "latency_ms": 0.0, "called_at": datetime.now(UTC)}


def _recipes(current: Session, plan_id: str, zones_id: str) -> Callable[[Row], Recipe]:
    """Give what tells a control how a probe was made."""
    zones = current.zones(plan_id, zones_id).to_pylist()
    visible = {(row["item_id"], row["axis"]): row["perceptible_low"] for row in zones}
    pairs = current.plan_table("mismatches", plan_id).to_pylist()
    intact = {(row["damaged"], PAIR_AXIS + row["kind"], row["rung"]): row["intact"] for row in pairs}
    items = {row["item_id"]: row for row in current.plan_table("items", plan_id).to_pylist()}

    def recipe(probe: Row) -> Recipe:
        made = recipe_of(items[probe["item_id"]], probe, current.axes, visible, intact)
        kind = current.kinds.get(str(probe["axis"]).removeprefix(PAIR_AXIS))
        return replace(made, expectations=kind.expectations) if kind is not None else made

    return recipe


def heard_from(current: Session, plan_id: str, judge_id: str) -> Heard:
    """Put a judge's answers beside what they are about."""
    items = current.plan_table("items", plan_id).to_pylist()
    return heard(comparison_plan(current, plan_id), answers_of(current, judge_id), items)


def strength_rows(told: Heard, audit_id: str, judge_id: str, *, is_control: bool) -> Sequence[dict[str, Any]]:
    """Make the rows of `strengths` of one judge in one audit."""
    key = {"audit_id": audit_id, "judge_id": judge_id, "is_control": is_control}
    return [{**key, **row} for row in told.strengths]
