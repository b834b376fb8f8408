"""Importing a file: read, arrange, take, and commit all of it at once, or say everything that is wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit_schemas.rows import ImportsRow, RefusalsRow

from judge_audit.core.digests import canonical_json, file_digest, text_digest
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.formatting import minute
from judge_audit.core.row_files import read_rows
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.version import __version__
from judge_audit.inputs.ingest.column_mapping import read_mapping, with_defaults
from judge_audit.inputs.ingest.items import instrument
from judge_audit.inputs.ingest.kinds import find_kind
from judge_audit.inputs.ingest.reshape import arrange
from judge_audit.inputs.ingest.review_packs import unpacked
from judge_audit.inputs.ingest.rows import Around, Taken
from judge_audit.inputs.ingest.table_judge import judge_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from judge_audit.inputs.ingest.returned import Returned
    from judge_audit.judges.cards.card import Card
    from judge_audit.lake import Lake
    from judge_audit.stimuli.axes.axis import Axis

VERSION = "1"
"""Raised whenever the same file read the same way would give other rows."""

ADVICE = "Nothing was imported. Mend the rows named above, or go on without them by --skip-bad."


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of an import.

    Attributes:
        import_id: Its name.
        kind: What was imported.
        file: Name of the file.
        new: False if the same file had been imported the same way before.
        rows: Rows taken.
        refused: Rows left out.
        judge_id: The judge whose scores they are, "" for other tables.
        notes: What limits every figure made of these rows.
        lines: Everything to print.
    """

    import_id: str
    kind: str
    file: str
    new: bool
    rows: int
    refused: int
    judge_id: str
    notes: tuple[str, ...]
    lines: tuple[str, ...]


def import_file(  # noqa: PLR0913 - what the command line offers
    lake: Lake,
    kind: str,
    path: Path,
    *,
    mapping: Path | None = None,
    options: Mapping[str, Any] | None = None,
    card: Card | None = None,
    axes: Mapping[str, Axis] | None = None,
    key: Path | None = None,
    skip_bad: bool = False,
    tool: str = "",
) -> Imported:
    """Import a file into a lake, wholly or not at all.

    Args:
        lake: The lake.
        kind: labels, scores, readings, choices, decisions, pairs, reviews or appeals.
        path: .csv, .jsonl / .ndjson or .parquet.
        mapping: A mapping file.
        options: Keys of a mapping file that win over it.
        card: The card of the judge whose scores these are.
        axes: The axes that readings may be of; the shipped ones if not given.
        key: The key of a pack of `study export`; looked for beside the file and its folder if not given.
        skip_bad: Leave bad rows out and list them in table `refusals`, instead of refusing the file.
        tool: label-studio or csv, where the file is a pack of `study export` that comes back from it.

    Raises:
        UsageError: If there is no such kind or file, or scores come without a card.
        InputError: With every fault by row and column.
    """
    table_kind = find_kind(kind)
    if (card is not None) != (kind == "scores"):
        raise UsageError(
            "scores need the card of their judge: --card cards/my-judge.yaml (kind: table, name, dimensions, scale)."
            if kind == "scores"
            else f"--card belongs to scores; {kind} have no judge."
        )
    back = _returned(path, kind, tool, key)
    read_as = {**back.options, **(options or {})} if back else options
    reading = with_defaults(read_mapping(mapping, read_as), table_kind.wide_as)
    content, pack = back.file_rows if back else read_rows(path), ""
    if kind == "reviews":
        content, pack = unpacked(path, content, reading, lake, key)
    digest = file_digest(path.read_bytes())
    read_by = canonical_json(reading.as_json())
    judge_id = card.judge_id if card else ""
    skipping = "skip" if skip_bad else ""
    packed = (back.pack,) if back else ()
    import_id = text_digest("import", VERSION, kind, digest, read_by, judge_id, skipping, *packed)
    if known := _before(lake, import_id):
        return known
    arranged = arrange(path.name, content, reading, table_kind.columns, table_kind.value)
    around = Around(lake, import_id, card, _axes(axes) if kind == "readings" else {}, pack)
    taken = table_kind.take(arranged, reading, around)
    if back:
        taken = replace(taken, notes=[*taken.notes, *back.notes], lines=[*taken.lines, *back.lines])
    faults = sorted([*arranged.faults, *taken.faults])
    if faults and not skip_bad:
        raise InputError(faults, ADVICE)
    if not any(taken.tables.values()):
        nothing = Fault(path.name, 0, "", "the file has no rows with a value.")
        raise InputError(faults or [nothing], "No row of the file can be used." if faults else "")
    row: ImportsRow = {
        "import_id": import_id,
        "kind": kind,
        "file": path.name,
        "file_digest": digest,
        "mapping": read_by,
        "rows": len(taken.tables.get(table_kind.table, ())),
        "refused": len({fault.row for fault in faults}),
        "notes": list(taken.notes),
        "code_version": __version__,
        "imported_at": datetime.now(UTC),
    }
    if card:
        row["judge_id"] = judge_id
    _commit(lake, row, taken, faults, card)
    return _imported(row, *_lines(row, taken, table_kind.table, card, arranged.warnings))


