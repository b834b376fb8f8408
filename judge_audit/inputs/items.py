"""The items file: one row per image and prompt, in CSV, JSON Lines or Parquet; every fault at once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import missing_columns, read_rows
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import POOLED
from judge_audit.stimuli.images import (
    ImageError,
    ImageLimits,
    LoadedImage,
    is_part_box,
    load_image,
    load_mask,
    mask_digest,
    resolve_image,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from judge_audit_schemas.rows import ItemsRow

REQUIRED = ("item_id", "source", "prompt", "image")
OPTIONAL = ("prompt_id", "topic", "cluster", "face_count", "mask", "part_box")
ADVICE = "Mend the rows named above, or go on without them by --skip-bad."


@dataclass(frozen=True, slots=True)
class ItemsRead:
    """What an items file held.

    Attributes:
        items: Table `items` without plan_id, sorted by item_id.
        refusals: Rows left out, when bad ones may be skipped.
        warnings: What a person should know.
    """

    items: pa.Table
    refusals: tuple[Fault, ...]
    warnings: tuple[str, ...]


def read_items(
    path: str | Path,
    *,
    needs_prompt: bool = False,
    skip_bad: bool = False,
    limits: ImageLimits | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> ItemsRead:
    """Read an items file and every picture it names.

    Args:
        path: The file: .csv, .jsonl / .ndjson, or .parquet.
        needs_prompt: Whether an empty prompt is a fault for this judge.
        skip_bad: Leave bad rows out and list them, instead of refusing the file.
        limits: Limits of pictures.
        on_progress: Told (decoded, all).

    Raises:
        InputError: With every fault by row and column, unless skipped; always when no row is good.
        UsageError: If the file itself cannot be read.
    """
    path = Path(path)
    file_rows = read_rows(path)
    check_columns(path, file_rows.columns)
    warnings = unused_note(path, file_rows.columns, (*REQUIRED, *OPTIONAL))
    faults = [*file_rows.faults, *_row_faults(path, file_rows.rows, needs_prompt=needs_prompt)]
    bad = {fault.row for fault in faults}
    good: list[ItemsRow] = []
    sound = [(number, row) for number, row in file_rows.rows if number not in bad]
    for done, outcome in enumerate(_load_all(path, sound, limits or ImageLimits()), 1):
        if isinstance(outcome, Fault):
            faults.append(outcome)
        else:
            good.append(outcome)
        if on_progress:
            on_progress(done, len(sound))
    if faults and (not skip_bad or not good):
        raise InputError(faults, ADVICE if good else "No row of the file can be used.")
    if not good:
        raise InputError([Fault(path.name, 0, "", "the file has no rows.")])
    warnings += _notes(path, good)
    good.sort(key=lambda row: str(row["item_id"]))
    table = from_rows("items", good).drop_columns(["plan_id"])
    return ItemsRead(table, tuple(sorted(faults)), tuple(warnings))


def unused_note(path: Path, columns: Sequence[str], known: Sequence[str]) -> list[str]:
    """Say which columns of a file are not used, if any."""
    unused = sorted(set(columns) - set(known))
    return [f"Columns of {path.name} that are not used: {', '.join(unused)}."] if unused else []


def check_columns(path: Path, columns: Sequence[str]) -> None:
    """See that an items file has the columns it needs.

    Raises:
        InputError: Naming every missing one.
    """
    if faults := missing_columns(path, columns, REQUIRED):
        raise InputError(
            faults,
            f"An items file has the columns {', '.join(REQUIRED)} and may have {', '.join(OPTIONAL)}.",
        )


def _row_faults(
    path: Path, rows: Sequence[tuple[int, Mapping[str, str]]], *, needs_prompt: bool
) -> list[Fault]:
    """Find what is wrong with rows before any picture is opened."""
    faults: list[Fault] = []
    first: dict[str, int] = {}
    needed = ("item_id", "source", "image", *(["prompt"] if needs_prompt else []))
    for number, row in rows:
        item_id, faces = row["item_id"], row.get("face_count", "").strip()
        wrong = [(name, "it is empty.") for name in needed if not row[name].strip()]
        if row["source"] == POOLED:
            wrong.append(("source", "“*” is kept for figures over all sources."))
        if item_id.strip() and item_id in first:
            wrong.append(("item_id", f"“{item_id}” stands in row {first[item_id]} too."))
        first.setdefault(item_id, number)
        if faces and not faces.removesuffix(".0").isdecimal():
            message = f"“{faces}” is not a whole number of faces; leave it empty where nobody has counted."
            wrong.append(("face_count", message))
        if not is_part_box(box := row.get("part_box", "")):
            message = f"“{box}” is no part; write left top right bottom as shares, such as 0.4 0.2 0.6 0.5."
            wrong.append(("part_box", message))
        faults += [Fault(path.name, number, column, message, item_id) for column, message in wrong]
    return faults


def _load_all(
    path: Path, rows: Sequence[tuple[int, Mapping[str, str]]], limits: ImageLimits
) -> Iterator[ItemsRow | Fault]:
    """Decode pictures in threads, in the order of the rows; what cannot be used is a fault."""

    def load(entry: tuple[int, Mapping[str, str]]) -> ItemsRow | Fault:
        number, row = entry
        column = "image"
        try:
            item = _item(path, row, limits)
            column = "mask"
            item |= {"mask_uri": None, "mask_digest": None}
            if row.get("mask", "").strip():
                uri, size = resolve_image(path.parent, row["mask"]), (item["height"] or 0, item["width"] or 0)
                item |= {"mask_uri": uri, "mask_digest": mask_digest(load_mask(uri, size, limits))}
        except ImageError as error:
            return Fault(path.name, number, column, f"{row[column]}: {error}", row["item_id"])
        return item

    with ThreadPoolExecutor(max_workers=4, thread_name_prefix="decode") as pool:
        yield from pool.map(load, rows)


def _item(path: Path, row: Mapping[str, str], limits: ImageLimits) -> ItemsRow:
    """Make an item of a row."""
    uri = resolve_image(path.parent, row["image"])
    image = load_image(uri, limits)
    faces = row.get("face_count", "").strip()
    return {
        "plan_id": "",
        "item_id": row["item_id"],
        "source": row["source"],
        "topic": row.get("topic", ""),
        "prompt": row["prompt"],
        "prompt_id": row.get("prompt_id") or text_digest(row["prompt"])[:12],
        "cluster": row.get("cluster") or row["item_id"],
        **file_columns(uri, image),
        "face_count": int(float(faces)) if faces else None,
        "part_box": row.get("part_box", "").strip() or None,
    }


def file_columns(uri: str, image: LoadedImage) -> ItemsRow:
    """Give the columns of table `items` that tell of a picture's file."""
    return {
        "uri": uri,
        "file_digest": image.file_digest,
        "pixel_digest": image.pixel_digest,
        "width": image.pixels.shape[1],
        "height": image.pixels.shape[0],
        "frames": image.frames,
        "image_notes": image.notes,
        "file_bytes": image.file_bytes,
    }


def _notes(path: Path, rows: Sequence[ItemsRow]) -> list[str]:
    """Say what was done to pictures, once per kind of change."""
    notes = (note for row in rows for note in row["image_notes"].split("; ") if note)
    counts = Counter("only the first frame used" if note.startswith("first of") else note for note in notes)
    return [f"{path.name}: {count} pictures: {note}." for note, count in sorted(counts.items())]
