"""ImageReward by its own package, image-reward, which you install: a BLIP that reads the prompt beside the picture.

Its loader is passed by: the checkpoint is read here, tensors and nothing else, and handed to the package's model.
What it gives is (x - 0.16717) / 1.03334 of a head's answer, near N(0, 1) over its authors' pictures, with no bounds.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.vocabulary import State
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.protocol import Judge, Reply, Stimulus
from judge_audit.judges.runtimes.embedding import cut_note, too_long
from judge_audit.judges.runtimes.package_runtime import (
    own_package,
    reason_of,
    unheard,
    versions_of,
    words_digest,
)
from judge_audit.judges.runtimes.pytorch_runtime import (
    OneByOneJudge,
    device_of,
    runtime_of,
    state_of,
    torch_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.runtimes.package_runtime import OwnPackage
    from judge_audit.judges.runtimes.pytorch_runtime import Model

KIND = "imagereward"
PACKAGES = ("torch", "image-reward")
INSTALL = "pip install image-reward openai-clip 'transformers<4.50' 'setuptools<80'"
"""No extra of ours: the package wants versions that other kinds do not (timm 0.6.13, transformers before 5), and clip.

Tried with transformers 4.49.
"""

ADVICE = (
    f"In an environment of its own, beside this one's packages: {INSTALL} (it was made for transformers before 5 and "
    "imports clip)."
)
SIDE = 224
MOST_TOKENS = 35
"""What the package cuts a prompt at (`max_length=35` in its `score`)."""

UNUSED = ("blip.vision_proj.", "blip.text_proj.")
"""Layers of the package's model that take no part in the score."""


def _reply(card: Card, model: Model, stimulus: Stimulus) -> Reply:
    """Ask the package's model for one picture; one that cannot be shown fails alone."""
    from PIL import Image  # noqa: PLC0415 - only when a judge of this kind is used

    if reason := too_long(stimulus, SIDE):
        return Reply(state=State.FAILED, raw=reason)
    value = float(model.score(stimulus.prompt, Image.fromarray(stimulus.image)))
    tokens = len(model.blip.tokenizer(stimulus.prompt)["input_ids"])
    return Reply({card.dimensions[0]: value}, raw=cut_note(tokens, MOST_TOKENS))


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the model that a card describes.

    Raises:
        InputError: With everything that is wrong with card and files.
        UsageError: If PyTorch or the package is not installed; says how to install it.
    """
    torch = torch_of(card, "transformers")
    package = own_package(card, "image-reward", "ImageReward.ImageReward", ADVICE)
    files = CardFiles(card, project)
    none = ("target", "preprocessing", "decoding", "prompt_template")
    files.refuse(card, none, "the package brings its own.")
    if len(card.dimensions) != 1:
        files.fault("dimensions", "ImageReward gives one number; name one dimension.")
    device = device_of(torch, card, files)
    config = files.place("config", card.settings["config"])
    content = files.read_json("config", card.settings["config"])
    checkpoint = files.place("checkpoint", card.settings["checkpoint"])
    state = None if checkpoint is None else state_of(torch, files, "checkpoint", checkpoint)
    if state is not None:
        files.hold(card, files.digests["checkpoint"], "checkpoint")
    files.raise_faults()
    assert config is not None
    assert state is not None
    model = _model(package, config, state, device, files)
    files.raise_faults()
    decoding = {
        "package": package.name,
        "source": package.source,
        "config": text_digest(canonical_json(content)),
        "tokenizer": words_digest(model.blip.tokenizer),
        "most_tokens": MOST_TOKENS,
    }
    identified = replace(
        card,
        weights=files.digests["checkpoint"],
        pinned=True,
        preprocessing={"steps": _steps(model), "dtype": "float32"},
        decoding=decoding,
        needs_prompt=True,
        runtime=runtime_of(torch, device, **versions_of("image-reward", "transformers", "torchvision")),
    )
    return OneByOneJudge(identified, torch, partial(_reply, identified, model))


def _model(
    package: OwnPackage, config: Path, state: dict[str, Model], device: str, files: CardFiles
) -> Model:
    """Make the package's model and give it its weights, every one that takes part in the score, or note why not."""
    try:
        with unheard():
            model = package.module.ImageReward(device=device, med_config=str(config)).to(device)
    except Exception as error:  # noqa: BLE001 - a package and the hub fail in every way there is
        files.fault(
            "config",
            f"{package.name} cannot make its model of it ({reason_of(error)}). It takes its words from "
            "bert-base-uncased at the hub: without a network they must have been fetched before. For example: config: "
            "med_config.json.",
        )
        return None
    try:
        loading = model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        files.fault("checkpoint", f"its tensors have other shapes than the model ({reason_of(error)}).")
        return None
    used = {name for name, _ in model.named_parameters() if not name.startswith(UNUSED)}
    if lost := sorted(used & set(loading.missing_keys)):
        files.fault(
            "checkpoint",
            f"it lacks {len(lost)} tensors that the model has (first: {lost[0]}); they would be random numbers. For "
            "example: checkpoint: ImageReward.pt.",
        )
    return model.eval()


def _steps(model: Model) -> list[str]:
    """Tell what happens to a picture, step by step, without addresses in memory."""
    steps = getattr(model.preprocess, "transforms", [model.preprocess])
    return [re.sub(r" at 0x[0-9a-f]+", "", repr(step)) for step in steps]
