"""The command that hands labels, choices and readings to other tools: `study export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judge_audit.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.study.tasks import Pack


def register(app: typer.Typer) -> None:
    """Add the command to a group."""
    app.command("export")(export)


def export(
    out: Path = typer.Argument(
        metavar="DIR", help="Folder of the pack; must not be there. Its key lies beside it."
    ),
    *,
    kind: str = typer.Option(..., "--for", metavar="KIND", help="labels, choices or readings."),
    tool: str = typer.Option("label-studio", "--tool", help="label-studio or csv."),
    items: str | None = typer.Option(None, "--items", help="Items file; else that of ./audit.yaml."),
    study: Path | None = typer.Option(None, "--study", help="Readings: the folder of a planned study."),
    dimensions: str = typer.Option(
        "semantic,structure,aesthetic,compliance,overall",
        "--dimensions",
        help="Labels: what is rated from 1 to 5.",
    ),
    annotators: str = typer.Option("", "--annotators", help="csv: a table for each of these people."),
    pictures: str = typer.Option(
        "", "--pictures-url", help="label-studio: address under which DIR is served; else its local files."
    ),
    seed: int = typer.Option(1, "--seed", help="Seed of names and orders."),
) -> None:
    """Write tasks for another tool; nothing in them tells source, score or axis."""
    from judge_audit.study.task_files import TOOLS, key_path, write_tasks
    from judge_audit.study.tasks import KINDS

    if kind not in KINDS:
        raise UsageError(f"--for {kind}: there are {', '.join(KINDS)}.")
    if tool not in TOOLS:
        raise UsageError(f"--tool {tool}: there are {', '.join(TOOLS)}.")
    people = _names(annotators)
    if people and tool != "csv":
        raise UsageError("--annotators belongs to --tool csv; Label Studio knows its own people.")
    if kind == "readings":
        pack, picture = _ladders(study)
    else:
        pack, picture = _items(kind, items, dimensions, seed)
    prefix = f"{pictures.rstrip('/')}/" if pictures else ""
    made = write_tasks(pack, out, tool, picture, annotators=people, prefix=prefix)
    typer.echo(f"{out}: {len(pack.tasks):,} tasks. " + ", ".join(path.name for path in made))
    for note in pack.notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Keep {key_path(out)} to yourself: it says which item each task is.")
    typer.echo(f"Then: judge-audit import {kind} FILE --from {tool} --key {key_path(out)}")


def _ladders(study: Path | None) -> tuple[Pack, Callable[[Any], Any]]:
    """Make the pack of a study's ladders."""
    from judge_audit.parts import find_axes
    from judge_audit.study.folder import open_folder
    from judge_audit.study.showing import Gallery
    from judge_audit.study.tasks import reading_pack

    if study is None:
        raise UsageError(
            "readings are of a planned study: name its folder with --study (judge-audit study plan)."
        )
    folder = open_folder(study)
    gallery = Gallery({name: part.thing for name, part in find_axes(folder.project).items()})
    ladders = {ladder.key: ladder for ladder in folder.study.ladders}
    return reading_pack(folder.study), lambda shown: gallery.rungs(ladders[shown[0]])[shown[1]]


def _items(kind: str, items: str | None, dimensions: str, seed: int) -> tuple[Pack, Callable[[Any], Any]]:
    """Make a pack of an items file."""
    from judge_audit.images import load_image
    from judge_audit.items import read_items
    from judge_audit.project import resolve
    from judge_audit.study.tasks import choice_pack, label_pack

    configuration = resolve("audit.yaml" if Path("audit.yaml").exists() else None, {"items": items})
    if not configuration.items:
        raise UsageError("there are no pictures to show: name an items file with --items.")
    rows = read_items(configuration.items, skip_bad=configuration.skip_bad).items.to_pylist()
    uris = {row["item_id"]: row["uri"] for row in rows}
    pack = label_pack(rows, _names(dimensions), seed) if kind == "labels" else choice_pack(rows, seed)
    return pack, lambda item_id: load_image(uris[item_id]).pixels


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
