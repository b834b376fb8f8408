"""What `judge-audit submit` calls: a version, or a look at the registry, with or without a Prefect server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit_flows.runtime.server import embedded_server

from judge_audit.core.configuration import resolve
from judge_audit.core.errors import UsageError
from judge_audit.operations.registry.settings import settings_of

if TYPE_CHECKING:
    from judge_audit.core.progress import Progress


def run_submission(
    name: str, version: str, audit: str, progress: Progress, *, again: bool = False, here: bool = False
) -> Any:  # noqa: ANN401 - an Outcome, or a Look where no version is named
    """Submit a version, or all that are new.

    Args:
        name: The registered model; "" looks for new versions of all that are audited.
        version: Its version.
        audit: Path of audit.yaml.
        progress: Where progress is shown.
        again: Begin another round where the last one ended.
        here: Audit in this process instead of asking the Prefect server's workers.

    Raises:
        AuditError: With a plain message, when it cannot be submitted.
    """
    configuration = resolve(audit)
    settings_of(configuration)
    if not here and not os.environ.get("PREFECT_API_URL"):
        raise UsageError(
            "no Prefect server is configured that could run it. Set PREFECT_API_URL, or add --here to audit in this "
            "process."
        )
    progress.stage("starting")
    local = "://" not in configuration.lake
    with embedded_server(Path(configuration.lake) / "prefect" if local else None):
        from judge_audit_flows import registry  # noqa: PLC0415 - Prefect reads its settings once
        from judge_audit_flows.runtime.registry_runs import through_deployment  # noqa: PLC0415

        launch = (registry.within_this_process if here else through_deployment)(audit)
        if not name:
            return registry.looked(audit, launch)
        return registry.submitted(name, version, audit, launch, again=again)
