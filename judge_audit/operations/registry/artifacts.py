"""A version's files, fetched within bounds into a folder of their own: bytes, of which nothing is run or loaded."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import uuid
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.judges.cards.redaction import secrets_around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_FILES = 10_000
MOST_BYTES = 256 << 30
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
PROXIED = "mlflow-artifacts"
"""Scheme of files that the registry's own server hands out."""

REMOTE = ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "hdfs", "webhdfs")
"""Schemes that fsspec fetches, with credentials from the environment."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A version's files.

    Attributes:
        folder: Where they lie.
        digest: Digest of their paths and contents.
        files: How many.
        size: Bytes of all.
    """

    folder: Path
    digest: str
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class Listed:
    """What the registry's own server holds of a version.

    Attributes:
        files: Paths with their bytes, where known.
        get: Fetches all of it into a folder.
    """

    files: tuple[tuple[str, int | None], ...]
    get: Callable[[Path], object]


def fetch(uri: str, target: Path, proxied: Callable[[str], Listed]) -> Fetched:
    """Fetch a version's files, all of them or none.

    Args:
        uri: Where they lie: a folder, `file:`, an object store that fsspec knows, or `mlflow-artifacts:`.
        target: The folder to be; what lies there is replaced.
        proxied: Lists what the registry's own server holds; asked for `mlflow-artifacts:` only.

    Raises:
        UsageError: If the address is of another kind, or holds too much, links, or names that lead elsewhere.
        MachineryError: If the files cannot be reached, or the disk is too small.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.parent / f".{target.name}.{uuid.uuid4().hex}"
    draft.mkdir()
    try:
        _fetch(uri, draft, proxied)
        digest, files, size = _digested(draft)
        if target.exists():
            shutil.rmtree(target)
        draft.rename(target)
    except (OSError, ValueError) as error:
        raise MachineryError(f"the files at {_shown(uri)} could not be fetched: {error}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Fetched(target, digest, files, size)


def _fetch(uri: str, draft: Path, proxied: Callable[[str], Listed]) -> None:
    match = SCHEME.match(uri)
    # fsspec would read :: as one file system within another
    scheme = "::" if "::" in uri else match[1].lower() if match else ""
    path = Path(unquote(urlsplit(uri).path)) if scheme else Path(uri)
    if scheme in {"", "file"} and path.is_absolute():
        _copy(path, draft)
    elif scheme == PROXIED:
        listed = proxied(uri)
        bounded(listed.files, draft)
        listed.get(draft)
    elif scheme in REMOTE:
        _from_store(uri, draft)
    else:
        raise UsageError(
            f"the files lie at {_shown(uri)}; they can be fetched from a folder, from {', '.join(REMOTE)}, or from the "
            f"registry's own server ({PROXIED}), and from nowhere else."
        )


def bounded(files: Iterable[tuple[str, int | None]], folder: Path) -> list[str]:
    """See that a listing is not too much and that no name leads out of a folder.

    Args:
        files: Paths relative to the folder with their bytes, where known.
        folder: Where they are to lie.

    Returns:
        The paths.

    Raises:
        UsageError: If a name leads elsewhere, or it is too much.
        MachineryError: If the disk is too small for it.
    """
    names, size = [], 0
    for name, bytes_ in files:
        path = PurePosixPath(name)
        odd = "\\" in name or "\0" in name or not name.strip() or ":" in path.parts[0]
        if odd or path.is_absolute() or ".." in path.parts:
            raise UsageError(
                f"the model holds a file {name[:80]!a}, whose name leads elsewhere; it is not fetched."
            )
        names.append(name)
        size += bytes_ or 0
        if len(names) > MOST_FILES or size > MOST_BYTES:
            raise UsageError(
                f"the model holds more than {MOST_FILES:,} files or {MOST_BYTES >> 30:,} GiB; it is not fetched."
            )
    free = shutil.disk_usage(folder).free
    if size > free:
        raise MachineryError(
            f"the model has {size:,} bytes, and the disk of {folder.parent} has {free:,} left. Make room, and "
            "submit it again."
        )
    return names


def _copy(source: Path, draft: Path) -> None:
    """Copy a folder or a file of this machine; links are refused, lest they lead out of it."""
    if not source.exists():
        raise MachineryError(
            f"the files of the model lie at {source}, and there is nothing of that name on this machine. A worker must "
            "see the registry's folder; with `mlflow server --artifacts-destination` the server hands the files out."
        )
    if source.is_file():
        bounded([(source.name, source.stat().st_size)], draft)
        shutil.copyfile(source, draft / source.name)
        return
    for name in bounded(_local(source), draft):
        (draft / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, draft / name, follow_symlinks=False)


def _local(folder: Path) -> Iterable[tuple[str, int]]:
    """List the files below a folder; anything but files and folders is refused."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place) / name
            about = path.lstat()
            if stat.S_ISREG(about.st_mode):
                yield path.relative_to(folder).as_posix(), about.st_size
            elif not stat.S_ISDIR(about.st_mode):
                inside = path.relative_to(folder).as_posix()
                raise UsageError(
                    f"the model holds {inside!a}, which is a link or no file; it is not fetched."
                )


def _from_store(uri: str, draft: Path) -> None:
    """Fetch from an object store through fsspec."""
    from fsspec.core import url_to_fs  # noqa: PLC0415 - only for models that lie in a store

    try:
        system, root = url_to_fs(uri, use_listings_cache=False)
        sizes = {path: about.get("size") for path, about in system.find(root, detail=True).items()}
        inside = {path: path[len(root) :].lstrip("/") or path.rpartition("/")[2] for path in sizes}
        bounded(((inside[path], size) for path, size in sizes.items()), draft)
        for path, name in inside.items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            system.get_file(path, str(draft / name))
    except ImportError as error:
        raise UsageError(
            f"the files lie at {_shown(uri)}, and a package is missing to fetch them: {error}."
        ) from error
    except (UsageError, MachineryError):
        raise
    except Exception as error:
        raise MachineryError(
            f"the files at {_shown(uri)} could not be fetched: {type(error).__name__}: "
            f"{secrets_around().clean(str(error))[:500]}"
        ) from error


def _digested(folder: Path) -> tuple[str, int, int]:
    """Digest what was fetched: contents by their paths."""
    listed = sorted(_local(folder))
    if not listed:
        raise UsageError("the model version holds no files, so there is nothing that could be a judge.")
    parts: list[str] = []
    for name, _ in listed:
        with (folder / name).open("rb") as stream:
            parts += [name, hashlib.file_digest(stream, "sha256").hexdigest()]
    return text_digest("artifacts", *parts), len(listed), sum(size for _, size in listed)


def _shown(uri: str) -> str:
    """Show an address without user, password and query."""
    parts = urlsplit(uri)
    host = parts.netloc.rpartition("@")[2]
    shown = f"{parts.scheme}://{host}{parts.path}" if parts.scheme else parts.path
    return ascii(shown[:200])[1:-1]
