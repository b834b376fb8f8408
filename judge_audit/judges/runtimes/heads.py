"""What makes a score of an embedding: linear layers, the cosine to a stored text, or nothing.

Each row is computed by itself in double precision, so a head never adds a dependence on the batch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from judge_audit.judges.cards.card_files import CardFiles


class Head:
    """Makes scores of one picture's embedding; this one takes the output for the score itself."""

    __slots__ = ()

    @property
    def width(self) -> int | None:
        """Numbers per embedding it takes, None for any."""
        return None

    @property
    def scores(self) -> int | None:
        """Scores it gives, None for one per number of the embedding."""
        return None

    def missing(self, prompt: str) -> str:  # noqa: ARG002 - it takes any
        """Say why it cannot answer for a prompt, or nothing."""
        return ""

    def score(self, embedding: NDArray[np.float64], prompt: str) -> NDArray[np.float64]:  # noqa: ARG002
        """Give the scores of an embedding, shape (scores,)."""
        return embedding


@dataclass(frozen=True, slots=True)
class LinearHead(Head):
    """W·e + b, or W·(e/|e|) + b.

    Attributes:
        weight: Shape (scores, width).
        bias: Shape (scores,).
        normalise: Whether the embedding is brought to length 1 first.
    """

    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    normalise: bool

    @property
    def width(self) -> int:
        """Numbers per embedding."""
        return int(self.weight.shape[1])

    @property
    def scores(self) -> int:
        """Rows of the weight."""
        return int(self.weight.shape[0])

    def score(self, embedding: NDArray[np.float64], prompt: str) -> NDArray[np.float64]:  # noqa: ARG002
        """Apply weight and bias."""
        shown = _unit(embedding) if self.normalise else embedding
        scores: NDArray[np.float64] = self.weight @ shown + self.bias
        return scores


@dataclass(frozen=True, slots=True)
class LayersHead(Head):
    """Linear layers one after another, as a multilayer perceptron is stored.

    Attributes:
        layers: The layers in order; only the first may bring the embedding to length 1.
        activation: What stands between them: `none` (as in LAION's second aesthetic predictor), `relu` or `gelu`.
    """

    layers: tuple[LinearHead, ...]
    activation: str

    @property
    def width(self) -> int:
        """Numbers per embedding."""
        return self.layers[0].width

    @property
    def scores(self) -> int:
        """Rows of the last layer."""
        return self.layers[-1].scores

    def score(self, embedding: NDArray[np.float64], prompt: str) -> NDArray[np.float64]:
        """Apply the layers."""
        shown = embedding
        for at, layer in enumerate(self.layers):
            shown = layer.score(_activated(shown, self.activation) if at else shown, prompt)
        return shown


@dataclass(frozen=True, slots=True)
class TextHead(Head):
    """logit_scale · cos(embedding, stored text of the prompt).

    Attributes:
        texts: Stored embeddings of length 1, shape (texts, width).
        rows: Row of each prompt, both bare and within the template.
        logit_scale: Factor.
    """

    texts: NDArray[np.float64]
    rows: Mapping[str, int]
    logit_scale: float

    @property
    def width(self) -> int:
        """Numbers per embedding."""
        return int(self.texts.shape[1])

    @property
    def scores(self) -> int:
        """One."""
        return 1

    def missing(self, prompt: str) -> str:
        """Say that a prompt has no stored text."""
        shown = prompt if len(prompt) <= 200 else prompt[:200] + "…"
        return "" if plain(prompt) in self.rows else f"no stored text for the prompt “{shown}”"

    def score(self, embedding: NDArray[np.float64], prompt: str) -> NDArray[np.float64]:
        """Give the cosine times the factor."""
        return self.logit_scale * np.array([self.texts[self.rows[plain(prompt)]] @ _unit(embedding)])


def plain(text: str) -> str:
    """Bring white space to single blanks; letters stay as they are."""
    return " ".join(text.split())


def head_of(content: Mapping[str, Any], files: CardFiles) -> Head | None:
    """Read a card's head; what is wrong is noted in `files`, and then there is none."""
    if content["kind"] == "linear":
        return _linear(content, files)
    return _text(content, files) if content["kind"] == "text" else Head()


