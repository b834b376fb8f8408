"""A judge that compares a picture's embedding with its prompt's, or reads it with a head; whatever computes them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.protocol import Reply, Stimulus
from judge_audit.judges.reply_parser import short
from judge_audit.judges.runtimes.preprocessing import MOST_PIXELS
from judge_audit.judges.runtimes.pytorch_runtime import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles
    from judge_audit.judges.runtimes.heads import LayersHead
    from judge_audit.judges.runtimes.model_folders import ModelFolder
    from judge_audit.judges.runtimes.pytorch_runtime import Library, Model

MOST_TEXTS = 4096
"""Embeddings of prompts that are kept: each prompt is shown with many variants of its picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """A model with a tower for pictures and, it may be, one for texts.

    Attributes:
        torch: The module.
        prepare: Prepares one picture (8-bit sRGB, shape (height, width, 3)) as a tensor.
        see: Embeds a batch of prepared pictures.
        read: Embeds one prompt by itself, as a batch of one, and counts its tokens; None where it reads none.
        most: Tokens that it reads at most.
        device: Where it runs.
        dtype: Type of its numbers.
        factor: What it multiplies a cosine by; 1 where it has no such thing.
        offset: What it adds to that.
    """

    torch: Library
    prepare: Callable[[NDArray[np.uint8]], Model]
    see: Callable[[Model], Model]
    read: Callable[[str], tuple[Model, int]] | None
    most: int
    device: str
    dtype: Model
    factor: float = 1.0
    offset: float = 0.0

    def pictures(self, prepared: Sequence[Model]) -> NDArray[np.float64]:
        """Embed prepared pictures in one run, shape (pictures, width)."""
        with self.torch.inference_mode():
            return numbers(self.see(self.torch.stack(list(prepared)).to(self.device, self.dtype)))

    def text(self, prompt: str) -> tuple[NDArray[np.float64], str]:
        """Embed one prompt, shape (width,), and say what of it was cut off, or nothing."""
        assert self.read is not None
        with self.torch.inference_mode():
            embedding, tokens = self.read(prompt)
            return numbers(embedding)[0], cut_note(tokens, self.most)


@dataclass(frozen=True, slots=True)
class EmbeddingJudge:
    """The judge; pictures are prepared side by side, and the model answers one batch at a time.

    Attributes:
        card: Its card.
        encoder: The model.
        head: What makes scores of a picture's embedding; None for the cosine to the prompt's.
        short_side: Pixels that a shorter side is resized to, None where both sides have a size.
    """

    card: Card
    encoder: Encoder
    head: LayersHead | None
    short_side: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Score each picture; one that cannot be shown fails alone."""
        replies: dict[int, Reply] = {}
        shown: dict[tuple[int, ...], list[tuple[int, Any]]] = {}
        for at, stimulus in enumerate(stimuli):
            if reason := too_long(stimulus, self.short_side):
                replies[at] = Reply(state=State.FAILED, raw=reason)
                continue
            prepared = self.encoder.prepare(stimulus.image)
            shown.setdefault(tuple(prepared.shape), []).append((at, prepared))
        for entries in shown.values():
            for start in range(0, len(entries), self.card.batch_size):
                chosen = entries[start : start + self.card.batch_size]
                with self._lock:
                    embeddings = self.encoder.pictures([prepared for _, prepared in chosen])
                    for (at, _), embedding in zip(chosen, embeddings, strict=True):
                        replies[at] = self._reply(embedding, stimuli[at].prompt)
        return [replies[at] for at in range(len(stimuli))]

    def _reply(self, embedding: NDArray[np.float64], prompt: str) -> Reply:
        if self.head is not None:
            if len(embedding) != self.head.width:
                raise UsageError(
                    f"judge “{self.card.name}”: the model gives {len(embedding)} numbers per picture and the head "
                    f"takes {self.head.width}; it belongs to another model."
                )
            values = self.head.score(embedding, prompt)
            return Reply(dict(zip(self.card.dimensions, (float(value) for value in values), strict=True)))
        text, cut = self.encoder.text(prompt)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(text @ embedding / (np.linalg.norm(text) * np.linalg.norm(embedding)))
        if is_scaled(self.card):
            value = value * self.encoder.factor + self.encoder.offset
        return Reply({self.card.dimensions[0]: value}, raw=cut)


def is_scaled(card: Card) -> bool:
    """Tell whether the cosine is multiplied and shifted as the model does."""
    return bool(card.settings.get("scaled", True))


def checked(judge: EmbeddingJudge, files: CardFiles, *folders: ModelFolder) -> EmbeddingJudge:
    """Give a judge that fits together and whose folders are still what was digested.

    Raises:
        InputError: If it does not, or they are not.
    """
    _check(judge, files)
    for folder in folders:
        folder.check_unchanged(files)
    files.raise_faults()
    return judge


def answer_identity(card: Card, files: CardFiles, tokenizer: str, most: int | None) -> dict[str, Any]:
    """Give what makes the answer of an embedding: the head, or how the cosine is taken and its prompt is read."""
    if head := card.settings.get("head"):
        return {"head": {"activation": "none", **head, "weights": files.digests["head.weights"]}}
    return {"scaled": is_scaled(card), "most_tokens": most, "tokenizer": tokenizer}


def _check(judge: EmbeddingJudge, files: CardFiles) -> None:
    """Note what of a judge does not fit together, by showing it one grey picture."""
    head, dimensions = judge.head, judge.card.dimensions
    scores = head.scores if head else 1
    if scores != len(dimensions):
        files.fault(
            "dimensions", f"there are {scores} scores per picture and {len(dimensions)} dimensions are named."
        )
    if head is None and judge.encoder.read is None:
        files.fault(
            "head",
            "the model reads no text, so its embedding needs a head. For example: head: "
            '{"kind": "mlp", "weights": "head.safetensors", "normalise": true, "activation": "none"}.',
        )
        return
    try:
        prepared = judge.encoder.prepare(np.full((64, 64, 3), 128, np.uint8))
        width = judge.encoder.pictures([prepared]).shape[1]
        words = width if head is not None else len(judge.encoder.text("a")[0])
    except Exception as error:  # noqa: BLE001 - whatever a model says of what it was not made for
        reason = short(str(error), 300)
        files.fault("model", f"it cannot be shown a picture so prepared ({type(error).__name__}: {reason}).")
        return
    if head is not None and head.width != width:
        files.fault("head", f"the model gives {width} numbers per picture and the head takes {head.width}.")
    elif words != width:
        files.fault("model", f"its pictures have {width} numbers and its texts {words}.")


def too_long(stimulus: Stimulus, short_side: int | None) -> str:
    """Say that a picture is a strip that would become a giant, or nothing.

    Args:
        stimulus: What is to be shown.
        short_side: Pixels that the shorter side is resized to, None where both sides have a size.
    """
    height, width = stimulus.image.shape[:2]
    short, long = min(height, width), max(height, width)
    if short_side and short_side**2 * long > MOST_PIXELS * short:
        return f"{height} × {width} pixels would be resized to more than {MOST_PIXELS:,}"
    return ""


def cut_note(tokens: int, most: int) -> str:
    """Say that a prompt was longer than the model reads, or nothing."""
    return f"the prompt was cut at {most} of {tokens} tokens" if tokens > most else ""
