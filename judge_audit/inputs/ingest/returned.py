"""Work that comes back from other tools: answers put together with the key that says what each task is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.row_files import RowsRead, read_rows
from judge_audit.inputs.ingest.answer import Answer, Answers
from judge_audit.inputs.ingest.label_studio import read_annotations
from judge_audit.people.readings import ladder_digest
from judge_audit.people.study.tasks import FORMAT, HIGH, LETTERS, LOW, NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TOOLS = ("label-studio", "csv")
MOST_BYTES = 256 * 2**20
ALONE = "All answers are of one person: how far people agree stays unknown until a second one answers."


@dataclass(frozen=True, slots=True)
class Returned:
    """A file as rows of ours.

    Attributes:
        told: The rows.
        pack: The pack they are of.
        options: How they are to be read: level and ends of labels.
        notes: What limits every figure made of them.
        lines: What to say.
    """

    told: RowsRead
    pack: str
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


def read_returned(path: Path, kind: str, tool: str, key: Path | None) -> Returned:
    """Read what came back from a tool.

    Args:
        path: The file.
        kind: labels, choices or readings.
        tool: label-studio or csv.
        key: The key of the pack; looked for beside the file and its folder if not given.

    Raises:
        UsageError: If file or key cannot be read, or do not belong together.
        InputError: If no answer can be used.
    """
    if tool not in TOOLS:
        raise UsageError(f"--from {tool}: there are {', '.join(TOOLS)}.")
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file.")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path.name}: it is larger than {MOST_BYTES // 2**20} MiB.")
    found = read_annotations(path) if tool == "label-studio" else _filled(path)
    if not found.answers:
        raise InputError(found.faults or [Fault(path.name, 0, "", "nobody has answered anything.")])
    content = _key(path, key, {answer.pack for answer in found.answers})
    if content["for"] != kind:
        raise UsageError(
            f"{path.name} holds {content['for']}, not {kind}: judge-audit import {content['for']} …"
        )
    rows: list[tuple[int, dict[str, str]]] = []
    faults = list(found.faults)
    for answer in found.answers:
        try:
            rows += [(answer.row, row) for row in ROWS[kind](answer, content)]
        except ValueError as error:
            faults.append(Fault(path.name, answer.row, "", str(error)))
    if not rows:
        raise InputError(faults or [Fault(path.name, 0, "", "nobody has answered anything.")])
    columns = tuple(dict.fromkeys(name for _, row in rows for name in row))
    people = {row["annotator_id"] for _, row in rows}
    notes = (ALONE,) if len(people) == 1 else ()
    options = {"level": "ordinal", "low": LOW, "high": HIGH} if kind == "labels" else {}
    return Returned(
        RowsRead(tuple(rows), columns, tuple(faults)), content["pack"], options, notes, found.lines
    )


def _filled(path: Path) -> Answers:
    """Read a table that was filled in; a row with nothing in it was skipped."""
    told = read_rows(path)
    absent = [name for name in ("pack", "name", "annotator_id") if name not in told.columns]
    if absent:
        raise InputError(
            [Fault(path.name, 0, name, "this column is missing from the file.") for name in absent]
        )
    faults = list(told.faults)
    answers: dict[tuple[str, str], Answer] = {}
    skipped = 0
    for number, row in told.rows:
        said = {
            name: text.strip() for name, text in row.items() if name not in {"pack", "name", "annotator_id"}
        }
        asked = {name: text for name, text in said.items() if text and not name.startswith("step")}
        if not set(asked) - {"prompt", "picture", *LETTERS}:
            skipped += 1
            continue
        who = row["annotator_id"].strip()
        if not who:
            faults.append(
                Fault(path.name, number, "annotator_id", "it is empty; every answer names its person.")
            )
        elif (row["name"], who) in answers:
            first = answers[row["name"], who].row
            said_twice = f"{who} answered this in row {first} already; keep one of them."
            faults.append(Fault(path.name, number, "name", said_twice))
        else:
            answers[row["name"], who] = Answer(number, row["pack"].strip(), row["name"].strip(), who, asked)
    lines = (f"{skipped:,} tasks were left empty.",) if skipped else ()
    return Answers(tuple(answers.values()), tuple(faults), lines)


def _key(path: Path, given: Path | None, packs: set[str]) -> dict[str, Any]:
    """Find the key that a file's answers belong to.

    Raises:
        UsageError: If there is none, or it is another pack's.
    """
    folders = (path.parent, path.resolve().parent.parent)
    near = [given] if given else [entry for folder in folders for entry in sorted(folder.glob("*.key.json"))]
    for candidate in near:
        try:
            content: dict[str, Any] = json.loads(candidate.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            if given:
                raise UsageError(f"{candidate}: the key cannot be read: {error}.") from error
            continue
        sound = isinstance(content, dict) and isinstance(content.get("names"), dict)
        if sound and content.get("format") == FORMAT and {content.get("pack")} == packs:
            return content
    where = f"{given} is not the key" if given else "no key lies beside it"
    raise UsageError(
        f"{path.name}: {where} of its tasks ({', '.join(sorted(packs)) or 'none'}). `study export` wrote one beside "
        "the pack's folder: name it with --key FOLDER.key.json."
    )


def _told(answer: Answer, key: Mapping[str, Any]) -> Mapping[str, Any]:
    told: Mapping[str, Any] | None = key["names"].get(answer.name)
    if told is None:
        raise ValueError(f"there is no task “{answer.name[:40]}” in this pack.")
    return told


def _label_rows(answer: Answer, key: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Make a label of each dimension that was answered."""
    told = _told(answer, key)
    for dimension in key["dimensions"]:
        value = answer.said.get(dimension)
        if value not in {None, ""}:
            about = {name: str(text) for name, text in told.items()}
            row = {**about, "dimension": dimension, "value": str(value), "annotator_id": answer.annotator_id}
            yield {**row, "labelled_at": answer.at}


