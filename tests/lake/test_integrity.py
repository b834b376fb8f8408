from __future__ import annotations

import json
import random
import shutil
import tarfile
from pathlib import Path

import pytest
from damages import WAYS, parts_of, recorded
from gate_lake import add_answers, add_audit, night, plan_rows, whole_lake
from hypothesis import given, settings
from hypothesis import strategies as st
from lake_rows import call_rows, score_rows

from judge_audit.cli import run_command
from judge_audit.core.digests import canonical_json, merkle_root
from judge_audit.core.errors import MachineryError
from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake, integrity
from judge_audit.lake.compaction import compact
from judge_audit.lake.evidence import audit_root, damaged_evidence, see_whole
from judge_audit.lake.forgetting import forget_damaged
from judge_audit.lake.integrity import damaged
from judge_audit.lake.write_ahead import seal

KINDS = ("written today", "compacted", "version 0.1.0")
AUDITS = {"version 0.1.0": "20261201T013651Z-2f2f18"}
LATER = night(400)


def approved(lake):
    row = {"approval_id": "a", "audit_id": "first", "judge_id": "j1", "use": "filtering", "signer": "Ada"}
    row |= {"approved_at": night(2), "audit_digest": "d", "root": audit_root(lake, "first")}
    lake.commit({"approvals": from_rows("approvals", [row])})
    return lake


@pytest.fixture(scope="session")
def lakes_once(tmp_path_factory):
    home = tmp_path_factory.mktemp("lakes")
    approved(whole_lake(home / KINDS[0]))
    compact(Lake.open(shutil.copytree(home / KINDS[0], home / KINDS[1])), now=LATER)
    with tarfile.open(Path(__file__).with_name("version_0_1_0.tar.gz")) as archive:
        archive.extractall(home / "old", filter="data")
    shutil.move(home / "old" / "lake", home / KINDS[2])
    return home


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def lake(lakes_once, kind, tmp_path):
    return Lake.open(shutil.copytree(lakes_once / kind, tmp_path / "lake"))


def test_a_whole_lake_is_whole(lake, kind):
    found = damaged(lake, thorough=True)
    assert found.damages == []
    assert found.files == len(lake.contents().parts)
    see_whole(lake, [AUDITS.get(kind, "first")])


@pytest.mark.parametrize("way", WAYS)
def test_each_way_in_is_named_and_nothing_is_decided(lake, kind, way):
    name = WAYS[way](lake)
    fresh = Lake.open(lake.url)
    found = damaged(fresh, thorough=True).damages
    assert any(name in {one.file, one.record} for one in found), found
    assert all(str(one).count(".") >= 2 for one in found)
    with pytest.raises(MachineryError, match=Path(name).name.replace("+", ".")):
        see_whole(fresh, [AUDITS.get(kind, "first")])


def test_a_damage_after_a_check_in_the_same_process_is_found(lake, kind):
    see_whole(lake, [AUDITS.get(kind, "first")])
    name = WAYS["a verdict rewritten"](lake)
    with pytest.raises(integrity.DamagedError, match=Path(name).name):
        see_whole(lake, [AUDITS.get(kind, "first")])


def test_a_file_that_was_checked_is_read_once_in_a_process(lake, kind, monkeypatch):
    see_whole(lake, [AUDITS.get(kind, "first")])
    monkeypatch.setattr(integrity, "found_wrong", None)
    see_whole(lake, [AUDITS.get(kind, "first")])


def test_only_what_a_decision_reads_is_read(lakes_once, tmp_path):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[0], tmp_path / "lake"))
    lake.commit({"calls": call_rows("other", ["a"]), "scores": score_rows("other", {"a": 1.0})})
    Path(lake.files("scores", "other")[0]).write_bytes(b"")
    assert damaged_evidence(Lake.open(lake.url), ["first"]) == []
    assert len(damaged(Lake.open(lake.url)).damages) == 1


def test_a_changed_record_without_a_digest_is_found_by_its_own_words(tmp_path, lakes_once):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[2], tmp_path / "lake"))
    part = parts_of(lake, "scores")[0]
    commit = part.path.split("-")[1]
    record = Path(lake.url) / "commits" / f"{commit}.json"
    told = json.loads(record.read_text())
    del told["tables"]["scores"]
    record.write_text(json.dumps(told, sort_keys=True, separators=(",", ":")))
    (found,) = damaged(Lake.open(lake.url)).damages
    assert found.file == f"commits/{commit}.json"
    assert "does not name all rows of its commit" in found.found


