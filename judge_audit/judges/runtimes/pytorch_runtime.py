"""What the kinds that run on PyTorch have in common: device, type of the numbers, and checkpoints without pickles."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.judges.reply_parser import short
from judge_audit.judges.runtimes.heads import LayersHead, layers_of
from judge_audit.judges.runtimes.model_folders import stream_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles
    from judge_audit.judges.protocol import Reply, Stimulus

Library = Any
"""A module of models: PyTorch or one that runs on it, imported when a judge that needs it is used."""

Model = Any
"""What such a library makes: a model, its processor or tokenizer, a tensor or a batch of them."""

OLDEST = (2, 6)
"""Of PyTorch: before it, `weights_only=True` could be made to run code (CVE-2025-32434)."""


@dataclass(frozen=True, slots=True)
class OneByOneJudge:
    """A judge that is shown one picture at a time, so that no answer depends on its company.

    Attributes:
        card: Its card.
        torch: The module.
        reply: Makes the reply to one picture.
    """

    card: Card
    torch: Library
    reply: Callable[[Stimulus], Reply]
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Score each picture by itself."""
        replies = []
        for stimulus in stimuli:
            with self._lock, self.torch.inference_mode():
                replies.append(self.reply(stimulus))
        return replies


def torch_of(card: Card, extra: str) -> Library:
    """Import PyTorch.

    Raises:
        UsageError: If it is missing or too old; says how to install it.
    """
    try:
        import torch  # noqa: PLC0415 - heavy, an extra, imported when such a judge is used
    except (ImportError, OSError) as error:
        raise missing(card, "PyTorch", error, extra) from error
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < OLDEST:
        raise UsageError(
            f"judge “{card.name}”: PyTorch {torch.__version__} is too old: 2.6 is the oldest that reads checkpoints "
            f"safely. Install the extra: pip install 'image-judge-audit[{extra}]'"
        )
    return torch


def missing(card: Card, what: str, error: Exception, extra: str) -> UsageError:
    """Say that a judge needs something that is not there, and how to install it."""
    reason = short(str(error).strip().split("\n")[0], 200)
    return UsageError(
        f"judge “{card.name}”: a judge of kind {card.kind} needs {what} ({reason}). Install the extra: "
        f"pip install 'image-judge-audit[{extra}]'"
    )


def device_of(torch: Library, card: Card, files: CardFiles) -> str:
    """Choose the device: the card's, else the graphics card if there is one, else the processor."""
    device = str(card.settings.get("device", "auto"))
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=device)
    except Exception as error:  # noqa: BLE001 - each device fails in its own way
        reason = short(str(error).strip().split("\n")[0], 200)
        files.fault("device", f"{device} cannot be used here ({reason}). For example: device: cpu.")
        return "cpu"
    return device


def runtime_of(torch: Library, device: str, **versions: str) -> str:
    """Name what it runs on: scores may differ in the last digits, the judge is the same."""
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else device
    libraries = ", ".join(f"{library.replace('_', '-')} {version}" for library, version in versions.items())
    return f"torch {torch.__version__}, {libraries}, {name}, threads {torch.get_num_threads()}"


def state_of(torch: Library, files: CardFiles, field_: str, path: Path) -> dict[str, Model] | None:
    """Read a checkpoint's tensors by name, or note why not: safetensors, or a pickle of which only tensors are read.

    Args:
        torch: The module.
        files: The card's files; the digest is noted there.
        field_: The card's field that names it.
        path: The file.
    """
    name = path.name
    content: Any
    try:
        before = path.stat()
        files.digests[field_] = stream_digest(path)
        if name.endswith(".safetensors"):
            from safetensors.torch import load_file  # noqa: PLC0415 - part of the extra

            content = load_file(path, device="cpu")
        else:
            content = torch.load(path, map_location="cpu", weights_only=True)
        after = path.stat()
    except OSError as error:
        files.fault(field_, f"{name}: {error.strerror or error}. Paths are relative to the card.")
        return None
    except Exception as error:  # noqa: BLE001 - hostile files fail in every way there is
        reason = short(str(error).strip().split("\n")[0], 200)
        files.fault(
            field_,
            f"{name} is not a checkpoint that can be read safely ({type(error).__name__}: {reason}). A pickle of "
            "anything but tensors may run code and is not read. Where you trust it, save its tensors as safetensors "
            "once: safetensors.torch.save_file(model.state_dict(), 'model.safetensors').",
        )
        return None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        files.fault(field_, f"{name} changed while it was read. Load the judge again.")
        return None
    if isinstance(content, dict) and isinstance(content.get("state_dict"), dict):
        content = content["state_dict"]
    if (
        not isinstance(content, dict)
        or not content
        or not all(torch.is_tensor(entry) for entry in content.values())
    ):
        files.fault(field_, f"{name} holds no tensors by name, as model.state_dict() gives them.")
        return None
    return {str(key).removeprefix("module."): tensor for key, tensor in content.items()}


def head_of(torch: Library, files: CardFiles, content: Mapping[str, Any]) -> LayersHead | None:
    """Read a head of linear layers from .npz, safetensors or a checkpoint, or note why not."""
    field, name = "head.weights", str(content["weights"])
    if name.endswith(".npz"):
        arrays: Mapping[str, Any] | None = files.arrays(field, name, ("weight", "bias"))
    else:
        path = files.place(field, name)
        state = None if path is None else state_of(torch, files, field, path)
        arrays = state and {key: tensor.to(torch.float64).numpy() for key, tensor in state.items()}
    if arrays is None:
        return None
    head, wrong = layers_of(
        arrays, normalise=content["normalise"], activation=content.get("activation", "none")
    )
    if wrong:
        files.fault(field, f"{name}: {wrong}")
    elif head is not None and content["kind"] == "linear" and len(head.layers) > 1:
        files.fault(
            "head.kind",
            f"{name} holds {len(head.layers)} layers. For example: head: "
            '{"kind": "mlp", "weights": "head.safetensors", "normalise": true, "activation": "none"}.',
        )
    return head


def numbers(tensor: Model) -> NDArray[np.float64]:
    """Bring a tensor to numpy, in double precision."""
    values: NDArray[np.float64] = tensor.detach().to("cpu").double().numpy()
    return values
