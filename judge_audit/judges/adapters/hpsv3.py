"""HPSv3 by its own package, hpsv3, which you install: a Qwen2-VL that gives a mean and how sure it is of it.

The mean is the score, with no bounds; the second number stands in the reply, or is a dimension where the card names
two. It is the logarithm of a spread: the package's training takes exp() of it.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.protocol import Judge, Reply, Stimulus
from judge_audit.judges.runtimes.model_folders import stream_digest, without_passing
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
    numbers,
    runtime_of,
    torch_of,
)
from judge_audit.judges.runtimes.transformers_runtime import settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.runtimes.package_runtime import OwnPackage
    from judge_audit.judges.runtimes.pytorch_runtime import Model

KIND = "hpsv3"
PACKAGES = ("torch", "hpsv3")
INSTALL = "pip install hpsv3 'trl<0.12' 'peft<0.14' matplotlib tensorboard rich"
"""No extra of ours: the package wants transformers 4.45.2 and nothing newer, and imports more than it names."""

ADVICE = (
    f"In an environment of its own (it wants transformers 4.45.2), beside this one's packages: {INSTALL}."
)
ASKED = frozenset({"image_paths", "prompts"})
"""What its `reward` is given, by name: the order differs between its versions."""


def _reply(card: Card, inferencer: Model, stimulus: Stimulus) -> Reply:
    """Ask the package's inferencer for one picture."""
    from PIL import Image  # noqa: PLC0415 - only when a judge of this kind is used

    shown = {"image_paths": [Image.fromarray(stimulus.image)], "prompts": [stimulus.prompt]}
    values = [float(value) for value in numbers(inferencer.reward(**shown)).reshape(-1)]
    if len(values) < len(card.dimensions):
        raise UsageError(
            f"judge “{card.name}”: the model gives {len(values)} numbers and {len(card.dimensions)} "
            "dimensions are named."
        )
    raw = f"mean and logarithm of the spread: {values}" if len(values) > len(card.dimensions) else ""
    return Reply(dict(zip(card.dimensions, values, strict=False)), raw=raw)


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the model that a card describes.

    Raises:
        InputError: With everything that is wrong with card and files.
        UsageError: If PyTorch or the package is not installed or is another than is known here.
    """
    torch = torch_of(card, "transformers")
    package = own_package(card, "hpsv3", "hpsv3.inference", ADVICE)
    asked = inspect.signature(package.module.HPSv3RewardInferencer.reward).parameters
    if not set(asked) >= ASKED:
        raise UsageError(
            f"judge “{card.name}”: {package.name} is asked in another way than is known here (image_paths, prompts). "
            "Version 1.0.0 is known."
        )
    files = CardFiles(card, project)
    none = ("target", "preprocessing", "decoding", "prompt_template")
    files.refuse(card, none, "the package brings its own.")
    if len(card.dimensions) > 2:
        files.fault("dimensions", "HPSv3 gives a mean and a spread; name one dimension, or two.")
    device = device_of(torch, card, files)
    checkpoint, config = _places(card, files)
    files.raise_faults()
    inferencer = _inferencer(package, checkpoint, config, device, files)
    if checkpoint is not None and stream_digest(checkpoint) != files.digests["checkpoint"]:
        files.fault("checkpoint", f"{checkpoint.name} changed while it was read. Load the judge again.")
    files.raise_faults()
    runtime = runtime_of(torch, device, **versions_of("hpsv3", "transformers"))
    identified = replace(_identified(card, package, inferencer, files), runtime=runtime)
    return OneByOneJudge(identified, torch, partial(_reply, identified, inferencer))


def _places(card: Card, files: CardFiles) -> tuple[Path | None, Path | None]:
    """Find and digest the files of the card, or note what is wrong with them."""
    name = card.settings["checkpoint"]
    checkpoint = files.place("checkpoint", name)
    if not name.endswith(".safetensors"):
        files.fault(
            "checkpoint",
            f"{name} is no safetensors file: the package would read it as a pickle, which may run code. For example: "
            "checkpoint: HPSv3.safetensors.",
        )
    elif checkpoint is not None:
        try:
            files.digests["checkpoint"] = stream_digest(checkpoint)
        except OSError as error:
            files.fault("checkpoint", f"{name}: {error.strerror}. Paths are relative to the card.")
        else:
            files.hold(card, files.digests["checkpoint"], "checkpoint")
    if "config" not in card.settings:
        return checkpoint, None
    config = files.place("config", card.settings["config"])
    files.read("config", card.settings["config"], 1 << 20)
    return checkpoint, config


def _inferencer(
    package: OwnPackage, checkpoint: Path | None, config: Path | None, device: str, files: CardFiles
) -> Model:
    """Have the package load its model, or note why it cannot."""
    options = {} if config is None else {"config_path": str(config)}
    try:
        with unheard():
            maker = package.module.HPSv3RewardInferencer
            return maker(checkpoint_path=str(checkpoint), device=device, **options)
    except Exception as error:  # noqa: BLE001 - a package and the hub fail in every way there is
        files.fault(
            "checkpoint",
            f"{package.name} cannot load it ({reason_of(error)}). It takes the shape of the model, its words and its "
            "processor from the hub, or from the folder that model_name_or_path names in a config of yours: config: "
            "HPSv3_7B.yaml.",
        )
        return None


def _identified(card: Card, package: OwnPackage, inferencer: Model, files: CardFiles) -> Card:
    """Write into the card what makes the judge the judge."""
    processor = inferencer.processor
    template = getattr(processor, "chat_template", None) or getattr(processor.tokenizer, "chat_template", "")
    dtype = str(next(iter(inferencer.model.parameters())).dtype).removeprefix("torch.")
    config = without_passing(inferencer.model.config.to_dict())
    decoding = {
        "package": package.name,
        "source": package.source,
        "config": [files.digests.get("config", "the package's own"), text_digest(canonical_json(config))],
        "tokenizer": words_digest(processor.tokenizer),
        "chat_template": text_digest(str(template)),
    }
    return replace(
        card,
        weights=files.digests["checkpoint"],
        pinned=True,
        preprocessing={**settings_of(processor.image_processor), "dtype": dtype},
        decoding=decoding,
        needs_prompt=True,
    )
