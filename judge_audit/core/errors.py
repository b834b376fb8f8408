"""What can go wrong, and the exit code each kind ends with.

"Cannot run" raises one of these and says what to do; "the judge failed" is a row, not an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_GOOD = 0
EXIT_JUDGE_FAILED = 1
EXIT_USAGE = 2
EXIT_MACHINERY = 3


class AuditError(Exception):
    """Base of every error with a message meant for the user."""

    exit_code = EXIT_MACHINERY


class UsageError(AuditError):
    """Wrong use or bad input: the user can mend it."""

    exit_code = EXIT_USAGE


class MachineryError(AuditError):
    """The machinery failed: disk, server, worker."""

    exit_code = EXIT_MACHINERY


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing wrong with an input file.

    Attributes:
        file: Name of the file as the user gave it.
        row: First data row is 1; 0 when the whole file is at fault.
        column: Column at fault (of a YAML file, the field), empty when the whole row is.
        message: What is wrong and what to do, in plain words.
        item_id: The item's name when the row had one.
    """

    file: str
    row: int
    column: str
    message: str
    item_id: str = ""

    def __str__(self) -> str:
        """Say where and what in one line."""
        place = self.file
        if self.row:
            place += f", row {self.row}"
        if self.column:
            noun = "field" if self.file.endswith((".yaml", ".yml")) else "column"
            place += f", {noun} {self.column}"
        return f"{place}: {self.message}"


class InputError(UsageError):
    """Bad input, all faults at once."""

    def __init__(self, faults: Sequence[Fault], advice: str = "") -> None:
        """Keep the faults and say them one a line."""
        self.faults = tuple(sorted(faults))
        lines = [str(fault) for fault in self.faults]
        if advice:
            lines.append(advice)
        self._advice = advice
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Fault, ...], str]]:
        """Be made again of the faults where it is passed between processes."""
        return type(self), (self.faults, self._advice)
