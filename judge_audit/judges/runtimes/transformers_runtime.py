"""Loading by Hugging Face transformers, versions 4 and 5: from local folders, safetensors, and in silence."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from judge_audit.judges.reply_parser import short
from judge_audit.judges.runtimes.model_folders import CODE, FILES, model_folder, no_safetensors
from judge_audit.judges.runtimes.pytorch_runtime import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles
    from judge_audit.judges.runtimes.model_folders import ModelFolder
    from judge_audit.judges.runtimes.pytorch_runtime import Library, Model

OWN_NAMES = {"pillow": "pil", "torchvision": "torchvision"}
"""What transformers calls the backends of its processors."""


def transformers_of(card: Card) -> Library:
    """Import transformers, and have it say nothing on its own.

    Raises:
        UsageError: If it is missing, or cannot be imported.
    """
    try:
        import safetensors.torch  # noqa: F401, PLC0415 - part of the extra
        import transformers  # noqa: PLC0415 - heavy, an extra, imported when such a judge is used
        from transformers import AutoImageProcessor, AutoModel, AutoTokenizer  # noqa: F401, PLC0415
    except (ImportError, OSError, RuntimeError) as error:
        raise missing(card, "transformers", error, "transformers") from error
    return transformers


@contextmanager
def silent(transformers: Library) -> Iterator[None]:
    """Keep progress bars and advice of transformers out of the terminal while a model is loaded."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def folder_of(card: Card, files: CardFiles) -> ModelFolder | None:
    """Find the folder of the card's model and hold it to the card's digest, or note what is wrong with it."""
    wanted = (*FILES, CODE) if card.settings.get("remote_code", False) else FILES
    revision = card.settings.get("revision")
    folder = model_folder(files, "model", card.settings["model"], revision=revision, wanted=wanted)
    if folder is not None:
        if why := no_safetensors(folder):
            files.fault("model", why)
        files.hold(card, folder.weights(), "model")
    return folder


def load_model(torch: Library, loader: Model, files: CardFiles, folder: ModelFolder, card: Card) -> Model:
    """Load a model's weights from safetensors by a class of transformers, every one of them, or note why not."""
    code = bool(card.settings.get("remote_code", False))
    try:
        model, loading = loader.from_pretrained(
            str(folder.path),
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=code,
            torch_dtype=getattr(torch, str(card.settings.get("dtype", "float32"))),
            output_loading_info=True,
        )
    except Exception as error:  # noqa: BLE001 - whatever a library says of a broken model
        advice = "" if code or "trust_remote_code" not in str(error) else (
            " The model brings code of its own, which is run only where the card says so: remote_code: true."
        )  # fmt: skip
        files.fault(
            "model",
            f"transformers cannot load it ({type(error).__name__}: {short(str(error), 300)}).{advice}",
        )
        return None
    lost = sorted(str(name) for name in (*loading["missing_keys"], *loading["mismatched_keys"]))
    if lost:
        files.fault(
            "model",
            f"the file of weights lacks {len(lost)} tensors that the model has, or has them in other shapes (first: "
            f"{lost[0]}); they would be random numbers.",
        )
    return model.eval()


def load_processor(transformers: Library, files: CardFiles, folder: ModelFolder, card: Card) -> Model:
    """Load a model's own processor of pictures with the backend of the card, or note why not."""
    backend = str(card.settings.get("backend", "pillow"))
    newer = int(transformers.__version__.split(".")[0]) >= 5
    wanted = {"backend": OWN_NAMES[backend]} if newer else {"use_fast": backend == "torchvision"}
    try:
        processor = transformers.AutoImageProcessor.from_pretrained(
            str(folder.path), local_files_only=True, trust_remote_code=False, **wanted
        )
    except Exception as error:  # noqa: BLE001 - whatever a library says of a broken processor
        files.fault(
            "processor",
            f"transformers finds no processor of pictures ({type(error).__name__}: {short(str(error), 300)}). Name "
            "the folder or model that holds preprocessor_config.json, e.g. processor: "
            "laion/CLIP-ViT-H-14-laion2B-s32B-b79K.",
        )
        return None
    there = "torchvision" if type(processor).__name__.endswith("Fast") else "pil"
    if getattr(processor, "backend", there) != OWN_NAMES[backend]:
        files.fault(
            "backend",
            f"{backend} was asked for and {type(processor).__name__} is what transformers gives; install torchvision, "
            "or write the other. For example: backend: pillow.",
        )
    return processor


def settings_of(processor: Model) -> dict[str, Any]:
    """Give what a processor does, without its class's name and what is unset: these differ between versions."""
    settings = processor.to_dict()
    return {
        name: value
        for name, value in settings.items()
        if value is not None and not name.startswith("_") and not name.endswith(("_type", "_class"))
    }