def _commit(lake: Lake, row: ImportsRow, taken: Taken, faults: Sequence[Fault], card: Card | None) -> None:
    """Put everything into the lake: what may stand by itself first, then the import in one commit."""
    for contents in taken.before:
        lake.commit({**_named(contents, row["import_id"]), **judge_tables(instrument(), control=True)})
    tables = _named({**taken.tables, "refusals": _refusals(faults)}, row["import_id"])
    whose = judge_tables(card) if card else {}
    lake.commit({**tables, **whose, "imports": from_rows("imports", [row])})


def _returned(path: Path, kind: str, tool: str, key: Path | None) -> Returned | None:
    """Read a pack that comes back from another tool; None where the file is a table as it stands."""
    if not tool:
        if key is not None and kind != "reviews":
            raise UsageError("--key belongs to a pack that comes back: say from which tool by --from.")
        return None
    if kind not in {"labels", "choices", "readings"}:
        raise UsageError(f"--from belongs to labels, choices and readings; {kind} come as a table.")
    from judge_audit.inputs.ingest.returned import read_returned  # noqa: PLC0415 - only where a pack comes back

    return read_returned(path, kind, tool, key)


def _axes(axes: Mapping[str, Axis] | None) -> Mapping[str, Axis]:
    if axes is not None:
        return axes
    from judge_audit.stimuli.axes import builtin_axes  # noqa: PLC0415 - drawing libraries, only where readings come

    return builtin_axes()


def _before(lake: Lake, import_id: str) -> Imported | None:
    """Find the same file imported the same way before."""
    rows = rows_of(lake.read("imports", import_id=import_id), ImportsRow)
    if not rows:
        return None
    (row,) = rows
    when = minute(row["imported_at"])
    line = f"{row['file']} was imported the same way on {when} (import {import_id[:8]}); nothing was added."
    return _imported(row, line, new=False)


def _imported(row: ImportsRow, *lines: str, new: bool = True) -> Imported:
    """Say what became of an import by its row, with the notes after the other lines."""
    return Imported(
        import_id=row["import_id"],
        kind=row["kind"],
        file=row["file"],
        new=new,
        rows=row["rows"],
        refused=row["refused"],
        judge_id=row.get("judge_id") or "",
        notes=tuple(row["notes"]),
        lines=(*lines, *(f"Note: {note}" for note in row["notes"])),
    )


def _lines(
    row: ImportsRow, taken: Taken, table: str, card: Card | None, warnings: Sequence[str]
) -> list[str]:
    """Say what came of a file."""
    kind = row["kind"]
    items = len({line["item_id"] for line in taken.tables["items" if card else table] if "item_id" in line})
    what = f"new answers of {card.name}, of" if card else kind
    over = f"{what} {items:,} items" if card else f"{kind} of {items:,} items" if items else kind
    lines = [f"Imported {row['rows']:,} {over} from {row['file']} (import {row['import_id'][:8]})."]
    lines += [*warnings, *taken.lines]
    if row["refused"]:
        lines.append(f"{row['refused']:,} faulty rows were left out; table refusals lists them.")
    return lines


def _named(contents: Mapping[str, Sequence[Mapping[str, object]]], import_id: str) -> dict[str, pa.Table]:
    """Make tables of rows and write the import's name into those that bear it."""
    named = {"items": "plan_id", "probes": "plan_id", "refusals": "plan_id", "calls": "", "scores": ""}
    tables = {}
    for name, rows in contents.items():
        column = named.get(name, "import_id")
        tables[name] = from_rows(name, ({**row, column: import_id} for row in rows) if column else rows)
    return tables


def _refusals(faults: Sequence[Fault]) -> list[RefusalsRow]:
    """Make rows of `refusals`; what is wrong with one field several times is one row."""
    refusals: dict[tuple[str, int, str], RefusalsRow] = {}
    for fault in faults:
        key = (fault.file, fault.row, fault.column)
        if key in refusals:
            refusals[key]["reason"] += " " + fault.message
        else:
            refusals[key] = {
                "file": fault.file,
                "row": fault.row,
                "column": fault.column,
                "item_id": fault.item_id,
                "reason": fault.message,
            }
    return list(refusals.values())
