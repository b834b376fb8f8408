"""Judges of kind open_clip beside open_clip's own reference code."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.errors import InputError
from judge_audit.judges import load_judge
from judge_audit.judges.protocol import Stimulus

pytest_plugins = ["tiny_models"]

ARCHITECTURE = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}


@pytest.fixture(scope="module")
def checkpoint(torch, open_clip, tmp_path_factory):
    """An architecture of our own, known to open_clip, and its weights as HPSv2's package saves them."""
    folder = tmp_path_factory.mktemp("architecture")
    (folder / "tiny-audit.json").write_text(json.dumps(ARCHITECTURE), encoding="utf-8")
    open_clip.add_model_config(folder / "tiny-audit.json")
    torch.manual_seed(4)
    model = open_clip.create_model("tiny-audit")
    torch.save({"state_dict": model.state_dict(), "epoch": 3}, folder / "tiny.pt")
    return folder / "tiny.pt"


@pytest.fixture(scope="module")
def folder(open_clip, checkpoint, tmp_path_factory):
    """The same model as the hub keeps it, with a transform of its own."""
    from safetensors.torch import save_file

    made = tmp_path_factory.mktemp("folder")
    shown = {
        "mean": [0.5, 0.5, 0.5],
        "std": [0.5, 0.5, 0.5],
        "interpolation": "bicubic",
        "resize_mode": "squash",
    }
    content = {"model_cfg": ARCHITECTURE, "preprocess_cfg": shown}
    (made / "open_clip_config.json").write_text(json.dumps(content), encoding="utf-8")
    model = open_clip.create_model("tiny-audit", pretrained=str(checkpoint))
    save_file(model.state_dict(), made / "open_clip_model.safetensors")
    return made


def reference(torch, open_clip, name, shown, **fields):
    """HPSv2's way: the bare cosine of each picture to its own prompt."""
    model, _, transform = open_clip.create_model_and_transforms(name, **fields)
    tokenizer = open_clip.get_tokenizer(name)
    model.eval()
    with torch.no_grad():
        pictures = model.encode_image(
            torch.stack([transform(Image.fromarray(entry.image)) for entry in shown]), normalize=True
        )
        texts = model.encode_text(tokenizer([entry.prompt for entry in shown]), normalize=True)
    return (pictures @ texts.T).diagonal().tolist(), model.logit_scale.exp().item()


def test_a_checkpoint_scores_as_open_clip_does(torch, open_clip, checkpoint, tmp_path, make):
    shown = make.stimuli()
    path = make.card(tmp_path, kind="open_clip", model="tiny-audit", checkpoint=str(checkpoint), scaled=False)
    wanted, factor = reference(torch, open_clip, "tiny-audit", shown, pretrained=str(checkpoint))
    judge = load_judge(path)
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert judge.encoder.factor == pytest.approx(factor, rel=1e-6)
    assert judge.card.preprocessing["mean"] == (0.48145466, 0.4578275, 0.40821073)


def test_a_folder_brings_its_own_transform(torch, open_clip, folder, tmp_path, make):
    shown = make.stimuli()
    judge = load_judge(make.card(tmp_path, kind="open_clip", model=str(folder)))
    wanted, factor = reference(torch, open_clip, f"local-dir:{folder}", shown)
    assert make.overall(judge.score(shown)) == pytest.approx([factor * value for value in wanted], abs=1e-5)
    assert judge.card.preprocessing["resize_mode"] == "squash"


def test_a_head_reads_the_picture_alone(torch, open_clip, checkpoint, tmp_path, make):
    head = torch.nn.Linear(24, 1)
    torch.save(head.state_dict(), tmp_path / "head.pth")
    told = {"kind": "linear", "weights": "head.pth", "normalise": True}
    fields = {"kind": "open_clip", "model": "tiny-audit", "checkpoint": str(checkpoint), "head": told}
    judge = load_judge(make.card(tmp_path, **fields))
    shown = make.stimuli()
    model, _, transform = open_clip.create_model_and_transforms("tiny-audit", pretrained=str(checkpoint))
    model.eval()
    with torch.no_grad():
        pictures = torch.stack([transform(Image.fromarray(entry.image)) for entry in shown])
        wanted = head(model.encode_image(pictures, normalize=True))[:, 0].tolist()
    assert make.overall(judge.score(shown)) == pytest.approx(wanted, abs=1e-5)
    assert not judge.card.needs_prompt


