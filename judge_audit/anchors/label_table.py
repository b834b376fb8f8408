"""Anchors as people hand them over: a table with a row for every label."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from judge_audit.anchors.edits import Draft
from judge_audit.anchors.ledger import Label
from judge_audit.core.errors import Fault, InputError
from judge_audit.core.row_files import read_rows
from judge_audit.measures.agreement import LEVELS
from judge_audit.stimuli.images import ImageError, resolve_image

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

OWN = ("image", "tier", "kind", "prompt", "source", "topic", "cluster", "known_as", "reason")
"""Columns about the anchor: its rows agree in them, or all but one leave them empty."""

SAID = ("dimension", "annotator_id", "value")
SCALE = ("level", "low", "high", "higher_is_better")
KNOWN = ("anchor_id", *OWN, *SAID, *SCALE)
TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_drafts(path: Path, scale: Mapping[str, str], *, new: bool) -> tuple[Draft, ...]:
    """Read anchors to add, or what is to be said of some that are in the set.

    Args:
        path: .csv, .jsonl or .parquet with anchor_id, the columns of `OWN` and, for each label a row, those of
            `SAID` and `SCALE`.
        scale: What holds where the columns of `SCALE` are empty.
        new: Whether they are new: image, tier and source are then needed.

    Raises:
        InputError: With every fault by row and column.
    """
    told = read_rows(path)
    needed = ("anchor_id", *(("image", "tier", "source") if new else ()))
    missing = [name for name in needed if name not in told.columns]
    strangers = sorted(set(told.columns) - set(KNOWN))
    advice = f"there is no such column; there are {', '.join(KNOWN)}."
    faults = [
        *told.faults,
        *(Fault(path.name, 0, name, "this column is missing from the file.") for name in missing),
        *(Fault(path.name, 0, name, advice) for name in strangers),
    ]
    if faults:
        raise InputError(faults)
    held: dict[str, list[tuple[int, Mapping[str, str]]]] = {}
    for number, row in told.rows:
        name = row["anchor_id"].strip()
        if name:
            held.setdefault(name, []).append((number, row))
        else:
            faults.append(Fault(path.name, number, "anchor_id", "it is empty."))
    drafts = [_draft(path, name, rows, scale, faults, new=new) for name, rows in held.items()]
    if faults:
        raise InputError(faults, "Nothing was changed.")
    return tuple(drafts)


def _draft(
    path: Path,
    name: str,
    rows: Sequence[tuple[int, Mapping[str, str]]],
    scale: Mapping[str, str],
    faults: list[Fault],
    *,
    new: bool,
) -> Draft:
    """Make one draft of its rows."""
    own: dict[str, str] = {}
    labels = []
    for number, row in rows:
        for column in OWN:
            text = row.get(column, "").strip()
            if text and own.setdefault(column, text) != text:
                said = f"row {rows[0][0]} or another says otherwise of “{name}”: “{own[column]}”."
                faults.append(Fault(path.name, number, column, said, name))
        try:
            labels += _labels(row, scale)
        except ValueError as error:
            column, _, said = str(error).partition(": ")
            faults.append(Fault(path.name, number, column, said, name))
    image = own.get("image", "")
    if image and not new:
        said = "a relabelling leaves the picture alone; another picture is another anchor."
        faults.append(Fault(path.name, rows[0][0], "image", said, name))
    try:
        image = resolve_image(path.parent, image) if image else ""
    except ImageError as error:
        faults.append(Fault(path.name, rows[0][0], "image", str(error), name))
    return Draft(
        anchor_id=name,
        image=image,
        tier=own.get("tier"),
        kind=own.get("kind"),
        source=own.get("source"),
        topic=own.get("topic"),
        prompt=own.get("prompt", ""),
        cluster=own.get("cluster", ""),
        known_as=own.get("known_as", ""),
        reason=own.get("reason", ""),
        labels=tuple(labels),
        row=rows[0][0],
    )


def _labels(row: Mapping[str, str], scale: Mapping[str, str]) -> list[Label]:
    """Read the label of a row, if it bears one."""
    said = {name: row.get(name, "").strip() for name in SAID}
    if not any(said.values()):
        return []
    for name, text in said.items():
        if not text:
            raise ValueError(f"{name}: it is empty; a label has a dimension, an annotator_id and a value.")
    told = {name: row.get(name, "").strip() or scale.get(name, "") for name in SCALE}
    return [label_of(said["dimension"], said["annotator_id"], said["value"], told)]


def label_of(dimension: str, annotator: str, value: str, scale: Mapping[str, str]) -> Label:
    """Make a label of texts.

    Raises:
        ValueError: As `column: what is wrong`.
    """
    higher = scale.get("higher_is_better") or "true"
    if higher.lower() not in TRUTHS:
        raise ValueError(f"higher_is_better: “{higher}” is neither true nor false.")
    level = scale.get("level") or "ordinal"
    if level not in LEVELS:
        raise ValueError(f"level: “{level}” is none of {', '.join(LEVELS)}.")
    return Label(
        dimension=dimension,
        annotator_id=annotator,
        value=_number("value", value),
        level=level,
        low=_number("low", scale["low"]) if scale.get("low") else None,
        high=_number("high", scale["high"]) if scale.get("high") else None,
        higher_is_better=TRUTHS[higher.lower()],
    )


def _number(column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{column}: “{text[:40]}” is not a number.")
    return value
