"""The audit of a judge that compares two pictures: what is asked, asking it, its controls, its answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import ComparisonsRow

from judge_audit.audits.inputs import planned_mask, planned_pixels
from judge_audit.audits.model import Answers, Outstanding, Share
from judge_audit.audits.modes.scored import PicturesMode
from judge_audit.audits.stages.answers import Gathered
from judge_audit.audits.stages.budget import budget_of
from judge_audit.audits.stages.plan import unanswered
from judge_audit.audits.stages.score import TRIED
from judge_audit.checks.pairwise.answers import heard
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import PAIR_AXIS, State
from judge_audit.judges.calling.comparison_calls import Renderer, compare_block, row_of, settled
from judge_audit.judges.calling.score_calls import recipe_of
from judge_audit.judges.controls import comparing_controls
from judge_audit.judges.pairwise.protocol import ComparingJudge, Preference
from judge_audit.lake.write_ahead import keep
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.planning.comparisons import ComparisonPlan, plan_comparisons
from judge_audit.stimuli.rendering import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from judge_audit_schemas.rows import ProbesRow

    from judge_audit.audits.inputs import AuditInputs
    from judge_audit.audits.model import Answered, Prepared, ScoringSetup
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.controls.pairwise_control import PairedJudge
    from judge_audit.judges.protocol import Recipe
    from judge_audit.lake import Lake
    from judge_audit.stimuli.planning.comparisons import Asked, Key
    from judge_audit.stimuli.planning.probes import Plan

    Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ComparedMode(PicturesMode):
    """Pictures are compared two at a time: no anchors, no sight, no combinations, and shares in place of scores."""

    asks_anchors: bool = False
    shows_sight: bool = False
    combines: bool = False
    answers: str = "comparisons"
    unit: str = "comparisons"
    premature_margin: str = "premature.preference"
    lake_questions: tuple[str, ...] = (
        "SELECT * FROM comparisons_by_position",
        "SELECT * FROM pairwise_ranks LIMIT 20",
        'SELECT axis, \\"check\\", verdict, finding, value, ci_low, ci_high FROM covariate_verdicts',
    )
    _plans: dict[str, ComparisonPlan] = field(default_factory=dict, repr=False, compare=False)

    def comparisons(self, setup: ScoringSetup, plan_id: str) -> ComparisonPlan:
        """List what the judge is asked to compare by a plan in the lake; made once per process."""
        if plan_id not in self._plans:
            plans = setup.plans
            self._plans[plan_id] = plan_comparisons(
                plans.items(plan_id),
                plans.probes(plan_id),
                plans.mismatches(plan_id),
                repeats=setup.configuration.repeats,
                seed=setup.configuration.seed,
                most_pairs=setup.configuration.candidate_pairs,
            )
        return self._plans[plan_id]

    def outstanding(self, setup: ScoringSetup, inputs: AuditInputs, plan: Plan) -> Outstanding:
        """Count the comparisons that are not in the lake, by the item that they begin with."""
        _, left = unanswered(setup.lake, plan.probes, None)
        comparisons = self.comparisons(setup, plan.plan_id)
        answers, renderer = _comparisons_of(setup.lake, setup.judge.card.judge_id), fingerprint()
        waiting = {
            asked.key: asked for asked in comparisons.asked if not settled(answers.get(asked.key), renderer)
        }
        planned = {asked.key: str(asked.first["item_id"]) for asked in comparisons.asked}
        return Outstanding(
            asked=len(planned),
            new=len(waiting),
            left={**left, **Counter(str(asked.first["item_id"]) for asked in waiting.values())},
            planned=Counter(planned.values()),
            notes=_notes(comparisons, has_anchors=inputs.anchors is not None),
        )

    def score(self, setup: ScoringSetup, prepared: Prepared, share: Share) -> int:
        """Ask the comparisons that begin with the items of each block, in batches of its own."""
        asked = self.comparisons(setup, prepared.plan_id).asked
        place = {name: at for at, block in enumerate(share.blocks) for name in block.item_ids}
        by_block: list[list[Asked]] = [[] for _ in share.blocks]
        for one in asked:
            if (at := place.get(str(one.first["item_id"]))) is not None:
                by_block[at].append(one)
        return _buy(setup, prepared.plan_id, by_block, share)

    def try_out(self, setup: ScoringSetup, prepared: Prepared) -> int:
        """Time a judge that has never answered by the first three comparisons."""
        if _comparisons_of(setup.lake, setup.judge.card.judge_id):
            return 0
        asked = self.comparisons(setup, prepared.plan_id).asked[:TRIED]
        share = Share(work=(), budget=budget_of(setup, prepared.audit_id))
        return _buy(setup, prepared.plan_id, [asked], share)

    def controls(self, setup: ScoringSetup, zones_id: str) -> Sequence[PairedJudge]:
        """Give the controls that compare."""
        return comparing_controls(zones_id, setup.configuration.seed)

    def score_controls(self, setup: ScoringSetup, prepared: Prepared) -> None:
        """Have the controls compare, by the recipes of both pictures, what the judge was asked."""
        comparisons = self.comparisons(setup, prepared.plan_id)
        drawn = _comparisons_of(setup.lake, setup.judge.card.judge_id)
        recipes = _recipes(setup, prepared)
        gathered = Gathered(setup.lake)
        for control in self.controls(setup, prepared.zones_id):
            answered = _comparisons_of(setup.lake, control.card.judge_id)
            rows: dict[Key, ComparisonsRow] = {}
            for asked in comparisons.asked:
                key = asked.key
                if key in drawn and key not in answered and key not in rows:
                    rows[key] = _control_row(control, asked, drawn[key], recipes)
            gathered.add("comparisons", list(rows.values()))
        gathered.commit()

    def read_answers(
        self, setup: ScoringSetup, prepared: Prepared, card: Card, answered: Answered | None
    ) -> Answers:
        """Put a judge's answers next to what they are about; its strengths stand in the place of scores."""
        items = setup.plans.items(prepared.plan_id)
        comparisons = self.comparisons(setup, prepared.plan_id)
        answers = heard(comparisons, _comparisons_of(setup.lake, card.judge_id), items)
        key = {"audit_id": prepared.audit_id, "judge_id": card.judge_id, "is_control": answered is not None}
        return Answers(answers.responses, answers.compared, [key | row for row in answers.strengths])


