"""Work that comes back from other tools: answers put together with the key that says what each task is.

Label Studio's JSON export is read without skips and pre-filled answers.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.row_files import RowsRead, missing_columns, read_rows
from judge_audit.people.readings import ladder_digest
from judge_audit.people.study.tasks import FORMAT, HIGH, LETTERS, LOW, NEVER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Row = Mapping[str, Any]

TOOLS = ("label-studio", "csv")
MOST_BYTES = 256 * 2**20
MARKS = ("pack", "name", "annotator_id")
"""Columns of a filled-in table that say whose answer to which task a row is."""

ALONE = "All answers are of one person: how far people agree stays unknown until a second one answers."


@dataclass(frozen=True, slots=True)
class Returned:
    """A file as rows of ours.

    Attributes:
        file_rows: The rows.
        pack: The pack they are of.
        options: How they are to be read: level and ends of labels.
        notes: What limits every figure made of them.
        lines: What to say.
    """

    file_rows: RowsRead
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
        key: The key of the pack; looked for next to the file and its folder if not given.

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
    answers = read_annotations(path) if tool == "label-studio" else _filled(path)
    if not answers.answers:
        raise InputError(answers.faults or [Fault(path.name, 0, "", "nobody has answered anything.")])
    content = _key(path, key, {answer.pack for answer in answers.answers})
    if content["for"] != kind:
        raise UsageError(
            f"{path.name} holds {content['for']}, not {kind}: judge-audit import {content['for']} …"
        )
    rows: list[tuple[int, dict[str, str]]] = []
    faults = list(answers.faults)
    for answer in answers.answers:
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
        RowsRead(tuple(rows), columns, tuple(faults)), content["pack"], options, notes, answers.lines
    )


def _filled(path: Path) -> Answers:
    """Read a table that was filled in; a row with nothing in it was skipped."""
    file_rows = read_rows(path)
    if absent := missing_columns(path, file_rows.columns, MARKS):
        raise InputError(absent)
    faults = list(file_rows.faults)
    answers: dict[tuple[str, str], Answer] = {}
    skipped = 0
    for number, row in file_rows.rows:
        filled = {
            name: text.strip()
            for name, text in row.items()
            if text.strip() and name not in MARKS and not name.startswith("step")
        }
        if not set(filled) - {"prompt", "picture", *LETTERS}:
            skipped += 1
            continue
        key = row["name"], (who := row["annotator_id"].strip())
        if not who:
            message = "it is empty; every answer names its person."
            faults.append(Fault(path.name, number, "annotator_id", message))
        elif key in answers:
            message = f"{who} answered this in row {answers[key].row} already; keep one of them."
            faults.append(Fault(path.name, number, "name", message))
        else:
            answers[key] = Answer(number, row["pack"].strip(), row["name"].strip(), who, filled)
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


def _task(answer: Answer, key: Row) -> Row:
    task: Row | None = key["names"].get(answer.name)
    if task is None:
        raise ValueError(f"there is no task “{answer.name[:40]}” in this pack.")
    return task


def _label_rows(answer: Answer, key: Row) -> Iterator[dict[str, str]]:
    """Make a label of each dimension that was answered."""
    task = _task(answer, key)
    for dimension in key["dimensions"]:
        value = answer.said.get(dimension)
        if value not in {None, ""}:
            about = {name: str(text) for name, text in task.items()}
            row = {**about, "dimension": dimension, "value": str(value), "annotator_id": answer.annotator_id}
            yield {**row, "labelled_at": answer.at}


def _choice_rows(answer: Answer, key: Row) -> Iterator[dict[str, str]]:
    """Make a choice: one pick, or the picks that are tied."""
    task = _task(answer, key)
    written = answer.said.get("first", "")
    letters = written if isinstance(written, list) else re.split(r"[=,;\s]+", written)
    letters = [str(letter).strip().upper() for letter in letters if str(letter).strip()]
    candidates = task["candidates"]
    known = LETTERS[: len(candidates)]
    odd = [letter for letter in letters if letter not in known or len(letter) != 1]
    if odd or not letters:
        raise ValueError(
            f"“{', '.join(odd)[:40]}” is none of {', '.join(known)}; several have = between (A=C)."
        )
    picks = [candidates[known.index(letter)] for letter in dict.fromkeys(letters)]
    yield {
        "group_id": task["group_id"],
        "item_id": picks[0] if len(picks) == 1 else "",
        "tied": json.dumps(picks) if len(picks) > 1 else "",
        "candidates": json.dumps(candidates),
        "annotator_id": answer.annotator_id,
        "chosen_at": answer.at,
    }


def _reading_rows(answer: Answer, key: Row) -> Iterator[dict[str, str]]:
    """Make a reading of the steps that were marked."""
    task = _task(answer, key)
    row = {
        "item_id": task["item_id"],
        "axis": task["axis"],
        "annotator_id": answer.annotator_id,
        "perceptible": _strength(answer.said, "perceptible", task["strengths"]),
        "protocol": key["protocol"],
        "recipe_version": str(task["recipe_version"]),
        "catch": "true" if task["catch"] else "false",
        "probe_ids": json.dumps(task["probe_ids"]),
        "ladder_digest": ladder_digest(task["rung_digests"]),
        "renderer": key["renderer"],
    }
    if key["objectionable"]:
        noticed = row["perceptible"] != ""
        row["objectionable"] = _strength(answer.said, "objectionable", task["strengths"]) if noticed else ""
    yield row


def _strength(marks: Mapping[str, Any], name: str, strengths: list[float]) -> str:
    """Give the strength of a marked step, "" for never.

    Raises:
        ValueError: If it is no step.
    """
    written = marks.get(name, "")
    text = str(written[0] if isinstance(written, list) and written else written).strip().casefold()
    text = text.removeprefix("step").strip()
    if text == NEVER:
        return ""
    if not text.isdecimal() or not 1 <= int(text) <= len(strengths):
        raise ValueError(f"{name}: “{text[:40]}” is no step from 1 to {len(strengths)}, nor “{NEVER}”.")
    return repr(strengths[int(text) - 1])


ROWS = {"labels": _label_rows, "choices": _choice_rows, "readings": _reading_rows}


PREFILLED = "this answer began as somebody else’s or as a prediction; only independent answers count."


def read_annotations(path: Path) -> Answers:
    """Read an export.

    Several annotations of a task are several people's; of one person's, the latest counts. What was skipped is
    counted; what was pre-filled (by a prediction, or as a copy of another annotation) is a fault.

    Args:
        path: The file, as Label Studio's export of type JSON writes it.

    Raises:
        UsageError: If it is no such file.
    """
    latest: dict[tuple[str, str], Answer] = {}
    faults: list[Fault] = []
    skipped = replaced = 0
    for number, task in enumerate(_tasks(path), 1):
        data = task["data"]
        for annotation in task["annotations"]:
            if isinstance(annotation, dict) and annotation.get("was_cancelled"):
                skipped += 1
                continue
            if wrong := _fault(task, annotation):
                faults.append(Fault(path.name, number, *wrong))
                continue
            answer = Answer(
                number,
                str(data.get("pack", "")),
                str(data.get("name", "")),
                _person(annotation["completed_by"]),
                _fields(annotation["result"]),
                str(annotation.get("updated_at") or annotation.get("created_at") or ""),
            )
            before = latest.get((answer.name, answer.annotator_id))
            replaced += before is not None
            if before is None or before.at <= answer.at:
                latest[answer.name, answer.annotator_id] = answer
    lines = [f"{skipped:,} tasks were skipped by somebody."] if skipped else []
    if replaced:
        lines.append(f"{replaced:,} answers were given again by the same person; the latest counts.")
    return Answers(tuple(latest.values()), tuple(faults), tuple(lines))


def _tasks(path: Path) -> list[Row]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: it is not UTF-8 text.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path.name}: it is not valid JSON: {error}.") from error
    sound = isinstance(content, list) and all(
        isinstance(task, dict)
        and isinstance(task.get("data"), dict)
        and isinstance(task.get("annotations"), list)
        for task in content
    )
    if not sound:
        raise UsageError(
            f"{path.name}: it is no export of Label Studio with annotations. Export as “JSON” (not JSON-MIN or CSV)."
        )
    return content  # type: ignore[no-any-return]


def _fault(task: Row, annotation: Any) -> tuple[str, str] | None:  # noqa: ANN401 - whatever JSON it is
    """Say what is wrong with an annotation: the field and why."""
    if not isinstance(annotation, dict):
        return "annotations", "an annotation is no JSON object."
    if task.get("predictions") or any(
        annotation.get(name) for name in ("prediction", "parent_prediction", "parent_annotation")
    ):
        return "predictions", PREFILLED
    if not _person(annotation.get("completed_by")):
        return "completed_by", "it does not say who answered."
    if not isinstance(annotation.get("result"), list):
        return "result", "it holds no answer."
    return None


def _person(account: Any) -> str:  # noqa: ANN401 - a number, or an object with an e-mail address
    """Name a person: by e-mail address where the export tells it, else by Label Studio's number."""
    if isinstance(account, dict):
        account = account.get("email") or account.get("id")
    if isinstance(account, bool) or not isinstance(account, (int, str)):
        return ""
    return str(account).strip()


def _fields(result: list[Any]) -> dict[str, Any]:
    """Take the regions of an annotation apart: ratings as numbers, choices as lists (of aliases)."""
    fields: dict[str, Any] = {}
    for region in result:
        value = region.get("value") if isinstance(region, dict) else None
        if not isinstance(value, dict):
            continue
        name = str(region.get("from_name", ""))
        if "rating" in value:
            fields[name] = value["rating"]
        elif isinstance(value.get("choices"), list):
            fields[name] = [str(choice) for choice in value["choices"]]
    return fields


@dataclass(frozen=True, slots=True)
class Answer:
    """What one person answered to one task.

    Attributes:
        row: Row of the table, or number of the task in the export.
        pack: Which pack the task says it is of.
        name: The task's name.
        annotator_id: Who.
        said: What was answered, by field; a list where several may be chosen.
        at: When, "" if nobody said.
    """

    row: int
    pack: str
    name: str
    annotator_id: str
    said: Mapping[str, Any]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """What came back.

    Attributes:
        answers: Every answer; one person's later answer to a task has replaced an earlier one.
        faults: What cannot be used.
        lines: What to say.
    """

    answers: tuple[Answer, ...]
    faults: tuple[Fault, ...]
    lines: tuple[str, ...]
