"""Names made of content: the same content has the same name everywhere, and nothing else has.

Identity (probes, plans, judges, commits) is SHA-256 cut to 128 bits; pixels, hashed by the thousand a
second, use xxh3.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from datetime import date, datetime
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

DIGEST_CHARS = 32
"""Hex characters of a digest: 128 bits."""

ROWS_AT_ONCE = 65_536

HASHED = frozenset({pa.string(), pa.int64(), pa.bool_()})
"""Types whose equal values are written alike; 0.0 and -0.0 are equal and are not."""


def text_digest(*parts: str) -> str:
    """Digest texts so that they cannot run together: ("ab", "c") and ("a", "bc") differ.

    Args:
        parts: Any number of texts, in order.

    Returns:
        32 hex characters.
    """
    state = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        state.update(len(content).to_bytes(8, "big"))
        state.update(content)
    return state.hexdigest()[:DIGEST_CHARS]


def canonical_json(content: Any) -> str:  # noqa: ANN401 - anything a configuration may hold
    """Write content as JSON in the one way that equal content is always written.

    Keys are sorted, nothing is indented; paths, enums, dates, dataclasses, sets and NumPy values are
    written as the plain values they stand for.

    Raises:
        ValueError: If a number is not finite.
        TypeError: If something has no plain value.
    """
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=plain
    )


def plain(content: Any) -> Any:  # noqa: ANN401, PLR0911 - one kind a line
    """Give the plain value that JSON can hold."""
    if dataclasses.is_dataclass(content) and not isinstance(content, type):
        return {field.name: getattr(content, field.name) for field in dataclasses.fields(content)}
    if isinstance(content, Enum):
        return content.value
    if isinstance(content, PurePath):
        return content.as_posix()
    if isinstance(content, (datetime, date)):
        return content.isoformat()
    if isinstance(content, (set, frozenset)):
        return sorted(content, key=canonical_json)
    if isinstance(content, (np.generic, np.ndarray)):
        return content.tolist()
    if hasattr(content, "items"):
        return dict(content.items())
    raise TypeError(f"{type(content).__name__} cannot be written as JSON.")


def pixel_digest(pixels: NDArray[np.uint8]) -> str:
    """Digest pixels and their shape.

    Args:
        pixels: 8-bit values of any shape; copied only if not contiguous.

    Raises:
        TypeError: If the values are not 8-bit.
    """
    if pixels.dtype != np.uint8:
        raise TypeError(f"pixels are 8-bit unsigned values, not {pixels.dtype}.")
    state = xxhash.xxh3_128(repr(pixels.shape).encode("ascii"))
    state.update(np.ascontiguousarray(pixels).data)
    return state.hexdigest()


def file_digest(content: bytes) -> str:
    """Digest a file's bytes: SHA-256, 64 hex characters, as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


def row_digest(table: pa.Table) -> str:
    """Digest the rows of a table, whatever their order, the order of the columns or the parts they lie in.

    A column that is NULL in a row does not enter that row, so adding a column changes no digest. Rows
    that stand twice count twice.

    Args:
        table: Any Arrow table.

    Returns:
        32 hex characters.
    """
    return hashlib.sha256(b"".join(sorted(row_hashes(table)))).hexdigest()[:DIGEST_CHARS]


def row_hashes(table: pa.Table) -> list[bytes]:
    """Hash each row of a table with SHA-256, in the order of the rows; NULLs do not enter, as in `row_digest`."""
    hashes: list[bytes] = []
    for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
        hashes.extend(hashlib.sha256(text.encode("ascii")).digest() for text in _row_texts(batch))
    return hashes


def merkle_root(leaves: Sequence[bytes]) -> str:
    """Digest hashes in their order as a binary Merkle tree, so that one leaf can be proved without the others.

    Leaves and inner nodes are hashed with different prefixes (RFC 6962, section 2.1).

    Args:
        leaves: Hashes of rows, in the order of their keys.

    Returns:
        The root, 64 hex characters; that of no leaves is the hash of nothing.
    """
    level = [hashlib.sha256(b"\x00" + leaf).digest() for leaf in leaves]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        above = [hashlib.sha256(b"\x01" + left + right).digest() for left, right in pairs]
        level = above + level[len(level) - len(level) % 2 :]
    return (level[0] if level else hashlib.sha256().digest()).hex()


def _row_texts(batch: pa.RecordBatch) -> Iterator[str]:
    """Write each row as JSON with sorted keys and no NULLs; numbers that are not finite are written too.

    Written column by column, each different value once: a row at a time takes four times as long.
    """
    encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=plain).encode
    cells = []
    for name in sorted(batch.schema.names):
        prefix = f"{encode(name)}:"
        known: dict[Any, str | None] = {None: None}
        values = batch.column(name).to_pylist()
        if batch.schema.field(name).type in HASHED:
            cells.append(
                [known[v] if v in known else known.setdefault(v, prefix + encode(v)) for v in values]
            )
        else:
            cells.append([None if v is None else prefix + encode(v) for v in values])
    for row in zip(*cells, strict=True):
        yield "{" + ",".join(filter(None, row)) + "}"


def draw_seed(seed: int, *key: str) -> int:
    """Derive the seed of one random draw from the audit's seed and the draw's own name.

    Args:
        seed: The configured seed.
        key: What is drawn, e.g. the key of a measure.

    Returns:
        A number in [0, 2**63).
    """
    return int(text_digest(str(seed), *key)[:16], 16) >> 1
