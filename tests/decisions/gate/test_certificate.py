from __future__ import annotations

import json
import re
import shutil
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from gate_lake import add_audit, add_judge, night, standing_rows

from judge_audit.audits.stages.gate import certify, gate
from judge_audit.audits.verify import verify
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.decisions.gate.certificate import digest_of
from judge_audit.decisions.standings import builtin_uses
from judge_audit.lake import Lake
from judge_audit.lake.compaction import compact

SOON = night(10)


@pytest.fixture(scope="session")
def issued_once(approved_once, tmp_path_factory):
    home = tmp_path_factory.mktemp("issued")
    lake = Lake.open(shutil.copytree(approved_once.url, home / "lake"))
    add_audit(lake, "second", at=2)
    certify(lake, gate(lake, now=night(9)), home / "report")
    return home


@pytest.fixture
def issued(issued_once, tmp_path):
    """A candidate held against the approved judge, and its certificate."""
    home = shutil.copytree(issued_once, tmp_path / "issued")
    return Lake.open(home / "lake"), home / "report" / "certificate.html"


def content(page: Path):
    return json.loads(page.with_name("certificate.json").read_text(encoding="utf-8"))


def rewrite(lake, table, change):
    """Change the rows of a table in place, as nobody may, and open the lake anew."""
    for file in Lake.open(lake.url).files(table, None):
        held = pq.read_table(file)
        changed = change(held)
        pq.write_table(changed, file)
    return Lake.open(lake.url)


def test_a_certificate_holds_while_the_lake_does_page_and_json_alike(issued):
    lake, page = issued
    for path in (page, page.with_name("certificate.json")):
        found = verify(lake, path, SOON)
        assert found.faults == ()
        assert found.rows > 40


def test_it_says_what_a_release_owner_acts_on(issued):
    _, page = issued
    told = content(page)
    assert told["gate"]["state"] == "open"
    assert told["position"] == "filter and rank"
    assert [row["use"] for row in told["standings"]] == ["filtering", "ranking", "reward", "acceptance"]
    assert told["changed"]["since"] == "first"
    assert "It is the same judge" in told["changed"]["sentences"][0]
    assert told["expires_at"] == (night(32) + timedelta(hours=1)).isoformat(timespec="seconds")
    (sign,) = told["sign"]
    assert sign["who"] == "release owner"
    assert sign["by"] == told["expires_at"]
    assert "approve --candidate second --for filtering" in sign["command"]
    text = page.read_text(encoding="utf-8")
    for word in ("The gate is open", "taste j1, for filtering", "Four uses, four standards", told["digest"]):
        assert word in text


def test_missing_pieces_come_with_their_commands(lake, ask, tmp_path):
    missing = [
        f"{req.missing} {req.remedy}"
        for use in builtin_uses()
        for req in use.requires
        if use.name == "ranking"
    ]
    rows = standing_rows("second", "j1", allowed=())
    add_audit(
        lake,
        "second",
        at=2,
        standings=[{**row, "missing": missing} if row["use"] == "ranking" else row for row in rows],
    )
    page = Path(certify(lake, ask(lake, use="ranking"), tmp_path / "report").certificate)
    commands = {row["command"] for row in content(page)["commands"]}
    assert "judge-audit import choices FILE" in commands


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        ("verdicts", lambda t: swapped(t, "verdict", "fail"), "verdicts: Changed: second/c-honest/"),
        ("verdicts", lambda t: t.slice(1), "verdicts: Missing: "),
        ("scores", lambda t: swapped(t, "value", 9.5), "scores: Changed: "),
        ("standings", lambda t: swapped(t, "standing", "allowed"), "standings: Changed: second/j1/"),
        ("gates", lambda t: t.slice(2), "gates: Missing: "),
        ("items", lambda t: swapped(t, "source", "z"), "items: Changed: "),
        ("approvals", lambda t: swapped(t, "signer", "Eve"), "approvals: Changed: "),
    ],
)  # fmt: skip
def test_a_tampered_row_is_named_by_its_table(issued, table, change, said):
    lake, page = issued
    found = verify(rewrite(lake, table, change), page, SOON)
    assert any(fault.startswith(said) for fault in found.faults), found.faults


