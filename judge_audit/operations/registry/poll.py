"""A look at the registry: what is new is submitted, what ended and was not told is told.

It keeps no place of its own and compares with the ledger, so what was registered while nobody looked is found too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import AuditError
from judge_audit.operations.registry.audit_version import tell
from judge_audit.operations.registry.submit import submit
from judge_audit.operations.registry.template import check_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from judge_audit.operations.registry.ledger import Ledger
    from judge_audit.operations.registry.mlflow_client import Registry
    from judge_audit.operations.registry.submit import Launcher
    from judge_audit.operations.registry.versions import Version


@dataclass(slots=True)
class Look:
    """What a look came to.

    Attributes:
        versions: Versions that the registry holds of what is audited.
        submitted: How many were submitted now.
        under_way: How many were before and have not ended.
        left: How many wait for the next look.
        told: How many the registry was told of late.
        lines: What happened, a line each.
        problems: What went wrong; the rest was done all the same.
    """

    versions: int
    submitted: int = 0
    under_way: int = 0
    left: int = 0
    told: int = 0
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """Say it in one line."""
        return (
            f"{self.versions} versions in the registry: {self.submitted} submitted now, {self.under_way} under way, "
            f"{self.left} wait for the next look."
        )


def look(
    registry: Registry,
    ledger: Ledger,
    launch: Launcher,
    announce: Callable[[Version, dict[str, Any], dict[str, str]], None],
) -> Look:
    """Look at the registry once.

    Args:
        registry: The registry.
        ledger: What was submitted before.
        launch: Starts a run, once a key.
        announce: Tells whoever listens of an end that was not told.

    Raises:
        UsageError: If the card template serves for no version, or the registry refuses.
        MachineryError: If the registry does not answer; nothing is recorded then.
    """
    settings = registry.settings
    check_template(settings.template, settings.project)
    versions = registry.versions()
    histories = ledger.histories(versions)
    seen = Look(len(versions))
    for version in versions:
        history = histories[version.registration_id]
        try:
            if history.ending is None:
                if not history.rows and seen.submitted >= settings.most:
                    seen.left += 1
                    continue
                outcome = submit(ledger, version, launch, via="poller", history=history)
                seen.submitted += outcome.new
                seen.under_way += not outcome.new
                seen.lines.append(outcome.line)
            elif not history.told:
                tell(registry, ledger, version, announce)
                seen.told += 1
                seen.lines.append(f"{version.told}: the registry was told late how the audit ended.")
        except AuditError as error:
            seen.problems.append(f"{version.told}: {error}")
    return seen
