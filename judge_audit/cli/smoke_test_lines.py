"""What a first look at a judge found, in lines for people."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from judge_audit.audits.smoke_test import BothOrders, Look, PairTrial, Trial
from judge_audit.core.vocabulary import Choice
from judge_audit.judges.calling.budget import money

if TYPE_CHECKING:
    from judge_audit.judges.cards.card import Card

LOOKS = {
    "same": ("asked the same again", "it repeats itself", "moves by up to {}: it does not repeat itself"),
    "alone": ("alone, not in a batch", "the same", "moves by up to {}: it depends on the batch"),
    "border": ("without its border", "nothing moves: it may not look there", "moves by up to {}"),
    "stretched": ("twice as wide", "nothing moves: it may not see the shape", "moves by up to {}"),
    "upside_down": ("upside down", "nothing moves: it may not see which way is up", "moves by up to {}"),
    "swapped_prompt": (
        "with another prompt",
        "nothing moves: it may not read the prompt",
        "moves by up to {}",
    ),
}
"""How the pictures were shown once more, and what is said if nothing moved and if something did."""


def trial_lines(card: Card, trial: Trial | PairTrial, loaded: float) -> list[str]:
    """Say what the trial of a judge of either kind found."""
    return pair_lines(trial, loaded) if isinstance(trial, PairTrial) else picture_lines(card, trial, loaded)


def picture_lines(card: Card, trial: Trial, loaded: float) -> list[str]:
    """Say what the trial found."""
    lines = ["", "Three pictures:" if len(trial.pictures) == 3 else "Pictures:"]
    for shown in trial.pictures:
        scores = ", ".join(
            f"{name} {value:.6g}" if value is not None else f"{name} {shown.states[name]}"
            for name, value in shown.scores.items()
        )
        lines.append(f"  {shown.item_id}: {scores}  “{textwrap.shorten(shown.prompt, 60)}”")
        if shown.raw:
            lines.append(f"    {textwrap.shorten(shown.raw, 200)}")
    if not trial.answered:
        return [*lines, "", f"The judge “{card.name}” gave no number for any of them."]
    lines += ["", f"Shown once more ({card.dimensions[0]}):"]
    wide = max(len(way) for way, _, _ in LOOKS.values())
    lines += [f"  {LOOKS[look.name][0]:<{wide}}  {_said(look, trial.rounding)}" for look in trial.looks]
    lines += [
        "  Three pictures are a look and no measurement; an audit asks the same of sixteen.",
        "",
        f"Loaded in {loaded:.1f} s; {trial.seconds:.3g} s a picture when {len(trial.pictures)} are shown together.",
        (
            f"A whole default audit of {trial.items:,} items: {trial.calls:,} pictures, about "
            f"{trial.calls * trial.seconds / 60:.2g} minutes at this speed."
        ),
    ]
    return [*lines, *_cost(trial, "It", "pictures")]


def _cost(trial: Trial | PairTrial, what: str, asked: str) -> list[str]:
    """Say what the whole may cost, where the judge has a price."""
    if trial.most_cost is None:
        return []
    spent, most = money(trial.cost), f"{money(trial.most_cost)} {trial.currency}"
    return [f"{what} may cost {most} at the most; this trial cost {spent} for {trial.asked} {asked}."]


def _said(look: Look, rounding: float) -> str:
    """Say what one way of showing the pictures did."""
    _, still, moving = LOOKS[look.name]
    if look.moved is None:
        return f"not looked at: {look.why}"
    if 0 < look.moved <= rounding:
        return f"{still}, but for rounding ({look.moved:.1g})"
    return moving.format(f"{look.moved:.3g}") if look.moved else still


def pair_lines(trial: PairTrial, loaded: float) -> list[str]:
    """Say what the trial found."""
    lines = ["", "Three pictures in pairs, each in both orders (asked about the first one's prompt):"]
    for pair in trial.pairs:
        words = [str(answer.choice or answer.state.value) for answer in pair.answers]
        lines.append(f"  {pair.first} and {pair.second}: {words[0]}, turned round {words[1]}{_meaning(pair)}")
        lines += [f"    {' '.join(answer.raw.split())[:200]}" for answer in pair.answers[:1] if answer.raw]
    if not trial.answered:
        return [*lines, "", "It named neither of any two pictures."]
    if trial.same is not None:
        lines.append(
            f"  Asked the same once more, {trial.same} of {2 * len(trial.pairs)} answers were the same."
        )
    lines += [
        "  Three pairs are a look and no measurement; an audit says how often a place decides.",
        "",
        f"Loaded in {loaded:.1f} s; {trial.seconds:.3g} s a comparison.",
        (
            f"The ladders of a whole default audit: {trial.ladders:,} comparisons, about "
            f"{trial.ladders * trial.seconds / 60:.2g} minutes at this speed; "
            "beside them the candidates of each prompt."
        ),
    ]
    return [*lines, *_cost(trial, "They", "comparisons")]


def _meaning(pair: BothOrders) -> str:
    if pair.winner in set(Choice):
        return f" — the {pair.winner} one both times, whichever it is"
    return f" — {pair.winner} both times" if pair.winner else ""
