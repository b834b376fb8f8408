"""Damaged evidence: the gate cannot be asked, nobody can approve or sign, and a certificate does not hold."""

from __future__ import annotations

import json
import random
import shutil
import tarfile
from pathlib import Path

import pytest
from damages import WAYS
from gate_lake import add_audit, night
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_audit.audits.stages.gate import approve_candidate, certify, gate
from judge_audit.audits.verify import verify
from judge_audit.cli import run_command
from judge_audit.core.digests import row_digest
from judge_audit.core.errors import AuditError, MachineryError
from judge_audit.decisions.gate.approvals import Approver
from judge_audit.decisions.signoffs import Yes, sign
from judge_audit.lake import Lake
from judge_audit.lake.audits import find_audit
from judge_audit.lake.compaction import compact
from judge_audit.lake.integrity import damaged
from judge_audit.lake.records import with_digest

SOON = night(10)
KINDS = ("written today", "compacted")
OLD = Path(__file__).parents[2] / "lake" / "version_0_1_0.tar.gz"


@pytest.fixture(scope="session")
def issued_once(approved_once, tmp_path_factory):
    """An approved audit, a candidate with an open gate, its certificate; the same compacted."""
    home = tmp_path_factory.mktemp("issued")
    lake = Lake.open(shutil.copytree(approved_once.url, home / "written today"))
    add_audit(lake, "second", at=2)
    asked = gate(lake, candidate="second", now=night(9))
    assert asked.answer.state == "open"
    certify(lake, asked, home / "report")
    compact(Lake.open(shutil.copytree(lake.url, home / "compacted")), now=night(9))
    return home


@pytest.fixture(params=KINDS)
def lake(request, issued_once, tmp_path):
    return Lake.open(shutil.copytree(issued_once / request.param, tmp_path / "lake"))


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_decided_and_the_certificate_names_the_file(lake, issued_once, way):
    path = WAYS[way](lake)
    name, signed = Path(path).name, "first" if "audit=first" in path else "second"
    approver = Approver("Ada", "ada", "it works")
    yes = Yes("filtering", "Ada", "ada", "it works", SOON, night(20))
    for decide in (
        lambda: gate(Lake.open(lake.url), candidate="second", now=SOON),
        lambda: approve_candidate(
            Lake.open(lake.url), candidate="second", use="filtering", approver=approver, now=SOON
        ),
        lambda: sign(Lake.open(lake.url), find_audit(Lake.open(lake.url), signed), yes),
    ):
        with pytest.raises(AuditError) as refused:
            decide()
        assert refused.value.exit_code in {2, 3}
        assert isinstance(refused.value, MachineryError)
        assert name in str(refused.value)
    if "hidden" not in way:
        faults = verify(Lake.open(lake.url), issued_once / "report" / "certificate.html", SOON).faults
        assert any(name in fault for fault in faults), faults


def test_a_standing_edited_before_approval_is_not_approved(approved, capsys):
    add_audit(approved, "second", at=2)
    name = Path(WAYS["a standing rewritten"](approved)).name
    words = ["approve", "--candidate", "second", "--for", "ranking", "--by", "Eve", "--reason", "it works"]
    assert run_command([*words, "--lake", approved.url]) == 3
    said = capsys.readouterr().err
    assert name in said
    assert "judge-audit lake verify lists everything" in said


@pytest.mark.parametrize("way", WAYS)
def test_in_a_lake_of_version_0_1_0_nothing_is_decided(tmp_path, way):
    with tarfile.open(OLD) as archive:
        archive.extractall(tmp_path, filter="data")
    lake = Lake.open(tmp_path / "lake")
    assert verify(lake, tmp_path / "certificate" / "certificate.json", SOON).faults == ()
    name = Path(WAYS[way](lake)).name
    with pytest.raises(MachineryError, match=name.replace("+", ".")):
        gate(Lake.open(lake.url), use="screening")
    faults = verify(Lake.open(lake.url), tmp_path / "certificate" / "certificate.json", SOON).faults
    assert any(name in fault for fault in faults), faults


def consistently(lake, table, column, value):
    """Rewrite a part of the approved audit's and every digest that names it, as one who can write everything may."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from judge_audit.core.digests import file_digest

    for record in sorted((Path(lake.url) / "commits").iterdir()):
        told = json.loads(record.read_text())
        entry = told["tables"].get(table)
        if entry and entry["files"] and "second" not in entry["partition"]:
            path = Path(lake.url) / entry["files"][0]
            rows = pq.ParquetFile(path).read()
            place = rows.column_names.index(column)
            kind = rows.schema.field(column).type
            rows = rows.set_column(place, column, pa.array([value] * rows.num_rows, kind))
            pq.write_table(rows, path)
            entry |= {"row_digest": row_digest(rows), "file_digest": file_digest(path.read_bytes())}
            told.pop("digest")
            record.write_bytes(with_digest(told))


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("scores", "value", 9.99), ("measures", "value", 0.0), ("items", "source", "z")],
)
def test_rows_of_the_approved_audit_rewritten_with_all_their_digests_shut_the_gate(
    issued_once, tmp_path, table, column, value
):
    lake = Lake.open(shutil.copytree(issued_once / "written today", tmp_path / "lake"))
    consistently(lake, table, column, value)
    fresh = Lake.open(lake.url)
    assert damaged(fresh, thorough=True).damages == []
    answer = gate(fresh, candidate="second", now=SOON).answer
    assert answer.state == "shut"
    assert "untouched" in {row["expectation"] for row in answer.blocking}
    assert run_command(["lake", "verify", "--lake", lake.url]) == 3


def test_the_root_is_in_the_certificate_and_the_approval(lake, issued_once):
    told = json.loads((issued_once / "report" / "certificate.json").read_text(encoding="utf-8"))
    assert len(told["root"]) == 32
    (approval,) = lake.read("approvals").to_pylist()
    assert len(approval["root"]) == 32
    assert verify(lake, issued_once / "report" / "certificate.html", SOON).faults == ()


@pytest.fixture(scope="session")
def shut_once(approved_once, tmp_path_factory):
    """A candidate whose gate is shut by a conviction, in a lake of today and a compacted one."""
    home = tmp_path_factory.mktemp("shut")
    lake = Lake.open(shutil.copytree(approved_once.url, home / "written today"))
    add_audit(lake, "second", at=2, failing=("premature",))
    assert gate(lake, candidate="second", now=SOON).answer.state == "shut"
    compact(Lake.open(shutil.copytree(lake.url, home / "compacted")), now=night(9))
    return {kind: Lake.open(home / kind) for kind in KINDS}


@settings(max_examples=60, deadline=None)
@given(which=st.sampled_from(KINDS), seed=st.integers(0, 2**32))
def test_no_flipped_byte_turns_a_shut_gate_open(shut_once, which, seed):
    drawn = random.Random(seed)
    url = Path(shut_once[which].url)
    contents = Lake.open(url).contents()
    records = [f"commits/{record.commit_id}.json" for record in contents.records]
    records += [contents.snapshot.path] if contents.snapshot else []
    path = drawn.choice([*(part.path for part in contents.parts), *records])
    whole = (url / path).read_bytes()
    place = drawn.randrange(len(whole))
    flipped = whole[:place] + bytes([whole[place] ^ drawn.randrange(1, 256)]) + whole[place + 1 :]
    try:
        (url / path).write_bytes(flipped)
        with pytest.raises(AuditError):
            gate(Lake.open(url), candidate="second", now=SOON)
        assert damaged(Lake.open(url), thorough=True).damages
    finally:
        (url / path).write_bytes(whole)
