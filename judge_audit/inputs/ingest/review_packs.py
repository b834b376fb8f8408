"""A pack that comes back from people: its rows put together with the key that says what each of them is.

A row becomes one row for each queue its item was drawn for, and in each one for the whole, for every dimension that
was filled in and for every axis that was named. What was edited beyond that is refused by row and column.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.row_files import RowsRead
from judge_audit.core.vocabulary import OVERALL
from judge_audit.inputs.ingest.columns import shortened
from judge_audit.inputs.ingest.kinds.reviews import COLUMNS as REVIEW_COLUMNS
from judge_audit.people.review_pack import KEY_SUFFIX, columns_of, seal, spreadsheet_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.lake import Lake

    Key = Mapping[str, Any]
    Texts = dict[str, str]

MARKS = ("pack", "row")
"""Columns by which a pack is known."""

WORDS = ("good", "bad")
LARGEST_KEY = 100_000_000
"""Bytes of a key; a larger file is none."""

COLUMNS = tuple(column.name for column in REVIEW_COLUMNS if column.name != "reviewed_at")
"""What a pack says of a review: when it was made stands nowhere."""


def unpacked(
    path: Path, file_rows: RowsRead, reading: Reading, lake: Lake, key: Path | None
) -> tuple[RowsRead, str]:
    """Put a pack together with its key; any other file is left as it is.

    Args:
        path: The file.
        file_rows: What it holds.
        reading: How it is to be read; only values for every row (annotator_id) apply to a pack.
        lake: The lake that the pack was drawn from.
        key: The key; looked for beside the file and beside its folder if not given.

    Returns:
        Rows as table `reviews` has them, and the pack's id, "" if it is none.

    Raises:
        UsageError: If the key is not there.
        InputError: If the key was changed, does not belong to the file or to the lake, or columns are missing.
    """
    if not set(MARKS) <= set(file_rows.columns):
        return file_rows, ""
    named = {row["pack"].strip() for _, row in file_rows.rows}
    key_path, sealed = _find_key(path, named, key)
    _check_key(key_path, sealed, lake)
    there = {*file_rows.columns, *({"annotator_id"} & reading.set.keys())}
    if lacking := [name for name in columns_of(sealed) if name not in there]:
        message = "this column of the pack is missing from the file."
        raise InputError([Fault(path.name, 0, name, message) for name in lacking])
    made = _Unpacking(path.name, sealed, reading.set.get("annotator_id", ""))
    rows = [(number, texts) for number, row in file_rows.rows for texts in made.of_row(number, row)]
    return RowsRead(tuple(rows), COLUMNS, (*file_rows.faults, *made.faults)), str(sealed["pack_id"])


def _find_key(path: Path, named: set[str], given: Path | None) -> tuple[Path, Key]:
    """Find the key of a file: the one given, else one beside it that bears its pack's id."""
    folders = (path.absolute().parent, path.absolute().parent.parent)
    near = [given] if given else [at for folder in folders for at in sorted(folder.glob(f"*{KEY_SUFFIX}"))]
    for candidate in near:
        content = _read_key(candidate)
        if given or content.get("pack_id") in named:
            return candidate, content
    raise UsageError(
        f"{path.name}: it is a pack, and its key (NAME{KEY_SUFFIX}) is neither beside it nor beside its folder. "
        "Say where it is: --key FILE"
    )


def _read_key(path: Path) -> Key:
    try:
        if path.stat().st_size > LARGEST_KEY:
            raise UsageError(f"{path.name}: it is too large to be the key of a pack.")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: the key cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path.name}: the key is not valid JSON: {error}.") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path.name}: it is not the key of a pack.")
    return content


def _check_key(path: Path, key: Key, lake: Lake) -> None:
    """See that a key is as it was written, and that this lake knows it.

    Its digest covers all of it, and the lake keeps the digest: nothing else of it needs to be doubted.
    """
    pack_id = str(key.get("pack_id"))
    message = ""
    if seal(key) != pack_id:
        message = "the key was changed after it was written; bring back the one that was exported."
    elif not lake.read("packs", pack_id=pack_id).num_rows:
        message = (
            f"the lake at {lake.url} has drawn no such pack; name the lake it was exported from by --lake."
        )
    if message:
        raise InputError([Fault(path.name, 0, "pack_id", message)])


