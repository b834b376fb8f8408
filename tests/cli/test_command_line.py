"""The command line as a user meets it: real processes, exit codes, words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from PIL import Image

from judge_audit.cli import run_command
from judge_audit.core.errors import Fault, InputError, MachineryError
from judge_audit.lake import Lake


def judge_audit(*words: str, cwd, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from judge_audit.cli import main; main()", *words]
    return subprocess.run(
        command, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    return tmp_path


def test_help_imports_nothing_heavy_and_names_every_command(tmp_path):
    script = (
        "import sys\nfrom judge_audit.cli import run_command\nassert run_command(['--help']) == 0\n"
        "heavy = {'cv2', 'duckdb', 'numpy', 'pandas', 'prefect', 'pyarrow', 'scipy', 'great_expectations'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    deciding = ("release", "submit", "gate", "approve", "verify", "sign")
    for command in ("init", "demo", "run", "plan", "import", "anchors", "study", "judges", "lake", *deciding):
        assert f"  {command} " in told.stdout


def test_run_without_items_exits_2_and_names_demo_and_init(here):
    told = judge_audit("run", cwd=here)
    assert told.returncode == 2
    assert not told.stdout
    assert "judge-audit demo" in told.stderr
    assert "judge-audit init" in told.stderr
    assert "Traceback" not in told.stderr


def test_an_unknown_option_exits_2(here, capsys):
    assert run_command(["run", "--judgement", "x"]) == 2
    assert "--judgement" in capsys.readouterr().err


def test_a_file_that_is_not_there_exits_2_and_names_it(here, capsys):
    assert run_command(["run", "audit.yaml"]) == 2
    assert "audit.yaml: there is no such file" in capsys.readouterr().err


def test_an_option_out_of_its_list_exits_2_with_the_list(here, capsys):
    assert run_command(["run", "--items", "items.csv", "--runner", "rockets"]) == 2
    said = capsys.readouterr().err
    assert "runner" in said
    assert "threads" in said
    assert "processes" in said


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError([Fault("items.csv", 3, "image", "it is not an image.")]), 2),
        (MachineryError("the disk is full."), 3),
    ],
)
def test_errors_for_users_are_their_message_and_their_exit_code(here, capsys, monkeypatch, error, code):
    def refuse(*_):
        raise error

    monkeypatch.setattr("judge_audit.core.configuration.resolve", refuse)
    assert run_command(["run"]) == code
    assert str(error) in capsys.readouterr().err


def test_an_unexpected_error_exits_3_and_shows_its_origin_only_when_asked(here, capsys, monkeypatch):
    def stumble(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("judge_audit.core.configuration.resolve", stumble)
    assert run_command(["run"]) == 3
    short = capsys.readouterr().err
    assert "unexpected ZeroDivisionError" in short
    assert "--traceback" in short
    assert "Traceback" not in short
    assert run_command(["run", "--traceback"]) == 3
    assert "in stumble" in capsys.readouterr().err


SAYING_THAT_IT_READS = """
import io, sys
class Saying(io.TextIOWrapper):
    def read(self, *size):
        print("reading", file=sys.stderr, flush=True)
        return super().read(*size)
sys.stdin = Saying(sys.stdin.detach())
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_exits_130_and_says_that_nothing_committed_is_lost(here):
    Lake.open(here / "lake")
    # A shell without job control has what it runs in the background ignore the signal.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    script = heeding + SAYING_THAT_IT_READS + "from judge_audit.cli import main; main()"
    words = [sys.executable, "-c", script, "lake", "sql", "--lake", "lake"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=here)
    assert process.stderr.readline() == "reading\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Nothing committed is lost" in said


def test_init_makes_a_project_once(here, capsys):
    assert run_command(["init", "mine"]) == 0
    assert "judge-audit run mine/audit.yaml" in capsys.readouterr().out
    (here / "mine" / "audit.yaml").write_text("items: mine.csv\n", encoding="utf-8")
    assert run_command(["init", "mine"]) == 2
    assert "nothing was changed" in capsys.readouterr().err
    assert (here / "mine" / "audit.yaml").read_text(encoding="utf-8") == "items: mine.csv\n"


