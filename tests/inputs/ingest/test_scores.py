"""Scores from tables: calls and scores of a judge like any other, audited without a picture in reach."""

from __future__ import annotations

import json

import pytest
from table_files import CARD, card_of, lake_of, write_csv, write_lines, write_parquet

from judge_audit.api import connect
from judge_audit.audits.modes.table import plan_table_audit
from judge_audit.cli import run_command
from judge_audit.core.errors import InputError, UsageError
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.judges import load_judge
from judge_audit.lake import Lake

HEADER = "item_id,source,value"


def scores(folder, path, *, card=CARD, skip_bad=False, **options):
    return import_file(
        lake_of(folder), "scores", path, card=card_of(folder, card), options=options, skip_bad=skip_bad
    )


def seen(folder):
    rows = connect(lake_of(folder)).execute(
        'SELECT DISTINCT item_id, source, dimension, "value", state FROM responses ORDER BY ALL'
    )
    return rows.fetchall()


def test_numbers_and_replies_are_calls_and_scores_with_states_counted_by_source(tmp_path):
    path = write_csv(
        tmp_path / "s.csv",
        HEADER,
        ["a,x,7", "b,x,810", "c,y,", "d,y,I'm sorry; I can't rate this.", "e,y,8/10"],
    )
    done = scores(tmp_path, path)
    assert seen(tmp_path) == [
        ("a", "x", "overall", 7.0, "ok"),
        ("b", "x", "overall", None, "out_of_scale"),
        ("c", "y", "overall", None, "empty"),
        ("d", "y", "overall", None, "refused"),
        ("e", "y", "overall", 8.0, "ok"),
    ]
    assert [line for line in done.lines if line.startswith("overall")] == [
        "overall: 2 ok",
        "overall: 1 refused (y 1)",
        "overall: 1 out of scale (x 1)",
        "overall: 1 empty (y 1)",
    ]
    calls = lake_of(tmp_path).read("calls").to_pylist()
    assert json.loads(next(row["raw_reply"] for row in calls if "810" in row["raw_reply"])) == {"": "810"}
    assert {row["parser_version"] for row in lake_of(tmp_path).read("scores").to_pylist()} == {"1/1"}


def test_csv_json_lines_and_parquet_give_the_same_answers(tmp_path):
    rows = [{"item_id": "a", "source": "x", "value": 7}, {"item_id": "b", "source": "y", "value": 3}]
    found = []
    for number, make in enumerate((write_lines, write_parquet, None)):
        folder = tmp_path / str(number)
        folder.mkdir()
        if make:
            scores(folder, make(folder / ("t.jsonl" if make is write_lines else "t.parquet"), rows))
        else:
            scores(folder, write_csv(folder / "t.csv", HEADER, ["a,x,7", "b,y,3"]))
        found.append(seen(folder))
    assert found[0] == found[1] == found[2]


def test_wide_and_long_give_the_same_answers(tmp_path):
    card = CARD + "dimensions: [look, match]\n"
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
    scores(
        tmp_path / "1",
        write_csv(tmp_path / "w.csv", "item_id,source,look,match", ["a,x,7,2"]),
        card=card,
        wide=["look", "match"],
    )
    long = write_csv(tmp_path / "l.csv", "item_id,source,dimension,value", ["a,x,look,7", "a,x,match,2"])
    scores(tmp_path / "2", long, card=card)
    assert seen(tmp_path / "1") == seen(tmp_path / "2")


def test_a_later_import_extends_the_judge(tmp_path):
    scores(tmp_path, write_csv(tmp_path / "1.csv", HEADER, ["a,x,7"]))
    done = scores(tmp_path, write_csv(tmp_path / "2.csv", HEADER, ["a,x,7", "b,x,3"]))
    assert "1 answers were in the lake already." in done.lines
    made = plan_table_audit(lake_of(tmp_path), card_of(tmp_path))
    assert made.plan.items["item_id"].to_pylist() == ["a", "b"]
    assert len(made.imports) == 2
    assert plan_table_audit(lake_of(tmp_path), card_of(tmp_path)).plan.plan_id == made.plan.plan_id


def test_another_answer_to_the_same_question_is_a_fault_that_says_what_to_do(tmp_path):
    scores(tmp_path, write_csv(tmp_path / "1.csv", HEADER, ["a,x,7"]))
    with pytest.raises(
        InputError, match="row 1, column value: the lake holds 7 of this judge for overall, the file 8"
    ):
        scores(tmp_path, write_csv(tmp_path / "2.csv", HEADER, ["a,x,8"]))
    with pytest.raises(InputError, match="column item_id: row 1 holds a score of this item already"):
        scores(tmp_path, write_csv(tmp_path / "3.csv", HEADER, ["b,x,8", "b,x,9"]))
    repeats = write_csv(tmp_path / "4.csv", HEADER + ",repeat", ["b,x,8,0", "b,x,9,1"])
    assert scores(tmp_path, repeats).rows == 2


def test_what_does_not_belong_to_the_card_or_contradicts_itself_is_told(tmp_path):
    rows = ["a,x,p,look,7", "b,x,p,overall,7", "b,y,p,overall,8", "c,x,p,overall,7"]
    with pytest.raises(InputError) as error:
        scores(tmp_path, write_csv(tmp_path / "f.csv", "item_id,source,prompt,dimension,value", rows))
    told = {(fault.row, fault.column): fault.message for fault in error.value.faults}
    assert "the card has no dimension “look”; it has overall" in told[1, "dimension"]
    assert "row 2 says otherwise of the same item" in told[3, "source"]