def _linear(content: Mapping[str, Any], files: CardFiles) -> LinearHead | None:
    field = "head.weights"
    arrays = files.arrays(field, content["weights"], ("weight", "bias"))
    if arrays is None:
        return None
    weight = arrays.get("weight")
    if weight is None or weight.ndim not in {1, 2} or not weight.size:
        files.fault(field, "the .npz must hold `weight`, scores × embedding (or one row of it).")
        return None
    weight = np.atleast_2d(weight).astype(np.float64)
    bias = np.atleast_1d(arrays.get("bias", np.zeros(len(weight)))).astype(np.float64).reshape(-1)
    if len(bias) != len(weight):
        files.fault(
            field, f"`bias` has {len(bias)} numbers and `weight` {len(weight)} rows; they go together."
        )
        return None
    return LinearHead(weight, bias, content["normalise"])


def layers_of(
    arrays: Mapping[str, NDArray[Any]], *, normalise: bool, activation: str
) -> tuple[LayersHead | None, str]:
    """Make a head of stored layers: `weight` and `bias`, or `layers.0.weight`, `layers.0.bias` and so on.

    Args:
        arrays: As a state dictionary holds them; the layers follow one another by the numbers in their names.
        normalise: Whether the embedding is brought to length 1 first.
        activation: What stands between the layers: none, relu or gelu.

    Returns:
        The head, and what is wrong if there is none.
    """
    names = sorted((name for name in arrays if name.split(".")[-1] == "weight"), key=_by_number)
    strangers = sorted(set(arrays) - {*names, *(_bias(name) for name in names)})
    if strangers or not names:
        shown = ", ".join((strangers or sorted(arrays))[:5])
        return None, f"only linear layers (weight and bias) make a head; there is {shown or 'nothing'}."
    layers: list[LinearHead] = []
    for name in names:
        weight = np.atleast_2d(np.asarray(arrays[name], np.float64))
        bias = np.asarray(arrays.get(_bias(name), np.zeros(len(weight))), np.float64).reshape(-1)
        if weight.ndim != 2 or not weight.size or len(bias) != len(weight):
            return None, f"{name} has the shape {arrays[name].shape} and its bias {bias.shape}."
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            return None, f"{name} holds numbers that are not finite."
        if layers and layers[-1].scores != weight.shape[1]:
            return (
                None,
                f"{name} takes {weight.shape[1]} numbers and the layer before gives {layers[-1].scores}.",
            )
        layers.append(LinearHead(weight, bias, normalise and not layers))
    return LayersHead(tuple(layers), activation), ""


def _bias(name: str) -> str:
    return name.removesuffix("weight") + "bias"


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sort `layers.10` behind `layers.9`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _activated(numbers: NDArray[np.float64], activation: str) -> NDArray[np.float64]:
    if activation == "relu":
        return np.maximum(numbers, 0.0)
    if activation == "gelu":
        from scipy.special import ndtr  # noqa: PLC0415 - heavy, and few heads have it

        activated: NDArray[np.float64] = numbers * ndtr(numbers)
        return activated
    return numbers


def _text(content: Mapping[str, Any], files: CardFiles) -> TextHead | None:
    texts = files.array("head.embeddings", content["embeddings"])
    prompts = files.texts("head.prompts", content["prompts"])
    if texts is not None and (texts.ndim != 2 or not texts.size or not texts.any(axis=1).all()):
        files.fault("head.embeddings", "the .npy must be texts × embedding, and no text all zero.")
        return None
    if texts is None or prompts is None:
        return None
    if len(texts) != len(prompts):
        files.fault(
            "head.prompts", f"{len(prompts)} texts for {len(texts)} embeddings; there must be one for each."
        )
        return None
    rows, twice = _rows([plain(text) for text in prompts], content.get("template", "{}"))
    if twice:
        files.fault("head.prompts", f"“{twice}” stands twice.")
        return None
    length = np.stack([_unit(row) for row in texts.astype(np.float64)])
    return TextHead(length, rows, float(content.get("logit_scale", 1.0)))


def _rows(prompts: Sequence[str], template: str) -> tuple[dict[str, int], str]:
    """Give each prompt's row, bare and within the template, and the first that stands twice."""
    rows: dict[str, int] = {}
    for row, text in enumerate(prompts):
        for known in {text, plain(template.replace("{}", text))}:
            if known in rows:
                return rows, known
            rows[known] = row
    return rows, ""


def _unit(embedding: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring to length 1; an embedding of zeros has no direction and gives what is not a number."""
    with np.errstate(invalid="ignore", divide="ignore"):
        unit: NDArray[np.float64] = embedding / np.linalg.norm(embedding)
    return unit
