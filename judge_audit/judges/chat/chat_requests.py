"""What is sent to a chat endpoint: the picture as a lossless PNG, the prompt within its template, and how to answer."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judge_audit.judges.pairwise.chat_judges import ShownPair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from judge_audit.judges.protocol import Stimulus


Answer = Literal["text", "json", "expected", "yes_probability"]
Place = Literal["before", "after"]

TOP_TOKENS = 20
"""Alternatives asked for at each token: the most that the protocol allows."""

CHOICES = ("A", "B", "tie")
"""What a JSON answer to a pair may hold."""

SLOT = "{prompt}"
"""Where the item's prompt goes in a template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """How one judge is asked.

    Attributes:
        model: The model's name at the endpoint.
        template: Text with `{prompt}` where the item's prompt goes.
        system: The system prompt, empty for none.
        answer: text (read by the parser), json (a JSON schema is demanded), expected (expectation over score
            tokens) or yes_probability (of Yes).
        dimensions: Sub-scores that a JSON answer must hold.
        whole: Whether scores are whole numbers.
        place: Whether the picture comes before or after the text.
        most_side: Longest side in pixels that is sent; longer pictures are brought to it, None for any.
        interpolation: Filter of that resize.
        detail: The protocol's `detail`, empty to leave it out.
        decoding: Further fields of the request, such as temperature.
        compares: Whether two pictures are shown, of which one is to be chosen.
        labels: Texts that stand before the first and the second of them; empty for none.
    """

    model: str
    template: str
    system: str = ""
    answer: Answer = "text"
    dimensions: tuple[str, ...] = ()
    whole: bool = False
    place: Place = "before"
    most_side: int | None = None
    interpolation: str = "lanczos"
    detail: str = ""
    decoding: Mapping[str, Any] = field(default_factory=dict)
    compares: bool = False
    labels: tuple[str, ...] = ()

    def text(self, prompt: str) -> str:
        """Put a prompt into the template; braces elsewhere mean nothing."""
        return self.template.replace(SLOT, prompt)

    def size(self, height: int, width: int) -> tuple[int, int]:
        """Give the height and width that are sent of a picture."""
        longest = max(height, width)
        if self.most_side is None or longest <= self.most_side:
            return height, width
        part = self.most_side / longest
        return max(1, round(height * part)), max(1, round(width * part))

    def picture(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Give the pixels that are sent: the very ones, or made smaller.

        Args:
            image: 8-bit sRGB, shape (height, width, 3).
        """
        height, width = self.size(*image.shape[:2])
        if (height, width) == image.shape[:2]:
            return image
        from PIL import Image  # noqa: PLC0415 - only where a picture is made smaller

        filters = {"lanczos": Image.Resampling.LANCZOS, "bicubic": Image.Resampling.BICUBIC}
        filters["bilinear"] = Image.Resampling.BILINEAR
        smaller = Image.fromarray(image).resize((width, height), filters[self.interpolation])
        return np.asarray(smaller)

    def fields(self, stimulus: Stimulus) -> dict[str, Any]:
        """Make the fields of one request."""
        parts = self._pictures(stimulus)
        parts.insert(
            len(parts) if self.place == "before" else 0, {"type": "text", "text": self.text(stimulus.prompt)}
        )
        messages: list[dict[str, Any]] = [{"role": "user", "content": parts}]
        if self.system:
            messages.insert(0, {"role": "system", "content": self.system})
        return {"model": self.model, "messages": messages, **self.decoding, **self._form()}

    def _pictures(self, stimulus: Stimulus) -> list[dict[str, Any]]:
        """Give what is shown: one picture, or both of a pair, each after its label."""
        if not isinstance(stimulus, ShownPair):
            return [self._picture_part(stimulus.image)]
        shown = [self._picture_part(image) for image in (stimulus.image, stimulus.second)]
        if not self.labels:
            return shown
        labels = [{"type": "text", "text": label} for label in self.labels]
        return [part for pair in zip(labels, shown, strict=True) for part in pair]

    def _picture_part(self, image: NDArray[np.uint8]) -> dict[str, Any]:
        url = {"url": data_url(self.picture(image))}
        if self.detail:
            url["detail"] = self.detail
        return {"type": "image_url", "image_url": url}

    def _form(self) -> dict[str, Any]:
        """Say in which form the answer is to come."""
        if self.answer == "json":
            return {"response_format": {"type": "json_schema", "json_schema": self._schema()}}
        if self.answer in {"expected", "yes_probability"}:
            return {"logprobs": True, "top_logprobs": TOP_TOKENS}
        return {}

    def _schema(self) -> dict[str, Any]:
        """Demand one number per sub-score, or a choice, and nothing else."""
        number = {"type": "integer" if self.whole else "number"}
        parts: dict[str, Any] = dict.fromkeys(self.dimensions, number)
        if self.compares:
            parts = {"choice": {"type": "string", "enum": list(CHOICES)}}
        schema = {
            "type": "object",
            "properties": parts,
            "required": list(parts),
            "additionalProperties": False,
        }
        return {"name": "choice" if self.compares else "scores", "strict": True, "schema": schema}

    def identity(self) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Give what makes the judge the judge: template, preprocessing and decoding."""
        shown: dict[str, Any] = {"format": "png", "detail": self.detail}
        if self.most_side is not None:
            shown |= {"most_side": self.most_side, "interpolation": self.interpolation, "backend": "pillow"}
        if self.compares:
            shown["labels"] = list(self.labels)
        fields = {"system": self.system, "picture": self.place, "fields": dict(self.decoding), **self._form()}
        return self.template, shown, {"answer": self.answer, **fields}


def png(image: NDArray[np.uint8]) -> bytes:
    """Write pixels as a PNG that decodes to the same pixels.

    Args:
        image: 8-bit sRGB, shape (height, width, 3).
    """
    from PIL import Image  # noqa: PLC0415 - a tenth of a second that reading a card need not pay

    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def data_url(image: NDArray[np.uint8]) -> str:
    """Write pixels as the data URL of a lossless PNG."""
    return "data:image/png;base64," + base64.b64encode(png(image)).decode("ascii")


def characters(request: ChatRequest, prompt: str, words: Sequence[str] = ()) -> int:
    """Count the characters of text that one request sends."""
    return len(request.text(prompt)) + len(request.system) + sum(map(len, words))
