"""What every task runs its stage with: this process's context of the configuration it is handed."""

from __future__ import annotations

from typing import Any

from judge_audit.audits.context import context_of
from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.core.configuration import Configuration
from judge_audit.core.progress import current_progress

PLAIN: dict[str, Any] = {"task_run_name": "{name}", "persist_result": False}
"""A run of a task is called by its parameter `name`; results are in the lake."""


def executor_of(configuration: dict[str, Any], requests: int = 0) -> LocalExecutor:
    """Give what runs a stage in this process.

    Args:
        configuration: A resolved configuration as plain values.
        requests: Requests of the judge that this process may have under way; 0 for what the card says.
    """
    return LocalExecutor(context_of(Configuration.from_json(configuration), requests), current_progress())
