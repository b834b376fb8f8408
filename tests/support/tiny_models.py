"""Tiny models, made on the spot: two layers, thirty-two numbers wide, a vocabulary of sixty words.

A plugin of the tests here and no conftest, of which other tests import theirs by that name.
"""

from __future__ import annotations

import json
import os
from importlib.util import find_spec

import numpy as np
import pytest

from judge_audit.core.errors import InputError
from judge_audit.judges import load_judge
from judge_audit.judges.protocol import Stimulus

WORDS = ["<s>", "</s>", "<unk>", "<pad>", "a", "red", "cat", "dog", "on", "the", "roof", "Yes", "No"]
WORDS += [f"w{number}" for number in range(40)]
SIDE, TOKENS = 32, 16
PROMPTS = ["a cat", "red dog on the roof", "w1 " * 30, "", "a cat"]


def wanted(library, reason):
    """Skip what needs a library that is not there, or fail where every part is required."""
    if not find_spec(library):
        (pytest.fail if os.environ.get("JUDGE_AUDIT_PARTS") == "required" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def offline(tmp_path_factory):
    """No test reaches the hub; set before the hub's client is first imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
        yield


@pytest.fixture(scope="session")
def torch(offline):
    """PyTorch, also beside a torchvision whose compiled part was built for another one.

    Only transforms are used of it, and it cannot even be imported unless two of its operators exist.
    """
    wanted("torch", "PyTorch is not installed (extra transformers)")
    import torch

    if not find_spec("torchvision"):
        return torch
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        import sys

        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        held = torch.library.Library("torchvision", "FRAGMENT")
        held.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        held.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        held_open.append(held)
    return torch


@pytest.fixture(scope="session")
def transformers(torch):
    wanted("transformers", "transformers is not installed (extra transformers)")
    import transformers

    return transformers


@pytest.fixture(scope="session")
def tokenizer(transformers):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    held = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="<unk>"))
    held.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    held.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=held,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        model_max_length=TOKENS,
        model_input_names=["input_ids", "attention_mask"],
    )


def sizes(**more):
    return {
        "hidden_size": 32,
        "intermediate_size": 37,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        **more,
    }


@pytest.fixture(scope="session")
def clip_folder(torch, transformers, tokenizer, tmp_path_factory):
    """A CLIP as PickScore is one."""
    folder = tmp_path_factory.mktemp("clip")
    text = sizes(vocab_size=len(WORDS), max_position_embeddings=TOKENS, bos_token_id=0, eos_token_id=1)
    vision = sizes(image_size=SIDE, patch_size=8)
    torch.manual_seed(1)
    config = transformers.CLIPConfig(
        text_config={**text, "pad_token_id": 3}, vision_config=vision, projection_dim=24
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_processor(folder, size={"shortest_edge": SIDE})
    return folder


@pytest.fixture(scope="session")
def siglip_folder(torch, transformers, tokenizer, tmp_path_factory):
    """A SigLIP: both sides to size, an offset, and a text tower that reads the padding."""
    folder = tmp_path_factory.mktemp("siglip")
    text = sizes(vocab_size=len(WORDS), max_position_embeddings=TOKENS, bos_token_id=0, eos_token_id=1)
    torch.manual_seed(2)
    config = transformers.SiglipConfig(
        text_config={**text, "pad_token_id": 3}, vision_config=sizes(image_size=SIDE, patch_size=8)
    )
    model = transformers.SiglipModel(config)
    with torch.no_grad():
        model.logit_bias.fill_(-3.0)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    told = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    told["model_input_names"] = ["input_ids"]
    (folder / "tokenizer_config.json").write_text(json.dumps(told), encoding="utf-8")
    size = {"height": SIDE, "width": SIDE}
    write_processor(folder, kind="SiglipImageProcessor", size=size, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    return folder


def write_processor(folder, *, kind="CLIPImageProcessor", **fields):
    content = {
        "image_processor_type": kind,
        "do_resize": True,
        "resample": 3,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.48145466, 0.4578275, 0.40821073],
        "image_std": [0.26862954, 0.26130258, 0.27577711],
    }
    if kind == "CLIPImageProcessor":
        content |= {"do_center_crop": True, "crop_size": {"height": SIDE, "width": SIDE}}
    (folder / "preprocessor_config.json").write_text(json.dumps({**content, **fields}), encoding="utf-8")


def write_card(folder, name="card", **fields):
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps({"name": "tiny", "device": "cpu", **fields}), encoding="utf-8")  # JSON is YAML
    return path


def stimuli(prompts=PROMPTS):
    draw = np.random.default_rng(7)
    return [
        Stimulus(draw.integers(0, 256, (40 + 7 * at, 61, 3), np.uint8), prompt)
        for at, prompt in enumerate(prompts)
    ]


def overall(replies):
    return [reply.scores["overall"] for reply in replies]


def faults_of(path):
    with pytest.raises(InputError) as caught:
        load_judge(path)
    return {fault.column: fault.message for fault in caught.value.faults}


@pytest.fixture(scope="session")
def make(offline):
    """What the tests write and read cards with."""

    class Made:
        card = staticmethod(write_card)
        processor = staticmethod(write_processor)
        stimuli = staticmethod(stimuli)
        overall = staticmethod(overall)
        faults = staticmethod(faults_of)
        words, side, tokens = WORDS, SIDE, TOKENS

    return Made


@pytest.fixture(scope="session")
def open_clip(torch):
    wanted("open_clip", "open_clip is not installed (extra open-clip)")
    import open_clip

    return open_clip


held_open = []
"""Operators are gone with the library object that defined them."""