class _Unpacking:
    """Takes a pack's rows apart and gathers what is wrong with them."""

    def __init__(self, file: str, key: Key, annotator: str) -> None:
        self.file, self.key, self.annotator = file, key, annotator
        self.faults: list[Fault] = []
        self._rows: dict[str, Any] = {row["row"]: row for row in key["rows"]}
        self._first: dict[tuple[str, str], int] = {}

    def of_row(self, number: int, row: Mapping[str, str]) -> Iterator[Texts]:
        """Give the rows that one row of the file stands for; none if it is wrong or not filled in."""
        before = len(self.faults)
        known = self._known(number, row)
        marks = self._marks(number, row)
        outcome = marks.pop(OVERALL, "")
        axes = self._axes(number, row)
        who = self.annotator or row["annotator_id"].strip()
        if not outcome:
            if (marks or axes) and len(self.faults) == before:
                self._fault(number, "outcome", "it is empty, though the row is filled in; say good or bad.")
            return
        if not who:
            self._fault(number, "annotator_id", "say who reviewed this row.")
        first = self._first.setdefault((row["row"], who), number)
        if first != number:
            self._fault(
                number, "row", f"this annotator reviewed it in row {first} already; keep one of them."
            )
        if known is None or len(self.faults) > before:
            return
        findings = [(OVERALL, "", outcome, row.get("reason", ""))]
        findings += [(dimension, "", mark, "") for dimension, mark in marks.items()]
        findings += [(OVERALL, axis, "bad", "") for axis in axes]
        pack = str(self.key["pack_id"])
        for draw in known["draws"]:
            for dimension, axis, mark, reason in findings:
                yield {
                    "review_id": text_digest(pack, row["row"], who)[:16],
                    "item_id": known["item_id"],
                    "outcome": mark,
                    "queue": draw["queue"],
                    "dimension": dimension,
                    "axis": axis,
                    "decision_id": draw["decision_id"],
                    "partner": draw["partner"],
                    "annotator_id": who,
                    "reason": reason,
                    "judge": self.key["judge_id"],
                    "inclusion": repr(draw["inclusion"]),
                    "stratum": draw["stratum"],
                    "stratum_size": repr(draw["stratum_size"]),
                }

    def _fault(self, number: int, column: str, message: str) -> None:
        self.faults.append(Fault(self.file, number, column, message))

    def _known(self, number: int, row: Mapping[str, str]) -> Any:  # noqa: ANN401 - a row of the key
        """Find what a row is, and see that it is still the row that was handed out."""
        if row["pack"].strip() != self.key["pack_id"]:
            self._fault(
                number, "pack", "it names another pack than the key; this column is not to be changed."
            )
            return None
        known = self._rows.get(row["row"].strip())
        if known is None:
            self._fault(number, "row", f"the pack has no row “{shortened(row['row'])}”.")
        elif row["image"].strip() != spreadsheet_text(known["image"]):
            message = "it is not the image of this row; were columns sorted apart from one another?"
            self._fault(number, "image", message)
            return None
        return known

    def _marks(self, number: int, row: Mapping[str, str]) -> dict[str, str]:
        """Read good and bad, for the whole and by dimension."""
        marks = {}
        for name, column in ((OVERALL, "outcome"), *((name, name) for name in self.key["dimensions"])):
            word = row[column].strip().casefold()
            if word and word not in WORDS:
                self._fault(number, column, f"“{shortened(word)}” is none of {', '.join(WORDS)}.")
            elif word:
                marks[name] = word
        return marks

    def _axes(self, number: int, row: Mapping[str, str]) -> list[str]:
        """Read the axes that were named."""
        names = [name.strip() for name in row["axes"].split("|") if name.strip()]
        known = self.key["axes"]
        for name in names:
            if name not in known:
                message = f"there is no axis “{shortened(name)}”; there are {', '.join(known)}."
                self._fault(number, "axes", message)
        return list(dict.fromkeys(name for name in names if name in known))
