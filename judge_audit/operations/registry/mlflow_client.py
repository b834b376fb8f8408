"""MLflow's model registry, through MLflow's own client."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import AuditError, MachineryError, UsageError
from judge_audit.judges.cards.redaction import secrets_around
from judge_audit.operations.registry.artifacts import MOST_FILES, Listed, fetch
from judge_audit.operations.registry.ledger import Version, cut, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from judge_audit.operations.registry.artifacts import Fetched
    from judge_audit.operations.registry.settings import Settings

EXTRA = "mlflow"

QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    # The client's own 7 retries with doubled waits keep a poller for minutes; the next look is not far.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "60",
}
"""Settings of the client, unless the environment has others."""

ABSENT = "RESOURCE_DOES_NOT_EXIST"
DENIED = ("PERMISSION_DENIED", "UNAUTHENTICATED", "CUSTOMER_UNAUTHORIZED")
READY = "READY"
PAGE = 1000
LONGEST_TAG = 4000
"""Characters of a tag's value; older servers take 5,000 bytes."""


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry.

    Attributes:
        settings: Which one, and what of it is meant.
        client: MLflow's client.
    """

    settings: Settings
    client: Any

    def version(self, model: str, version: str) -> Version:
        """Look a version up.

        Raises:
            UsageError: If there is no such version, or the registry refuses.
            MachineryError: If the registry does not answer.
        """
        with self._reported(f"{plain(model)} version {plain(version)}"):
            return self._version(self.client.get_model_version(model, version))

    def versions(self) -> list[Version]:
        """List the versions of the models that are audited, the newest first.

        Raises:
            UsageError: If the registry refuses.
            MachineryError: If the registry does not answer.
        """
        versions: list[Version] = []
        token, since = None, self.settings.since
        with self._reported("its model versions"):
            while True:
                page = self.client.search_model_versions(
                    order_by=["creation_timestamp DESC"], max_results=PAGE, page_token=token
                )
                ready = [row for row in page if row.status == READY and self.settings.wants(row.name)]
                versions += [self._version(row) for row in ready]
                token = page.token
                if not token or (since is not None and page and _when(page[-1]) < since):
                    break
        wanted = [row for row in versions if since is None or row.created_at >= since]
        return sorted(wanted, key=lambda row: (row.created_at, row.model, row.version), reverse=True)

    def fetch(self, version: Version, target: Path) -> Fetched:
        """Fetch a version's files.

        Raises:
            UsageError: If they lie where nothing is fetched from, or are too many.
            MachineryError: If they cannot be reached.
        """
        with self._reported(version.told):
            uri = self.client.get_model_version_download_uri(version.model, version.version)
        return fetch(uri, target, self._proxied)

    def tell(
        self, version: Version, tags: Mapping[str, str], *, alias: str = "", bears: bool = False
    ) -> None:
        """Write tags to a version, and give it the alias or take it away.

        The alias goes to a version only if no newer one bears it: answers may arrive out of order.

        Args:
            version: The version.
            tags: What is written; an empty text takes nothing away.
            alias: The alias, "" to leave aliases alone.
            bears: Whether this version may bear it.
        """
        with self._reported(version.told):
            for name, value in tags.items():
                self.client.set_model_version_tag(
                    version.model, version.version, name, cut(value, LONGEST_TAG)
                )
            if not alias:
                return
            bearer = self.client.get_registered_model(version.model).aliases.get(alias)
            if bears and (bearer is None or int(bearer) < int(version.version)):
                self.client.set_registered_model_alias(version.model, alias, version.version)
            elif not bears and bearer is not None and str(bearer) == version.version:
                self.client.delete_registered_model_alias(version.model, alias)

    def _version(self, row: Any) -> Version:  # noqa: ANN401 - MLflow's own type
        return Version(
            registry=self.settings.name,
            model=row.name,
            version=str(row.version),
            created_at=_when(row),
            source=row.source or "",
            run_id=row.run_id or "",
            aliases=tuple(sorted(row.aliases or ())),
        )

    def _proxied(self, uri: str) -> Listed:
        """List the files that the server hands out, without fetching any."""
        from mlflow.store.artifact.artifact_repository_registry import (  # noqa: PLC0415
            get_artifact_repository,
        )

        what = "the files of a version"
        files: list[tuple[str, int | None]] = []
        with self._reported(what):
            store: Any = get_artifact_repository(uri, tracking_uri=self.settings.uri)
            waiting, count = [""], 0
            while waiting:
                for entry in store.list_artifacts(waiting.pop() or None):
                    count += 1
                    if count > MOST_FILES:
                        raise UsageError(
                            f"the model holds more than {MOST_FILES:,} files; it is not fetched."
                        )
                    if entry.is_dir:
                        waiting.append(entry.path)
                    else:
                        files.append((entry.path, entry.file_size))

        def get(folder: Path) -> None:
            with self._reported(what):
                store.download_artifacts("", str(folder))

        return Listed(tuple(files), get)

    @contextmanager
    def _reported(self, what: str) -> Iterator[None]:
        """Say in words what the registry refuses, and that it does not answer; no secret stands in them."""
        try:
            yield
        except AuditError:
            raise
        except Exception as error:  # noqa: BLE001 - MLflow raises what its transports raise
            raise _failure(error, self.settings.uri, what) from None


def connect(settings: Settings) -> Registry:
    """Connect to a registry; nothing is asked yet.

    User, password and token are read from the environment by MLflow's client and stand nowhere else.

    Raises:
        UsageError: If MLflow's client is not installed; says how to install it.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        from mlflow import MlflowClient  # noqa: PLC0415 - an extra, and seconds to import
    except ImportError as error:
        raise UsageError(
            f"a model registry needs MLflow's client ({error}). Install the extra: pip install "
            "'image-judge-audit[mlflow]'"
        ) from error
    return Registry(settings, MlflowClient(tracking_uri=settings.uri, registry_uri=settings.uri))


def _when(row: Any) -> datetime:  # noqa: ANN401 - MLflow's own type
    return datetime.fromtimestamp(int(row.creation_timestamp) / 1000, UTC)


def _failure(error: Exception, uri: str, what: str) -> AuditError:
    """Put a failure into words."""
    code = getattr(error, "error_code", "")
    message = secrets_around().clean(" ".join(str(error).split()))[:400]
    if code == ABSENT:
        return UsageError(f"the registry at {uri} has no {what}: {message}")
    if code in DENIED or " 401" in message or " 403" in message:
        return UsageError(
            f"the registry at {uri} lets nobody see {what} without a name: set MLFLOW_TRACKING_USERNAME and "
            f"MLFLOW_TRACKING_PASSWORD (or MLFLOW_TRACKING_TOKEN) in the environment. It said: {message}"
        )
    if code == "INVALID_PARAMETER_VALUE":
        return UsageError(f"the registry at {uri} refuses {what}: {message}")
    return MachineryError(
        f"the registry at {uri} does not answer when asked for {what} ({type(error).__name__}). Is it up, and is "
        f"the address right? Nothing was recorded; the next look finds it. It said: {message}"
    )
