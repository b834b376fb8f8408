"""What the checks found the last time, so that a night in which nothing is new measures nothing again.

Findings are a pure function of what a check is handed and of the code. Both are digested whole: every row, every
limit, every file of the package, the versions of what it computes with. Where the digest is the same, so are the
findings, and those of the last audit of the judge are taken; only the audit's own id differs. A team's own checks
are always run: what else they read is not known.

The cache is a file next to the lake and no part of it; without it everything is measured anew.
"""

from __future__ import annotations

import json
import platform
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import pyarrow as pa
import xxhash

from judge_audit.checks.evidence import Findings
from judge_audit.core.digests import canonical_json, plain, text_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    Cached = dict[str, list[dict[str, Any]]]
    """Rows without audit_id, by table."""

FOLDER = "findings"
TABLES = ("curves", "measures", "verdicts")
LARGEST = 512 << 20
"""Bytes of a cache that are read at all."""

COMPUTES = ("numpy", "scipy", "pyarrow")
"""Distributions whose versions may change a figure's last digits."""


@cache
def code_digest() -> str:
    """Digest the package's own code, its schemas and what it computes with."""
    parts = [platform.machine(), platform.python_version()]
    for name in COMPUTES:
        with suppress(PackageNotFoundError):
            parts += [name, version(name)]
    for package in ("judge_audit", "judge_audit_schemas"):
        for path, content in _sources(files(package), package):
            parts += [path, xxhash.xxh3_128(content).hexdigest()]
    return text_digest("code", *parts)


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Give the files of a package that decide what it computes, in order."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _sources(entry, path)
        elif entry.name.endswith((".py", ".yaml", ".json", ".sql")):
            yield path, entry.read_bytes()


def table_digest(table: pa.Table | None) -> str:
    """Digest a table as it is: columns, types, rows and their order. Equal tables may differ; never the reverse."""
    if table is None:
        return ""
    sink = pa.BufferOutputStream()
    whole = table.combine_chunks()
    with pa.ipc.new_stream(sink, whole.schema) as stream:
        stream.write_table(whole)
    return xxhash.xxh3_128(sink.getvalue()).hexdigest()


@dataclass(slots=True)
class FindingsCache:
    """The findings of the last audit of a judge.

    Attributes:
        path: The file.
        parts: Digests of a team's own parts, as text.
        read: Findings by key, as they were read; audit_id left out of their rows.
        used: Those of this audit.
    """

    path: Path
    parts: str
    read: dict[str, Cached]
    used: dict[str, Cached] = field(default_factory=dict)

    @classmethod
    def of(cls, beside: Path, judge_id: str, parts: str = "") -> FindingsCache:
        """Read the cache of a judge; one that is not there or damaged is empty."""
        path = beside / FOLDER / f"{judge_id}.json"
        content: Any = {}
        with suppress(OSError, ValueError, RecursionError):
            if path.stat().st_size <= LARGEST:
                content = json.loads(path.read_text(encoding="utf-8"))
        return cls(path, parts, content if isinstance(content, dict) else {})

    def key(self, tables: Mapping[str, pa.Table | None], values: Mapping[str, Any]) -> str:
        """Name evidence by all that is in it and by the code that looks at it.

        Args:
            tables: The tables a check is handed.
            values: Everything else, as plain values.
        """
        digests = [text for name in sorted(tables) for text in (name, table_digest(tables[name]))]
        return text_digest("evidence", code_digest(), self.parts, canonical_json(values), *digests)

    def get(self, key: str, audit_id: str) -> Findings | None:
        """Give what was found on the same evidence, as findings of this audit; None if nothing is known."""
        cached = self.read.get(key)
        if cached is None or not _is_findings(cached):
            return None
        self.used[key] = cached
        rows = [tuple(cast("Any", {"audit_id": audit_id, **row}) for row in cached[name]) for name in TABLES]
        return Findings(*rows)

    def put(self, key: str, findings: Findings) -> None:
        """Keep what was found for the next audit."""
        self.used[key] = {
            name: [{column: value for column, value in row.items() if column != "audit_id"} for row in rows]
            for name, rows in ((name, getattr(findings, name)) for name in TABLES)
        }

    def save(self) -> None:
        """Write what this audit found, whole or not at all; a cache that cannot be written is done without."""
        if self.used.keys() == self.read.keys():
            return
        draft = self.path.with_name(f".{self.path.name}.{uuid4().hex}")
        try:
            draft.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps(self.used, default=plain, separators=(",", ":")), encoding="utf-8")
            draft.replace(self.path)
        except OSError:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _is_findings(content: object) -> bool:
    """See that what was read has the shape of findings."""
    return (
        isinstance(content, dict)
        and all(isinstance(content.get(name), list) for name in TABLES)
        and all(isinstance(row, dict) and "audit_id" not in row for name in TABLES for row in content[name])
    )
