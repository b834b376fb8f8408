"""`lake sql` without the tree of commands: a question is answered sooner than thirty commands are built.

Only what is certain is taken: a question with the options of `lake sql`, written out. Anything else, `--help` and
faulty options included, goes to the tree of commands, which knows how to answer it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.cli.project import opened, project_here
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.lake.connect import View
    from judge_audit.lake.sql import Format

FORMATS: tuple[Format, ...] = ("table", "csv", "json")
OPTIONS = {"--lake": "lake", "--format": "form"}
"""Options of `lake sql` that take a value."""


@dataclass(slots=True)
class Question:
    """What `lake sql` was asked."""

    text: str = "-"
    lake: str | None = None
    form: str = "table"
    as_json: bool = False


def question_in(words: Sequence[str]) -> Question | None:
    """Read a command line; None if it is anything but a plain `lake sql`."""
    if list(words[:2]) != ["lake", "sql"]:
        return None
    asked, texts = Question(), []
    waiting = iter(words[2:])
    for word in waiting:
        name, equals, value = word.partition("=")
        if name in OPTIONS:
            value = value if equals else next(waiting, "")
            if not value or value.startswith("-"):
                return None
            setattr(asked, OPTIONS[name], value)
        elif word == "--json":
            asked.as_json = True
        elif word.startswith("-") and word != "-":
            return None
        else:
            texts.append(word)
    if len(texts) > 1:
        return None
    asked.text = texts[0] if texts else "-"
    return asked


def answer(asked: Question) -> str:
    """Answer a question.

    Raises:
        AuditError: If it cannot be answered; says why.
    """
    from judge_audit.lake.sql import run_sql

    chosen = next((known for known in FORMATS if known == ("json" if asked.as_json else asked.form)), None)
    if chosen is None:
        raise UsageError(f"there is no format “{asked.form}”; the formats are {', '.join(FORMATS)}.")
    text = sys.stdin.read() if asked.text == "-" else asked.text
    return run_sql(opened(asked.lake), text, chosen, views=views_here())


def views_here() -> Mapping[str, View]:
    """Give the shipped views, and those of the project in whose folder this is asked."""
    if not list(Path(project_here(), "views").glob("*.sql")):
        from judge_audit.lake.connect import shipped_views

        return shipped_views()
    from judge_audit.audits.plugins import find_views

    return {name: part.thing for name, part in find_views(project_here()).items()}
