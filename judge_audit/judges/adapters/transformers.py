"""A reward or aesthetic model of Hugging Face transformers: CLIP or SigLIP with the prompt, or with a head.

The picture goes through the model's own processor, whose settings stand in the card with backend and dtype.
Weights are safetensors; the model's own code runs only where the card says so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.reply_parser import short
from judge_audit.judges.runtimes.embedding import (
    MOST_TEXTS,
    EmbeddingJudge,
    Encoder,
    answer_identity,
    checked,
)
from judge_audit.judges.runtimes.model_folders import CODE, PROCESSOR_FILES, WORDS, ModelFolder, model_folder
from judge_audit.judges.runtimes.pytorch_runtime import device_of, head_of, runtime_of, torch_of
from judge_audit.judges.runtimes.transformers_runtime import (
    folder_of,
    load_model,
    load_processor,
    settings_of,
    silent,
    transformers_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import Judge
    from judge_audit.judges.runtimes.pytorch_runtime import Library, Model

KIND = "transformers"
EXTRA = "transformers"
PACKAGES = ("torch", "transformers", "safetensors")

FEATURES = ("image_embeds", "text_embeds", "pooler_output")


def _read(tokenizer: Model, model: Model, most: int, device: str, prompt: str) -> tuple[Model, int]:
    """Embed one prompt, filled up to the length the model was made for and cut at it, and count its tokens."""
    whole = len(tokenizer(prompt, verbose=False)["input_ids"])
    padded = tokenizer(prompt, padding="max_length", truncation=True, max_length=most, return_tensors="pt")
    # SigLIP was trained on the padding too: its tokenizer names no mask.
    names = [name for name in ("input_ids", "attention_mask") if name in tokenizer.model_input_names]
    shown = {name: padded[name].to(device) for name in names}
    return _features(model.get_text_features(**shown)), whole


def _see(model: Model, pictures: Model) -> Model:
    """Embed prepared pictures."""
    tower = model.get_image_features if hasattr(model, "get_image_features") else model
    return _features(tower(pixel_values=pictures))


def _features(answer: Model) -> Model:
    """Take the embedding out of what a tower answers: a tensor (transformers 4), or an object that holds one."""
    embeddings = (getattr(answer, name, None) for name in FEATURES)
    return next((embedding for embedding in embeddings if embedding is not None), answer)


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the model a card describes.

    Raises:
        InputError: With everything that is wrong with card and files.
        UsageError: If PyTorch or transformers is not installed; says how to install it.
    """
    torch = torch_of(card, EXTRA)
    transformers = transformers_of(card)
    files = CardFiles(card, project)
    none = ("target", "decoding", "prompt_template", "preprocessing")
    files.refuse(card, none, "the processor is the model's own (see processor).")
    folder = around = folder_of(card, files)
    if "processor" in card.settings:
        place, revision = card.settings["processor"], card.settings.get("processor_revision")
        around = model_folder(files, "processor", place, revision=revision, wanted=PROCESSOR_FILES)
    device = device_of(torch, card, files)
    content = card.settings.get("head")
    head = head_of(torch, files, content) if content else None
    files.raise_faults()
    assert folder is not None
    assert around is not None
    encoder, about = _loaded(torch, transformers, card, files, (folder, around), device)
    files.raise_faults()
    runtime = runtime_of(torch, device, transformers=transformers.__version__)
    identified = replace(_identified(card, files, folder, around, about), runtime=runtime)
    side = about["processor"].get("size", {}).get("shortest_edge")
    return checked(EmbeddingJudge(identified, encoder, head, side), files, folder, around)


def _loaded(
    torch: Library,
    transformers: Library,
    card: Card,
    files: CardFiles,
    folders: tuple[ModelFolder, ModelFolder],
    device: str,
) -> tuple[Encoder, dict[str, Any]]:
    """Load model, processor and tokenizer; what cannot be loaded is noted and raised.

    Returns:
        The model, and what of it belongs to the identity: `processor` and `most`.
    """
    from PIL import Image  # noqa: PLC0415 - only when a judge of this kind is used

    folder, around = folders
    with silent(transformers):
        model = load_model(torch, transformers.AutoModel, files, folder, card)
        processor = load_processor(transformers, files, around, card)
        files.raise_faults()
        reads = "head" not in card.settings and hasattr(model, "get_text_features")
        tokenizer = _tokenizer(transformers, files, around) if reads else None
    files.raise_faults()
    scale, bias = getattr(model, "logit_scale", None), getattr(model, "logit_bias", None)
    most = int(getattr(getattr(model.config, "text_config", None), "max_position_embeddings", 77))
    model = model.to(device)
    encoder = Encoder(
        torch=torch,
        prepare=lambda image: processor(images=[Image.fromarray(image)], return_tensors="pt")["pixel_values"][
            0
        ],
        see=partial(_see, model),
        read=lru_cache(MOST_TEXTS)(partial(_read, tokenizer, model, most, device)) if reads else None,
        most=most,
        device=device,
        dtype=model.dtype,
        factor=float(scale.detach().double().exp()) if scale is not None else 1.0,
        offset=float(bias.detach().double()) if bias is not None else 0.0,
    )
    return encoder, {"processor": settings_of(processor), "most": most if reads else None}


def _tokenizer(transformers: Library, files: CardFiles, folder: ModelFolder) -> Model:
    """Load a model's own tokenizer, or note why not."""
    try:
        return transformers.AutoTokenizer.from_pretrained(
            str(folder.path), local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # noqa: BLE001 - whatever a library says of a broken tokenizer
        files.fault(
            "processor",
            f"transformers finds no tokenizer ({type(error).__name__}: {short(str(error), 300)}). Name the folder or "
            "model that holds it, e.g. processor: laion/CLIP-ViT-H-14-laion2B-s32B-b79K.",
        )
        return None


def _identified(
    card: Card, files: CardFiles, folder: ModelFolder, around: ModelFolder, about: dict[str, Any]
) -> Card:
    """Write into the card what makes the judge the judge: digests in place of paths, defaults spelt out."""
    settings = card.settings
    tokenizer = text_digest(*(part for pair in around.part(*WORDS).items() for part in pair))
    decoding = {"config": folder.part("config.json"), "code": folder.part(CODE)}
    decoding |= answer_identity(card, files, tokenizer, about["most"])
    backend, dtype = settings.get("backend", "pillow"), settings.get("dtype", "float32")
    return replace(
        card,
        weights=folder.weights(),
        pinned=True,
        preprocessing={**about["processor"], "backend": backend, "dtype": dtype},
        decoding=decoding,
        needs_prompt=card.needs_prompt or not settings.get("head"),
    )