def _choice_rows(answer: Answer, key: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Make a choice: one pick, or the picks that are tied."""
    told = _told(answer, key)
    given = answer.said.get("first", "")
    letters = given if isinstance(given, list) else re.split(r"[=,;\s]+", given)
    letters = [str(letter).strip().upper() for letter in letters if str(letter).strip()]
    candidates = told["candidates"]
    known = LETTERS[: len(candidates)]
    odd = [letter for letter in letters if letter not in known or len(letter) != 1]
    if odd or not letters:
        raise ValueError(
            f"“{', '.join(odd)[:40]}” is none of {', '.join(known)}; several have = between (A=C)."
        )
    picks = [candidates[known.index(letter)] for letter in dict.fromkeys(letters)]
    yield {
        "group_id": told["group_id"],
        "item_id": picks[0] if len(picks) == 1 else "",
        "tied": json.dumps(picks) if len(picks) > 1 else "",
        "candidates": json.dumps(candidates),
        "annotator_id": answer.annotator_id,
        "chosen_at": answer.at,
    }


def _reading_rows(answer: Answer, key: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Make a reading of the steps that were marked."""
    told = _told(answer, key)
    row = {
        "item_id": told["item_id"],
        "axis": told["axis"],
        "annotator_id": answer.annotator_id,
        "perceptible": _strength(answer.said, "perceptible", told["strengths"]),
        "protocol": key["protocol"],
        "recipe_version": str(told["recipe_version"]),
        "catch": "true" if told["catch"] else "false",
        "probe_ids": json.dumps(told["probe_ids"]),
        "ladder_digest": ladder_digest(told["rung_digests"]),
        "renderer": key["renderer"],
    }
    if key["objectionable"]:
        seen = row["perceptible"] != ""
        row["objectionable"] = _strength(answer.said, "objectionable", told["strengths"]) if seen else ""
    yield row


def _strength(said: Mapping[str, Any], name: str, strengths: list[float]) -> str:
    """Give the strength of a marked step, "" for never.

    Raises:
        ValueError: If it is no step.
    """
    given = said.get(name, "")
    text = str(given[0] if isinstance(given, list) and given else given).strip().casefold()
    text = text.removeprefix("step").strip()
    if text == NEVER:
        return ""
    if not text.isdecimal() or not 1 <= int(text) <= len(strengths):
        raise ValueError(f"{name}: “{text[:40]}” is no step from 1 to {len(strengths)}, nor “{NEVER}”.")
    return repr(strengths[int(text) - 1])


ROWS = {"labels": _label_rows, "choices": _choice_rows, "readings": _reading_rows}
