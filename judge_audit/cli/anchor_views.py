"""The commands that look at an anchor set: `anchors verify|log|show`."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Any

import typer

from judge_audit.cli.output import print_json
from judge_audit.core.errors import EXIT_JUDGE_FAILED, InputError

if TYPE_CHECKING:
    from judge_audit.anchors import AnchorSet, Entry
    from judge_audit.core.errors import Fault

FOLDER = typer.Argument(metavar="FOLDER", help="The folder of the set.")
VERSION = typer.Option(None, "--version", help="An earlier version; the newest if not said.")
AS_JSON = typer.Option(False, "--json", help="Print the results as JSON.")


def verify(
    folder: Path = FOLDER,
    head: str = typer.Option("", "--head", help="Head of an earlier version that the ledger must extend."),
    lake: str | None = typer.Option(None, "--lake", help="A lake whose audits the ledger must extend."),
    mend: bool = typer.Option(
        False, "--mend", help="First write the manifest anew if a change was interrupted."
    ),
    as_json: bool = AS_JSON,
) -> None:
    """See that nothing was changed without an entry: exit 0 if so, 1 with every place if not."""
    from judge_audit import anchors

    mended = anchors.mend(folder) if mend else False
    held, faults = anchors.verified(folder, extends=head)
    if held is not None and lake is not None:
        faults = [*faults, *_against_lake(held, lake)]
    told = {
        "sound": not faults,
        "faults": [{"file": fault.file, "row": fault.row, "message": fault.message} for fault in faults],
        "mended": mended,
        **(summary_of(held) if held is not None else {}),
    }
    if as_json:
        print_json(told)
    elif faults:
        for fault in faults:
            typer.echo(str(fault), err=True)
        typer.echo(f"{folder}: {len(faults)} things are wrong; no audit uses the set as it is.", err=True)
    elif held is not None:
        for line in (*(["The manifest was written anew."] if mended else []), *held.notes, line_of(held)):
            typer.echo(line)
    if faults:
        raise typer.Exit(EXIT_JUDGE_FAILED)


def _against_lake(held: AnchorSet, lake: str) -> list[Fault]:
    """Find where the ledger does not extend what a lake has seen."""
    from judge_audit.anchors import hold_to_lake
    from judge_audit.lake import Lake

    try:
        hold_to_lake(held, Lake.open(lake, create=False))
    except InputError as error:
        return list(error.faults)
    return []


def log(folder: Path = FOLDER, as_json: bool = AS_JSON) -> None:
    """Tell the history: every change, with who made it, why, and whose labels it rests on."""
    from judge_audit.anchors import read_anchors

    held = read_anchors(folder)
    if as_json:
        told = [
            {**json.loads(entry.as_json()), "changed": _differences(held, entry)} for entry in held.entries
        ]
        print_json(told)
        return
    for entry in held.entries:
        changed = _differences(held, entry)
        typer.echo(
            f"{entry.number}  {entry.time}  {entry.action} {entry.anchor_id}  by {entry.author}: {entry.reason}"
        )
        if changed:
            typer.echo(f"   {'; '.join(changed)}")


def show(
    folder: Path = FOLDER,
    version: int | None = VERSION,
    as_json: bool = AS_JSON,
) -> None:
    """Show what the set covers (tiers by source and kind, dimensions, annotators), and name the gaps."""
    from dataclasses import asdict

    from judge_audit.anchors import anchor_labels, coverage, read_anchors
    from judge_audit.core.limits import read_limits

    held = read_anchors(folder)
    told = coverage(anchor_labels(held, version), read_limits()["scale.min_end_anchors"])
    if as_json:
        print_json({**summary_of(held, version), **asdict(told)})
        return
    typer.echo(line_of(held, version))
    for cell in told.cells:
        typer.echo(f"  {cell['anchors']:>4}  {cell['tier']:<9} {cell['source']}  {cell['kind']}".rstrip())
    for name, part in told.dimensions.items():
        typer.echo(
            f"{name}: {part['anchors']} anchors, {part['annotators']} annotators, {part['by_one']} by one only"
        )
    typer.echo("Annotators: " + ", ".join(f"{name} ({n} labels)" for name, n in told.annotators.items()))
    for gap in told.gaps:
        typer.echo(f"Gap: {gap}")


def summary_of(held: AnchorSet, version: int | None = None) -> dict[str, Any]:
    """Name a version, for programs."""
    return {
        "set_id": held.set_id,
        "version": version or held.version,
        "head": held.head(version),
        "anchors": len(held.at(version)),
        "notes": list(held.notes),
    }


def line_of(held: AnchorSet, version: int | None = None) -> str:
    """Name a version in a line."""
    told = summary_of(held, version)
    return f"Version {told['version']}: {told['anchors']} anchors, head {told['head']}, set {told['set_id']}."


def _differences(held: AnchorSet, entry: Entry) -> list[str]:
    """Say what a relabelling changed."""
    if entry.action != "relabel" or entry.anchor is None:
        return []
    before = next(row for row in held.at(entry.number - 1) if row.anchor_id == entry.anchor_id)
    found = [
        f"{name}: {getattr(before, name) or '-'} → {getattr(entry.anchor, name) or '-'}"
        for name in ("tier", "kind", "source", "topic")
        if getattr(before, name) != getattr(entry.anchor, name)
    ]
    old, new = (
        {(label.dimension, label.annotator_id): label.value for label in row.labels}
        for row in (before, entry.anchor)
    )
    found += [
        f"{key[0]} by {key[1]}: {_value(old.get(key))} → {_value(new.get(key))}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    return found


def _value(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
