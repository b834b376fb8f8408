"""Two cards side by side: the part that changed is named in plain words, and labels are only labels."""

from __future__ import annotations

import dataclasses
import json

import pytest
from judged_anchors import card

from judge_audit.decisions.judge_change import difference
from judge_audit.judges.cards.card import Card

CHANGES = {
    "weights": {"weights": "sha256:b"},
    "template": {"prompt_template": "Rate {prompt}"},
    "preprocessing": {"preprocessing": {"backend": "cv2", "resize": 224, "dtype": "float16"}},
    "decoding": {"decoding": {"temperature": 0}},
    "parser": {"parser_version": "2"},
    "epoch": {"epoch": 1},
    "kind": {"kind": "onnx"},
    "code": {"target": "m:g"},
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_the_part_that_changed_is_named_and_only_it(name):
    found = difference(card(), card(**CHANGES[name]))
    assert found.names == (name,)
    assert found.another_judge
    assert set(CHANGES) - {name} <= set(found.same)


def test_every_field_of_the_identity_is_compared():
    told = json.loads(Card(kind="k", name="n").as_json())
    for field in dataclasses.fields(Card):
        if field.name == "origin":
            continue
        old = Card(kind="k", name="n")
        value = {bool: not getattr(old, field.name)}.get(type(getattr(old, field.name)), 7)
        value = {"a": 1} if field.name in {"preprocessing", "decoding", "settings"} else value
        value = str(value) if isinstance(getattr(old, field.name), str) else value
        new = dataclasses.replace(old, **{field.name: value})
        found = difference(told, json.loads(new.as_json()))
        assert found.another_judge == (new.judge_id != old.judge_id), field.name


def test_backend_and_dtype_are_told_one_by_one():
    (sentence, unchanged, *_) = difference(card(), card(**CHANGES["preprocessing"])).sentences
    assert (
        sentence
        == 'The preprocessing changed (backend from "pillow" to "cv2"; dtype from "float32" to "float16").'
    )
    assert unchanged.startswith(
        "Unchanged: kind of judge, way of answering, code it is loaded from, weights, prompt template, decoding"
    )


def test_names_and_versions_are_labels_and_claims_make_no_other_judge():
    found = difference(card(), card(name="theirs", version="2", scale_low=0, scale_high=10))
    assert not found.another_judge
    assert found.sentences[0] == "It is the same judge: no part of its identity changed."
    assert found.labels == {"name": ("ours", "theirs"), "version": ("1", "2")}
    assert any("declares another scale" in text and "no other judge" in text for text in found.sentences)
    assert "The name is only a label: “ours” before, “theirs” now." in found.sentences


def test_long_values_are_cut_in_sentences_only():
    found = difference(card(prompt_template="x" * 200), card())
    assert "…" in found.sentences[0]
    assert "to nothing" in found.sentences[0]
    assert found.changed[0].fields[0].old == '"' + "x" * 200 + '"'
