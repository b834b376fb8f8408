"""A reward or aesthetic model of Hugging Face transformers: CLIP or SigLIP with the prompt, or with a head.

The picture goes through the model's own processor, whose settings stand in the card with backend and dtype.
Weights are safetensors; the model's own code runs only where the card says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.chat.chat_replies import short
from judge_audit.judges.runtimes.embedding import EmbeddingJudge, check, cut_note
from judge_audit.judges.runtimes.model_folders import CODE, PROCESSOR_FILES, WORDS, ModelFolder, model_folder
from judge_audit.judges.runtimes.pytorch_runtime import device_of, head_of, numbers, runtime_of, torch_of
from judge_audit.judges.runtimes.transformers_runtime import (
    folder_of,
    load_model,
    load_processor,
    settings_of,
    silent,
    transformers_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.protocol import Judge

KIND = "transformers"
EXTRA = "transformers"
PACKAGES = ("torch", "transformers", "safetensors")

FEATURES = ("image_embeds", "text_embeds", "pooler_output")


@dataclass(frozen=True, slots=True)
class TransformersEncoder:
    """The model with its processor.

    Attributes:
        torch: The module.
        model: The model.
        processor: What happens to pictures.
        tokenizer: What happens to texts; None where the model reads none.
        most: Tokens that the model reads at most.
        device: Where it runs.
        factor: exp(logit_scale).
        offset: logit_bias.
    """

    torch: Any
    model: Any
    processor: Any
    tokenizer: Any
    most: int
    device: str
    factor: float = 1.0
    offset: float = 0.0

    def prepare(self, image: NDArray[np.uint8]) -> Any:  # noqa: ANN401 - a tensor
        """Prepare one picture by the model's own processor."""
        from PIL import Image  # noqa: PLC0415 - only when a judge of this kind is used

        return self.processor(images=[Image.fromarray(image)], return_tensors="pt")["pixel_values"][0]

    def pictures(self, prepared: Sequence[Any]) -> NDArray[np.float64]:
        """Embed prepared pictures in one run."""
        shown = self.torch.stack(list(prepared)).to(self.device, self.model.dtype)
        with self.torch.inference_mode():
            if hasattr(self.model, "get_image_features"):
                return numbers(_features(self.model.get_image_features(pixel_values=shown)))
            return numbers(_features(self.model(pixel_values=shown)))

    def text(self, prompt: str) -> tuple[NDArray[np.float64], str]:
        """Embed one prompt, filled up to the length the model was made for and cut at it."""
        whole = len(self.tokenizer(prompt, verbose=False)["input_ids"])
        told = self.tokenizer(
            prompt, padding="max_length", truncation=True, max_length=self.most, return_tensors="pt"
        )
        told = {name: told[name].to(self.device) for name in ("input_ids", "attention_mask") if name in told}
        if "attention_mask" not in self.tokenizer.model_input_names:
            told.pop("attention_mask", None)  # SigLIP was trained on the padding too
        with self.torch.inference_mode():
            embedding = numbers(_features(self.model.get_text_features(**told)))[0]
        return embedding, cut_note(whole, self.most)


def _features(answer: Any) -> Any:  # noqa: ANN401 - a tensor (transformers 4), or an object that holds one
    """Take the embedding out of what a tower answers."""
    held = (getattr(answer, name, None) for name in FEATURES)
    return next((found for found in held if found is not None), answer)


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the model a card describes.

    Raises:
        InputError: With everything that is wrong with card and files.
        UsageError: If PyTorch or transformers is not installed; says how to install it.
    """
    torch = torch_of(card, EXTRA)
    transformers = transformers_of(card)
    files = CardFiles(card, project)
    given = card.settings
    none = ("target", "decoding", "prompt_template", "preprocessing")
    files.refuse(card, none, "the processor is the model's own (see processor).")
    folder = around = folder_of(card, files)
    if "processor" in given:
        place, revision = given["processor"], given.get("processor_revision")
        around = model_folder(files, "processor", place, revision=revision, wanted=PROCESSOR_FILES)
    device = device_of(torch, card, files)
    content = given.get("head")
    head = head_of(torch, files, content) if content else None
    files.raise_faults()
    assert folder is not None
    assert around is not None
    encoder, told = _loaded(torch, transformers, card, files, (folder, around), device)
    files.raise_faults()
    runtime = runtime_of(torch, device, transformers=transformers.__version__)
    judge = EmbeddingJudge(
        replace(_identified(card, files, folder, around, told), runtime=runtime),
        encoder,
        head,
        scaled=bool(given.get("scaled", True)),
        short_side=told["processor"].get("size", {}).get("shortest_edge"),
    )
    check(judge, files, reads=encoder.tokenizer is not None)
    for entry in (folder, around):
        if name := entry.changed():
            files.fault("model", f"{name} changed while it was read. Load the judge again.")
    files.raise_faults()
    return judge


def _loaded(
    torch: Any,  # noqa: ANN401 - the module
    transformers: Any,  # noqa: ANN401 - the module
    card: Card,
    files: CardFiles,
    folders: tuple[ModelFolder, ModelFolder],
    device: str,
) -> tuple[TransformersEncoder, dict[str, Any]]:
    """Load model, processor and tokenizer; what cannot be loaded is noted and raised.

    Returns:
        The model, and what of it belongs to the identity: `processor`, `backend`, `dtype` and `most`.
    """
    folder, around = folders
    dtype = str(card.settings.get("dtype", "float32"))
    with silent(transformers):
        model = load_model(torch, transformers.AutoModel, files, folder, card, dtype)
        processor = load_processor(transformers, files, around, card)
        files.raise_faults()
        reads = "head" not in card.settings and hasattr(model, "get_text_features")
        tokenizer = _tokenizer(transformers, files, around) if reads else None
    files.raise_faults()
    scale, bias = getattr(model, "logit_scale", None), getattr(model, "logit_bias", None)
    most = getattr(getattr(model.config, "text_config", None), "max_position_embeddings", 77)
    encoder = TransformersEncoder(
        torch=torch,
        model=model.to(device),
        processor=processor,
        tokenizer=tokenizer,
        most=int(most),
        device=device,
        factor=float(scale.detach().double().exp()) if scale is not None else 1.0,
        offset=float(bias.detach().double()) if bias is not None else 0.0,
    )
    settings = settings_of(processor)
    backend = str(card.settings.get("backend", "pillow"))
    return encoder, {
        "processor": settings,
        "backend": backend,
        "dtype": dtype,
        "most": most if reads else None,
    }


def _tokenizer(transformers: Any, files: CardFiles, folder: ModelFolder) -> Any:  # noqa: ANN401
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
    card: Card, files: CardFiles, folder: ModelFolder, around: ModelFolder, told: dict[str, Any]
) -> Card:
    """Write into the card what makes the judge the judge: digests in place of paths, defaults spelt out."""
    head = card.settings.get("head")
    decoding: dict[str, Any] = {"config": folder.part("config.json"), "code": folder.part(CODE)}
    if head:
        decoding["head"] = {"activation": "none", **head, "weights": files.digests["head.weights"]}
    else:
        decoding |= {"scaled": bool(card.settings.get("scaled", True)), "most_tokens": told["most"]}
        decoding["tokenizer"] = text_digest(*(part for pair in around.part(*WORDS).items() for part in pair))
    return replace(
        card,
        weights=folder.weights(),
        pinned=True,
        preprocessing={**told["processor"], "backend": told["backend"], "dtype": told["dtype"]},
        decoding=decoding,
        needs_prompt=card.needs_prompt or not head,
    )