@pytest.mark.parametrize("way", ["no files", "scores rewritten", "rows 999"])
def test_compaction_does_not_take_damage_over(lake, way):
    WAYS[way](lake)
    with pytest.raises(MachineryError, match="left as it is"):
        compact(Lake.open(lake.url), now=LATER)


def test_an_audit_that_refers_to_rows_that_are_gone_is_named(tmp_path):
    lake = whole_lake(tmp_path / "lake")
    common = {"subject": "j1", "check": "premature", "measure": "edge_lift", "verdict": "pass"}
    for name in ("one", "two"):
        rows = {"audit_id": name, "judge_id": "j1", "plan_id": "plan", "status": "complete"}
        results = {"audits": from_rows("audits", [rows])}
        results["verdicts"] = from_rows("verdicts", [{**common, "audit_id": name}])
        lake.commit(results)
    assert lake.origins("verdicts") == {"two": "one"}
    assert damaged(lake, thorough=True).damages == []
    Path(next(file for file in lake.files("verdicts", "one") if "audit=one" in file)).write_bytes(b"")
    found = damaged(Lake.open(lake.url), thorough=True).damages
    assert any("are those of audit one" in one.found for one in found)
    assert forget_damaged(Lake.open(lake.url)).number == 1
    fresh = Lake.open(lake.url)
    assert damaged(fresh, thorough=True).damages == []
    assert fresh.read("audits", audit_id=["one", "two"]).num_rows == 0


def test_a_damaged_batch_is_named_and_set_aside(tmp_path):
    lake = whole_lake(tmp_path / "lake")
    path = lake.write_ahead({"calls": call_rows("j1", ["new"]), "scores": score_rows("j1", {"new": 1.0})})
    file = Path(lake.url) / path
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    found = damaged(Lake.open(lake.url), thorough=True)
    assert [one.file for one in found.damages] == [path]
    forget_damaged(Lake.open(lake.url), found)
    assert not file.exists()
    assert seal(Lake.open(lake.url)) is None


@pytest.mark.parametrize(
    "way", ["scores rewritten", "a score part of zero bytes", "no files", "a score part deleted"]
)
@pytest.mark.parametrize("kind", KINDS[:2], indirect=True)
def test_damaged_answers_are_asked_again_exactly(lake, kind, way):
    if (kind, way) == ("compacted", "no files"):
        return  # the record of the compaction itself is damaged: the next test but two
    lake.commit({"calls": call_rows("j2", ["a"]), "scores": score_rows("j2", {"a": 1.0})})
    before = lake.read("scores", judge_id="j1")
    root = audit_root(lake, "first")
    WAYS[way](lake)
    forgot = forget_damaged(Lake.open(lake.url), now=night(3))
    assert forgot.number
    fresh = Lake.open(lake.url)
    assert damaged(fresh, thorough=True).damages == []
    assert fresh.answered("j1").num_rows == 0
    assert fresh.answered("j2").num_rows == 1
    add_answers(fresh, "j1", [probe["probe_id"] for probe in plan_rows("plan")[1]])
    assert Lake.open(lake.url).read("scores", judge_id="j1").equals(before)
    assert audit_root(Lake.open(lake.url), "first") == root


def test_what_was_left_out_stays_on_disk_and_in_the_log_over_later_compactions(lakes_once, tmp_path):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[0], tmp_path / "lake"))
    name = WAYS["scores rewritten"](lake)
    forget_damaged(Lake.open(lake.url), now=night(3))
    for day in (5, 30, 60):
        add_audit(Lake.open(lake.url), f"later{day}", at=day)
        assert compact(Lake.open(lake.url), now=night(day)).recorded
    assert (Path(lake.url) / name).exists()
    noted = Lake.open(lake.url).contents().snapshot.forgotten
    assert name in {one.file for one in noted}
    assert any("is not the file that was committed" in one.reason for one in noted)


