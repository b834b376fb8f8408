"""A lake in an object store: the same promises as a folder's, through fsspec.

A put is whole or not there, as object stores have it. A file is made only if it is absent by the store's own
conditional put. Parts and records never change once written, so each is fetched once and kept on this machine:
DuckDB reads local files only, whatever it may not reach.
"""

from __future__ import annotations

import os
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import MachineryError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SCHEMES = frozenset({"s3"})
"""Stores whose conditional put is known to hold."""

CACHE_VARIABLE = "JUDGE_AUDIT_CACHE"

TRIES = 3
"""Tries of one request, each of which the store's own library tries several times; the pause between doubles."""

PAUSE = 0.25
AT_ONCE = 16
"""Files fetched at a time."""


@dataclass(frozen=True)
class RemoteStorage:
    """A prefix of an object store.

    Attributes:
        address: The lake's URL, such as s3://bucket/lake.
        cache: Folder of this machine in which fetched files are kept.
    """

    address: str
    cache: Path

    @property
    def url(self) -> str:
        """The lake's URL."""
        return self.address

    @property
    def beside(self) -> Path:
        """The folder in which fetched files are kept."""
        return self.cache

    @cached_property
    def _place(self) -> tuple[Any, str]:
        """The file system and the lake's path in it."""
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415 - only for lakes that are not folders

            system, root = url_to_fs(self.address, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise UsageError(
                f"the lake {self.address} lies in S3, for which a package is missing: "
                'pip install "image-judge-audit[s3]".'
            ) from error
        return system, str(root).rstrip("/")

    def names(self, folder: str) -> list[str]:
        """List the files of a folder, sorted; empty if the folder does not exist."""
        system, root = self._place
        try:
            paths = self._tried(lambda: system.ls(f"{root}/{folder}", detail=False))
        except FileNotFoundError:
            return []
        names = (str(path).rpartition("/")[2] for path in paths)
        return sorted(name for name in names if name and not name.startswith("."))

    def walk(self, folder: str) -> list[str]:
        """List all files under a folder, sorted; an object is never unfinished."""
        system, root = self._place
        paths = self._tried(lambda: system.find(f"{root}/{folder}"))
        return sorted(str(path).removeprefix(f"{root}/") for path in paths)

    def get(self, path: str) -> bytes:
        """Read a file."""
        system, root = self._place
        content: bytes = self._tried(lambda: system.cat_file(f"{root}/{path}"))
        return content

    def get_all(self, paths: Sequence[str]) -> list[bytes]:
        """Read several files that never change; those that were read before are on this machine."""
        return [Path(copy).read_bytes() for copy in self.locate(paths)]

    def exists(self, path: str) -> bool:
        """Tell whether a file is there."""
        system, root = self._place
        return bool(self._tried(lambda: system.exists(f"{root}/{path}")))

    def put(self, path: str, content: bytes) -> None:
        """Write a file; an object is whole or not there."""
        system, root = self._place
        with self._bucket():
            self._tried(lambda: system.pipe_file(f"{root}/{path}", content))

    def put_if_absent(self, path: str, content: bytes) -> bool:
        """Write a file only if it does not exist.

        A put whose answer got lost is tried again and then finds its own file: what is there is compared with
        what was to be written.
        """
        system, root = self._place
        try:
            with self._bucket():
                self._tried(lambda: system.pipe_file(f"{root}/{path}", content, mode="create"))
        except FileExistsError:
            return self.get(path) == content
        return True

    def remove(self, path: str) -> None:
        """Remove a file if it is there, and this machine's copy of it."""
        system, root = self._place
        (self.cache / path).unlink(missing_ok=True)
        try:
            self._tried(lambda: system.rm_file(f"{root}/{path}"))
        except FileNotFoundError:
            return

    def locate(self, paths: Sequence[str]) -> list[str]:
        """Give the local copies of files, fetching those that are not here yet.

        A file that the store no longer holds keeps its place, so that whoever reads it says it is missing.
        """
        copies = [self.cache / path for path in paths]
        missing = [path for path, copy in zip(paths, copies, strict=True) if not copy.is_file()]
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="fetch") as pool:
            list(pool.map(self._fetch, missing))
        return [str(copy) for copy in copies]

    def _fetch(self, path: str) -> None:
        """Keep a file on this machine, whole or not at all."""
        try:
            content = self.get(path)
        except FileNotFoundError:
            return
        target = self.cache / path
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.parent / f".{target.name}.{uuid.uuid4().hex}"
        draft.write_bytes(content)
        draft.replace(target)

    @contextmanager
    def _bucket(self) -> Iterator[None]:
        """A put that finds nothing finds no bucket."""
        try:
            yield
        except FileNotFoundError as error:
            raise UsageError(
                f"the lake at {self.address} cannot be made: there is no such bucket. Make it, or name another."
            ) from error

    def _tried(self, request: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the request gives
        """Make a request again while the store is slow or failing."""
        with _told(self.address):
            for turn in range(TRIES):
                try:
                    return request()
                except (FileNotFoundError, FileExistsError, PermissionError):
                    raise
                except OSError:
                    if turn == TRIES - 1:
                        raise
                    time.sleep(PAUSE * 2**turn)
        return None


@contextmanager
def _told(address: str) -> Iterator[None]:
    """Turn the store's refusals into a message that names the lake, and nothing that was secret."""
    try:
        yield
    except (FileNotFoundError, FileExistsError):
        raise
    except PermissionError as error:
        raise UsageError(
            f"the lake at {address} refuses this account. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or a "
            "profile) of one that may read and write there."
        ) from error
    except OSError as error:
        raise MachineryError(
            f"the lake at {address} cannot be reached ({error.strerror or type(error).__name__}). Nothing committed "
            "is lost: run again when the store answers."
        ) from error
    except Exception as error:
        if type(error).__module__.split(".")[0] not in {"botocore", "aiobotocore", "aiohttp"}:
            raise
        raise MachineryError(
            f"the lake at {address} cannot be reached ({type(error).__name__}). Check the address, the region and "
            "the credentials in the environment. Nothing committed is lost."
        ) from error


def open_remote(address: str) -> RemoteStorage:
    """Open a lake in an object store.

    Args:
        address: Its URL.

    Raises:
        UsageError: If the URL holds a password or names no bucket.
    """
    parts = urlsplit(address)
    if "@" in parts.netloc:
        raise UsageError(
            "the lake's address holds a name or password. Leave it out; keys are taken from the environment."
        )
    if not parts.netloc:
        raise UsageError(f"the lake “{address}” names no bucket; write s3://bucket/folder.")
    address = address.rstrip("/")
    home = Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "judge-audit")
    return RemoteStorage(address, home / text_digest("lake", address, _store())[:16])


def _store() -> str:
    """Tell stores with the same bucket names apart."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
