"""Broken cards of every kind, as a newcomer writes them: the field, what is wrong, and a right value."""

from __future__ import annotations

import pytest

from judge_audit.cli import run_command
from judge_audit.judges import builtin_kinds
from judge_audit.judges.cards.card_template import kinds_of

ONNX = "kind: onnx\nname: x\nmodel: a.onnx\npreprocessing: {resize: squash, size: 8}\n"
ENDPOINT = "kind: endpoint\nname: x\nbase_url: http://localhost:9/v1\nmodel: m\n"
ASKED = ENDPOINT + 'prompt_template: "Rate {prompt}"\n'
CALLABLE = "kind: callable\nname: x\ntarget: json:dumps\n"
CLIP = "kind: transformers\nname: x\nmodel: clip\n"
SECRET = "sk-verysecretkey123"

BROKEN = [
    ("", "", "a card is a mapping of fields"),
    ("- a\n", "", "a card is a mapping of fields"),
    ("kind: onnx\n  name: [", "", "not valid YAML"),
    ("name: x\n", "kind", 'For example: kind: "onnx"'),
    ("kind: onx\nname: x\nmodel: a.onnx\n", "kind", "Did you mean onnx?"),
    ("kind: [onnx]\nname: x\n", "kind", "there are brisque, callable"),
    (ONNX.replace("name: x", "name: 3"), "name", 'it is 3 and must be a text. For example: name: "'),
    (ONNX, "model", "a.onnx: there is no such file"),
    (ONNX.replace("squash", "shortest"), "preprocessing.resize", "one of short_side, squash, pad, none"),
    (ONNX + "head: linear\n", "head", 'must be a mapping of fields. For example: head: {"kind": "linear"'),
    (ONNX + "head: {kind: liner}\n", "head.kind", 'For example: head.kind: "linear"'),
    (ONNX + "treads: 2\n", "treads", "Did you mean threads? For example: threads: "),
    (ENDPOINT, "prompt_file", 'For example: prompt_template: "'),
    (ENDPOINT.replace("http://localhost:9/v1", "localhost:8000"), "base_url", "http://localhost:8000/v1"),
    (ASKED + f"api_key: {SECRET}\n", "api_key", 'name the variable that holds it. For example: key_env: "'),
    (ASKED + f"key_env: {SECRET}\n", "key_env", 'For example: key_env: "OPENAI_API_KEY"'),
    (ASKED + "key_env: NO_SUCH_VARIABLE\n", "key_env", "NO_SUCH_VARIABLE is not set"),
    (ASKED + "prices: 3\n", "prices", 'For example: prices: {"currency": "USD"'),
    (ASKED + "answer: expected\n", "tokens", "scale_low: 1"),
    (ASKED + "scale_low: 10\nscale_high: 0\n", "scale_low", "For example: scale_low: 0, scale_high: 10."),
    (ASKED + "scale_high: ten\n", "scale_high", "it is “ten” and must be a number or left out"),
    (ASKED + "batch_size: 0\n", "batch_size", "it is 0 and must be at least 1. For example: batch_size: "),
    ("kind: command\nname: x\ncommand: python3 a.py\n", "command", 'For example: command: ["python3", "score.py"]'),
    ("kind: command\nname: x\ncommand: [nosuchprogram]\n", "command", "there is no program nosuchprogram"),
    ("kind: command\nname: x\ncommand: [python3, a.py]\n", "files", "for example files: [score.py"),
    ("kind: callable\nname: x\n", "target", 'it is missing. For example: target: "my_judge:score"'),
    (CALLABLE.replace("json:dumps", "nomodule:score"), "target", "there is no module “nomodule”"),
    (CALLABLE.replace("json:dumps", "json:score"), "target", "json has no “score”"),
    (CALLABLE + "dimensions: overall\n", "dimensions", 'must be a list. For example: dimensions: ["overall"]'),
    (CALLABLE + "dimensions: [a, a]\n", "dimensions", "names the same twice"),
    (CALLABLE + "means: {aesthetic: beauty}\n", "means.aesthetic", "not among the dimensions ['overall']"),
    (CALLABLE + 'higher_is_better: "no"\n', "higher_is_better", "must be true or false"),
    (CLIP + "dtype: fp16\n", "dtype", 'one of float32, float16, bfloat16. For example: dtype: "float32"'),
    (CLIP + "head: head.pth\n", "head", '"normalise": true'),
    (CLIP + "head: {kind: mlp, weights: h.pth, normalise: yes}\n", "head.activation", "it is missing"),
    ("kind: generative\nname: x\n", "model", 'it is missing. For example: model: "'),
    ("kind: generative\nname: x\nmodel: m\nanswer: score\n", "answer", "one of text, expected"),
    ("kind: open_clip\nname: x\n", "model", "it is missing. For example: model: "),
    ("kind: imagereward\nname: x\ncheckpoint: a.pt\n", "config", 'For example: config: "med_config.json"'),
    ("kind: hpsv3\nname: x\ndevice: gpu\n", "checkpoint", 'For example: checkpoint: "HPSv3.safetensors"'),
    ("kind: hpsv3\nname: x\ncheckpoint: a\ndevice: gpu\n", "device", 'For example: device: "cpu"'),
    ("kind: pyiqa\nname: x\n", "metric", 'it is missing. For example: metric: "musiq"'),
    ("kind: table\nname: x\nreplies: 3\n", "replies", "must be a mapping of fields"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "field", "words"), BROKEN)
def test_a_broken_card_is_told_by_field_with_a_right_value(tmp_path, monkeypatch, capsys, text, field, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "card.yaml").write_text(text, encoding="utf-8")
    assert run_command(["judges", "try", "card.yaml"]) == 2
    said = capsys.readouterr().err
    place = f"card.yaml, field {field}: " if field else "card.yaml: "
    lines = [line for line in said.splitlines() if place in line]
    assert any(words in line for line in lines), said
    assert SECRET not in said
    assert "Traceback" not in said


def test_every_kind_is_broken_here_in_some_way():
    kinds = {kind.name for kind in kinds_of(builtin_kinds()) if not kind.own_card}
    assert kinds <= {line.partition(": ")[2] for text, _, _ in BROKEN for line in text.splitlines()[:1]}