def test_a_damaged_record_is_left_out_and_its_keys_are_committed_anew(lakes_once, tmp_path):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[0], tmp_path / "lake"))
    commit = parts_of(lake, "scores")[0].path.split("-")[1]
    (Path(lake.url) / "commits" / f"{commit}.json").write_bytes(b"{")
    with pytest.raises(MachineryError, match=commit):
        Lake.open(lake.url).read("audits")
    forget_damaged(Lake.open(lake.url))
    fresh = Lake.open(lake.url)
    assert fresh.answered("j1").num_rows == 0
    assert not fresh.has(commit)


def test_a_damaged_compaction_is_restored_and_not_forgotten(lakes_once, tmp_path):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[1], tmp_path / "lake"))
    recorded("scores", rows=999)(lake)
    with pytest.raises(MachineryError, match="Restore it from a copy"):
        forget_damaged(Lake.open(lake.url))


def test_compaction_sealing_and_later_answers_change_no_root(lakes_once, tmp_path):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[0], tmp_path / "lake"))
    root = audit_root(lake, "first")
    assert len(root) == 32
    assert root == audit_root(Lake.open(lakes_once / KINDS[1]), "first")
    lake.commit({"calls": call_rows("j1", ["a0/original/0"], pixels="redrawn", at=night(50))})
    lake.commit({"scores": score_rows("j1", {"a0/original/0": 5.0}, dimension="later")})
    compact(lake, now=LATER)
    assert audit_root(Lake.open(lake.url), "none") == ""


def test_the_merkle_tree_is_that_of_rfc_6962():
    leaves = [bytes([n]) for n in range(7)]
    assert merkle_root([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert merkle_root(leaves) != merkle_root(leaves[::-1])
    assert merkle_root([b""]) == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"


def test_the_command_lists_leaves_out_and_exits(lakes_once, tmp_path, capsys):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[0], tmp_path / "lake"))
    words = ["lake", "verify", "--lake", lake.url]
    assert run_command(words) == 0
    assert "The lake is whole" in capsys.readouterr().out
    name = WAYS["scores rewritten"](lake)
    assert run_command([*words, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["whole"], [one["file"] for one in told["damaged"]]) == (False, [name])
    assert "lake verify --forget-damaged" in told["damaged"][0]["remedy"]
    assert run_command([*words, "--forget-damaged"]) == 3  # the approved audit rested on them
    said = capsys.readouterr().out
    assert f"  {name} is not the file that was committed" in said
    assert "judge-audit run audit.yaml" in said
    assert "approved by Ada" in said


def test_a_record_without_its_digest_is_not_taken_for_an_old_one(lakes_once, tmp_path):
    lake = Lake.open(shutil.copytree(lakes_once / KINDS[0], tmp_path / "lake"))
    for record in (Path(lake.url) / "commits").iterdir():
        told = json.loads(record.read_text())
        if told.pop("digest") and "scores" in told["tables"]:
            record.write_bytes(canonical_json(told).encode())
    assert any("was changed" in one.found for one in damaged(Lake.open(lake.url)).damages)


@pytest.fixture(scope="session")
def flipped_in(lakes_once, tmp_path_factory):
    home = tmp_path_factory.mktemp("flips")
    return {name: Lake.open(shutil.copytree(lakes_once / name, home / name)) for name in KINDS[:2]}


@settings(max_examples=200, deadline=None)
@given(which=st.sampled_from(KINDS[:2]), seed=st.integers(0, 2**32))
def test_any_flipped_byte_is_found_and_no_decision_reads_it(flipped_in, which, seed):
    lake = flipped_in[which]
    drawn = random.Random(seed)
    contents = Lake.open(lake.url).contents()
    records = [f"commits/{record.commit_id}.json" for record in contents.records]
    records += [contents.snapshot.path] if contents.snapshot else []
    path = drawn.choice([*(part.path for part in contents.parts), *records * 2])
    file = Path(lake.url) / path
    whole = file.read_bytes()
    place = drawn.randrange(len(whole))
    try:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ drawn.randrange(1, 256)]) + whole[place + 1 :])
        found = damaged(Lake.open(lake.url), thorough=True).damages
        assert path in {name for one in found for name in (one.file, one.record)}
        with pytest.raises(MachineryError):
            see_whole(Lake.open(lake.url), ["first"])
    finally:
        file.write_bytes(whole)
