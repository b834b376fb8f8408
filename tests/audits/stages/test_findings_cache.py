from __future__ import annotations

import json
import math

import pyarrow as pa
import pytest

from judge_audit.audits.stages.findings_cache import TABLES, FindingsCache, code_digest, table_digest
from judge_audit.checks.evidence import Findings
from judge_audit.core.vocabulary import Verdict

ROW = {"audit_id": "first", "check": "scale", "measure": "pile", "value": 0.1 + 0.2, "n": 3, "low": None}
FOUND = Findings(
    curves=({**ROW, "rung": 1},),
    measures=(ROW, {**ROW, "value": math.nan}),
    verdicts=({**ROW, "verdict": Verdict.FAIL, "provisional": True},),
)


def test_what_was_learnt_is_recalled_value_for_value_under_the_new_audit_s_id(tmp_path):
    cache = FindingsCache.of(tmp_path, "j")
    cache.put("key", FOUND)
    cache.save()
    told = FindingsCache.of(tmp_path, "j").get("key", "second")
    assert told.curves == ({**ROW, "audit_id": "second", "rung": 1},)
    assert told.measures[0] == {**ROW, "audit_id": "second"}
    assert math.isnan(told.measures[1]["value"])
    assert told.verdicts[0]["verdict"] == Verdict.FAIL
    assert list(told.measures[0]) == list(ROW)


def test_other_evidence_is_not_known(tmp_path):
    cache = FindingsCache.of(tmp_path, "j")
    cache.put("key", FOUND)
    cache.save()
    assert FindingsCache.of(tmp_path, "j").get("other", "second") is None
    assert FindingsCache.of(tmp_path, "other").get("key", "second") is None


def test_only_what_the_last_audit_used_is_kept(tmp_path):
    cache = FindingsCache.of(tmp_path, "j")
    cache.put("old", FOUND)
    cache.save()
    cache = FindingsCache.of(tmp_path, "j")
    cache.put("new", FOUND)
    cache.save()
    cache = FindingsCache.of(tmp_path, "j")
    assert cache.get("old", "x") is None
    assert cache.get("new", "x") is not None


DAMAGED = (
    "",
    "[]",
    "{",
    '{"key": 1}',
    '{"key": {"curves": []}}',
    '{"key": {"curves": [], "measures": [], "verdicts": [1]}}',
    json.dumps({"key": {name: [{"audit_id": "forged"}] for name in TABLES}}),
)


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_memory_is_none(tmp_path, content):
    (tmp_path / "findings").mkdir()
    (tmp_path / "findings" / "j.json").write_text(content)
    assert FindingsCache.of(tmp_path, "j").get("key", "second") is None


def test_a_memory_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "findings").write_text("a file")
    cache = FindingsCache.of(tmp_path, "j")
    cache.put("key", FOUND)
    cache.save()
    assert (tmp_path / "findings").read_text() == "a file"


def test_every_difference_in_the_evidence_is_another_key(tmp_path):
    table = pa.table({"a": [1.0, 2.0], "b": ["x", None]})
    cache = FindingsCache.of(tmp_path, "j")
    told = {"limits": {"x": 0.1}, "seed": 1}
    keys = {
        cache.key({"t": table}, told),
        cache.key({"t": table.slice(0, 1)}, told),
        cache.key({"t": table.take([1, 0])}, told),
        cache.key({"t": table.rename_columns(["a", "c"])}, told),
        cache.key({"u": table}, told),
        cache.key({"t": table, "u": None}, told),
        cache.key({"t": table}, {**told, "seed": 2}),
        cache.key({"t": table}, {**told, "limits": {"x": 0.1000000001}}),
        FindingsCache.of(tmp_path, "j", "a team's check").key({"t": table}, told),
    }
    assert len(keys) == 9
    assert cache.key({"t": pa.concat_tables([table.slice(0, 1), table.slice(1)])}, told) in keys


def test_digests_of_equal_tables_are_equal():
    table = pa.table({"a": [1.0, 2.0, 3.0]})
    assert table_digest(table) == table_digest(pa.table({"a": [1.0, 2.0, 3.0]}))
    assert table_digest(None) == ""
    assert code_digest() == code_digest()
