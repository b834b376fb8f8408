"""A registered model becomes a card; no name of a stranger becomes anything else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
import yaml

from judge_audit.core.errors import InputError, UsageError
from judge_audit.judges.cards.card import read_card
from judge_audit.operations.registry import Version
from judge_audit.operations.registry.template import check_template, fill, write_card

VERSION = Version(
    "prod", "aesthetic", "3", datetime(2026, 11, 1, tzinfo=UTC), "s3://models/9/a.b-c", "0a1b", ("champion",)
)
DIGEST = "0123456789abcdef" * 2
CARD = {
    "kind": "command",
    "name": "{name}",
    "version": "{version}",
    "command": ["python3", "{project}/score.py", "artifacts/weights.bin", "--run={run_id}"],
    "weights": "{digest}",
    "description": "{name} as {alias}, from {source}",
}


def filled(tmp_path, card=None, version=VERSION, text=""):
    path = tmp_path / "registered.yaml"
    path.write_text(text or yaml.safe_dump(card or CARD), encoding="utf-8")
    return fill(path, version, digest=DIGEST, project=tmp_path)


def test_a_template_is_filled_and_is_a_card(tmp_path):
    content = filled(tmp_path)
    assert content["command"] == ["python3", f"{tmp_path}/score.py", "artifacts/weights.bin", "--run=0a1b"]
    assert content["description"] == "aesthetic as champion, from s3://models/9/a.b-c"
    card = read_card(write_card(content, tmp_path))
    assert (card.name, card.version, card.weights) == ("aesthetic", "3", f"sha256:{DIGEST}")


HOSTILE = [
    'x"\nkind: callable\ntarget: "os:system',
    "x: {y: z}",
    "*alias &anchor !!python/object/apply:os.system [id]",
    "{project}{digest}",
    "{0.__class__}",
    "%s%n",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "{{ event.payload.name }}",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_a_label_or_is_refused_and_adds_nothing(tmp_path, name):
    version = replace(VERSION, model=name)
    card = {"kind": "command", "name": "{name}", "command": ["./score"], "weights": "1"}
    if "\n" in name:
        with pytest.raises(InputError, match="can be no label"):
            filled(tmp_path, card, version)
        return
    content = filled(tmp_path, card, version)
    assert content == {**card, "name": name}
    assert read_card(write_card(content, tmp_path)).name == name


@pytest.mark.parametrize(
    "name", [*HOSTILE, "../../etc/passwd", "a..b", "-rf", ".hidden", "a b", "ä", "a\0b", ""]
)
@pytest.mark.parametrize("field", ["target", "weights"])
def test_a_hostile_name_stands_in_no_path_option_or_address(tmp_path, name, field):
    card = {"kind": "callable", "name": "ours", "target": "m:f", field: "pre/{name}"}
    with pytest.raises(InputError, match=r"registered.yaml, field \w+: \{name\}"):
        filled(tmp_path, card, replace(VERSION, model=name))


@pytest.mark.parametrize("source", ["file:///a/../../b", "s3://user:secret@b", "--flag", "a;b", "$(x)"])
def test_a_hostile_source_stands_in_no_path(tmp_path, source):
    with pytest.raises(InputError, match="field weights"):
        filled(tmp_path, {**CARD, "description": "x", "weights": "{source}"}, replace(VERSION, source=source))


def test_every_fault_is_told_at_once(tmp_path):
    card = {**CARD, "version": "{vresion}", "weights": "{alias}"}
    with pytest.raises(InputError) as caught:
        filled(tmp_path, card, replace(VERSION, aliases=()))
    told = str(caught.value)
    assert "field version: there is no {vresion}; there are {name}, {version}" in told
    assert "field weights: {alias}: the registry names none" in told
    assert "field description: {alias}" in told


def test_what_is_the_card_s_own_is_left_alone(tmp_path):
    card = {
        "kind": "endpoint",
        "name": "vlm",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "{name}",
        "prompt_template": 'Rate "{prompt}" as {"score": 1} from {} to 10.',
    }
    content = filled(tmp_path, card)
    assert content["prompt_template"] == card["prompt_template"]
    assert content["model"] == "aesthetic"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a", "mapping of fields"),
        ("kind: [", "not valid YAML"),
        ("kind: onnx\nname: x\nmodle: tiny.onnx", "Did you mean model"),
        ("a: &a [*a, *a]\nb: *a", "entries"),
        ("kind: onnx\nname: '{nmae}'\nmodel: m", "no {nmae}"),
        ("x" * (2 << 20), "mapping of fields"),
    ],
)
def test_a_template_that_serves_for_nothing_is_told_before_any_version_is_there(tmp_path, text, said):
    path = tmp_path / "registered.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        check_template(path, tmp_path)