def test_judges_list_names_the_default_judge_with_its_identity(here, capsys):
    from judge_audit.judges import builtin_cards

    assert run_command(["judges", "list", "--json"]) == 0
    judges = json.loads(capsys.readouterr().out)["judges"]
    listed = {card["name"]: card["judge_id"] for card in judges}
    assert listed["brisque"] == builtin_cards()["brisque"].judge_id
    assert run_command(["judges", "list"]) == 0
    assert listed["brisque"] in capsys.readouterr().out


def test_reading_a_lake_that_is_not_there_exits_2_and_makes_none(here, capsys):
    assert run_command(["lake", "tables", "--lake", "nowhere"]) == 2
    assert "there is no lake" in capsys.readouterr().err
    assert not (here / "nowhere").exists()


def test_the_lake_meant_is_the_options_then_the_files_then_the_environments(here, monkeypatch):
    from judge_audit.cli.project import lake_here as where

    assert where(None) == "judge-audit-lake"
    monkeypatch.setenv("JUDGE_AUDIT_LAKE", "from-environment")
    assert where(None) == "from-environment"
    (here / "audit.yaml").write_text("items: items.csv\nlake: from-file\n", encoding="utf-8")
    assert where(None) == str(here / "from-file")
    assert where("from-option") == "from-option"


def test_sql_is_answered_from_an_argument_and_from_the_input(here):
    Lake.open(here / "lake")
    question = "SELECT count(*) AS n FROM scores"
    asked = judge_audit("lake", "sql", question, "--lake", "lake", "--format", "csv", cwd=here)
    assert (asked.returncode, asked.stdout) == (0, "n\n0\n")
    piped = judge_audit("lake", "sql", "--lake", "lake", "--json", cwd=here, stdin=question)
    assert json.loads(piped.stdout) == [{"n": 0}]


def test_sql_that_writes_exits_2(here, capsys):
    Lake.open(here / "lake")
    assert run_command(["lake", "sql", "COPY (SELECT 1) TO 'stolen.csv'", "--lake", "lake"]) == 2
    assert not (here / "stolen.csv").exists()
    assert run_command(["lake", "sql", "SELECT 1", "--format", "xml", "--lake", "lake"]) == 2
    assert "table, csv, json" in capsys.readouterr().err


def test_the_printed_views_serve_a_plain_duckdb(here, capsys):
    import duckdb

    Lake.open(here / "lake")
    assert run_command(["lake", "views", "--lake", "lake"]) == 0
    with duckdb.connect() as plain:
        plain.execute(capsys.readouterr().out)
        assert plain.execute("SELECT count(*) FROM covariate_verdicts").fetchall() == [(0,)]


def test_tables_are_listed_with_their_rows_and_meaning(here, capsys):
    Lake.open(here / "lake")
    assert run_command(["lake", "tables", "--lake", "lake", "--json"]) == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert listed["scores"]["kind"] == "table"
    assert listed["scores"]["rows"] == 0
    assert listed["positions"]["kind"] == "view"


