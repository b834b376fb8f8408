"""The commands about judges: `judges list|try|new`."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON
from judge_audit.cli.output import print_result
from judge_audit.core.errors import EXIT_JUDGE_FAILED, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.cli.options import Commands
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_template import Kind

PROJECT = Option(None, "--project", help="The team's folder; here, if not said.")
WIDE = 100


def _kinds(project: Path | None) -> dict[str, Any]:
    """Find the kinds of judges, among the team's own too."""
    from judge_audit.audits.plugins import find_kinds, things

    folder = str(project) if project else ""
    return things(find_kinds(folder))


def _here(project: Path | None) -> Path:
    if project is not None and not project.is_dir():
        raise UsageError(f"--project {project}: there is no such folder.")
    return project or Path()


def list_judges(project: Path | None = PROJECT, as_json: bool = AS_JSON) -> None:
    """List the judges that come with the package, and the kinds of which you can have your own."""
    from judge_audit.judges import builtin_cards
    from judge_audit.judges.cards.card_template import kinds_of

    cards = [card for _, card in sorted(builtin_cards().items())]
    kinds = [kind for kind in kinds_of(_kinds(_here(project))) if not kind.own_card]
    judges = [{"judge_id": card.judge_id, **json.loads(card.as_json())} for card in cards]
    document = {"judges": judges, "kinds": [_kind_document(kind) for kind in kinds]}
    print_result(document, _listed(cards, kinds), as_json=as_json)


def _listed(cards: Sequence[Card], kinds: Sequence[Kind]) -> list[str]:
    """Say which judges and kinds there are."""
    lines = ["Judges that come with the package:"]
    wide = max(len(name) for name in (*(card.name for card in cards), *(kind.name for kind in kinds)))
    for card in cards:
        licence = f" ({card.licence})" if card.licence else ""
        lines.append(f"  {card.name:<{wide}}  {card.judge_id}  {card.description}{licence}")
    lines.append("\nKinds, for a card of your own (judge-audit judges new KIND):")
    wrapper = textwrap.TextWrapper(WIDE, " " * (wide + 4), " " * (wide + 6))
    for kind in kinds:
        lines.append(f"  {kind.name:<{wide}}  {kind.about}")
        lines += [wrapper.fill(line) for line in _needs(kind)]
    return [*lines, "\nAny Python callable serves without a card, as module:attribute."]


def _kind_document(kind: Kind) -> dict[str, Any]:
    return {
        "kind": kind.name,
        "about": kind.about,
        "needed": list(kind.needed),
        "further": list(kind.further),
        "install": kind.install or None,
        "lacking": list(kind.lacking),
    }


def _needs(kind: Kind) -> list[str]:
    """Say what a kind needs: the fields of its card, and what to install."""
    lines = []
    if kind.needed or kind.further:
        further = f"may say {', '.join(kind.further)}" if kind.further else ""
        needed = f"must say {', '.join(kind.needed)}" if kind.needed else ""
        lines.append(f"The card {'; '.join(part for part in (needed, further) if part)}.")
    if kind.install:
        there = f"not installed: {', '.join(kind.lacking)}" if kind.lacking else "installed"
        lines.append(f"Needs {kind.install} ({there}).")
    return lines


def new(
    kind: str = Argument(..., help="The kind of judge; `judges list` shows them."),
    name: str | None = Option(None, "--name", help="The judge's name and the card's file name."),
    pinned: bool | None = Option(
        None, "--pinned/--unpinned", help="Whether its weights are held to a digest; asked on a terminal."
    ),
    project: Path | None = PROJECT,
) -> None:
    """Write a card for a judge of your own into cards/; a card that is there is never touched."""
    from judge_audit.judges.cards.card_template import kinds_of, new_card, write_new_card

    folder = _here(project)
    known = {entry.name: entry for entry in kinds_of(_kinds(folder)) if not entry.own_card}
    if kind not in known:
        raise UsageError(
            f"there is no kind “{kind}” of which a card can be written; there are {', '.join(known)}."
        )
    title = name or f"our-{kind.replace('_', '-')}-judge"
    if not re.fullmatch(r"\w[\w.-]{0,99}", title):
        raise UsageError(f"--name {title!r}: letters, digits, dots, hyphens and underscores make a name.")
    stated = pinned is not None
    if pinned is None and sys.stdin.isatty():
        question = "Are its weights pinned, so that a digest tells whether they changed?"
        pinned, stated = typer.confirm(question, default=False), True
    path = write_new_card(folder / "cards", title, new_card(known[kind], title, pinned=bool(pinned)))
    typer.echo(f"Wrote {path}{'' if stated else ', unpinned (--pinned if a digest is to hold its weights)'}.")
    typer.echo(f"Fill it in, then: judge-audit judges try {path}")


def try_one(
    spec: str = Argument(..., metavar="JUDGE", help="A built-in name, module:attribute, or a card."),
    items: Path | None = Option(None, "--items", help="Items file; without one, the demo's pictures."),
    project: Path | None = PROJECT,
    as_json: bool = AS_JSON,
) -> None:
    """Load a judge, show it three pictures in several ways, and say what a whole audit would take."""
    import time

    from judge_audit.audits.plugins import find_axes
    from judge_audit.audits.smoke_test import DEMO_ITEMS, demo_stimuli, smoke_test, stimuli_of
    from judge_audit.cli.smoke_test_lines import trial_lines
    from judge_audit.judges import load_judge

    folder = _here(project)
    started = time.perf_counter()
    judge = load_judge(spec, project=folder, kinds=_kinds(folder))
    loaded = time.perf_counter() - started
    named, count = stimuli_of(items) if items else (demo_stimuli(), DEMO_ITEMS)
    axes = {name: part.thing for name, part in find_axes(str(folder)).items() if part.thing.default}
    card = judge.card
    try:
        trial = smoke_test(judge, named, axes, items=count)
    finally:
        if callable(close := getattr(judge, "close", None)):
            close()
    document = {"judge_id": card.judge_id, "card": json.loads(card.as_json()), "seconds_to_load": loaded}
    lines = (*_card_lines(card), *trial_lines(card, trial, loaded))
    print_result(document | trial.document(), lines, as_json=as_json)
    if not trial.answered:
        raise typer.Exit(EXIT_JUDGE_FAILED)


def _card_lines(card: Card) -> list[str]:
    """Print a card: what makes its identity first, then what it claims."""
    low, high = card.scale_low, card.scale_high
    scale = "none declared" if low is None else f"{low:g} to {high:g}"
    identity = {
        "weights": f"{card.weights or 'unknown'} ({'pinned' if card.pinned else 'unpinned'})",
        "target": card.target,
        "prompt": card.prompt_template,
        "preprocessing": dict(card.preprocessing),
        "decoding": dict(card.decoding),
    }
    claims = {
        "dimensions": ", ".join(card.dimensions),
        "scale": f"{scale}, {'higher' if card.higher_is_better else 'lower'} is better",
        "compares": "two pictures at a time, and gives no score" if card.compares else "",
        "licence": card.licence,
        "runs on": card.runtime,
        "batch": f"{card.batch_size} pictures",
    }
    lines = [f"{card.name} ({card.kind}), judge_id {card.judge_id}"]
    wrapper = textwrap.TextWrapper(WIDE, "  ", " " * 16, break_on_hyphens=False)
    for label, value in (identity | claims).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        if value:
            lines += wrapper.wrap(f"{label:<14}{text}")
    return lines


COMMANDS: Commands = {"list": list_judges, "try": try_one, "new": new}