def test_a_changed_transform_or_dtype_is_another_judge(folder, checkpoint, tmp_path, make):
    def judge_id(**fields):
        told = {"model": "tiny-audit", "checkpoint": str(checkpoint), **fields}
        return load_judge(make.card(tmp_path, kind="open_clip", **told)).card.judge_id

    found = [
        judge_id(),
        judge_id(dtype="bfloat16"),
        judge_id(scaled=False),
        judge_id(preprocessing={"std": [0.5, 0.5, 0.5]}),
        judge_id(preprocessing={"resize_mode": "squash"}),
        judge_id(preprocessing={"interpolation": "bilinear"}),
    ]
    assert len(set(found)) == len(found)
    moved = tmp_path / "moved.pt"
    moved.write_bytes(checkpoint.read_bytes())
    assert judge_id(checkpoint="moved.pt", batch_size=3) == found[0]


def test_a_prompt_longer_than_the_model_reads_is_cut_and_said(checkpoint, tmp_path, make):
    judge = load_judge(make.card(tmp_path, kind="open_clip", model="tiny-audit", checkpoint=str(checkpoint)))
    image = make.stimuli()[0].image
    first, second = judge.score([Stimulus(image, "cat " * 14), Stimulus(image, "cat " * 40)])
    assert first.scores["overall"] == pytest.approx(second.scores["overall"], abs=1e-5)
    assert (first.raw, second.raw) == ("", "the prompt was cut at 16 of 42 tokens")


class Bomb:
    def __init__(self, place):
        self.place = str(place)

    def __reduce__(self):
        return open, (self.place, "w")


def test_a_pickle_of_anything_but_tensors_is_refused_with_advice(
    torch, open_clip, checkpoint, tmp_path, make
):
    fields = {"kind": "open_clip", "model": "tiny-audit", "checkpoint": "bad.pt"}
    for save in (lambda bomb, path: path.write_bytes(pickle.dumps(bomb)), torch.save):
        save({"state_dict": Bomb(tmp_path / "boom")}, tmp_path / "bad.pt")
        assert "save_file" in make.faults(make.card(tmp_path, **fields))["checkpoint"]
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize(
    ("fields", "column", "words"),
    [
        ({"model": "ViT-H-99"}, "model", "model: ViT-H-14"),
        ({"checkpoint": None}, "checkpoint", "checkpoint: HPS_v2.pt"),
        ({"checkpoint": "no.pt"}, "checkpoint", "No such file"),
        ({"model": "ViT-B-32"}, "model", "cannot load"),
        ({"model": "laion/nothing", "checkpoint": None}, "model", "the hub gave none"),
        ({"preprocessing": {"resize_mode": "crop"}}, "preprocessing.resize_mode", "shortest"),
        ({"weights": "sha256:0"}, "weights", "digest is sha256:"),
    ],
)
def test_every_wrong_field_is_named_with_a_right_value(checkpoint, tmp_path, make, fields, column, words):
    told = {"model": "tiny-audit", "checkpoint": str(checkpoint), **fields}
    path = make.card(
        tmp_path, kind="open_clip", **{key: value for key, value in told.items() if value is not None}
    )
    with pytest.raises(InputError) as caught:
        load_judge(path)
    (said,) = [fault.message for fault in caught.value.faults if fault.column == column]
    assert words in said


def test_half_precision_runs(checkpoint, tmp_path, make):
    shown = make.stimuli()
    fields = {"kind": "open_clip", "model": "tiny-audit", "checkpoint": str(checkpoint), "scaled": False}
    whole, half = (
        make.overall(load_judge(make.card(tmp_path, **fields, dtype=name)).score(shown))
        for name in ("float32", "bfloat16")
    )
    assert half == pytest.approx(whole, abs=0.05)
    assert np.isfinite(half).all()
