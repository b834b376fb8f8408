"""Ways to damage a lake on disk, each of which gives the file or record that must be named."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from judge_audit.lake import Lake


def parts_of(lake, table):
    """The parts of a table with a file, those with most rows first."""
    held = Lake.open(lake.url).contents().parts_of(table)
    return sorted(held, key=lambda part: (-part.rows, part.path))


def rewritten(table, column, value):
    """Give every row another value in one column; the file stays good Parquet."""

    def damage(lake):
        part = parts_of(lake, table)[0]
        path = Path(lake.url) / part.path
        rows = pq.ParquetFile(path).read()
        place = rows.column_names.index(column)
        kind = rows.schema.field(column).type
        pq.write_table(rows.set_column(place, column, pa.array([value] * rows.num_rows, kind)), path)
        return part.path

    return damage


def swapped(table):
    """Swap the two largest parts of a table, or of it and another where it has one part."""

    def damage(lake):
        one, two = _two(lake, table)
        paths = [Path(lake.url) / part.path for part in (one, two)]
        contents = [path.read_bytes() for path in paths]
        for path, content in zip(paths, reversed(contents), strict=True):
            path.write_bytes(content)
        return one.path

    return damage


def written_over(table):
    """Write one part over another."""

    def damage(lake):
        one, two = _two(lake, table)
        (Path(lake.url) / one.path).write_bytes((Path(lake.url) / two.path).read_bytes())
        return one.path

    return damage


def _two(lake, table):
    held = parts_of(lake, table)
    first = held[0]
    content = (Path(lake.url) / first.path).read_bytes()
    others = [*held[1:], *parts_of(lake, "probes"), *parts_of(lake, "measures")]
    return first, next(part for part in others if (Path(lake.url) / part.path).read_bytes() != content)


def cut(table, keep):
    """Keep only the beginning of a part: nothing of it, or half."""

    def damage(lake):
        path = parts_of(lake, table)[0].path
        file = Path(lake.url) / path
        content = file.read_bytes()
        file.write_bytes(content[: int(len(content) * keep)])
        return path

    return damage


def deleted(table):
    def damage(lake):
        path = parts_of(lake, table)[0].path
        (Path(lake.url) / path).unlink()
        return path

    return damage


def foreign(table):
    """Put a good Parquet file of something else in a part's place."""

    def damage(lake):
        path = parts_of(lake, table)[0].path
        pq.write_table(pa.table({"judge_id": ["x"], "value": [1.0]}), Path(lake.url) / path)
        return path

    return damage


def recorded(table, **fields):
    """Change what a record says of a part, and leave the file; `files=[]` drops it."""

    def damage(lake):
        path = parts_of(lake, table)[0].path
        for record in (
            *sorted((Path(lake.url) / "compactions").glob("*")),
            *(Path(lake.url) / "commits").iterdir(),
        ):
            told = json.loads(record.read_text())
            entries = told["tables"].get(table, [])
            for entry in entries if isinstance(entries, list) else [entries]:
                if path in (entry.get("file"), *entry.get("files", ())):
                    named = {
                        ("file" if "file" in entry and k == "files" else k): v for k, v in fields.items()
                    }
                    entry |= {k: "" if (k, v) == ("file", []) else v for k, v in named.items()}
                    record.write_text(
                        json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                    )
                    return record.relative_to(lake.url).as_posix()
        raise AssertionError(path)

    return damage


WAYS = {
    "a measure rewritten": rewritten("measures", "value", 0.0),
    "a verdict rewritten": rewritten("verdicts", "verdict", "pass"),
    "a standing rewritten": rewritten("standings", "standing", "allowed"),
    "scores rewritten": rewritten("scores", "value", 9.99),
    "approvals edited by hand": rewritten("approvals", "signer", "Eve"),
    "scores swapped": swapped("scores"),
    "scores written over": written_over("scores"),
    "a score part of zero bytes": cut("scores", 0),
    "a score part cut": cut("scores", 0.5),
    "a score part deleted": deleted("scores"),
    "a foreign file": foreign("scores"),
    "no files": recorded("scores", files=[]),
    "rows 999": recorded("scores", rows=999),
    "a row digest zeroed": recorded("scores", row_digest="0" * 32),
    "verdicts hidden under another audit": recorded("verdicts", partition="another"),
}