def test_plan_shows_an_axis_as_one_picture_and_says_what_is_on_it(here, capsys):
    assert run_command(["plan", "--show", "watermark", "--count", "2", "--out", "sheet.png"]) == 0
    assert "watermark, 10 rungs" in capsys.readouterr().out
    with Image.open(here / "sheet.png") as sheet:
        assert sheet.size[0] > 1000
    assert run_command(["plan", "--show", "noise", "--count", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["picture"] == "noise.png"
    assert (here / "noise.png").exists()
    (item,) = told["items"]
    assert item["provisional"] is True
    zones = [rung["zone"] for rung in item["rungs"]]
    assert zones[0] == "unseen"
    assert zones[-1] == "bad"


def test_plan_finds_the_team_s_axes_and_names_all_when_there_is_none_of_the_name(here, capsys):
    assert run_command(["plan", "--show", "glow"]) == 2
    assert "background_blur, blur" in capsys.readouterr().err
    assert run_command(["plan", "--show", "crop", "--items", "none.csv"]) == 2
    assert "none.csv: there is no such file" in capsys.readouterr().err
    assert run_command(["plan", "--show", "crop", "--out", "no/folder/x.png"]) == 3


def test_plan_shows_pairs_of_a_kind_and_says_what_was_done(here, capsys):
    assert run_command(["plan", "--show-pairs", "compliance_breach", "--count", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    with Image.open(here / "compliance_breach.png") as picture:
        assert picture.width > 1000
    built = [pair for pair in told["pairs"] if "told" in pair]
    assert built
    assert all(pair["constructed"] and pair["honest_limits"] and pair["hardness"] for pair in built)


def test_plan_refuses_numbers_and_pilots_that_cannot_serve(here, capsys):
    assert run_command(["plan", "--design", "elephants=3", "--design", "items=2.5"]) == 2
    told = capsys.readouterr().err
    assert "there is no “elephants”" in told
    assert "2.5 is no whole number" in told
    assert run_command(["plan", "--audit", "latest", "--spread", "0.3"]) == 2
    assert run_command(["plan", "--audit", "latest", "--lake", "none"]) == 2
    assert "there is no lake" in capsys.readouterr().err
    assert run_command(["plan", "--spread", "0.3", "--minutes", "5"]) == 2
    assert "--seconds" in capsys.readouterr().err
    assert run_command(["plan", "--spread", "0.3", "--cost", "5"]) == 2
    assert run_command(["plan", "--limit", "premature.margin=much"]) == 2


def test_plan_draws_one_thing_and_names_the_kinds_there_are(here, capsys):
    assert run_command(["plan", "--show", "crop", "--show-pairs", "poor_quality"]) == 2
    assert run_command(["plan", "--show-pairs", "ugliness"]) == 2
    assert "semantic_miss" in capsys.readouterr().err


def test_plan_breaks_a_team_s_own_rules_or_says_what_is_wrong_with_them(here, capsys):
    (here / "mine.yaml").write_text("brand: Mine\nrules: [{name: clear, breach: margin}]\n")
    assert run_command(["plan", "--show-pairs", "compliance_breach", "--rules", "mine.yaml"]) == 2
    assert "rule “clear”, field margin: it is missing." in capsys.readouterr().err
    (here / "mine.yaml").write_text(
        "brand: Mine\nrules: [{name: clear, breach: banned_element, element: badge}]\n"
    )
    assert (
        run_command(["plan", "--show-pairs", "compliance_breach", "--rules", "mine.yaml", "--count", "1"])
        == 0
    )


def test_a_team_s_own_kind_is_found_beside_the_package_s(here, capsys):
    (here / "kinds").mkdir()
    (here / "kinds" / "upside_down.py").write_text(
        "import numpy as np\n"
        "from judge_audit.stimuli.mismatches.kind import Built, Kind, Variant\n"
        "def turn(material):\n"
        "    whole = np.ones(material.pixels.shape[:2], bool)\n"
        "    return Built('turn', material.pixels[::-1].copy(), None, whole, 0.0, 'Turned.', ('None.',))\n"
        "KIND = Kind('upside_down', 'On its head.', 'structure',\n"
        "    {'semantic': 'free', 'structure': 'drops', 'aesthetic': 'free', 'compliance': 'hold'},\n"
        "    (Variant('turn', 'Turned.', turn),), 1)\n"
    )
    Image.new("RGB", (64, 48), (200, 40, 40)).save(here / "a.png")
    (here / "items.csv").write_text("item_id,source,prompt,image\na,s,red,a.png\n")
    (here / "audit.yaml").write_text("items: items.csv\n")
    assert run_command(["plan", "--show-pairs", "upside_down", "--count", "1"]) == 0
    assert "1 pairs" in capsys.readouterr().out
    (here / "kinds" / "upside_down.py").write_text("KIND = 3\n")
    assert run_command(["plan", "--show-pairs", "poor_quality"]) == 2
    assert "upside_down.py" in capsys.readouterr().err
