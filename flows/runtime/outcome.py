"""How a deployed audit ends: attempts, the sentence that says why, the worst of several. No Prefect in here."""

from __future__ import annotations

import io
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import (
    EXIT_GOOD,
    EXIT_JUDGE_FAILED,
    EXIT_MACHINERY,
    EXIT_USAGE,
    AuditError,
    MachineryError,
)

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Sequence

OPENINGS = {
    EXIT_JUDGE_FAILED: "the budget is spent",
    EXIT_USAGE: "wrong use or bad input",
    EXIT_MACHINERY: "the machinery failed",
}
"""How the message of a run's last state begins where no audit was made; the gate's own begins with its state."""

WORST_FIRST = (EXIT_MACHINERY, EXIT_USAGE, EXIT_JUDGE_FAILED, EXIT_GOOD)


@dataclass(frozen=True, slots=True)
class Ending:
    """How one audit ended.

    Attributes:
        judge: What was audited.
        code: The exit code the command line would have ended with.
        text: Why, in plain words; its beginning tells one kind of end from another.
        document: What programs read: the report's content, and the gate's answer where it was asked.
        final: Whether trying again is of no use, whatever the code.
    """

    judge: str
    code: int
    text: str
    document: dict[str, Any] | None = None
    final: bool = False


def refused(judge: str, error: AuditError) -> Ending:
    """Give the ending of an audit that could not be made."""
    return Ending(judge, error.exit_code, f"{OPENINGS[error.exit_code]}: {error}")


class RunLog(io.StringIO):
    """A stream whose lines go into the flow run's log, which Prefect's page shows."""

    def __init__(self, say: Callable[[str], object]) -> None:
        """Hand every line to `say`."""
        super().__init__()
        self._say = say

    def write(self, text: str) -> int:
        """Take text; line ends alone say nothing."""
        for line in text.splitlines():
            if line.strip():
                self._say(line)
        return len(text)


def persisted(
    judge: str,
    attempt: Callable[[], Ending],
    log: logging.Logger | logging.LoggerAdapter[Any],
    retries: int,
    wait_seconds: float,
    sleep: Callable[[float], object] = time.sleep,
) -> Ending:
    """Attempt something, again where the machinery failed and only then; never raises an error of it.

    Args:
        judge: What is audited, for the ending.
        attempt: Makes the audit.
        log: Takes what goes wrong on the way; the one place for a traceback.
        retries: Attempts after the first.
        wait_seconds: Before the second attempt; twice as long before each later one.
        sleep: Waits.
    """
    ending = Ending(judge, EXIT_MACHINERY, "")
    for number in range(retries + 1):
        if number:
            pause = wait_seconds * 2 ** (number - 1)
            log.warning("%s Attempt %d follows in %.0f s.", ending.text, number + 1, pause)
            sleep(pause)
        try:
            ending = attempt()
        except AuditError as error:
            ending = refused(judge, error)
        except Exception as error:
            log.exception("An unexpected error.")
            sentence = (
                f"unexpected {type(error).__name__}: {error}. Where it came from stands in the run's log."
            )
            ending = refused(judge, MachineryError(sentence))
        if ending.final or ending.code != EXIT_MACHINERY:
            break
    return ending


def gate_event(state: str) -> str:
    """Name the event that says what state the gate is in: judge-audit.gate.open, .shut or .cannot-be-asked."""
    return f"judge-audit.gate.{state.replace(' ', '-')}"


def slug(judge: str) -> str:
    """Name a judge in lower case letters, digits and dashes."""
    name = re.sub(r"[^a-z0-9]+", "-", judge.rsplit("/", 1)[-1].removesuffix(".yaml").lower()).strip("-")
    return name or "judge"


def worst(endings: Sequence[Ending]) -> tuple[int, str]:
    """Give the worst code of several endings, and every judge's reason."""
    code = min((ending.code for ending in endings), key=WORST_FIRST.index)
    lines = [endings[0].text] if len(endings) == 1 else [f"{one.judge}: {one.text}" for one in endings]
    return code, "\n".join(lines)