def swapped(table, column, value):
    """Give every row the same value in a column."""
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    values = pa.array([value] * table.num_rows, field.type)
    return table.set_column(place, field, values)


def test_an_added_row_is_named(issued):
    lake, page = issued
    key = {"audit_id": "second", "subject": "j1", "check": "scale", "measure": "absolute"}
    lake.commit({"verdicts": from_rows("verdicts", [{**key, "verdict": "pass"}])})
    (fault,) = verify(Lake.open(lake.url), page, SOON).faults
    assert fault.startswith("verdicts: Added: second/j1/*/scale/absolute")


def test_a_lost_part_and_a_lost_commit_are_named(issued):
    lake, page = issued
    Path(lake.files("standings", "second")[0]).unlink()
    assert any(
        fault.startswith("standings: its rows cannot be read") for fault in verify(lake, page, SOON).faults
    )
    other = Lake.open(lake.url)
    for record in other.contents().records:
        if any(part.table == "standings" and part.partition == "second" for part in record.parts):
            (Path(lake.url) / "commits" / f"{record.commit_id}.json").unlink()
    faults = verify(Lake.open(lake.url), page, SOON).faults
    named = {fault.partition(":")[0] for fault in faults}
    assert named >= {"measures", "standings", "verdicts"}


def test_later_audits_comparisons_and_approvals_change_no_certificate(issued, ask):
    lake, page = issued
    add_audit(lake, "third", at=3)
    ask(lake)
    key = {"audit_id": "second", "subject": "j1", "baseline": "j0", "check": "change", "measure": "tau_drop"}
    lake.commit({"verdicts": from_rows("verdicts", [{**key, "verdict": "pass"}])})
    assert verify(Lake.open(lake.url), page, SOON).faults == ()


def test_an_edited_certificate_does_not_hold(issued):
    lake, page = issued
    beside = page.with_name("certificate.json")
    text = beside.read_text(encoding="utf-8")
    beside.write_text(text.replace('"position": "filter and rank"', '"position": "accept"'), encoding="utf-8")
    assert "was changed" in verify(lake, beside, SOON).faults[0]
    shown = page.read_text(encoding="utf-8")
    page.write_text(re.sub("<dd>filter and rank</dd>", "<dd>accept</dd>", shown), encoding="utf-8")
    (fault,) = verify(lake, page, SOON).faults
    assert "What the page shows" in fault


def test_an_expired_certificate_does_not_hold(issued):
    lake, page = issued
    (fault,) = verify(lake, page, night(60)).faults
    assert "expired" in fault


@pytest.mark.parametrize("text", ["", "{}", "<html></html>", '{"format": 9, "rests": 1, "rows": 1, "digest": 1, "gate": 1}', '{"format": 1, "rests": 1, "rows": 1, "digest": 1, "gate": 1}', "[1]"])  # fmt: skip # noqa: E501
def test_what_is_no_certificate_is_refused(lake, tmp_path, text):
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"odd\.json"):
        verify(lake, path, SOON)
    with pytest.raises(UsageError, match="no such file"):
        verify(lake, tmp_path / "none.json", SOON)


def test_hostile_names_are_escaped_and_end_no_script(lake, ask, tmp_path):
    hostile = "</script><script>alert(1)</script>"
    rows = standing_rows("second", "j1")
    add_audit(lake, "second", at=2, standings=[{**row, "reasons": [hostile]} for row in rows])
    page = Path(certify(lake, ask(lake, use="filtering"), tmp_path / "report").certificate)
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert text.count("</script>") == 1
    assert verify(lake, page, SOON).faults == ()


def test_order_of_rows_changes_no_digest_of_rows_and_the_foreign_file_is_named(issued):
    lake, page = issued
    other = rewrite(
        lake, "scores", lambda table: table.take(pc.sort_indices(table, [("probe_id", "descending")]))
    )
    (fault,) = verify(other, page, SOON).faults
    assert "is not the file that was committed" in fault


def test_compaction_and_retention_change_no_certificate(issued):
    lake, page = issued
    rows = verify(lake, page, SOON).rows
    for days in (0, 1):
        assert compact(lake, keep_days=0, now=SOON + timedelta(days=days)).purged == ()
    assert not list((Path(lake.url) / "commits").iterdir())
    found = verify(Lake.open(lake.url), page, SOON)
    assert (found.faults, found.rows) == ((), rows)


