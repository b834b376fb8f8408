"""A worker or a server that died while an audit ran, said in plain words."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import AuditError, MachineryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit.core.configuration import Configuration

DEATHS = frozenset(
    {
        "BrokenProcessPool",  # processes
        "KilledWorker",  # Dask
        "CommClosedError",
        "WorkerCrashedError",  # Ray
        "LocalRayletDiedError",
        "NodeDiedError",
        "OutOfMemoryError",
        "RaySystemError",
    }
)
"""Names of the errors by which runners tell that a worker is gone; they are known without importing any of them."""


def result_of_task(future: Any, configuration: Configuration) -> Any:  # noqa: ANN401 - Prefect's futures share no useful type
    """Give what a task came to.

    Args:
        future: The task's future, done.
        configuration: What the audit was asked to do.

    Raises:
        MachineryError: If the worker died; says what is known and what to do.
        AuditError: What the task raised itself.
    """
    try:
        return future.result()
    except AuditError:
        raise
    except Exception as error:
        if not died(error):
            raise
        raise MachineryError(
            f"a worker died while it asked the judge “{configuration.judge}” (runner {configuration.runner}, "
            f"{type(error).__name__}): it was killed, ran out of memory, or the judge ended it. Nothing committed is "
            "lost: the same command goes on from there. If it dies at the same place again, the judge does it: give "
            "it a program of its own (a card of kind: command), whose end is only a failed answer."
        ) from error


def died(error: BaseException) -> bool:
    """Tell whether an error, or what Prefect wrapped into it, says that a worker is gone."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & DEATHS) or any(name in str(error) for name in DEATHS)


CLIENTS = frozenset({"httpx", "httpcore", "websockets"})
"""What Prefect talks to its server with."""


@contextmanager
def server_told() -> Iterator[None]:
    """Turn the errors by which Prefect tells that its server is gone into a sentence."""
    try:
        yield
    except Exception as error:
        if not CLIENTS & {kind.__module__.partition(".")[0] for kind in type(error).__mro__}:
            raise
        raise MachineryError(
            f"Prefect's server stopped answering while the audit ran ({type(error).__name__}: {error}). Nothing "
            "committed is lost: the same command goes on from there. If it happens again, the server was killed or "
            "the machine has too little memory; PREFECT_API_URL names a server of your own."
        ) from error
