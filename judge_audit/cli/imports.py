"""The command that takes tables in: `import labels|scores|readings|choices|decisions|pairs|reviews|appeals`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from judge_audit.cli.options import AS_JSON, LAKE, assignments, names, scale_ends
from judge_audit.cli.output import print_result
from judge_audit.cli.project import lake_here, project_here
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from judge_audit.judges.cards.card import Card


def take(
    kind: str = Argument(
        metavar="TABLE", help="labels, scores, readings, choices, decisions, pairs, reviews or appeals."
    ),
    file: Path = Argument(metavar="FILE", help=".csv, .jsonl or .parquet; of Label Studio .json."),
    *,
    card: str | None = Option(None, "--card", help="Scores: the card of their judge (kind: table)."),
    mapping: Path | None = Option(None, "--mapping", help="A mapping file (.yaml); options win over it."),
    columns: list[str] = Option(
        [], "--map", metavar="OURS=THEIRS", help="Which column is which; item_id=model,uid puts two together."
    ),
    fixed: list[str] = Option([], "--set", metavar="OURS=VALUE", help="The same value in every row."),
    only: list[str] = Option(
        [], "--only", metavar="THEIRS=VALUE", help="Take only these rows; several values with commas between."
    ),
    wide: str | None = Option(None, "--wide", help="Columns that each hold a value, with commas between."),
    wide_as: str | None = Option(
        None,
        "--wide-as",
        help="What their names are: annotator_id (labels) or dimension (scores) if not said.",
    ),
    level: str | None = Option(None, "--level", help="Labels: nominal, ordinal or interval."),
    scale: str | None = Option(None, "--scale", metavar="LOW..HIGH", help="Labels: ends of the scale."),
    lower_is_better: bool = Option(False, "--lower-is-better", help="Labels: a smaller one is better."),
    separator: str | None = Option(None, "--separator", help="What stands between columns put together."),
    skip_bad: bool = Option(False, "--skip-bad", help="Leave bad rows out, and list them in the lake."),
    tool: str = Option(
        "", "--from", help="A pack of `study export` that comes back: label-studio (its JSON export) or csv."
    ),
    key: Path | None = Option(None, "--key", help="The pack's key, if it does not lie beside the file."),
    lake: str | None = LAKE,
    as_json: bool = AS_JSON,
) -> None:
    """Take a table you hold already into the lake: people's labels, a judge's scores, and more."""
    from judge_audit.inputs.ingest.importer import import_file
    from judge_audit.inputs.ingest.kinds import find_kind
    from judge_audit.lake import Lake

    find_kind(kind)
    options: dict[str, Any] = {
        "columns": {name: names(text) for name, text in _pairs("--map", columns).items()},
        "set": _pairs("--set", fixed),
        "only": {name: names(text) for name, text in _pairs("--only", only).items()},
        "wide": names(wide) if wide else None,
        "wide_as": wide_as,
        "level": level,
        "separator": separator,
        "higher_is_better": False if lower_is_better else None,
        **(dict(zip(("low", "high"), scale_ends(scale, float), strict=True)) if scale is not None else {}),
    }
    loaded = _card(card) if card else None
    axes = None
    if kind == "readings":
        from judge_audit.audits.plugins import find_axes, things

        axes = things(find_axes(project_here()))
    done = import_file(
        Lake.open(lake_here(lake)),
        kind,
        file,
        mapping=mapping,
        options=options,
        card=loaded,
        axes=axes,
        skip_bad=skip_bad,
        tool=tool,
        key=key,
    )
    print_result(asdict(done), done.lines, as_json=as_json)
    if kind == "scores" and not as_json:
        typer.echo(f'Audit it: judge-audit run --judge "{card}" --lake "{lake_here(lake)}"')


def _card(spec: str) -> Card:
    """Load the card of a judge whose scores come as a table."""
    from judge_audit.audits.plugins import find_kinds, things
    from judge_audit.judges import load_judge
    from judge_audit.judges.adapters.table import KIND

    project = project_here()
    kinds = things(find_kinds(project))
    card = load_judge(spec, project=Path(project) if project else None, kinds=kinds).card
    if card.kind != KIND:
        raise UsageError(
            f"--card {spec}: it is of kind “{card.kind}”, which is asked for its scores. Scores that exist already "
            f"belong to a card of kind “{KIND}”."
        )
    return card


def _pairs(option: str, entries: list[str]) -> dict[str, str]:
    """Take NAME=VALUE apart, each name once."""
    values: dict[str, str] = {}
    for entry, name, value in assignments(option, entries):
        if name in values:
            raise UsageError(f"{option} {entry}: {name} stands twice; several values have commas between.")
        values[name] = value
    return values
