"""Heads read from files nobody vouches for."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from judge_audit.core.errors import InputError
from judge_audit.judges.cards.card import Card
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.runtimes.heads import head_of

LINEAR = {"kind": "linear", "weights": "head.npz", "normalise": True}
TEXT = {"kind": "text", "embeddings": "texts.npy", "prompts": "texts.json"}


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('a pickle was run')",)


def npy(array, **header):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    content = stream.getvalue()
    for old, new in header.items():
        content = content.replace(old.encode(), new.encode())
    return content


def claims(shape):
    """An .npy whose header says more than it holds."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(8)


def npz(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as held:
        for name, content in members.items():
            held.writestr(f"{name}.npy", content)
    return stream.getvalue()


def read(folder, content):
    """Give the head, or the faults by field."""
    files = CardFiles(Card(kind="onnx", name="x", origin=folder / "card.yaml"))
    head = head_of(content, files)
    if head is None:
        with pytest.raises(InputError, match=r"card\.yaml"):
            files.raise_faults()
        return {fault.column: fault.message for fault in files.faults}
    assert not files.faults
    return head


GOOD = npy(np.ones((1, 3), np.float32))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a readable .npz"),
        (b"PK\x03\x04" + bytes(90), "not a readable .npz"),
        (npz(weight=GOOD)[:-30], "not a readable .npz"),
        (npz(bias=GOOD), "must hold `weight`"),
        (npz(weight=b"not an array"), "weight is not a readable .npy"),
        (npz(weight=npy(np.array([Bomb()], object))), "not numbers"),
        (npz(weight=pickle.dumps(Bomb())), "not a readable .npy"),
        (npz(weight=npy(np.array(["a"]))), "not numbers"),
        (npz(weight=claims((10**9, 10**9))), "cut short"),
        (npz(weight=claims((-1, -2))), "cut short"),
        (npz(weight=GOOD[:-1]), "cut short"),
        (npz(weight=npy(np.ones((1, 2, 3)))), "scores × embedding"),
        (npz(weight=npy(np.empty((0, 3)))), "scores × embedding"),
        (npz(weight=npy(np.array([[1.0, np.nan]]))), "not finite"),
        (npz(weight=GOOD, bias=npy(np.ones(2))), "go together"),
    ],
)
def test_a_linear_head_that_cannot_be_trusted_is_refused_and_never_run(tmp_path, content, words):
    (tmp_path / "head.npz").write_bytes(content)
    assert words in read(tmp_path, LINEAR)["head.weights"]


def test_what_unpacks_beyond_all_bounds_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("judge_audit.judges.cards.card_files.MOST_ARRAY_BYTES", 10_000)
    (tmp_path / "head.npz").write_bytes(npz(weight=npy(np.zeros((1, 100_000)))))
    assert "would unpack to 800,128 bytes" in read(tmp_path, LINEAR)["head.weights"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.dtype(">f4"), np.int8])
def test_weights_are_read_as_numpy_reads_them(tmp_path, dtype, order):
    weight = np.asarray(np.arange(6).reshape(2, 3), dtype, order=order)
    np.savez(tmp_path / "head.npz", weight=weight)
    head = read(tmp_path, LINEAR)
    np.testing.assert_array_equal(head.weight, weight)
    assert (head.width, head.scores, head.bias.tolist()) == (3, 2, [0, 0])


def test_one_row_of_weights_may_be_flat_and_the_bias_a_number(tmp_path):
    np.savez(tmp_path / "head.npz", weight=np.array([3.0, 4.0]), bias=np.float32(0.5))
    assert read(tmp_path, LINEAR).score(np.array([3.0, 4.0]), "").tolist() == [5.5]


@pytest.mark.parametrize(
    ("rows", "prompts", "field", "words"),
    [
        (np.ones((2, 3)), ["a"], "head.prompts", "1 texts for 2"),
        (np.ones((2, 3)), ["a", " a "], "head.prompts", "stands twice"),
        (np.ones((1, 3)), {"a": 1}, "head.prompts", "list of texts"),
        (np.ones((1, 3)), [1], "head.prompts", "list of texts"),
        (np.ones((1, 3)), [], "head.prompts", "list of texts"),
        (np.ones(3), ["a"], "head.embeddings", "texts × embedding"),
        (np.array([[0.0, 0.0], [1, 1]]), ["a", "b"], "head.embeddings", "all zero"),
    ],
)
def test_stored_texts_that_do_not_fit_are_refused(tmp_path, rows, prompts, field, words):
    np.save(tmp_path / "texts.npy", rows)
    (tmp_path / "texts.json").write_text(json.dumps(prompts), encoding="utf-8")
    assert words in read(tmp_path, TEXT)[field]


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 200_000])
def test_stored_texts_that_are_no_json_are_refused(tmp_path, content):
    np.save(tmp_path / "texts.npy", np.ones((1, 3)))
    (tmp_path / "texts.json").write_bytes(content)
    assert "not valid JSON" in read(tmp_path, TEXT)["head.prompts"]


def test_a_text_that_another_makes_within_the_template_is_told(tmp_path):
    np.save(tmp_path / "texts.npy", np.ones((2, 3)))
    (tmp_path / "texts.json").write_text('["cat", "a cat"]', encoding="utf-8")
    assert "“a cat” stands twice" in read(tmp_path, {**TEXT, "template": "a {}"})["head.prompts"]
