"""Whether what a model takes and gives fits the card: told before a picture is bought."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles
    from judge_audit.judges.runtimes.heads import Head
    from judge_audit.judges.runtimes.preprocessing import Preprocessing

TYPES = {"float32": "tensor(float)", "float16": "tensor(float16)", "uint8": "tensor(uint8)"}
REAL = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
PREFERRED_OUTPUT = "image_embeds"


def input_of(session: Any, card: Card, preprocessing: Preprocessing, files: CardFiles) -> str:  # noqa: ANN401
    """Check the model's one input against the preprocessing."""
    inputs = session.get_inputs()
    names = ", ".join(entry.name for entry in inputs)
    wanted = card.settings.get("input")
    if len(inputs) != 1:
        files.fault(
            "model",
            f"it wants {len(inputs)} inputs ({names}); only a model of one, the picture, can be asked.",
        )
        return ""
    entry = inputs[0]
    if wanted not in {None, entry.name}:
        files.fault("input", f"there is no input {wanted}; the model has {names}.")
    if entry.type != TYPES[preprocessing.dtype]:
        files.fault(
            "preprocessing.dtype", f"{preprocessing.dtype} was said, and the model takes {entry.type}."
        )
    height, width = preprocessing.shape or (None, None)
    given = (None, 3, height, width) if preprocessing.layout == "NCHW" else (None, height, width, 3)
    sizes = fixed(entry.shape) or [None] * 4
    told = " × ".join(str(side) for side in entry.shape)
    if len(sizes) != 4 or any(
        size and side and size != side for size, side in zip(sizes, given, strict=True)
    ):
        files.fault("preprocessing", f"it makes {_told(given)}, and the model takes {told}.")
    elif any(size and not side for size, side in zip(sizes[1:], given[1:], strict=True)):
        files.fault(
            "preprocessing",
            f"pictures keep different sizes, and the model takes {told}; crop, squash or pad.",
        )
    return str(entry.name)


def outputs_of(session: Any, card: Card, head: Head | None, files: CardFiles) -> tuple[str, ...]:  # noqa: ANN401
    """Choose the outputs and check them against head and dimensions, as far as the model foretells shapes."""
    known = {entry.name: entry for entry in session.get_outputs()}
    wanted = card.settings.get("output", PREFERRED_OUTPUT if PREFERRED_OUTPUT in known else list(known))
    chosen = [wanted] if isinstance(wanted, str) else list(wanted)
    if strangers := [name for name in chosen if name not in known]:
        files.fault("output", f"there is no output {', '.join(strangers)}; the model has {', '.join(known)}.")
        return ()
    if "output" not in card.settings and len(chosen) != 1:
        files.fault("output", f"the model has {', '.join(known)}; name the one to read.")
        return ()
    for name in chosen:
        if known[name].type not in REAL:
            files.fault("output", f"{name} holds {known[name].type} and not real numbers.")
    widths = [_width(known[name].shape) for name in chosen]
    width = None if None in widths else sum(size for size in widths if size)
    if head is not None and (problem := misfit(head, width, len(card.dimensions))):
        files.fault(*problem)
    return tuple(chosen)


def _width(shape: Sequence[Any]) -> int | None:
    """Give the numbers per picture that a model foretells of an output, None where it does not."""
    sizes = fixed(shape)[1:]
    known = [size for size in sizes if size is not None]
    return math.prod(known) if shape and len(known) == len(sizes) else None


def misfit(head: Head, width: int | None, dimensions: int) -> tuple[str, str] | None:
    """Say which field does not fit the model's output, and why; an output of unknown width may still fit."""
    if None not in {head.width, width} and head.width != width:
        return "head", f"the model gives {width} numbers per picture and the head takes {head.width}."
    scores = head.scores or width
    if scores not in {None, dimensions}:
        return "dimensions", f"there are {scores} scores per picture and {dimensions} dimensions are named."
    return None


def fixed(shape: Sequence[Any]) -> list[int | None]:
    """Give the sizes a model fixes; names and what is unknown stand as None."""
    return [size if isinstance(size, int) and size > 0 else None for size in shape]


def _told(shape: Sequence[int | None]) -> str:
    return " × ".join("any" if size is None else str(size) for size in shape)
