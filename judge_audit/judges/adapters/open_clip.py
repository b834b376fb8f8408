"""A preference or aesthetic model of open_clip: the cosine to the prompt as HPSv2 has it, or a head.

The model is built from its configuration and its weights are read by us, from safetensors or from a checkpoint of
which only tensors are read; nothing is downloaded but a model that the card names by its place at the hub.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.reply_parser import short
from judge_audit.judges.runtimes.embedding import (
    MOST_TEXTS,
    EmbeddingJudge,
    Encoder,
    answer_identity,
    checked,
)
from judge_audit.judges.runtimes.model_folders import OPEN_CLIP_FILES, ModelFolder, model_folder
from judge_audit.judges.runtimes.pytorch_runtime import (
    device_of,
    head_of,
    missing,
    runtime_of,
    state_of,
    torch_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import Judge
    from judge_audit.judges.runtimes.pytorch_runtime import Library, Model

KIND = "open_clip"
EXTRA = "open-clip"  # with a hyphen: older pip finds an extra by the wheel's spelling alone
PACKAGES = ("torch", "open_clip_torch")

WEIGHTS = "open_clip_model.safetensors"
CONSTANTS = frozenset(
    {"input_resolution", "context_length", "vocab_size", "text.transformer.embeddings.position_ids"}
)
"""What old checkpoints hold beside weights."""


def _count(tokenizer: Model, prompt: str) -> int:
    """Count the tokens of a prompt with those around it."""
    if hasattr(tokenizer, "encode"):
        return len(tokenizer.encode(prompt)) + 2
    clean = getattr(tokenizer, "clean_fn", str)
    return len(tokenizer.tokenizer(clean(prompt), verbose=False)["input_ids"])


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the model a card describes.

    Raises:
        InputError: With everything that is wrong with card and files.
        UsageError: If PyTorch or open_clip is not installed; says how to install it.
    """
    torch = torch_of(card, EXTRA)
    library = _library(card)
    files = CardFiles(card, project)
    files.refuse(card, ("target", "decoding", "prompt_template"), "its transform is in preprocessing.")
    folder = _folder(library, card, files)
    checkpoint = _checkpoint(card, files, folder)
    device = device_of(torch, card, files)
    content = card.settings.get("head")
    head = head_of(torch, files, content) if content else None
    state = None if checkpoint is None else state_of(torch, files, "checkpoint", checkpoint)
    if state is not None:
        files.hold(card, files.digests["checkpoint"], "checkpoint")
    files.raise_faults()
    assert state is not None
    encoder, about = _loaded(torch, library, card, files, folder, state, device)
    files.raise_faults()
    assert encoder is not None
    runtime = runtime_of(torch, device, open_clip=library.__version__, torchvision=version("torchvision"))
    identified = replace(_identified(card, files, about), runtime=runtime)
    judge = EmbeddingJudge(identified, encoder, head, _short_side(about["preprocessing"]))
    return checked(judge, files, *([folder] if folder is not None else []))


def _short_side(settings: Mapping[str, Any]) -> int | None:
    """Give the pixels that a shorter side is resized to; None where both sides have a size."""
    size = settings["size"]
    largest = size if isinstance(size, int) else max(size)
    return int(largest) if settings.get("resize_mode") == "shortest" else None


def _library(card: Card) -> Library:
    try:
        import open_clip  # noqa: PLC0415 - heavy, an extra, imported when such a judge is used
    except (ImportError, OSError, RuntimeError) as error:
        # A torchvision that was built for another PyTorch fails with a RuntimeError.
        raise missing(card, "open_clip, and a torchvision that fits PyTorch", error, EXTRA) from error
    return open_clip


def _folder(library: Library, card: Card, files: CardFiles) -> ModelFolder | None:
    """Find the model's folder; None where it is an architecture that open_clip knows, or where there is none."""
    name = card.settings["model"]
    if name in library.list_models():
        if "checkpoint" not in card.settings:
            files.fault(
                "checkpoint",
                f"{name} is an architecture; name its weights. For example: checkpoint: HPS_v2.pt.",
            )
        return None
    if "/" not in name and not name.startswith("."):
        path = files.place("model", name)
        if path is None or not path.is_dir():
            files.fault(
                "model",
                f"{name} is neither an architecture that open_clip {library.__version__} knows nor a folder beside the "
                "card. For example: model: ViT-H-14.",
            )
            return None
    return model_folder(files, "model", name, revision=card.settings.get("revision"), wanted=OPEN_CLIP_FILES)


