"""A judge that compares a picture's embedding with its prompt's, or reads it with a head; whatever computes them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.chat.chat_replies import short
from judge_audit.judges.protocol import Reply, Stimulus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles
    from judge_audit.judges.runtimes.heads import LayersHead

MOST_PIXELS = 64_000_000
"""A picture resized beyond this is not shown: a strip 1 × 30,000 brought to a shorter side of 224."""

MOST_TEXTS = 4096
"""Embeddings of prompts that are kept: each prompt is shown with many variants of its picture."""


class Encoder(Protocol):
    """A model with a tower for pictures and, it may be, one for texts."""

    @property
    def factor(self) -> float:
        """What the model multiplies a cosine by; 1 where it has no such thing."""
        ...

    @property
    def offset(self) -> float:
        """What the model adds to that."""
        ...

    def prepare(self, image: NDArray[np.uint8]) -> Any:  # noqa: ANN401 - a tensor of its library
        """Prepare one picture, shape (height, width, 3), 8-bit sRGB."""
        ...

    def pictures(self, prepared: Sequence[Any]) -> NDArray[np.float64]:
        """Embed prepared pictures in one run, shape (pictures, width)."""
        ...

    def text(self, prompt: str) -> tuple[NDArray[np.float64], str]:
        """Embed one prompt, shape (width,), and say what of it was cut off, or nothing."""
        ...


@dataclass(slots=True)
class _Texts:
    """Embeddings of prompts; each is computed by itself, so that none depends on its company."""

    held: OrderedDict[str, tuple[NDArray[np.float64], str]] = field(default_factory=OrderedDict)

    def of(self, encoder: Encoder, prompt: str) -> tuple[NDArray[np.float64], str]:
        """Give the embedding of a prompt."""
        if prompt not in self.held:
            self.held[prompt] = encoder.text(prompt)
            if len(self.held) > MOST_TEXTS:
                self.held.popitem(last=False)
        return self.held[prompt]


@dataclass(frozen=True, slots=True)
class EmbeddingJudge:
    """The judge; pictures are prepared side by side, and the model answers one batch at a time.

    Attributes:
        card: Its card.
        encoder: The model.
        head: What makes scores of a picture's embedding; None for the cosine to the prompt's.
        scaled: Whether the cosine is multiplied and shifted as the model does.
        short_side: Pixels that a shorter side is resized to, None where both sides have a size.
    """

    card: Card
    encoder: Encoder
    head: LayersHead | None
    scaled: bool
    short_side: int | None = None
    _texts: _Texts = field(default_factory=_Texts, repr=False)
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
        text, cut = self._texts.of(self.encoder, prompt)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(text @ embedding / (np.linalg.norm(text) * np.linalg.norm(embedding)))
        if self.scaled:
            value = value * self.encoder.factor + self.encoder.offset
        return Reply({self.card.dimensions[0]: value}, raw=cut)


def check(judge: EmbeddingJudge, files: CardFiles, *, reads: bool) -> None:
    """Note what of a judge does not fit together, by showing it one grey picture.

    Args:
        judge: The judge.
        files: Where faults are noted.
        reads: Whether the model has a tower for texts.
    """
    head, dimensions = judge.head, judge.card.dimensions
    given = head.scores if head else 1
    if given != len(dimensions):
        files.fault(
            "dimensions", f"there are {given} scores per picture and {len(dimensions)} dimensions are named."
        )
    if head is None and not reads:
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
