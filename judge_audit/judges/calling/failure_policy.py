"""Patience with a judge that fails: one picture alone is a row, picture after picture is an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit.judges.protocol import Judge

GIVE_UP = 8
"""Pictures that fail one after another, without an answer between them, before the judge is given up."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Heard(Generic[Result]):
    """One batch with what it says of the judge.

    Attributes:
        result: The batch.
        answers: Answers in it, refusals among them.
        new_failures: What failed for the first time.
        error: The last error, None if there was none.
        spent: Whether the budget did not reach for all of it.
    """

    result: Result
    answers: int
    new_failures: int
    error: Exception | None
    spent: bool = False


def kept(judge: Judge, asked: Iterator[Heard[Result]], *, known: bool) -> Iterator[Result]:
    """Pass batches on, holding failures back until the judge has answered something since.

    A picture that fails alone is a row; a judge that answers nothing is an error, and nothing of it is kept.

    Args:
        judge: The judge.
        asked: Batches as they come.
        known: Whether the lake already holds answers of this judge.
    """
    waiting: list[Result] = []
    failures = 0
    last: Exception | None = None
    for heard in asked:
        waiting.append(heard.result)
        last = heard.error or last
        known = known or heard.answers > 0
        failures = 0 if heard.answers else failures + heard.new_failures
        if failures >= GIVE_UP and last is not None:
            raise useless(judge, last) from last
        if not failures and (known or last is None):
            yield from waiting
            waiting = []
        if heard.spent:
            break
    if last is not None and not known:
        raise useless(judge, last) from last
    yield from waiting


def useless(judge: Judge, error: Exception) -> UsageError:
    """Say that a judge answers nothing."""
    return UsageError(
        f"the judge “{judge.card.name}” failed on picture after picture; the last error was "
        f"{type(error).__name__}: {error}"
    )
