from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from judge_audit.core.digests import (
    canonical_json,
    draw_seed,
    file_digest,
    pixel_digest,
    row_digest,
    text_digest,
)
from judge_audit.core.vocabulary import State


def test_parts_of_a_text_cannot_run_together():
    assert text_digest("ab", "c") != text_digest("a", "bc")
    assert text_digest("a") != text_digest("a", "")
    assert text_digest("a") == hashlib.sha256((1).to_bytes(8, "big") + b"a").hexdigest()[:32]
    assert len(text_digest("\ud800 lone surrogate")) == 32


def test_equal_content_is_written_as_equal_json():
    one = {"b": (1, 2), "a": {State.OK}, "p": Path("x/y"), "n": np.float64(0.5), "v": np.arange(2)}
    other = {"v": [0, 1], "n": 0.5, "p": "x/y", "a": ["ok"], "b": [1, 2]}
    assert (
        canonical_json(one) == canonical_json(other) == '{"a":["ok"],"b":[1,2],"n":0.5,"p":"x/y","v":[0,1]}'
    )
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))
    with pytest.raises(TypeError, match="object cannot be written"):
        canonical_json(object())


def test_pixels_of_another_shape_have_another_digest():
    pixels = np.arange(24, dtype=np.uint8)
    assert pixel_digest(pixels.reshape(2, 4, 3)) != pixel_digest(pixels.reshape(4, 2, 3))
    strided = np.repeat(pixels.reshape(2, 4, 3), 2, axis=1)[:, ::2]
    assert pixel_digest(strided) == pixel_digest(pixels.reshape(2, 4, 3))
    with pytest.raises(TypeError, match="8-bit"):
        pixel_digest(pixels.astype(np.float32))


def test_a_file_digest_is_the_one_sha256sum_prints():
    assert file_digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_a_row_digest_knows_rows_and_not_their_order_parts_or_empty_columns():
    table = pa.table({"a": ["x", "y", "y"], "b": [1.0, 2.0, 2.0]})
    digest = row_digest(table)
    assert row_digest(table.take([2, 0, 1])) == digest
    assert row_digest(table.select(["b", "a"])) == digest
    assert row_digest(pa.concat_tables([table.slice(0, 1), table.slice(1)])) == digest
    assert row_digest(table.append_column("new", pa.nulls(3, pa.string()))) == digest
    assert row_digest(table.slice(0, 2)) != digest
    assert row_digest(pa.table({"a": ["x", "y", "y"], "b": [1.0, 2.0, 2.5]})) != digest


def test_a_draw_has_a_seed_of_its_own():
    assert draw_seed(1, "a", "b") == draw_seed(1, "a", "b")
    assert len({draw_seed(1, "ab"), draw_seed(1, "a", "b"), draw_seed(2, "ab"), draw_seed(1)}) == 4
    assert 0 <= draw_seed(-5, "x") < 2**63


def test_rows_are_digested_as_json_written_a_row_at_a_time():
    odd = ["", "a", 'q"\\/\n', "\u00e9\u2028\U0001f600", None, "a"]
    table = pa.table(
        {
            "z": odd,
            "a": pa.array([1, 0, None, -7, 1, 2**60], pa.int64()),
            "f": [0.1 + 0.2, -0.0, 0.0, float("inf"), float("nan"), None],
            "b": [True, False, None, True, True, False],
            "t": pa.array(
                [datetime(2026, 1, 1, 1, 2, 3, 4, tzinfo=UTC), *[None] * 5], pa.timestamp("us", tz="UTC")
            ),
            "l": [["x", "é"], [], None, [None], ["y"], ["x"]],
        }
    )
    encode = json.JSONEncoder(
        sort_keys=True, separators=(",", ":"), default=lambda time: time.isoformat()
    ).encode
    rows = [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]
    hashes = sorted(hashlib.sha256(encode(row).encode("ascii")).digest() for row in rows)
    assert row_digest(table) == hashlib.sha256(b"".join(hashes)).hexdigest()[:32]
    assert row_digest(table.slice(0, 0)) == hashlib.sha256(b"").hexdigest()[:32]
