"""What audit.yaml says of a model registry."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.core.errors import UsageError

if TYPE_CHECKING:
    from judge_audit.core.configuration import Configuration

MOST = 5
"""Versions that one look at the registry submits, if audit.yaml says nothing: a first look finds years of them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices for a registry.

    Attributes:
        uri: Its address.
        name: Under which name its versions are recorded.
        models: Patterns of the names of models that are audited.
        template: The card template.
        project: The team's folder.
        alias: Alias of the newest version with an open gate, "" for none.
        use: What versions are to be released for; None for what a judge of the name was approved for last.
        since: Versions created before are left alone by the poller; None leaves none alone.
        most: Versions that one look at the registry submits at most.
    """

    uri: str
    name: str
    models: tuple[str, ...]
    template: Path
    project: Path
    alias: str = ""
    use: str | None = None
    since: datetime | None = None
    most: int = MOST

    def wants(self, model: str) -> bool:
        """Tell whether models of a name are audited."""
        return any(fnmatchcase(model, pattern) for pattern in self.models)


def settings_of(configuration: Configuration) -> Settings:
    """Take the registry's choices out of a configuration.

    Raises:
        UsageError: If it names no registry, or its template is not there.
    """
    told = configuration.registry
    if not told:
        raise UsageError(
            "audit.yaml names no model registry. Add, for example, registry: {uri: http://mlflow.example:5000, "
            "models: [aesthetic-*], card: cards/registered.yaml}; docs/registry.md describes it."
        )
    project = Path(configuration.project or Path.cwd())
    template = project / str(told["card"])
    if not template.is_file():
        raise UsageError(
            f"registry.card: there is no card template {template}. It is a card in which {{name}}, {{version}} and "
            "the like stand for what is registered; docs/registry.md has one."
        )
    uri = str(told["uri"]).rstrip("/")
    return Settings(
        uri=uri,
        name=str(told.get("name", uri)),
        models=tuple(told["models"]),
        template=template,
        project=project,
        alias=str(told.get("alias", "")),
        use=told.get("use"),
        since=_day(told.get("since")),
        most=int(told.get("most", MOST)),
    )


def _day(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"registry.since: {text} is no day; write it as 2026-11-01.") from error
