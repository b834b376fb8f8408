"""A study's folder: `study.json`, which never changes, and `readers.json`, which the owner changes."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from judge_audit.core.digests import canonical_json
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.tables import from_rows
from judge_audit.core.version import __version__
from judge_audit.people.study.plan import FORMAT, PROTOCOL_VERSION, Study
from judge_audit.people.study.readers import Reader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judge_audit_schemas.rows import StudiesRow

    from judge_audit.lake import Lake

STUDY_FILE = "study.json"
READERS_FILE = "readers.json"


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """A study on disk.

    Attributes:
        path: The folder.
        study: The plan.
        lake: Where the readings go.
        project: The team's folder, "" if there is none.
    """

    path: Path
    study: Study
    lake: str
    project: str

    def readers(self) -> tuple[bytes, tuple[Reader, ...]]:
        """Read the study's key and its readers.

        Raises:
            UsageError: If the file is missing or damaged.
        """
        try:
            content = json.loads((self.path / READERS_FILE).read_text(encoding="utf-8"))
            return bytes.fromhex(content["key"]), tuple(map(Reader.from_json, content["readers"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{self.path / READERS_FILE}: it is missing or damaged ({error}). Restore it; readings are safe in the "
                "lake."
            ) from error

    def changed_at(self) -> int:
        """Say when the readers were last changed (nanoseconds)."""
        return (self.path / READERS_FILE).stat().st_mtime_ns

    def write_readers(self, key: bytes, readers: Sequence[Reader]) -> None:
        """Replace the list of readers, wholly or not at all; nobody else may read the file."""
        content = {"key": key.hex(), "readers": [reader.as_json() for reader in readers]}
        _write(self.path / READERS_FILE, json.dumps(content, indent=1, ensure_ascii=False))


def make_folder(path: Path, study: Study, lake: str, project: str) -> StudyFolder:
    """Make a study's folder; the same study again keeps its readers.

    Raises:
        UsageError: If another study is there.
    """
    if (path / STUDY_FILE).exists():
        existing = open_folder(path)
        if existing.study.study_id != study.study_id:
            raise UsageError(
                f"{path}: another study lies there (“{existing.study.name}”). Name another folder with --out."
            )
        return existing
    try:
        path.mkdir(parents=True, exist_ok=True)
        made = StudyFolder(path, study, lake, project)
        if not (path / READERS_FILE).exists():
            made.write_readers(secrets.token_bytes(32), ())
        content = {**study.as_json(), "study_id": study.study_id, "lake": lake, "project": project}
        _write(path / STUDY_FILE, json.dumps(content, indent=1, ensure_ascii=False))
    except OSError as error:
        raise MachineryError(f"{path}: the study cannot be written: {error.strerror}.") from error
    return made


def open_folder(path: Path) -> StudyFolder:
    """Open a study's folder.

    Raises:
        UsageError: If there is no study, a newer judge-audit wrote it, or it was changed.
    """
    target = path / STUDY_FILE if path.is_dir() else path
    try:
        content = json.loads(target.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{path}: there is no study. Plan one: judge-audit study plan audit.yaml."
        ) from error
    except ValueError as error:
        raise UsageError(f"{target}: it is not valid JSON: {error}.") from error
    try:
        newer = content["format"] > FORMAT or content["protocol_version"] != PROTOCOL_VERSION
        study = None if newer else Study.from_json(content)
        lake, project, named = content["lake"], content["project"], content["study_id"]
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{target}: it is not a study ({error!r}). Plan one: judge-audit study plan."
        ) from error
    if study is None:
        raise UsageError(f"{target}: another version of judge-audit planned it. Plan the study again.")
    if study.study_id != named:
        raise UsageError(f"{target}: it was changed after it was planned. Restore it, or plan again.")
    return StudyFolder(target.parent, study, lake, project)


def register(lake: Lake, study: Study) -> None:
    """Put the plan of a study into the lake; one seen before costs nothing."""
    row: StudiesRow = {
        "study_id": study.study_id,
        "name": study.name,
        "protocol": study.protocol,
        "protocol_version": PROTOCOL_VERSION,
        "seed": study.seed,
        "plan": canonical_json(study.as_json()),
        "code_version": __version__,
        "created_at": datetime.now(UTC),
    }
    lake.commit({"studies": from_rows("studies", [row])})


def _write(target: Path, text: str) -> None:
    """Write a file for its owner alone, under another name first."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
