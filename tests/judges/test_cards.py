from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from judge_audit.audits.stages.score import instruments
from judge_audit.core.digests import text_digest
from judge_audit.core.errors import InputError, UsageError
from judge_audit.judges import builtin_cards, load_judge
from judge_audit.judges.cards.card import Card, card_of, card_schema, read_card
from judge_audit.judges.controls import builtin_controls, comparing_controls, seeing_controls

CARD = Card(kind="callable", name="ours", weights="sha256:1", target="my_judge:score")

HERE = Path(__file__).parent


def every_card():
    """Every card that ships, is documented or serves as a test."""
    cards = dict(builtin_cards())
    bound = (
        *builtin_controls("zones", 3),
        *comparing_controls("zones", 3),
        *seeing_controls(),
        *instruments(),
    )
    cards |= {f"control {judge.card.name}": judge.card for judge in bound}
    page = (HERE.parents[1] / "docs" / "judges.md").read_text(encoding="utf-8")
    whole = {}
    for number, block in enumerate(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)):
        told = yaml.safe_load(block)
        whole = told if "kind" in told else whole
        cards[f"documented {number}"] = card_of({**whole, **told}, "docs/judges.md")
    return cards | {path.stem: read_card(path) for path in (HERE / "cards").glob("*.yaml")}


def test_no_card_changes_its_identity_or_its_json_from_one_version_to_the_next():
    recorded = json.loads((HERE / "cards" / "identities.json").read_text(encoding="utf-8"))
    assert {
        name: [card.judge_id, card.lineage_id, text_digest(card.as_json())]
        for name, card in every_card().items()
    } == recorded


@pytest.mark.parametrize(
    "change",
    [
        {"weights": "sha256:2"},
        {"prompt_template": "Rate {prompt}"},
        {"preprocessing": {"backend": "pillow"}},
        {"decoding": {"temperature": 0}},
        {"parser_version": "2"},
        {"epoch": 1},
    ],
)
def test_whatever_changes_the_scores_changes_the_judge_id(change):
    assert replace(CARD, **change).judge_id != CARD.judge_id


@pytest.mark.parametrize(
    "change", [{"name": "theirs"}, {"version": "9"}, {"description": "x"}, {"licence": "MIT"}]
)
def test_labels_leave_the_judge_id_alone(change):
    assert replace(CARD, **change).judge_id == CARD.judge_id


def test_every_wrong_field_is_named_at_once_with_a_right_value(tmp_path):
    path = tmp_path / "card.yaml"
    path.write_text("kind: callable\nname: x\nbatch_size: 0\nscale_step: -1\ncolour: red\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_card(path)
    text = str(caught.value)
    assert all(word in text for word in ("batch_size", "batch_size: 32", "scale_step", "colour"))


def test_half_a_scale_is_refused(tmp_path):
    path = tmp_path / "card.yaml"
    path.write_text("kind: callable\nname: x\ntarget: a:b\nscale_low: 0\n", encoding="utf-8")
    with pytest.raises(InputError, match="given together"):
        read_card(path)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("scale_high: .nan", "not a number"),
        ("scale_high: .inf", "not a number"),
        ("version: 2026-13-45", "not valid YAML"),
        ("decoding: " + "[" * 5000, "not valid YAML"),
        ("model: x.onnx", "model"),
        ("settings: {model: x}", "settings"),
        ("origin: /tmp", "origin"),
        ("runtime: gpu", "runtime"),
    ],
)
def test_what_no_card_of_this_kind_may_hold_is_refused(tmp_path, line, word):
    path = tmp_path / "card.yaml"
    path.write_text(f"kind: callable\nname: x\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=word):
        read_card(path)


@pytest.mark.parametrize("kind", ["../cards/onnx", "card", "", "onnx\0", "none"])
def test_a_strange_kind_reads_no_other_schema(kind):
    assert card_schema(kind) == card_schema()


def test_where_a_card_lies_is_neither_recorded_nor_identity(tmp_path):
    path = tmp_path / "card.yaml"
    path.write_text("kind: callable\nname: x\ntarget: a:b\n", encoding="utf-8")
    card = read_card(path)
    assert card.origin == path
    assert "card.yaml" not in card.as_json()
    assert card.judge_id == Card(kind="callable", name="x", target="a:b").judge_id


def test_the_cards_in_the_documentation_are_cards():
    page = (Path(__file__).parents[2] / "docs" / "judges.md").read_text(encoding="utf-8")
    whole, kinds = {}, []
    for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
        told = yaml.safe_load(block)
        whole = told if "kind" in told else whole
        kinds.append(card_of({**whole, **told}, "docs/judges.md").kind)
    assert {"onnx", "endpoint", "command"} <= set(kinds)


def test_a_card_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(UsageError, match=r"none\.yaml"):
        read_card(tmp_path / "none.yaml")


def test_the_built_in_judges_load_by_name():
    for name, card in builtin_cards().items():
        assert load_judge(name).card.judge_id == card.judge_id


def test_an_unknown_judge_is_refused_with_the_names_there_are():
    with pytest.raises(UsageError, match="brisque"):
        load_judge("brisk")
