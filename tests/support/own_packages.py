"""Packages with the public face of image-reward and hpsv3, written on the spot: a few numbers wide.

The real ones want versions of transformers before 5, so they cannot be installed beside the other tests'.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IMAGE_REWARD = '''
import json
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

print("loaded aloud")


def words(named):
    held = Tokenizer(models.WordLevel({word: at for at, word in enumerate(named)}, unk_token="<unk>"))
    held.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    held.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=held, bos_token="<s>", unk_token="<unk>", pad_token="<pad>")


class Crop:
    """Short side to 8 pixels, the middle of it, and -1 to 1."""

    def __repr__(self):
        return f"Crop(size=8) <function at {hex(id(self))}>"

    def __call__(self, picture):
        width, height = picture.size
        short = min(width, height)
        size = (round(8 * width / short), round(8 * height / short))
        left, top = (size[0] - 8) // 2, (size[1] - 8) // 2
        cut = picture.convert("RGB").resize(size, 3).crop((left, top, left + 8, top + 8))
        flat = torch.frombuffer(bytearray(cut.tobytes()), dtype=torch.uint8)
        return flat.reshape(8, 8, 3).permute(2, 0, 1).float() / 127.5 - 1


class Steps:
    def __init__(self):
        self.transforms = [Crop()]

    def __call__(self, picture):
        for step in self.transforms:
            picture = step(picture)
        return picture


class Blip(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["hidden_size"]
        self.visual_encoder = torch.nn.Conv2d(3, width, 4, stride=4)
        self.text_encoder = torch.nn.Embedding(len(config["words"]), width)
        self.vision_proj = torch.nn.Linear(width, 2)
        self.tokenizer = words(config["words"])


class ImageReward(torch.nn.Module):
    def __init__(self, med_config, device="cpu"):
        super().__init__()
        with open(med_config) as held:
            config = json.load(held)
        self.device = device
        self.blip = Blip(config)
        self.preprocess = Steps()
        self.mlp = torch.nn.Sequential(torch.nn.Linear(config["hidden_size"], 4), torch.nn.Linear(4, 1))
        self.mean, self.std = 0.16717362830052426, 1.0333394966054072

    def score(self, prompt, image):
        told = self.blip.tokenizer(
            prompt, padding="max_length", truncation=True, max_length=35, return_tensors="pt"
        )
        picture = self.preprocess(image).unsqueeze(0).to(self.device)
        seen = self.blip.visual_encoder(picture).flatten(2).transpose(1, 2)
        read = self.blip.text_encoder(told.input_ids) * told.attention_mask[..., None]
        looked = torch.softmax(read @ seen.transpose(1, 2), -1) @ seen
        reward = (self.mlp((read + looked).mean(1)) - self.mean) / self.std
        return reward.detach().cpu().numpy().item()
'''

HPS = """
import json
import torch
from safetensors.torch import load_file
from ImageReward.ImageReward import Crop, words

print("Flash Attention is not installed.")
PATTERN = "Rate how well this shows: "


class Settings:
    def __init__(self, **held):
        self.held = held

    def to_dict(self):
        return dict(self.held)


class Processor:
    def __init__(self, named):
        self.tokenizer = words(named)
        self.image_processor = Settings(min_pixels=64, max_pixels=64, resample=3)
        self.chat_template = "{{ messages }}"


class Model(torch.nn.Module):
    def __init__(self, count):
        super().__init__()
        self.config = Settings(hidden_size=6, _name_or_path="somewhere")
        self.words = torch.nn.Embedding(count, 6)
        self.seeing = torch.nn.Conv2d(3, 6, 4, stride=4)
        self.rm_head = torch.nn.Linear(6, 2, bias=False)


class HPSv3RewardInferencer:
    def __init__(self, config_path=None, checkpoint_path=None, device="cuda", differentiable=False):
        named = ["<s>", "<unk>", "<pad>", "a", "red", "cat", "dog"]
        if config_path:
            with open(config_path) as held:
                named = json.load(held)["words"]
        self.processor, self.model = Processor(named), Model(len(named))
        if checkpoint_path.endswith(".safetensors"):
            state = load_file(checkpoint_path)
        else:
            state = torch.load(checkpoint_path, weights_only=False)
        self.model.load_state_dict(state, strict=True)
        self.model.eval().to(device)

    def reward(self, image_paths, prompts):
        told = self.processor.tokenizer([PATTERN + text for text in prompts], padding=True, return_tensors="pt")
        read = (self.model.words(told.input_ids) * told.attention_mask[..., None]).sum(1)
        seen = torch.stack([Crop()(picture) for picture in image_paths])
        return self.model.rm_head(read * self.model.seeing(seen).mean((2, 3)))
"""

WORDS = ["<s>", "<unk>", "<pad>", "a", "red", "cat", "dog", "on", "the", "roof"]


class OwnPackages(NamedTuple):
    """Where they lie, the words they know, and how they are imported anew."""

    folder: Path
    words: list[str]
    forget: Callable[[], None]


@pytest.fixture
def own_packages(torch, transformers, tmp_path_factory, monkeypatch):
    """Both packages, importable for one test, in a folder that may be written to."""
    folder = tmp_path_factory.mktemp("packages")
    for name, files in {
        "ImageReward": {"__init__": "from .ImageReward import ImageReward\n", "ImageReward": IMAGE_REWARD},
        "hpsv3": {"__init__": "", "inference": HPS},
    }.items():
        (folder / name).mkdir()
        for module, text in files.items():
            (folder / name / f"{module}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    forget()
    yield OwnPackages(folder, WORDS, forget)
    forget()


def forget():
    """Have them imported anew."""
    for name in [name for name in sys.modules if name.partition(".")[0] in {"ImageReward", "hpsv3"}]:
        del sys.modules[name]
