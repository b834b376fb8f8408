"""Files that the tests of imports write."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq

from judge_audit.inputs.ingest.importer import import_file
from judge_audit.judges import load_judge
from judge_audit.lake import Lake

CARD = "kind: table\nname: ours\nversion: '1'\nscale_low: 0\nscale_high: 10\n"


def write_csv(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def write_lines(path, rows):
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def card_of(folder, text=CARD):
    path = folder / "ours.yaml"
    path.write_text(text, encoding="utf-8")
    return load_judge(path).card


def lake_of(folder):
    return Lake.open(folder / "lake")


def labels(lake, path, **options):
    skip_bad = options.pop("skip_bad", False)
    return import_file(lake, "labels", path, options={"level": "ordinal", **options}, skip_bad=skip_bad)


def plain(lake, table="labels"):
    """Rows of a table without what differs from file to file."""
    rows = lake.read(table).drop_columns(["import_id", "label_text"]).to_pylist()
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True, default=str))
