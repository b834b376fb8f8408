"""The published tables that come with the package, and what is said of tables that do not."""

from __future__ import annotations

from table_files import write_csv

from judge_audit.cli import run_command
from judge_audit.demo.published import FOLDER


def test_the_second_demo_is_small_and_says_where_it_comes_from():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000
    told = (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert "MIT License" in told
    assert "ImagenHub" in told
    assert "VIEScore" in told


def test_an_unknown_demo_is_told(capsys):
    assert run_command(["demo", "movies"]) == 2
    assert "photos and published" in capsys.readouterr().err


def test_a_table_that_is_not_there_is_told_by_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "a.csv", "item_id,value", ["a,1"])
    assert run_command(["import", "ratings", "a.csv"]) == 2
    assert "there is no table “ratings”" in capsys.readouterr().err
    assert run_command(["import", "labels", "a.csv", "--map", "value"]) == 2
    assert "write NAME=VALUE" in capsys.readouterr().err
    assert run_command(["import", "labels", "a.csv", "--scale", "1-5"]) == 2
    assert "write LOW..HIGH" in capsys.readouterr().err
    assert run_command(["import", "scores", "a.csv", "--card", "brisque"]) == 2
    assert "card of kind “table”" in capsys.readouterr().err
    assert not (tmp_path / "judge-audit-lake").exists()
