"""Answers on their way into a commit: each batch is one small file at once, many batches become one commit.

A batch that a judge answered is paid for, so it is on disk before the next is asked: a killed audit loses what is being
asked and nothing else. A commit of its own for each would leave hundreds of files that every question opens, so
batches are written ahead into `ahead/` and *sealed* later: put together as one commit, and their files removed. Between
the two they count for `Lake.read` and `Lake.answered` and for no question in SQL; whoever runs an audit next, or
compacts the lake, seals what a killed one left.

Files are listed before commits are: a batch that is sealed meanwhile is found in the commit. Seen in both it counts
once, as does any answer that was bought twice.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pyarrow as pa

from judge_audit.core.digests import file_digest, text_digest
from judge_audit.core.errors import MachineryError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from judge_audit.lake.lake import Commit, Lake
    from judge_audit.lake.records import Known
    from judge_audit.lake.storage import Storage

AHEAD = "ahead"
NAME = re.compile(r"[0-9a-f]{32}\.arrow")
TABLES = frozenset({"calls", "scores", "comparisons", "canaries", "canary_scores"})
"""Tables whose rows may be written ahead."""

STREAMS = b"digest"
"""Key in a batch's metadata: the digest of its rows as they were written."""

MOST = 1024
"""Batches that a process writes ahead before it seals its own."""

_own = threading.Lock()


def path_of(commit_id: str) -> str:
    """Give the path of a batch."""
    return f"{AHEAD}/{commit_id}.arrow"


def packed(contents: Mapping[str, pa.Table]) -> bytes:
    """Write rows of several tables as one Arrow file: a row a table, its rows an Arrow stream."""
    streams = []
    for table in contents.values():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(
            sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")
        ) as writer:
            writer.write_table(table)
        streams.append(sink.getvalue().to_pybytes())
    whole = pa.table({"table": list(contents), "rows": pa.array(streams, pa.binary())})
    whole = whole.replace_schema_metadata({STREAMS: _digest_of(list(contents), streams)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, whole.schema) as file:
        file.write_table(whole)
    return bytes(sink.getvalue().to_pybytes())


def _digest_of(names: Sequence[str], streams: Sequence[bytes]) -> bytes:
    """Digest the rows of a batch as they are written."""
    return text_digest("ahead", *names, *(file_digest(stream) for stream in streams)).encode()


def unpacked(path: str, content: bytes) -> dict[str, pa.Table]:
    """Read what `packed` wrote.

    Raises:
        MachineryError: If it is damaged, or holds a table that is never written ahead.
    """
    try:
        whole = pa.ipc.open_file(content).read_all()
        streams = whole["rows"].to_pylist()
        kept = (whole.schema.metadata or {}).get(STREAMS)
        fits = kept is None or kept == _digest_of(whole["table"].to_pylist(), streams)
        contents = {
            str(name): pa.ipc.open_stream(rows).read_all()
            for name, rows in zip(whole["table"].to_pylist(), streams, strict=True)
        }
        for table in contents.values():
            table.validate(full=True)
    except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
        raise MachineryError(
            f"{path} in the lake is damaged ({error}). Remove it: its answers are then asked again."
        ) from error
    if not fits:
        raise MachineryError(
            f"{path} in the lake does not hold the rows that were written. Remove it: its answers are then asked again."
        )
    if not TABLES.issuperset(contents):
        raise MachineryError(f"{path} in the lake holds what nothing writes there; remove it.")
    return contents


def read_ahead(storage: Storage, known: Known) -> dict[str, dict[str, pa.Table]]:
    """Read the batches that are in no commit yet, by path, in the order of their names.

    Raises:
        MachineryError: If one is damaged.
    """
    paths = [f"{AHEAD}/{name}" for name in storage.names(AHEAD) if NAME.fullmatch(name)]
    for path in known.ahead.keys() - set(paths):
        known.ahead.pop(path, None)
    for path in paths:
        if path not in known.ahead:
            try:
                content = storage.get(path)
            except FileNotFoundError:
                continue  # sealed since it was listed: its commit is there
            known.ahead[path] = unpacked(path, content)
    held = dict(known.ahead)
    return {path: held[path] for path in paths if path in held}


def keep(lake: Lake, contents: Mapping[str, pa.Table]) -> None:
    """Put a batch of answers on disk at once, and seal this process's batches when they are many.

    Args:
        lake: The lake.
        contents: Rows by table, those of one judge.

    Raises:
        MachineryError: If rows do not fit their table, or the disk or store refuses.
    """
    path = lake.write_ahead(contents)
    with _own:
        lake.known.own.append(path)
        full = lake.known.own[:] if len(lake.known.own) >= MOST else []
        if full:
            lake.known.own.clear()
    if full:
        seal(lake, full)


def seal(lake: Lake, only: Collection[str] | None = None) -> Commit | None:
    """Put batches that were written ahead together as one commit, and remove their files.

    Two that seal the same at once make one commit; of different batches, two.

    Args:
        lake: The lake.
        only: Paths of the batches meant; all that are there, whoever wrote them, if None.

    Returns:
        The commit, None where there is nothing to seal.

    Raises:
        MachineryError: If a batch is damaged, or the disk or store refuses.
    """
    batches = read_ahead(lake.storage, lake.known)
    batches = {path: tables for path, tables in batches.items() if only is None or path in only}
    if not batches:
        return None
    contents = {
        name: pa.concat_tables([tables[name] for tables in batches.values() if name in tables])
        for name in sorted(set().union(*batches.values()))
    }
    done = lake.commit(contents, several=True)
    for path in batches:
        lake.storage.remove(path)
    return done
