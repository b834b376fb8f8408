"""`judges list`, `judges try` and `judges new` as a user meets them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
import yaml
from PIL import Image

from judge_audit.audits.smoke_test import demo_stimuli, try_judge
from judge_audit.cli import run_command
from judge_audit.core.tables import from_rows
from judge_audit.judges import builtin_kinds, load_judge
from judge_audit.judges.cards.card import read_card
from judge_audit.judges.cards.card_template import kinds_of
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.planning.probes import count_calls, make_plan

KINDS = [kind for kind in kinds_of(builtin_kinds()) if not kind.own_card]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_items(folder, count=5):
    draw = np.random.default_rng(3)
    lines = ["item_id,source,prompt,image"]
    for number in range(count):
        Image.fromarray(draw.integers(0, 256, (40, 60, 3), np.uint8)).save(folder / f"{number}.png")
        lines.append(f"item-{number},ours,prompt {number},{number}.png")
    (folder / "items.csv").write_text("\n".join(lines), encoding="utf-8")


def test_every_kind_is_listed_with_what_it_needs(here, capsys):
    assert run_command(["judges", "list"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for kind in KINDS:
        assert kind.about in shown
        assert kind.install in shown
    assert "must say base_url, model" in shown
    assert run_command(["judges", "list", "--json"]) == 0
    listed = {kind["kind"]: kind for kind in json.loads(capsys.readouterr().out)["kinds"]}
    assert listed["onnx"]["needed"] == ["model", "preprocessing"]
    assert listed["open_clip"]["install"] == "pip install 'image-judge-audit[open-clip]'"
    assert listed["pyiqa"]["install"] == "pip install pyiqa"


def test_a_teams_own_kind_is_listed_too(here, capsys):
    (here / "judges").mkdir()
    code = '"""Our own kind."""\nKIND = "ours"\ndef build(card, *, project): ...\n'
    (here / "judges" / "ours.py").write_text(code, encoding="utf-8")
    assert run_command(["judges", "list", "--project", "."]) == 0
    assert "Our own kind." in capsys.readouterr().out


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("pinned", ["--pinned", "--unpinned"])
def test_a_new_card_is_right_as_it_stands_and_with_every_comment_taken_away(here, kind, pinned):
    assert run_command(["judges", "new", kind.name, "--name", "mine", pinned]) == 0
    path = here / "cards" / "mine.yaml"
    card = read_card(path)
    assert (card.kind, card.name, card.pinned) == (kind.name, "mine", pinned == "--pinned")
    text = path.read_text(encoding="utf-8")
    full = here / "full.yaml"
    full.write_text(re.sub(r"^# ([a-z_]+: )", r"\1", text, flags=re.MULTILINE), encoding="utf-8")
    read_card(full)
    assert {*kind.needed, *kind.further} <= set(yaml.safe_load(full.read_text(encoding="utf-8")))


def test_a_card_that_is_there_is_never_touched(here, capsys):
    assert run_command(["judges", "new", "command", "--unpinned"]) == 0
    path = here / "cards" / "our-command-judge.yaml"
    path.write_text("mine", encoding="utf-8")
    assert run_command(["judges", "new", "command", "--unpinned"]) == 2
    assert "stays as it is" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "mine"


def test_without_a_terminal_a_card_is_unpinned_and_says_so(here, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run_command(["judges", "new", "endpoint"]) == 0
    assert "unpinned (--pinned if" in capsys.readouterr().out
    assert not read_card(here / "cards" / "our-endpoint-judge.yaml").pinned


@pytest.mark.skipif(sys.platform == "win32", reason="terminals")
def test_on_a_terminal_it_asks_whether_the_weights_are_pinned(here):
    import os
    import pty

    leader, follower = pty.openpty()
    words = [sys.executable, "-c", "from judge_audit.cli import main; main()", "judges", "new", "endpoint"]
    process = subprocess.Popen(
        words, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=here
    )
    os.write(leader, b"y\n")
    told_, _ = process.communicate(timeout=30)
    os.close(leader)
    os.close(follower)
    assert b"Are its weights pinned" in told_
    assert read_card(here / "cards" / "our-endpoint-judge.yaml").pinned


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["robot"], "there is no kind “robot”"),
        (["brisque"], "there is no kind “brisque” of which a card can be written"),
        (["onnx", "--name", "../x"], "make a name"),
        (["onnx", "--project", "nowhere"], "no such folder"),
    ],
)
def test_a_wrong_request_for_a_card_says_what_is_right(here, capsys, words, said):
    assert run_command(["judges", "new", *words]) == 2
    assert said in capsys.readouterr().err
    assert not list(here.iterdir())


def test_trying_the_default_judge_says_all_there_is_to_say(here, capsys):
    assert run_command(["judges", "try", "brisque"]) == 0
    shown = capsys.readouterr().out
    assert load_judge("brisque").card.judge_id in shown
    for words in (
        "Three pictures:",
        "it repeats itself",
        "alone, not in a batch  the same",
        "it may not read the prompt",
        "twice as wide          moves by",
        "A whole default audit of 324 items",
    ):
        assert words in shown


def test_trying_on_your_own_items_takes_three_of_them_and_counts_them_all(here, capsys):
    write_items(here)
    assert run_command(["judges", "try", "brisque", "--items", "items.csv", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["pictures"]) == 3
    assert all(shown["item_id"].startswith("item-") for shown in document["pictures"])
    assert document["audit"]["items"] == 5
    assert document["card"]["kind"] == "brisque"


def test_the_calls_of_an_audit_are_counted_as_they_are_planned():
    axes = {name: axis for name, axis in builtin_axes().items() if axis.default}
    for count in (3, 30, 60):
        rows = [
            {
                "item_id": f"i{number:03d}",
                "source": f"s{number % 3}",
                "cluster": f"i{number:03d}",
                "prompt": f"p{number}",
                "prompt_id": f"p{number}",
                "topic": "",
                "pixel_digest": f"d{number}",
            }
            for number in range(count)
        ]
        items = from_rows("items", [{**row, "plan_id": ""} for row in rows]).drop_columns(["plan_id"])
        for repeats in (1, 3):
            plan = make_plan(items, [], axes, ladder_items=48, repeats=repeats, seed=1)
            assert plan.probes.num_rows == count_calls(count, axes, ladder_items=48, repeats=repeats)


def crowd(images, prompts):  # leans on its batch
    return [float(image.mean()) + len(images) for image in images]


def test_a_judge_that_leans_on_its_batch_and_one_that_wavers_are_told():
    leaning = try_judge(load_judge(crowd), demo_stimuli(), {}).document()
    assert {look["name"]: look["moved"] for look in leaning["looks"]}["alone"] == pytest.approx(2)
    counter = iter(range(1000))

    def waver(images, prompts):
        return [float(next(counter)) for _ in images]

    waver.identity = "counts"
    wavering = try_judge(load_judge(waver), demo_stimuli(), {}).document()
    assert {look["name"]: look["moved"] for look in wavering["looks"]}["same"] == 3


def test_a_slow_judge_is_not_looked_at_beyond_patience():
    times = iter(range(0, 100_000, 30))
    trial = try_judge(load_judge("brisque"), demo_stimuli(), {}, clock=lambda: next(times))
    assert trial.seconds == 10
    assert [look.why for look in trial.looks] == ["it would take too long"] * 6
    assert trial.asked == 3


def test_a_judge_without_a_number_exits_1_and_one_that_breaks_exits_2(here, capsys):
    (here / "ours.py").write_text(
        "def silent(images, prompts): return [None for _ in images]\n"
        "def broken(images, prompts): raise ValueError('no weights')\n"
        "def short(images, prompts): return [1.0]\n",
        encoding="utf-8",
    )
    assert run_command(["judges", "try", "ours:silent"]) == 1
    assert "gave no number for any of them" in capsys.readouterr().out
    assert run_command(["judges", "try", "ours:broken"]) == 2
    assert "ValueError: no weights" in capsys.readouterr().err
    assert run_command(["judges", "try", "ours:short"]) == 2
    assert "1 answers to 3 pictures" in capsys.readouterr().err


def test_an_error_says_which_field_of_the_card_is_wrong_and_shows_a_right_one(here, capsys):
    (here / "card.yaml").write_text("kind: onnx\nname: x\nmodle: a.onnx\nbatch_size: 0\n", encoding="utf-8")
    assert run_command(["judges", "try", "card.yaml"]) == 2
    said = capsys.readouterr().err
    assert 'field model: it is missing. For example: model: "clip.onnx"' in said
    assert "field preprocessing: it is missing. For example: preprocessing: {" in said
    assert "Did you mean model?" in said
    assert "field batch_size: it is 0 and must be at least 1. For example: batch_size: 32" in said