def test_a_better_parser_reads_the_lake_again_and_asks_nothing(tmp_path):
    scores(tmp_path, write_csv(tmp_path / "w.csv", HEADER, ["a,x,Superb", "b,x,4"]))
    assert (("a", "x", "overall", None, "unparsable")) in seen(tmp_path)
    better = card_of(tmp_path, CARD + "replies: {words: {superb: 10}}\n")
    made = plan_table_audit(lake_of(tmp_path), better)
    assert any("2 replies were read again" in note for note in made.notes)
    rows = lake_of(tmp_path).read("scores", judge_id=better.judge_id).to_pylist()
    assert sorted(row["value"] for row in rows) == [4.0, 10.0]
    assert {row["parser_version"] for row in rows} == {better.parser_version}
    assert not any("read again" in note for note in plan_table_audit(lake_of(tmp_path), better).notes)


def test_cards_of_two_names_are_two_judges_and_a_card_must_know_its_dimensions(tmp_path):
    one, two = (card_of(tmp_path, CARD.replace("ours", name)) for name in ("one", "two"))
    assert one.judge_id != two.judge_id
    with pytest.raises(InputError, match="artifacts: the card's dimensions are overall"):
        card_of(tmp_path, CARD + "replies: {lists: {PQ: [artifacts]}}\n")
    with pytest.raises(UsageError, match="table of scores and cannot score"):
        load_judge(tmp_path / "ours.yaml" if card_of(tmp_path) else "").score([])


def test_the_lake_without_scores_says_how_to_import_them(tmp_path):
    with pytest.raises(UsageError, match="judge-audit import scores FILE --card CARD"):
        plan_table_audit(lake_of(tmp_path), card_of(tmp_path))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    rows = [f"i{n},{'xy'[n % 2]},{n % 11},{40 + n},{n % 7 * 3.5}" for n in range(240)]
    write_csv(tmp_path / "scores.csv", HEADER + ",lum,sharp", rows)
    write_csv(tmp_path / "labels.csv", "item_id,value", [f"i{n},{n % 5}" for n in range(240)])
    (tmp_path / "ours.yaml").write_text(CARD)
    (tmp_path / "how.yaml").write_text("covariates: {luma: lum, sharpness: sharp}\n")
    return tmp_path


def test_an_audit_of_a_table_runs_from_the_lake_alone_in_seconds(here, capsys):
    assert run_command(["import", "labels", "labels.csv", "--level", "ordinal", "--lake", "lake"]) == 0
    words = [
        "import",
        "scores",
        "scores.csv",
        "--card",
        "ours.yaml",
        "--mapping",
        "how.yaml",
        "--lake",
        "lake",
    ]
    assert run_command(words) == 0
    assert run_command([*words]) == 0
    assert "nothing was added" in capsys.readouterr().out
    assert run_command(["run", "--judge", "ours.yaml", "--lake", "lake", "--dry-run"]) == 0
    assert "240 items from 2 sources" in capsys.readouterr().out
    assert run_command(["run", "--judge", "ours.yaml", "--lake", "lake"]) == 0
    said = capsys.readouterr().out
    assert "Position: screening" in said
    assert "who labelled" in said
    document = json.loads((here / "judge-audit-report" / "report.json").read_text(encoding="utf-8"))
    assert any("No picture is in reach" in caveat for caveat in document["caveats"])
    assert any("who labelled" in caveat for caveat in document["caveats"])
    assert document["ladders"] == []
    assert "No picture is in reach" in (here / "judge-audit-report" / "report.html").read_text(
        encoding="utf-8"
    )
    lake = Lake.open("lake")
    audit = next(row for row in lake.read("audits").to_pylist() if row["status"] == "complete")
    used = json.loads(audit["input_digests"])
    assert sum(name.startswith("import ") for name in used) == 2
    verdicts = lake.read("verdicts", audit_id=audit["audit_id"], subject=audit["judge_id"]).to_pylist()
    told = {(row["check"], row["measure"]): row for row in verdicts}
    for check in ("premature", "jitter", "top_response"):
        (row,) = [row for row in verdicts if row["check"] == check]
        assert row["verdict"] == "missing"
        assert "No picture is in reach" in row["reason"]
    assert told["scale", "pile"]["verdict"] == "pass"
    assert told["covariates", "explained_share"]["verdict"] != "missing"


def test_a_project_whose_judge_is_a_table_needs_no_items(here):
    (here / "cards").mkdir()
    (here / "cards" / "ours.yaml").write_text(CARD)
    (here / "audit.yaml").write_text("judge: ours\nlake: lake\n")
    assert run_command(["import", "scores", "scores.csv", "--card", "ours"]) == 0
    assert run_command(["run", "audit.yaml"]) == 0
    (here / "items.yaml").write_text("judge: brisque\nlake: lake\n")
    assert run_command(["run", "items.yaml"]) == 2


def test_scores_of_several_batches_are_taken_in_one_go(tmp_path):
    rows = [f"i{n},s{n % 7},{n % 11}" for n in range(20_000)]
    assert scores(tmp_path, write_csv(tmp_path / "big.csv", HEADER, rows)).rows == 20_000
