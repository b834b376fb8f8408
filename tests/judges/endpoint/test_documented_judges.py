"""The cards and the program in docs/judges.md, as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from chat_server import answer, serving, tokens
from little_vlm import stimuli

from judge_audit.judges import load_judge

PAGE = (Path(__file__).parents[3] / "docs" / "judges.md").read_text(encoding="utf-8")


def block(opening, language="yaml"):
    (found,) = [
        text for text in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if text.startswith(opening)
    ]
    return found


def test_the_endpoint_of_the_documentation_gives_its_sub_scores(tmp_path, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "sk-documented")
    (tmp_path / "question.txt").write_text("How well does this show {prompt}?")
    told = {"overall": 7, "semantic": 8, "structure": 6.5, "aesthetic": 3}
    with serving(lambda *_: json.dumps(told)) as server:
        (tmp_path / "vlm.yaml").write_text(
            block("# vlm.yaml").replace("http://localhost:8000/v1", server.url)
        )
        (reply,) = load_judge(str(tmp_path / "vlm.yaml")).score(stimuli(1))
    assert reply.scores == told
    assert reply.cost == pytest.approx((100 * 2.5 + 5 * 10) / 1e6)


def test_the_probability_of_yes_of_the_documentation(tmp_path, monkeypatch):
    monkeypatch.setenv("OUR_KEY", "sk-documented")
    (tmp_path / "question.txt").write_text('Does this figure show "{prompt}"? Please answer yes or no.')
    whole = [
        line
        for line in block("# vlm.yaml").splitlines()
        if not line.startswith(("answer", "dimensions", "scale_high"))
    ]
    with serving(lambda *_: answer("Yes", logprobs=tokens([("Yes", 0.8), ("No", 0.2)]))) as server:
        text = "\n".join([*whole, block("answer: yes")]).replace("http://localhost:8000/v1", server.url)
        (tmp_path / "vqa.yaml").write_text(text)
        (reply,) = load_judge(str(tmp_path / "vqa.yaml")).score(stimuli(1, prompt="a cat"))
        asked = server.requests[0]["messages"][0]["content"][1]["text"]
    assert reply.scores == {"semantic": pytest.approx(0.8)}
    assert asked == 'Does this figure show "a cat"? Please answer yes or no.'


def test_the_program_of_the_documentation_answers(tmp_path):
    (tmp_path / "program.yaml").write_text(block("# program.yaml"))
    (tmp_path / "weights.bin").write_bytes(b"1")
    model = "def model(path, prompt):\n    return len(prompt)\n"
    (tmp_path / "score.py").write_text(model + block("# score.py", "python"))
    judge = load_judge(str(tmp_path / "program.yaml"))
    assert [reply.scores["overall"] for reply in judge.score(stimuli(2, prompt="four"))] == [4.0, 4.0]
    judge.close()
