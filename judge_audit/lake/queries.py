"""Many questions to one lake, each one SELECT with bound parameters, on a connection that can do nothing else."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.lake.connect import connect
from judge_audit.lake.sql import checked, lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from judge_audit.lake.connect import View
    from judge_audit.lake.lake import Lake


@dataclass(frozen=True, slots=True)
class Questions:
    """An open, locked connection.

    Attributes:
        url: The lake's address, for messages.
    """

    url: str
    _connection: duckdb.DuckDBPyConnection

    def ask(self, text: str, parameters: Mapping[str, Any] | None = None) -> pa.Table:
        """Answer one SELECT.

        Args:
            text: The statement; it may name any of the parameters as `$name`, each as often as it likes.
            parameters: Values by name; those the statement does not name are left out.

        Raises:
            UsageError: If the statement would write, names an unknown parameter or column, or is no SQL.
            MachineryError: If the lake cannot be read.
        """
        import duckdb  # noqa: PLC0415 - a tenth of a second, paid only by those who ask

        given = parameters or {}
        checked(self._connection, text)
        try:
            (statement,) = self._connection.extract_statements(text)
            unknown = sorted(set(statement.named_parameters) - set(given))
            if unknown:
                known = ", ".join(f"${name}" for name in given)
                raise UsageError(f"there is no parameter ${unknown[0]}; the parameters are {known}.")
            bound = {name: given[name] for name in statement.named_parameters}
            found: pa.Table = self._connection.sql(text, params=bound or None).to_arrow_table()
        except duckdb.IOException as error:
            raise MachineryError(f"the lake at {self.url} cannot be read: {error}") from error
        except duckdb.Error as error:
            raise UsageError(f"{error}") from error
        return found


@contextmanager
def questions(
    lake: Lake, views: Mapping[str, View] | None = None, asked: Sequence[str] | None = None
) -> Iterator[Questions]:
    """Open a lake for questions: its tables, the views, no external access, configuration locked.

    Args:
        lake: The lake.
        views: The views to add to the tables; the shipped ones if not given.
        asked: The texts that will be asked, which is quicker; not given, any may be.
    """
    with connect(lake, views, asked) as connection:
        lock(connection, lake)
        yield Questions(lake.url, connection)
