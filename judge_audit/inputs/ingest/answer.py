"""What people answered in another tool, before anybody says what it was about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.core.errors import Fault


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
