"""The report: one self-contained page for people, and the same content as JSON.

It may import `decisions`, `anchors`, `demo` and what is below, and never the other way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.files import put_pair
from judge_audit.report.document import make_document
from judge_audit.report.page import write_page
from judge_audit.report.sheets.page_pictures import draw_pairs, draw_strips, draw_worst, pictures_of
from judge_audit.stimuli.mismatches import mismatch_kinds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    from judge_audit.report.sheets.page_pictures import Masks, Members, Reader
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.mismatches.kind import Kind


@dataclass(frozen=True, slots=True)
class Report:
    """The report of an audit: a page that needs no other file, and the same content, ready for JSON."""

    html: str
    document: dict[str, Any]


def build_report(  # noqa: PLR0913 - what a report is made of
    con: duckdb.DuckDBPyConnection,
    audit_id: str,
    *,
    pixels: Reader | None,
    axes: Mapping[str, Axis],
    warnings: Sequence[str] = (),
    masks: Masks | None = None,
    kinds: Mapping[str, Kind] | None = None,
    members: Members | None = None,
) -> Report:
    """Write the report of an audit.

    Args:
        con: A connection to the lake with its tables and views.
        audit_id: The audit.
        pixels: Gives the pixels of an item by its id; None leaves the pictures out.
        axes: The axes climbed, by name; they draw the pictures again.
        warnings: What a person should know before trusting the figures.
        masks: Gives the mask of an item by its id, None if it has none.
        kinds: The mismatch kinds by name; None takes the package's own.
        members: Gives the pixels of the intact and the damaged member of a pair; None leaves them out.

    Raises:
        UsageError: If the lake has no such audit.
    """
    known = mismatch_kinds() if kinds is None else kinds
    document = make_document(con, audit_id, axes=axes, warnings=warnings, kinds=known)
    pictures = pictures_of(document["movers"], pixels, axes, masks)
    tiles = draw_strips(document["strips"], pixels, axes, masks)
    pairs = draw_pairs((document["dimensions"] or {}).get("shown", ()), members)
    worst = draw_worst(document["hacking"], pixels, axes)
    return Report(write_page(document, pictures, tiles, pairs, worst), document)


def write_report(report: Report, folder: str | Path) -> Path:
    """Put report.html and report.json into a folder, each whole or not at all.

    Returns:
        Path of report.html.

    Raises:
        MachineryError: If the folder cannot be written.
    """
    folder = Path(folder)
    text = json.dumps(report.document, indent=1, ensure_ascii=False, allow_nan=False)
    put_pair(folder, "report", text, report.html)
    return folder / "report.html"