def _checkpoint(card: Card, files: CardFiles, folder: ModelFolder | None) -> Path | None:
    """Find the file of weights: the card's, or the one in the model's folder."""
    if "checkpoint" in card.settings:
        return files.place("checkpoint", card.settings["checkpoint"])
    if folder is None:
        return None
    if WEIGHTS not in folder.digests:
        files.fault(
            "checkpoint",
            f"the model's folder holds no {WEIGHTS}; name the file. For example: checkpoint: model.pt.",
        )
        return None
    return folder.path / WEIGHTS


def _loaded(
    torch: Library,
    library: Library,
    card: Card,
    files: CardFiles,
    folder: ModelFolder | None,
    state: dict[str, Any],
    device: str,
) -> tuple[Encoder | None, dict[str, Any]]:
    """Build the model and give it its weights, every one of them, or note why not.

    Returns:
        The model, and what of it belongs to the identity: `preprocessing`, `config`, `tokenizer` and `most`.
    """
    from PIL import Image  # noqa: PLC0415 - only when a judge of this kind is used

    name = f"local-dir:{folder.path}" if folder is not None else card.settings["model"]
    known = library.transform.PreprocessCfg.__annotations__
    wanted = {key: value for key, value in card.preprocessing.items() if key in known}
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # it would warn that the model is random: its weights come below
    try:
        model = library.create_model(
            name, load_weights=False, pretrained_text=False, force_preprocess_cfg=wanted, device="cpu"
        )
        tokenizer = library.get_tokenizer(name)
        state = {key: value for key, value in state.items() if key not in CONSTANTS}
        model.load_state_dict(_fitted(library, model, state), strict=True)
        shown = dict(model.visual.preprocess_cfg)
        transform = library.transform.image_transform_v2(
            library.transform.PreprocessCfg(**shown), is_train=False
        )
    except Exception as error:  # noqa: BLE001 - whatever a library says of a broken model
        reason = short(" ".join(str(error).split()), 400)
        files.fault("model", f"open_clip cannot load it ({type(error).__name__}: {reason}).")
        return None, {}
    finally:
        logging.disable(level)
    dtype = getattr(torch, str(card.settings.get("dtype", "float32")))
    most = int(getattr(tokenizer, "context_length", 77))
    bias = getattr(model, "logit_bias", None)
    model = model.to(device, dtype).eval()
    encoder = Encoder(
        torch=torch,
        prepare=lambda image: transform(Image.fromarray(image)),
        see=model.encode_image,
        read=lru_cache(MOST_TEXTS)(
            lambda prompt: (model.encode_text(tokenizer([prompt]).to(device)), _count(tokenizer, prompt))
        ),
        most=most,
        device=device,
        dtype=dtype,
        factor=float(state["logit_scale"].double().exp()),
        offset=float(bias.detach().double()) if bias is not None else 0.0,
    )
    about = {"preprocessing": shown, "config": library.get_model_config(name), "most": most}
    return encoder, {**about, "tokenizer": _digest_of(tokenizer)}


def _fitted(library: Library, model: Model, state: dict[str, Model]) -> dict[str, Model]:
    """Bring a checkpoint of another make to open_clip's names and shapes."""
    state = library.factory.convert_state_dict(model, state)
    if "positional_embedding" in state and not hasattr(model, "positional_embedding"):
        state = library.factory.convert_to_custom_text_state_dict(state)
    for name in ("logit_scale", "logit_bias"):
        parameter = getattr(model, name, None)
        if name in state and parameter is not None:
            state[name] = state[name].reshape(parameter.shape)
    return state


def _digest_of(tokenizer: Model) -> str:
    """Digest the words that a tokenizer knows and how it joins them."""
    inner = getattr(tokenizer, "tokenizer", None)
    if inner is None:
        ranks = [list(pair) for pair in getattr(tokenizer, "bpe_ranks", {})]
        return text_digest(type(tokenizer).__name__, canonical_json([tokenizer.encoder, ranks]))
    backend = getattr(inner, "backend_tokenizer", None)
    vocabulary = backend.to_str() if backend is not None else canonical_json(inner.get_vocab())
    return text_digest(type(tokenizer).__name__, vocabulary)


def _identified(card: Card, files: CardFiles, about: dict[str, Any]) -> Card:
    """Write into the card what makes the judge the judge: digests in place of paths, defaults spelt out."""
    architecture = canonical_json(about["config"]) if about["config"] else card.settings["model"]
    decoding = {"config": text_digest(architecture)}
    decoding |= answer_identity(card, files, about["tokenizer"], about["most"])
    return replace(
        card,
        weights=files.digests["checkpoint"],
        pinned=True,
        preprocessing={
            **about["preprocessing"],
            "backend": "torchvision, pillow",
            "dtype": str(card.settings.get("dtype", "float32")),
        },
        decoding=decoding,
        needs_prompt=card.needs_prompt or not card.settings.get("head"),
    )
