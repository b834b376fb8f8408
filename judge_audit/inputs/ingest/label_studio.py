"""Label Studio's JSON export: who answered what, without skips and pre-filled answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import Fault, UsageError
from judge_audit.inputs.ingest.answer import Answer, Answers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Row = Mapping[str, Any]

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
    held: dict[tuple[str, str], Answer] = {}
    faults: list[Fault] = []
    skipped = replaced = 0
    for number, task in enumerate(_tasks(path), 1):
        data = task["data"]
        for annotation in task["annotations"]:
            if not isinstance(annotation, dict):
                faults.append(Fault(path.name, number, "annotations", "an annotation is no JSON object."))
                continue
            if annotation.get("was_cancelled"):
                skipped += 1
                continue
            wrong = _fault(task, annotation)
            if wrong:
                faults.append(Fault(path.name, number, wrong[0], wrong[1]))
                continue
            answer = Answer(
                number,
                str(data.get("pack", "")),
                str(data.get("name", "")),
                _person(annotation["completed_by"]),
                _said(annotation["result"]),
                str(annotation.get("updated_at") or annotation.get("created_at") or ""),
            )
            before = held.get((answer.name, answer.annotator_id))
            replaced += before is not None
            if before is None or before.at <= answer.at:
                held[answer.name, answer.annotator_id] = answer
    lines = [f"{skipped:,} tasks were skipped by somebody."] if skipped else []
    if replaced:
        lines.append(f"{replaced:,} answers were given again by the same person; the latest counts.")
    return Answers(tuple(held.values()), tuple(faults), tuple(lines))


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
    tasks: list[Row] = content
    return tasks


def _fault(task: Row, annotation: Row) -> tuple[str, str] | None:
    """Say what is wrong with an annotation: the field and why."""
    if task.get("predictions") or any(
        annotation.get(name) for name in ("prediction", "parent_prediction", "parent_annotation")
    ):
        return "predictions", PREFILLED
    if not _person(annotation.get("completed_by")):
        return "completed_by", "it does not say who answered."
    if not isinstance(annotation.get("result"), list):
        return "result", "it holds no answer."
    return None


def _person(told: Any) -> str:  # noqa: ANN401 - a number, or an object with an e-mail address
    """Name a person: by e-mail address where the export tells it, else by Label Studio's number."""
    if isinstance(told, dict):
        told = told.get("email") or told.get("id")
    if isinstance(told, bool) or not isinstance(told, (int, str)):
        return ""
    return str(told).strip()


def _said(result: list[Any]) -> dict[str, Any]:
    """Take the regions of an annotation apart: ratings as numbers, choices as lists (of aliases)."""
    said: dict[str, Any] = {}
    for region in result:
        value = region.get("value") if isinstance(region, dict) else None
        if not isinstance(value, dict):
            continue
        name = str(region.get("from_name", ""))
        if "rating" in value:
            said[name] = value["rating"]
        elif isinstance(value.get("choices"), list):
            said[name] = [str(choice) for choice in value["choices"]]
    return said