def test_a_certificate_whose_answers_retention_removed_says_so(issued):
    lake, page = issued
    row = {"audit_id": "second", "judge_id": "j1", "removed_at": SOON, "retention": "ended long ago"}
    lake.commit({"purges": from_rows("purges", [row])})
    (fault,) = verify(lake, page, SOON).faults
    assert "removed on" in fault
    assert "ended long ago" in fault
    with pytest.raises(UsageError, match="removed on"):
        gate(lake, candidate="second", now=SOON)


def test_past_decisions_of_the_approved_judge_are_replayed_under_the_new_one(approved, tmp_path):
    add_judge(approved, "j2")
    add_audit(approved, "second", judge="j2", at=2)
    rows = [
        {"import_id": "i", "decision_id": f"{source}-d{at}", "item_id": f"{source}{at}", "source": source}
        | {"judge": "j1", "value": float(at), "decision": "accept" if at else "reject"}
        for source in ("a", "b")
        for at in range(3)
    ]
    about = {"import_id": "i", "kind": "decisions", "imported_at": night(1)}
    page = tmp_path / "report"
    certify(approved, gate(approved, now=night(9)), page)
    assert content(page / "certificate.html")["changed"]["replayed"] == []
    approved.commit({"decisions": from_rows("decisions", rows), "imports": from_rows("imports", [about])})
    certify(approved, gate(approved, now=night(9)), page)
    told = content(page / "certificate.html")["changed"]["replayed"]
    assert any(line.startswith("Of what was accepted") for line in told), told
    assert "Past decisions under this judge" in (page / "certificate.html").read_text(encoding="utf-8")


def forged(page, folder, change):
    """Edit a certificate's content and compute its digest again, as anybody can."""
    document = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    change(document)
    document["digest"] = digest_of(document)
    folder.mkdir(exist_ok=True)
    path = folder / "certificate.json"
    path.write_text(json.dumps(document))
    return path


FORGERIES = {
    "State of the gate": lambda d: d["gate"].update(state="shut"),
    "Exit code": lambda d: d["gate"].update(exit_code=3),
    "Judge": lambda d: d["gate"].update(judge_id="another"),
    "Use": lambda d: d["gate"].update(use="reward"),
    "Held against": lambda d: d["gate"].update(baseline=None),
    "Candidate": lambda d: d["gate"].update(candidate="nobody"),
    "Expectations": lambda d: d["gate"]["expectations"].pop(),
    "Position": lambda d: d.update(position="accept"),
    "Standings": lambda d: [row.update(standing="allowed") for row in d["standings"]],
    "Expiry": lambda d: d.update(expires_at="2099-01-01T00:00:00+00:00"),
    "End of the audit": lambda d: d.update(audited_at="2025-12-31T00:00:00+00:00"),
    "The lake has no complete audit": lambda d: d["rests"].update(candidate="nobody"),
    "The lake has no asking": lambda d: d["rests"].update(gate_id="0" * 32),
    "It lacks something": lambda d: d.update(standings=5),
}


@pytest.mark.parametrize("said", FORGERIES)
def test_a_certificate_that_was_edited_with_its_digest_is_found_out(issued, tmp_path, said):
    lake, page = issued
    found = verify(lake, forged(page, tmp_path / "forged", FORGERIES[said]), SOON)
    assert any(fault.startswith(said) for fault in found.faults), found.faults


def test_a_shut_gate_cannot_be_made_an_open_one_by_editing_everything(approved, ask, tmp_path):
    add_audit(approved, "second", at=2, failing=("top_response",))
    gated = certify(approved, ask(approved), tmp_path / "report")
    assert gated.code == 1

    def opened(document):
        document["gate"].update(state="open", exit_code=0)
        for row in document["gate"]["expectations"]:
            row.update(state="open", reason="", remedy="")
        document.update(position="accept", expires_at="2099-01-01T00:00:00+00:00")

    page = Path(gated.certificate)
    found = verify(approved, forged(page, tmp_path / "forged", opened), SOON)
    assert {fault.partition(":")[0] for fault in found.faults} >= {"State of the gate", "Position", "Expiry"}