def _notes(plan: ComparisonPlan, *, has_anchors: bool) -> tuple[str, ...]:
    """Say what limits the comparisons."""
    notes = []
    if not plan.groups:
        notes.append(say("compared.notes.no_groups"))
    if plan.left_out:
        notes.append(say("compared.notes.left_out", kept=len(plan.groups), left=plan.left_out))
    if has_anchors:
        notes.append(say("compared.notes.anchors"))
    return tuple(notes)


def _comparisons_of(lake: Lake, judge_id: str) -> dict[Key, ComparisonsRow]:
    """Read what a judge answered so far."""
    rows = rows_of(lake.read("comparisons", judge_id=judge_id), ComparisonsRow)
    return {(row["left_probe"], row["right_probe"], row["repeat"]): row for row in rows}


def _buy(setup: ScoringSetup, plan_id: str, shares: Sequence[Sequence[Asked]], share: Share) -> int:
    """Ask for what is not in the lake yet, keep them batch by batch, and count the answers."""
    judge = setup.judge
    assert isinstance(judge, ComparingJudge)
    items = {row["item_id"]: row for row in setup.plans.items(plan_id)}
    drawing = Drawing(setup.stimuli.axes, setup.stimuli.damage(plan_id))
    pictures = Renderer(items, drawing, planned_pixels, planned_mask)
    answered = _comparisons_of(setup.lake, judge.card.judge_id)
    bought = 0
    with setup.turn(judge.card):
        batches = (compare_block(judge, asked, pictures, answered, share.budget) for asked in shares)
        for batch in chain.from_iterable(batches):
            if batch.rows:
                keep(setup.lake, {"comparisons": from_rows("comparisons", batch.rows)})
            bought += sum(row["state"] != State.INERT for row in batch.rows)
            if share.on_settled:
                share.on_settled(batch.settled)
    return bought


def _control_row(
    control: PairedJudge, asked: Asked, drawn: ComparisonsRow, recipes: Callable[[ProbesRow], Recipe]
) -> ComparisonsRow:
    if drawn["state"] == State.INERT:
        answer = Preference(state=State.INERT, attempts=0)
    else:
        left, right = (replace(recipes(probe), repeat=asked.repeat) for probe in (asked.left, asked.right))
        answer = control.prefer(left, right)
    row = row_of(control.card, asked, answer)
    row |= {"renderer": drawn["renderer"], "latency_ms": 0.0, "called_at": datetime.now(UTC)}
    return row | {"left_digest": drawn["left_digest"], "right_digest": drawn["right_digest"]}


def _recipes(setup: ScoringSetup, prepared: Prepared) -> Callable[[ProbesRow], Recipe]:
    """Give what tells a control how a probe was made."""
    plans, stimuli = setup.plans, setup.stimuli
    visible = plans.visible_points(prepared.plan_id, prepared.zones_id)
    intact = {place: pair["intact"] for place, pair in plans.pairs_by_probe(prepared.plan_id).items()}
    items = {row["item_id"]: row for row in plans.items(prepared.plan_id)}

    def recipe(probe: ProbesRow) -> Recipe:
        made = recipe_of(items[probe["item_id"]], probe, stimuli.axes, visible, intact)
        kind = stimuli.kinds.get(str(probe["axis"]).removeprefix(PAIR_AXIS))
        return replace(made, expectations=kind.expectations) if kind is not None else made

    return recipe
