"""What audit.yaml says of a model registry."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.core.audit_blocks import RegistryBlock
from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from judge_audit.core.configuration import Configuration


class Settings(RegistryBlock):
    """The choices for a registry, and the team's folder."""

    project: Path

    @property
    def template(self) -> Path:
        """The card template."""
        return self.project / self.card

    def wants(self, model: str) -> bool:
        """Tell whether models of a name are audited."""
        return any(fnmatchcase(model, pattern) for pattern in self.models)


def settings_of(configuration: Configuration) -> Settings:
    """Take the registry's choices out of a configuration.

    Raises:
        UsageError: If it names no registry, or its template is not there.
    """
    block = configuration.registry
    if not block:
        raise UsageError(
            "audit.yaml names no model registry. Add, for example, registry: {uri: http://mlflow.example:5000, "
            "models: [aesthetic-*], card: cards/registered.yaml}; docs/registry.md describes it."
        )
    uri = str(block["uri"]).rstrip("/")
    project = Path(configuration.project or Path.cwd())
    settings = Settings.model_validate({"name": uri, **block, "uri": uri, "project": project})
    template = settings.template
    if not template.is_file():
        raise UsageError(
            f"registry.card: there is no card template {template}. It is a card in which {{name}}, {{version}} "
            "and the like stand for what is registered; docs/registry.md has one."
        )
    return settings
