"""The folder of a model as the hub keeps them: found beside the card or fetched, its files digested, no pickles.

Only files on a short list are fetched and digested: weights as safetensors, settings, tokenizer. What else lies
there (other formats, training logs) is never read.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.judges.cards.redaction import secrets_around
from judge_audit.judges.reply_parser import short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from judge_audit.judges.cards.card_files import CardFiles

WEIGHTS = ("model.safetensors", "model-*-of-*.safetensors", "model.safetensors.index.json")
SETTINGS = ("config.json", "generation_config.json")
PICTURES = ("preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json")
WORDS = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "vocab.txt", "merges.txt", "spiece.model", "tokenizer.model", "sentencepiece.bpe.model",
    "chat_template.json", "chat_template.jinja",
)  # fmt: skip
PROCESSOR_FILES = (*SETTINGS, *PICTURES, *WORDS)
FILES = (*WEIGHTS, *PROCESSOR_FILES)
"""What is read of a model of transformers."""

OPEN_CLIP_CONFIG = "open_clip_config.json"
OPEN_CLIP_FILES = (OPEN_CLIP_CONFIG, "open_clip_model.safetensors", *WORDS)
"""What is read of a model of open_clip."""

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
CODE = "*.py"

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
PASSING = frozenset({"transformers_version", "_name_or_path", "torch_dtype", "dtype", "_commit_hash"})
"""What settings say of their writing; the dtype is the card's."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """Files of one model.

    Attributes:
        path: The folder.
        digests: `sha256:…` by name of every file that is read of it.
        stamps: Size and time of each when it was digested.
    """

    path: Path
    digests: Mapping[str, str]
    stamps: Mapping[str, tuple[int, int]]

    def weights(self) -> str:
        """Digest the weights: of the one file as the hub shows it, of several together."""
        digests = {name: digest for name, digest in self.digests.items() if name.endswith(".safetensors")}
        return (
            next(iter(digests.values()))
            if len(digests) == 1
            else "sha256:" + text_digest(canonical_json(digests))
        )

    def part(self, *patterns: str) -> dict[str, str]:
        """Give the digests of some files, settings by what they say and not by how they are written."""
        parts = {}
        for name, digest in self.digests.items():
            if any(Path(name).match(pattern) for pattern in patterns):
                settings = _settings(self.path / name) if name.endswith("config.json") else None
                parts[name] = digest if settings is None else text_digest(canonical_json(settings))
        return parts

    def check_unchanged(self, files: CardFiles) -> None:
        """Note the first file that is no longer the one that was digested."""
        for name, stamp in self.stamps.items():
            if _stamp(self.path / name) != stamp:
                files.fault("model", f"{name} changed while it was read. Load the judge again.")
                return


def model_folder(
    files: CardFiles,
    field: str,
    name: str,
    *,
    revision: str | None,
    wanted: tuple[str, ...] = FILES,
) -> ModelFolder | None:
    """Find the folder of a model and digest its files, or note why not.

    Args:
        files: The card's files.
        field: The card's field that names it.
        name: A folder, relative to the card or absolute, or a name at the hub (`owner/model`).
        revision: At the hub: a commit, tag or branch.
        wanted: Patterns of the files that are read; with `*.py` among them, the model's own code.
    """
    path = files.place(field, name)
    if path is None:
        return None
    if not path.is_dir():
        if not HUB_NAME.fullmatch(name):
            files.fault(
                field,
                f"{name}: there is no such folder. Paths are relative to the card (for example: {field}: models/ours); "
                "a name at the hub is written owner/model.",
            )
            return None
        path = _fetched(files, field, name, revision, wanted)
    return None if path is None else _digested(files, field, name, path, wanted)


def _fetched(
    files: CardFiles, field: str, name: str, revision: str | None, wanted: tuple[str, ...]
) -> Path | None:
    """Fetch a model's files from the hub, or take them from its cache; note why it gave none."""
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - part of the extra
    except ImportError as error:
        files.fault(
            field, f"there is no folder {name} beside the card, and the hub's client is missing ({error})."
        )
        return None
    try:
        return Path(
            snapshot_download(name, revision=revision, allow_patterns=list(wanted), ignore_patterns=["*/*"])
        )
    except Exception as error:  # noqa: BLE001 - the hub's errors and the network's share no class
        reason = secrets_around().clean(short(str(error).strip().split("\n")[0], 300))
        files.fault(
            field,
            f"there is no folder {name} beside the card, and the hub gave none ({type(error).__name__}: {reason}). "
            "Without a network, name the folder of a model that was downloaded before, e.g. "
            f"{field}: models/{name.rpartition('/')[2]}.",
        )
        return None


def _digested(
    files: CardFiles, field: str, name: str, path: Path, wanted: tuple[str, ...]
) -> ModelFolder | None:
    """Digest what is read of a folder."""
    places = sorted({entry for pattern in wanted for entry in path.glob(pattern) if entry.is_file()})
    digests: dict[str, str] = {}
    stamps: dict[str, tuple[int, int]] = {}
    try:
        for place in places:
            stamps[place.name] = _stamp(place)
            digests[place.name] = stream_digest(place)
    except OSError as error:
        files.fault(field, f"{name}: {error.strerror or error}.")
        return None
    config, library = (
        ("config.json", "transformers") if "config.json" in wanted else (OPEN_CLIP_CONFIG, "open_clip")
    )
    if _settings(path / config) is None:
        files.fault(field, f"{name} holds no readable {config}, so it is no model of {library}.")
        return None
    if CODE in wanted and (entry := _foreign_code(path, digests)):
        files.fault(field, f"{entry} takes code from another place than {name}, which nobody would digest.")
        return None
    return ModelFolder(path, digests, stamps)


def no_safetensors(folder: ModelFolder) -> str:
    """Say that a folder holds no weights that may be read, and what to do; nothing if it does."""
    if any(name.endswith(".safetensors") for name in folder.digests):
        return ""
    pickles = sorted(entry.name for pattern in PICKLES for entry in folder.path.glob(pattern))
    if not pickles:
        return "the folder holds no model.safetensors."
    return (
        f"the weights lie in {pickles[0]}, a pickle, which may run code when it is read and is not read here. Save "
        "them as safetensors once, where you trust them: model.save_pretrained(folder, safe_serialization=True)."
    )


def stream_digest(path: Path) -> str:
    """Digest a file of any size: `sha256:…`."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def _stamp(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return -1, -1
    return about.st_size, about.st_mtime_ns


def _settings(path: Path) -> dict[str, Any] | None:
    """Read a file of settings without what it says of its writing."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return without_passing(content) if isinstance(content, dict) else None


def _foreign_code(path: Path, names: Iterable[str]) -> str:
    """Name a file of settings that takes code from elsewhere (`other/model--file.Class`), or nothing."""
    for name in names:
        settings = (_settings(path / name) or {}) if name.endswith(".json") else {}
        if any("--" in str(word) for word in _leaves(settings.get("auto_map", {}))):
            return name
    return ""


def without_passing(content: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Give settings without what they say of their writing."""
    if isinstance(content, dict):
        return {name: without_passing(value) for name, value in content.items() if name not in PASSING}
    return [without_passing(value) for value in content] if isinstance(content, list) else content


def _leaves(content: Any) -> list[Any]:  # noqa: ANN401 - whatever JSON holds
    if isinstance(content, dict):
        return [leaf for value in content.values() for leaf in _leaves(value)]
    return [leaf for value in content for leaf in _leaves(value)] if isinstance(content, list) else [content]
