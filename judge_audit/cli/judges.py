"""The commands about judges: `judges list`."""

from __future__ import annotations

import json

import typer


def commands() -> typer.Typer:
    """Give the `judges` commands."""
    app = typer.Typer(help="Look at judges.", no_args_is_help=True, rich_markup_mode=None)
    app.callback()(_group)
    app.command("list")(list_judges)
    return app


def _group() -> None:
    """Look at judges."""


def list_judges(as_json: bool = typer.Option(False, "--json", help="Print the results as JSON.")) -> None:
    """List the judges that come with the package."""
    from judge_audit.judges import builtin_cards

    cards = [card for _, card in sorted(builtin_cards().items())]
    if as_json:
        typer.echo(
            json.dumps(
                [{"judge_id": card.judge_id, **json.loads(card.as_json())} for card in cards], indent=2
            )
        )
        return
    wide = max(len(card.name) for card in cards)
    for card in cards:
        licence = f" ({card.licence})" if card.licence else ""
        typer.echo(f"{card.name:<{wide}}  {card.judge_id}  {card.description}{licence}")
    typer.echo("Any Python callable serves too, as module:attribute, and so does a card (.yaml).")
