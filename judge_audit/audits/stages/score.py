"""The second stage: have the judge and the instruments answer every probe."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.audits.inputs import planned_mask, planned_pixels
from judge_audit.audits.model import Share
from judge_audit.audits.stages.answers import is_first, is_ruled, keep_answers, work_of
from judge_audit.audits.stages.budget import budget_of
from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.judges.instruments.covariates import COVARIATE_INSTRUMENT
from judge_audit.judges.instruments.surface import SURFACE_INSTRUMENT, Instrument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from judge_audit_schemas.rows import ProbesRow

    from judge_audit.audits.model import Prepared, ScoringSetup
    from judge_audit.judges.calling.score_calls import BatchResult
    from judge_audit.judges.protocol import Judge
    from judge_audit.stimuli.planning.blocks import Block
    from judge_audit.stimuli.rendering import Damage

TRIED = 3
"""Pictures by which a judge is timed that has never answered before."""


def instruments() -> tuple[Instrument, Instrument]:
    """Give what measures pictures next to the judge.

    Returns:
        That of surface statistics, and that of covariates, which no ladder turns, once per untouched picture.
    """
    return SURFACE_INSTRUMENT, COVARIATE_INSTRUMENT


def pace(setup: ScoringSetup, prepared: Prepared) -> tuple[float, int]:
    """Say how long the judge takes, from its answers in the lake, else from a few untouched pictures.

    Returns:
        Seconds per picture, and how many pictures were shown to find out; their answers are kept.
    """
    bought = setup.mode.try_out(setup, prepared)
    answered = setup.lake.read(setup.mode.answers, judge_id=setup.judge.card.judge_id, state=State.OK.value)
    return float(pc.approximate_median(answered["latency_ms"]).as_py() or 0.0) / 1000, bought


def score(
    setup: ScoringSetup, prepared: Prepared, *taken: Block, on_probes: Callable[[int], None] | None = None
) -> int:
    """Have the judge and the surface instrument answer every probe of some blocks, the other only the untouched ones.

    Each batch is on disk before the next is asked.

    Args:
        setup: What it takes to ask.
        prepared: The audit.
        taken: The blocks, of one plan.
        on_probes: Called with how many probes of the judge were settled.

    Returns:
        How many answers were bought from the judge.
    """
    card = setup.judge.card
    if card.judge_id != prepared.judge_id:
        raise UsageError(
            f"the judge “{card.name}” came out as another one when it was loaded again, so it holds "
            "something that differs each time. Give it an attribute `identity`: a text that changes when it does."
        )
    budget = budget_of(setup, prepared.audit_id)
    if budget is not None and budget.spent().stopped:
        return 0
    work = work_of(setup.plans, prepared, taken)
    # The instruments need no turn of the judge's: they measure while it thinks.
    with ThreadPoolExecutor(1, thread_name_prefix="instruments") as pool:
        measured = pool.submit(_measure, setup, Share(work=work, blocks=taken))
        share = Share(work=work, blocks=taken, budget=budget, on_settled=on_probes)
        bought = setup.mode.score(setup, prepared, share)
        measured.result()
    return bought


def _measure(setup: ScoringSetup, share: Share) -> None:
    """Have one instrument answer untouched items and ladders, the other the untouched items."""
    surface, covariates = instruments()
    measuring: tuple[tuple[Judge, Callable[[ProbesRow], bool]], ...] = (
        (surface, is_ruled),
        (covariates, is_first),
    )
    for instrument, is_shown in measuring:
        shown = [(item, [probe for probe in probes if is_shown(probe)]) for item, probes in share.work]
        buy(setup, instrument, Share(work=shown, blocks=share.blocks))


def buy(setup: ScoringSetup, judge: Judge, share: Share, damage: Damage | None = None) -> int:
    """Ask a judge for what is not in the lake yet, keep them batch by batch, and count the answers."""
    bought = 0
    with setup.turn(judge.card):
        for batch in batches_of(setup, judge, share, damage):
            if batch.calls:
                keep_answers(setup.lake, batch.calls, batch.scores)
            bought += sum(call["state"] != State.INERT for call in batch.calls)
            if share.on_settled:
                share.on_settled(batch.probes)
    return bought


def batches_of(
    setup: ScoringSetup, judge: Judge, share: Share, damage: Damage | None = None
) -> Iterator[BatchResult]:
    """Ask a judge for what is not in the lake yet."""
    answered = setup.lake.answered(judge.card.judge_id)
    silent = pa.array([State.FAILED.value, State.INERT.value])
    known = pc.any(pc.invert(pc.is_in(answered["state"], value_set=silent))).as_py()
    asked = pa.array([probe["probe_id"] for _, probes in share.work for probe in probes], pa.string())
    rows = answered.filter(pc.is_in(answered["probe_id"], value_set=asked)).to_pylist()
    return score_block(
        judge,
        share.work,
        axes=setup.stimuli.axes,
        load=planned_pixels,
        answered={(row["probe_id"], row["repeat"]): row for row in rows},
        known=bool(known),
        mask=planned_mask,
        damage=damage,
        budget=share.budget,
        ends=share.ends,
    )
