"""Which Prefect server is configured, and whether it answers."""

from __future__ import annotations

from prefect.client.orchestration import get_client
from prefect.settings import get_current_settings

from judge_audit.core.errors import MachineryError, UsageError


def configured_server() -> str:
    """Give the address of the configured server's API, by environment or Prefect's profile; "" if there is none."""
    return get_current_settings().api.url or ""


def reached() -> str:
    """Give the address of the configured server once it has answered.

    Raises:
        UsageError: If none is configured.
        MachineryError: If it does not answer.
    """
    url = configured_server()
    if not url:
        raise UsageError(
            "no Prefect server is configured, so there is nowhere to register anything. Set PREFECT_API_URL to yours "
            "(`prefect server start` starts http://127.0.0.1:4200/api), or run `judge-audit serve`, which needs none."
        )
    with get_client(sync_client=True) as client:
        if (trouble := client.api_healthcheck()) is not None:
            raise MachineryError(
                f"the Prefect server at {url} does not answer: {trouble or type(trouble).__name__}. Start it, or set "
                "PREFECT_API_URL to one that runs."
            )
    return url
