"""The commands about the anchor set as a user meets them: words, exit codes, JSON."""

from __future__ import annotations

import json

import pytest
from anchor_files import picture, small_set

from judge_audit.anchors import read_anchors
from judge_audit.cli import run_command
from judge_audit.lake import Lake

WHO = ("--author", "Ada", "--reason", "the first round")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    return tmp_path


def test_one_picture_is_added_by_options(here, capsys):
    picture(here / "wall.png", 1)
    words = ["anchors", "add", "set", "--id", "wall", "--image", "wall.png", "--tier", "bad", "--kind"]
    words += ["poor_quality", "--source", "sd", "--label", "overall=1@ann", "--label", "overall=2@bob@x.org"]
    assert run_command([*words, "--scale", "1..5", *WHO]) == 0
    assert "1 added. Version 1: 1 anchors" in capsys.readouterr().out
    (anchor,) = read_anchors(here / "set").at()
    assert [(label.annotator_id, label.value, label.high) for label in anchor.labels] == [
        ("ann", 1.0, 5.0),
        ("bob@x.org", 2.0, 5.0),
    ]


def test_a_table_adds_many_and_says_every_fault(here, capsys):
    for number in range(3):
        picture(here / f"{number}.png", number)
    head = "anchor_id,image,tier,source,kind,dimension,annotator_id,value\n"
    sound = "a,0.png,bad,sd,semantic_miss,overall,ann,1\na,,,,,semantic,ann,2\na,,,,,overall,bob,1\n"
    (here / "new.csv").write_text(
        f"{head}{sound}b,1.png,fine,sd,,overall,ann,x\nb,2.png,,,,overall,ann,3\nc,../up.png,good,sd,,,,\n,2.png,bad,sd,,,,\n"
    )
    assert run_command(["anchors", "add", "set", "new.csv", "--scale", "1..5", *WHO]) == 2
    said = capsys.readouterr().err
    for place in (
        "new.csv, row 4, column value: “x” is not a number",
        "new.csv, row 5, column image",
        "new.csv, row 6, column image: a relative path must stay",
        "new.csv, row 7, column anchor_id: it is empty",
    ):
        assert place in said
    assert not (here / "set").exists()
    (here / "new.csv").write_text(head + sound + "b,1.png,good,sd,,overall,ann,5\n")
    assert run_command(["anchors", "add", "set", "new.csv", "--scale", "1..5", *WHO, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["added"]) == (2, ["a", "b"])
    first = read_anchors(here / "set").at()[0]
    assert [(label.dimension, label.annotator_id) for label in first.labels] == [
        ("overall", "ann"),
        ("overall", "bob"),
        ("semantic", "ann"),
    ]


def test_a_table_relabels_many(here, capsys):
    small_set(here / "set")
    (here / "round2.csv").write_text(
        "anchor_id,tier,reason,dimension,annotator_id,value\na000,,,overall,cy,2\na001,good,seen again,overall,cy,5\n"
    )
    words = ["anchors", "relabel", "set", "round2.csv", "--scale", "1..5"]
    assert run_command([*words, "--author", "Ada", "--reason", "round two"]) == 0
    held = read_anchors(here / "set")
    assert [entry.reason for entry in held.entries[-2:]] == ["round two", "seen again"]
    assert held.entries[-1].annotators == ("ann", "bob", "cy")
    capsys.readouterr()
    assert run_command(["anchors", "log", "set"]) == 0
    said = capsys.readouterr().out
    assert "relabel a001  by Ada: seen again" in said
    assert "tier: middling → good; overall by cy: - → 5" in said


def test_relabel_and_retire_by_options(here, capsys):
    small_set(here / "set")
    words = ["anchors", "relabel", "set", "a000", "--no-kind", "--withdraw", "overall@bob", *WHO]
    assert run_command(words) == 0
    assert run_command(["anchors", "retire", "set", "a001", "a002", *WHO]) == 0
    capsys.readouterr()
    assert run_command(["anchors", "log", "set", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["action"] for entry in told[-3:]] == ["relabel", "retire", "retire"]
    assert told[-3]["changed"] == ["kind: poor_quality → -", "overall by bob: 1 → -"]
    assert run_command(["anchors", "retire", "set", "a001", *WHO]) == 2
    assert "not in the set (or retired already)" in capsys.readouterr().err


def test_show_names_the_gaps_of_any_version(here, capsys):
    small_set(here / "set", 3)
    assert run_command(["anchors", "show", "set"]) == 0
    said = capsys.readouterr().out
    assert "1  bad       x  poor_quality" in said
    assert "Gap: No anchor shows compliance_breach." in said
    assert run_command(["anchors", "show", "set", "--version", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["anchors"]) == (1, 1)
    assert "There are no good anchors." in told["gaps"]
    assert run_command(["anchors", "show", "set", "--version", "9"]) == 2


def test_verify_exits_0_and_1_and_names_every_place(here, capsys):
    held = small_set(here / "set")
    assert run_command(["anchors", "verify", "set", "--head", held.head(2)]) == 0
    assert held.head() in capsys.readouterr().out
    assert run_command(["anchors", "verify", "set", "--head", "0" * 64]) == 1
    assert "does not extend" in capsys.readouterr().err
    picture(here / "set" / held.at()[0].image, 999)
    assert run_command(["anchors", "verify", "set"]) == 1
    assert held.at()[0].image in capsys.readouterr().err
    assert run_command(["anchors", "verify", "set", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["sound"]
    assert told["faults"][0]["file"] == held.at()[0].image
    assert run_command(["anchors", "verify", "nowhere"]) == 2


def test_run_with_a_tampered_set_exits_2_before_anything_is_asked(here, capsys):
    held = small_set(here / "set")
    (here / "items.csv").write_text("item_id,source,prompt,image\ni,x,p,drawn/1.png\n")
    picture(here / "set" / held.at()[0].image, 999)
    words = ["run", "--items", "items.csv", "--anchors", "set", "--lake", "lake", "--dry-run"]
    assert run_command(words) == 2
    assert "its bytes have changed" in capsys.readouterr().err
    assert not Lake.open(here / "lake").read("calls").num_rows


def test_a_label_without_its_parts_is_refused(here, capsys):
    small_set(here / "set", 1)
    for label in ("overall", "overall=3", "overall=3@", "=3@ann", "overall=x@ann"):
        assert run_command(["anchors", "relabel", "set", "a000", "--label", label, *WHO]) == 2
        assert f"--label {label}" in capsys.readouterr().err
