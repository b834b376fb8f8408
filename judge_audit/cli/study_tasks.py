"""What `study export` does for labels, choices and readings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.people.study.tasks import Pack


BELONGS = frozenset({"tool", "items", "study", "dimensions", "annotators", "pictures"})
"""Options of `study export` that are about labels, choices and readings."""

DIMENSIONS = "semantic,structure,aesthetic,compliance,overall"


@dataclass(frozen=True, slots=True)
class Handed:
    """What the options say of tasks for another tool.

    Attributes:
        kind: labels, choices or readings.
        tool: label-studio or csv.
        items: Items file, None for that of ./audit.yaml.
        study: Readings: the folder of a planned study.
        dimensions: Labels: what is rated.
        annotators: csv: a table for each of these people.
        pictures: label-studio: address under which the folder is served.
        seed: Seed of names and orders.
    """

    kind: str
    tool: str
    items: str | None
    study: Path | None
    dimensions: str
    annotators: str
    pictures: str
    seed: int


def export(out: Path, handed: Handed) -> None:
    """Write tasks for another tool; nothing in them tells source, score or axis."""
    from judge_audit.people.study.tasks import TOOLS, key_path, write_tasks

    kind, tool = handed.kind, handed.tool
    if tool not in TOOLS:
        raise UsageError(f"--tool {tool}: there are {', '.join(TOOLS)}.")
    people = _names(handed.annotators)
    if people and tool != "csv":
        raise UsageError("--annotators belongs to --tool csv; Label Studio knows its own people.")
    if kind == "readings":
        pack, picture = _ladders(handed.study)
    else:
        pack, picture = _items(kind, handed.items, handed.dimensions, handed.seed)
    prefix = f"{handed.pictures.rstrip('/')}/" if handed.pictures else ""
    made = write_tasks(pack, out, tool, picture, annotators=people, prefix=prefix)
    typer.echo(f"{out}: {len(pack.tasks):,} tasks. " + ", ".join(path.name for path in made))
    for note in pack.notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Keep {key_path(out)} to yourself: it says which item each task is.")
    typer.echo(f"Then: judge-audit import {kind} FILE --from {tool} --key {key_path(out)}")


def _ladders(study: Path | None) -> tuple[Pack, Callable[[Any], Any]]:
    """Make the pack of a study's ladders."""
    from judge_audit.audits.plugins import find_axes
    from judge_audit.people.study.folder import open_folder
    from judge_audit.people.study.picture_provider import PictureProvider
    from judge_audit.people.study.tasks import reading_pack

    if study is None:
        raise UsageError(
            "readings are of a planned study: name its folder with --study (judge-audit study plan)."
        )
    folder = open_folder(study)
    pictures = PictureProvider({name: part.thing for name, part in find_axes(folder.project).items()})
    ladders = {ladder.key: ladder for ladder in folder.study.ladders}
    return reading_pack(folder.study), lambda shown: pictures.rungs(ladders[shown[0]])[shown[1]]


def _items(kind: str, items: str | None, dimensions: str, seed: int) -> tuple[Pack, Callable[[Any], Any]]:
    """Make a pack of an items file."""
    from judge_audit.cli.configuration import configured
    from judge_audit.inputs.items import read_items
    from judge_audit.people.study.tasks import choice_pack, label_pack
    from judge_audit.stimuli.images import load_image

    configuration = configured("audit.yaml" if Path("audit.yaml").exists() else None, {"items": items})
    if not configuration.items:
        raise UsageError("there are no pictures to show: name an items file with --items.")
    rows = read_items(configuration.items, skip_bad=configuration.skip_bad).items.to_pylist()
    uris = {row["item_id"]: row["uri"] for row in rows}
    pack = label_pack(rows, _names(dimensions), seed) if kind == "labels" else choice_pack(rows, seed)
    return pack, lambda item_id: load_image(uris[item_id]).pixels


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
