"""Judges in ONNX files, on tiny models made on the spot whose answers are known."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from judge_audit.core.errors import InputError, UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges import load_judge
from judge_audit.judges.calling.score_calls import rows_of, runtime_id
from judge_audit.judges.protocol import Stimulus

PLAIN = {"resize": "none", "scale": 1}
SQUASH = {"resize": "squash", "size": 8, "scale": 1}


def picture(*colour, height=6, width=9):
    return np.broadcast_to(np.array(colour, np.uint8), (height, width, 3)).copy()


def noise(seed, height=20, width=30):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def save(path, nodes, outputs, *, shape=("n", 3, "h", "w"), kind=TensorProto.FLOAT, weights=(), extra=()):
    inputs = [helper.make_tensor_value_info("pixels", kind, shape), *extra]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in outputs.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, given, list(weights))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def mean_model(path, *, batch="n", side=None, width=3):
    """Its embedding is the mean of each channel."""
    node = helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0)
    save(path, [node], {"means": [batch, width]}, shape=(batch, 3, side or "h", side or "w"))


def crowd_model(path):
    """Its embedding leans on whatever else is in the batch."""
    nodes = [
        helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0),
        helper.make_node("ReduceMean", ["means"], ["crowd"], axes=[0], keepdims=1),
        helper.make_node("Add", ["means", "crowd"], ["sum"]),
    ]
    save(path, nodes, {"sum": ["n", 3]})


def write(folder, name="card", **fields):
    path = folder / f"{name}.yaml"
    card = {"kind": "onnx", "name": "tiny", "model": "tiny.onnx", "preprocessing": PLAIN, **fields}
    path.write_text(json.dumps(card), encoding="utf-8")  # JSON is YAML
    return path


def linear(folder, weight, bias=(0.0,), *, normalise=True):
    np.savez(folder / "head.npz", weight=np.array(weight, np.float32), bias=np.array(bias, np.float32))
    return {"kind": "linear", "weights": "head.npz", "normalise": normalise}


def text(folder, rows, prompts, **fields):
    np.save(folder / "texts.npy", np.array(rows, np.float32))
    (folder / "texts.json").write_text(json.dumps(prompts), encoding="utf-8")
    return {"kind": "text", "embeddings": "texts.npy", "prompts": "texts.json", **fields}


def faults_of(path):
    with pytest.raises(InputError) as caught:
        load_judge(path)
    return {fault.column: fault.message for fault in caught.value.faults}


def test_a_model_without_a_head_gives_its_outputs_as_dimensions(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    judge = load_judge(write(tmp_path, dimensions=["red", "green", "blue"]))
    (reply,) = judge.score([Stimulus(picture(10, 20, 200), "")])
    assert reply.scores == {"red": 10, "green": 20, "blue": 200}


def test_several_outputs_follow_one_another_as_dimensions(tmp_path):
    nodes = [
        helper.make_node("ReduceMean", ["pixels"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("ReduceMax", ["pixels"], ["most"], axes=[1, 2, 3], keepdims=0),
    ]
    save(tmp_path / "tiny.onnx", nodes, {"mean": ["n"], "most": ["n"]})
    path = write(tmp_path, output=["most", "mean"], dimensions=["brightest", "overall"])
    (reply,) = load_judge(path).score([Stimulus(picture(10, 20, 60), "")])
    assert reply.scores == {"brightest": 60, "overall": 30}


@pytest.mark.parametrize("normalise", [True, False])
def test_a_linear_head_is_the_dot_product_by_hand(tmp_path, normalise):
    mean_model(tmp_path / "tiny.onnx")
    head = linear(tmp_path, [[1, 2, 3]], [0.5], normalise=normalise)
    (reply,) = load_judge(write(tmp_path, head=head)).score([Stimulus(picture(20, 30, 60), "")])
    # |(20, 30, 60)| = 70 and (1, 2, 3)·(20, 30, 60) = 260.
    assert reply.scores["overall"] == pytest.approx(260 / 70 + 0.5 if normalise else 260.5, rel=1e-12)


def test_a_linear_head_of_two_rows_gives_two_dimensions(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    head = linear(tmp_path, [[1, 0, 0], [0, 0, 2]], [0, 1], normalise=False)
    judge = load_judge(write(tmp_path, head=head, dimensions=["overall", "blue"]))
    assert judge.score([Stimulus(picture(20, 30, 60), "")])[0].scores == {"overall": 20, "blue": 121}


def test_a_text_head_is_the_cosine_by_hand(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    head = text(tmp_path, [[3, 4, 0], [0, 0, 9]], ["sky", "sea"], template="a photo of a {}", logit_scale=100)
    judge = load_judge(write(tmp_path, head=head))
    shown = picture(20, 30, 60)
    prompts = ["sky", "a photo of a sky", "  a  photo of a\nsky ", "sea"]
    found = [reply.scores["overall"] for reply in judge.score([Stimulus(shown, entry) for entry in prompts])]
    cosines = [100 * (3 * 20 + 4 * 30) / (5 * 70)] * 3 + [100 * 60 / 70]
    assert found == pytest.approx(cosines, rel=1e-7)
    assert judge.card.needs_prompt


def test_a_prompt_without_a_stored_text_is_refused_with_the_reason_and_the_others_are_scored(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    judge = load_judge(write(tmp_path, head=text(tmp_path, [[1, 0, 0]], ["sky"])))
    first, second, third = judge.score(
        [Stimulus(picture(9, 9, 9), prompt) for prompt in ("Sky over Rome", "sky", "")]
    )
    assert (first.state, second.state, third.state) == (State.REFUSED, State.OK, State.REFUSED)
    assert "“Sky over Rome”" in first.raw
    assert first.scores == {}


def test_a_black_picture_has_no_direction_and_no_score(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    judge = load_judge(write(tmp_path, head=linear(tmp_path, [[1, 1, 1]])))
    (reply,) = judge.score([Stimulus(picture(0, 0, 0), "")])
    call, scores = rows_of(judge.card, {"probe_id": "p", "repeat": 0}, reply)
    assert (call["state"], scores[0]["state"], scores[0]["value"]) == ("ok", "unparsable", None)


def test_our_part_adds_no_dependence_on_the_batch(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    weight = np.random.default_rng(1).normal(size=(1, 3))
    judge = load_judge(write(tmp_path, head=linear(tmp_path, weight), preprocessing=SQUASH, batch_size=4))
    stimuli = [Stimulus(noise(seed, 20 + seed, 30), "") for seed in range(11)]
    together = judge.score(stimuli)
    alone = [judge.score([stimulus])[0] for stimulus in stimuli]
    assert together == alone
    assert judge.score(stimuli[::-1]) == together[::-1]


def test_a_model_that_leans_on_its_batch_is_not_hidden(tmp_path):
    crowd_model(tmp_path / "tiny.onnx")
    judge = load_judge(write(tmp_path, head=linear(tmp_path, [[1, 0, 0]], normalise=False)))
    dark, light = Stimulus(picture(10, 0, 0), ""), Stimulus(picture(90, 0, 0), "")
    assert judge.score([dark])[0].scores["overall"] == 20
    assert judge.score([dark, light])[0].scores["overall"] == 60


@pytest.mark.parametrize("batch", [1, 4])
def test_a_model_of_a_fixed_batch_is_asked_as_it_wants(tmp_path, batch):
    mean_model(tmp_path / "tiny.onnx", batch=batch)
    judge = load_judge(write(tmp_path, head=linear(tmp_path, [[1, 0, 0]], normalise=False)))
    replies = judge.score([Stimulus(picture(value, 0, 0), "") for value in range(1, 7)])
    assert [reply.scores["overall"] for reply in replies] == [1, 2, 3, 4, 5, 6]


def test_pictures_of_different_sizes_keep_their_order(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    judge = load_judge(write(tmp_path, head=linear(tmp_path, [[1, 0, 0]], normalise=False)))
    shown = [picture(value, 0, 0, height=4 + value % 2) for value in range(7)]
    replies = judge.score([Stimulus(entry, "") for entry in shown])
    assert [reply.scores["overall"] for reply in replies] == list(range(7))


def test_a_picture_too_small_for_the_crop_fails_alone(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    crop = {"resize": "none", "crop": "centre", "crop_size": 8}
    judge = load_judge(write(tmp_path, preprocessing=crop, head=linear(tmp_path, [[1, 0, 0]])))
    small, large = judge.score([Stimulus(noise(1, 6, 40), ""), Stimulus(noise(2, 9, 40), "")])
    assert (small.state, large.state) == (State.FAILED, State.OK)
    assert "6 × 40" in small.raw


def test_weights_outside_the_model_are_read_where_the_card_says_and_enter_the_identity(tmp_path):
    def save_external(value):
        weight = numpy_helper.from_array(np.full((3, 2000), value, np.float32), "w")
        nodes = [
            helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0),
            helper.make_node("MatMul", ["means", "w"], ["long"]),
            helper.make_node("ReduceMean", ["long"], ["score"], axes=[1], keepdims=0),
        ]
        save(tmp_path / "whole.onnx", nodes, {"score": ["n"]}, weights=[weight])
        (tmp_path / "tiny.data").unlink(missing_ok=True)
        onnx.save(
            onnx.load(tmp_path / "whole.onnx"),
            tmp_path / "tiny.onnx",
            save_as_external_data=True,
            location="tiny.data",
            size_threshold=10,
        )
        return load_judge(write(tmp_path, external=["tiny.data"]))

    first, second = save_external(1.0), save_external(2.0)
    scores = [judge.score([Stimulus(picture(1, 2, 4), "")])[0].scores["overall"] for judge in (first, second)]
    assert scores == [7, 14]
    assert first.card.weights == second.card.weights
    assert first.card.judge_id != second.card.judge_id


def test_weights_outside_the_model_that_no_card_names_are_never_picked_up(tmp_path, monkeypatch):
    weight = numpy_helper.from_array(np.ones((3, 2000), np.float32), "w")
    nodes = [
        helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0),
        helper.make_node("MatMul", ["means", "w"], ["long"]),
    ]
    save(tmp_path / "whole.onnx", nodes, {"long": ["n", 2000]}, weights=[weight])
    onnx.save(
        onnx.load(tmp_path / "whole.onnx"),
        tmp_path / "tiny.onnx",
        save_as_external_data=True,
        location="tiny.data",
        size_threshold=10,
    )
    monkeypatch.chdir(tmp_path)
    assert "external:" in faults_of(write(tmp_path))["model"]


def test_the_judge_id_is_made_of_contents_and_not_of_places_or_labels(tmp_path):
    ids = []
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        mean_model(folder / "tiny.onnx")
        path = write(folder, name=folder.name, head=linear(folder, [[1, 2, 3]]), description=folder.name)
        ids.append(load_judge(path).card.judge_id)
    (folder / "elsewhere").mkdir()
    (folder / "tiny.onnx").rename(folder / "elsewhere" / "model.onnx")
    moved = write(folder, model="elsewhere/model.onnx", head=linear(folder, [[1, 2, 3]]), threads=1)
    spelt = write(folder, "spelt", model=str(folder / "elsewhere" / "model.onnx"), output="means")
    card = json.loads(spelt.read_text()) | {"head": {**linear(folder, [[1, 2, 3]]), "weights": "head.npz"}}
    card["preprocessing"] = {**PLAIN, "dtype": "float32", "layout": "NCHW", "backend": "pillow"}
    spelt.write_text(json.dumps(card), encoding="utf-8")
    ids += [load_judge(moved).card.judge_id, load_judge(spelt).card.judge_id]
    assert len(set(ids)) == 1
    assert str(tmp_path) not in load_judge(moved).card.as_json()


def test_whatever_changes_the_scores_changes_the_judge_id(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    head = text(tmp_path, [[1, 0, 0]], ["sky"])

    def judge_id(**fields):
        return load_judge(write(tmp_path, **{"head": head, **fields})).card.judge_id

    found = [
        judge_id(),
        judge_id(head={**head, "logit_scale": 2}),
        judge_id(head={**head, "template": "a photo of {}"}),
        judge_id(preprocessing={**PLAIN, "std": [1, 1, 2]}),
        judge_id(preprocessing=SQUASH),
        judge_id(preprocessing={**SQUASH, "interpolation": "lanczos"}),
        judge_id(head=linear(tmp_path, [[1, 0, 0]])),
        judge_id(head=linear(tmp_path, [[1, 0, 0]], normalise=False)),
        judge_id(head=linear(tmp_path, [[1, 0, 1]])),
        judge_id(head=text(tmp_path, [[1, 1, 0]], ["sky"])),
        judge_id(head=text(tmp_path, [[1, 0, 0]], ["sea"])),
    ]
    mean_model(tmp_path / "tiny.onnx", batch=1)
    found.append(judge_id())
    assert len(set(found)) == len(found)


def test_threads_and_versions_are_the_runtime_and_not_the_judge(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    head = linear(tmp_path, [[1, 2, 3]])
    one, two = (load_judge(write(tmp_path, head=head, threads=count)).card for count in (1, 2))
    assert one.judge_id == two.judge_id
    assert "onnxruntime" in one.runtime
    assert runtime_id(one) != runtime_id(two)
    assert runtime_id(replace(one, runtime="")) != runtime_id(one)


def test_a_declared_digest_holds_the_model_to_it(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    head = linear(tmp_path, [[1, 2, 3]])
    digest = load_judge(write(tmp_path, head=head)).card.weights
    assert load_judge(write(tmp_path, head=head, weights=digest)).card.pinned
    assert digest in faults_of(write(tmp_path, head=head, weights="sha256:0"))["weights"]


def test_every_missing_file_and_unfit_field_is_told_at_once(tmp_path):
    head = {"kind": "text", "embeddings": "no.npy", "prompts": "no.json"}
    wrong = {"resize": "short_side", "size": [8, 8], "pad_value": [0, 0, 0], "crop_size": 3}
    path = write(
        tmp_path,
        model="no.onnx",
        head=head,
        preprocessing=wrong,
        providers=["CUDAExecutionProvider"],
        target="a:b",
    )
    found = faults_of(path)
    assert set(found) == {
        "model",
        "head.embeddings",
        "head.prompts",
        "preprocessing.size",
        "preprocessing.pad_value",
        "preprocessing.crop_size",
        "providers",
        "target",
    }
    assert "CPUExecutionProvider" in found["providers"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"preprocessing": {"resize": "squash", "sise": 8}}, ["preprocessing", "sise"]),
        ({"preprocessing": {"resize": "squeeze", "size": 8}}, ["preprocessing.resize", "short_side"]),
        ({"preprocessing": {"resize": "squash", "size": 10**9}}, ["preprocessing.size", "size: 224"]),
        ({"preprocessing": {**PLAIN, "scale": "1/0"}}, ["preprocessing.scale", "1/255"]),
        ({"preprocessing": {**PLAIN, "std": [1, 0, 1]}}, ["preprocessing.std"]),
        ({"preprocessing": {**PLAIN, "mean": [10**400, 0, 1]}}, ["not a number"]),
        ({"head": {"kind": "linear", "weights": "head.npz"}}, ["head", "normalise"]),
        ({"head": {"kind": "linear", "weights": "h.npz", "normalise": True, "prompts": "x"}}, ["prompts"]),
        ({"head": {"kind": "text", "embeddings": "a", "prompts": "b", "template": "{0.x}"}}, ["template"]),
        ({"head": {"kind": "quadratic"}}, ["head.kind", "linear"]),
        ({"threads": 0, "providers": []}, ["threads", "providers"]),
        ({"modle": "x"}, ["modle"]),
    ],
)
def test_a_wrong_field_is_named_before_any_file_is_read(tmp_path, fields, words):
    with pytest.raises(InputError) as caught:
        load_judge(write(tmp_path, **fields))
    assert all(word in str(caught.value) for word in ["card.yaml", *words])


def test_a_card_that_repeats_itself_without_end_is_refused(tmp_path):
    lines = ["a: &a0 [1, 1]"] + [f"b{row}: &a{row + 1} [*a{row}, *a{row}]" for row in range(40)]
    path = tmp_path / "card.yaml"
    path.write_text("kind: onnx\nname: x\n" + "\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="alias"):
        load_judge(path)


def test_a_path_out_of_the_cards_folder_is_refused_unless_absolute(tmp_path):
    folder = tmp_path / "cards"
    folder.mkdir()
    mean_model(tmp_path / "tiny.onnx")
    head = linear(folder, [[1, 2, 3]])
    assert "absolute" in faults_of(write(folder, model="../tiny.onnx", head=head))["model"]
    (folder / "link.onnx").symlink_to(tmp_path / "tiny.onnx")
    assert "absolute" in faults_of(write(folder, model="link.onnx", head=head))["model"]
    assert load_judge(write(folder, model=str(tmp_path / "tiny.onnx"), head=head)).card.pinned


@pytest.mark.parametrize("name", ["/dev/zero", ".", "a\0b", "x" * 5000])
def test_what_is_no_file_is_refused_and_not_read(tmp_path, name):
    assert "model" in faults_of(write(tmp_path, model=name))


def test_a_model_that_is_none_is_refused(tmp_path):
    (tmp_path / "tiny.onnx").write_bytes(b"\x00garbage" * 9)
    assert "cannot load" in faults_of(write(tmp_path))["model"]


def test_shapes_that_do_not_fit_are_told_together(tmp_path):
    mean_model(tmp_path / "tiny.onnx", side=16)
    found = faults_of(write(tmp_path, head=linear(tmp_path, [[1, 2, 3, 4]]), preprocessing=SQUASH, input="x"))
    assert set(found) == {"preprocessing", "head", "input"}
    assert "n × 3 × 16 × 16" in found["preprocessing"]
    assert "3 numbers" in found["head"]
    assert "4" in found["head"]
    assert "pixels" in found["input"]


def test_pictures_of_any_size_do_not_fit_a_model_of_one_size(tmp_path):
    mean_model(tmp_path / "tiny.onnx", side=16)
    head = linear(tmp_path, [[1, 2, 3]])
    assert "different sizes" in faults_of(write(tmp_path, head=head))["preprocessing"]


def test_layout_and_type_must_be_the_models(tmp_path):
    mean_model(tmp_path / "tiny.onnx", side=8)
    wrong = {**SQUASH, "layout": "NHWC", "dtype": "float16"}
    found = faults_of(write(tmp_path, head=linear(tmp_path, [[1, 2, 3]]), preprocessing=wrong))
    assert set(found) == {"preprocessing", "preprocessing.dtype"}


def test_outputs_must_be_named_where_there_are_several_and_be_there(tmp_path):
    nodes = [
        helper.make_node("ReduceMean", ["pixels"], [name], axes=[1, 2, 3], keepdims=0) for name in ("a", "b")
    ]
    save(tmp_path / "tiny.onnx", nodes, {"a": ["n"], "b": ["n"]})
    assert "a, b" in faults_of(write(tmp_path))["output"]
    assert "a, b" in faults_of(write(tmp_path, output="c"))["output"]
    assert "2 scores" in faults_of(write(tmp_path, output=["a", "b"]))["dimensions"]


def test_a_model_that_wants_more_than_a_picture_is_refused(tmp_path):
    other = helper.make_tensor_value_info("ids", TensorProto.FLOAT, ["n", 3])
    nodes = [
        helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0),
        helper.make_node("Add", ["means", "ids"], ["sum"]),
    ]
    save(tmp_path / "tiny.onnx", nodes, {"sum": ["n", 3]}, extra=[other])
    assert "ids" in faults_of(write(tmp_path, dimensions=["a", "b", "c"]))["model"]


def test_an_output_of_a_width_no_model_foretold_is_refused_when_it_comes(tmp_path):
    node = helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0)
    save(tmp_path / "tiny.onnx", [node], {"means": ["n", "d"]}, shape=("n", "c", "h", "w"))
    judge = load_judge(write(tmp_path, head=linear(tmp_path, [[1, 2]])))
    with pytest.raises(UsageError, match="3 numbers"):
        judge.score([Stimulus(picture(1, 2, 3), "")])


def test_a_model_of_plain_bgr_pixels_in_rows_is_fed(tmp_path):
    nodes = [
        helper.make_node("Cast", ["pixels"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["real"], ["means"], axes=[1, 2], keepdims=0),
    ]
    save(tmp_path / "tiny.onnx", nodes, {"means": ["n", 3]}, shape=("n", "h", "w", 3), kind=TensorProto.UINT8)
    plain = {"resize": "none", "dtype": "uint8", "layout": "NHWC", "channels": "BGR"}
    judge = load_judge(write(tmp_path, preprocessing=plain, dimensions=["b", "g", "r"]))
    assert judge.score([Stimulus(picture(1, 2, 3), "")])[0].scores == {"b": 3, "g": 2, "r": 1}


def test_the_extra_that_is_missing_is_named(tmp_path):
    mean_model(tmp_path / "tiny.onnx")
    path = write(tmp_path, head=linear(tmp_path, [[1, 2, 3]]))
    program = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from judge_audit.core.errors import UsageError\n"
        "from judge_audit.judges import builtin_kinds, load_judge\n"
        "assert 'onnx' in builtin_kinds()\n"
        f"try: load_judge({str(path)!r})\n"
        "except UsageError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'image-judge-audit[onnx]'" in done.stdout


def test_the_runtime_is_imported_only_when_such_a_judge_is_used():
    program = (
        "import sys, judge_audit.judges as judges; judges.load_judge('brisque'); judges.builtin_cards()\n"
        "print(sorted({'onnxruntime', 'onnx', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
