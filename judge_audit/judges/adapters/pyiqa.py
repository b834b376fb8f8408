"""A no-reference quality metric of pyiqa, where you have installed it: its licence is non-commercial.

pyiqa is never installed with this package. It fetches weights by itself and reads some of them as pickles, which may
run code: that is between you and it.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.core.digests import file_digest, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.cards.redaction import secrets_around
from judge_audit.judges.protocol import Judge, Reply, Stimulus
from judge_audit.judges.reply_parser import short
from judge_audit.judges.runtimes.pytorch_runtime import (
    OneByOneJudge,
    device_of,
    numbers,
    runtime_of,
    torch_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.runtimes.pytorch_runtime import Library, Model

KIND = "pyiqa"
PACKAGES = ("torch", "pyiqa")
INSTALL = "pip install pyiqa"
"""No extra of ours: its licence does not allow commercial use."""

LICENCE = "pyiqa: PolyForm Noncommercial 1.0.0 (no commercial use); weights by their authors' own licences"


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the metric a card names.

    Raises:
        InputError: With everything that is wrong with the card.
        UsageError: If pyiqa is not installed.
    """
    torch = torch_of(card, "transformers")
    library = _library(card)
    files = CardFiles(card, project)
    none = ("target", "preprocessing", "decoding", "prompt_template", "weights")
    files.refuse(card, none, "the metric brings its own.")
    if len(card.dimensions) != 1:
        files.fault("dimensions", "a metric gives one number; name one dimension.")
    device = device_of(torch, card, files)
    metric = _metric(library, card.settings["metric"], device, files)
    files.raise_faults()
    decoding = {"metric": card.settings["metric"], "pyiqa": library.__version__}
    identified = replace(
        card,
        weights=_digest(metric),
        pinned=True,
        preprocessing={"scale": "1/255", "size": "own", "dtype": "float32"},
        decoding=decoding,
        higher_is_better=card.higher_is_better and not metric.lower_better,
        licence=card.licence or LICENCE,
        runtime=runtime_of(torch, device, pyiqa=library.__version__),
    )

    def reply(stimulus: Stimulus) -> Reply:
        """Show one picture in its own size."""
        planes = np.ascontiguousarray(stimulus.image.transpose(2, 0, 1), np.float32) / 255
        answer = metric(torch.from_numpy(planes)[None].to(device))
        return Reply({card.dimensions[0]: float(numbers(answer).reshape(-1)[0])})

    return OneByOneJudge(identified, torch, reply)


def _library(card: Card) -> Library:
    try:
        import pyiqa  # noqa: PLC0415 - never a dependency, imported when such a judge is used
    except (ImportError, OSError, RuntimeError) as error:
        reason = short(str(error).strip().split("\n")[0], 200)
        raise UsageError(
            f"judge “{card.name}”: a judge of kind pyiqa needs pyiqa ({reason}). Its licence allows no commercial use "
            "(PolyForm Noncommercial 1.0.0), so it is no part of this package; if that suits you: pip install pyiqa"
        ) from error
    return pyiqa


def _metric(library: Library, name: str, device: str, files: CardFiles) -> Model:
    """Load a metric that needs a picture and nothing else, or note why not."""
    known = library.list_models(metric_mode="NR")
    if name not in known:
        near = get_close_matches(name, known, 1) or ["niqe"]
        files.fault(
            "metric",
            f"pyiqa {library.__version__} has no metric {name} that needs the picture alone. For example: "
            f"metric: {near[0]}.",
        )
        return None
    try:
        return library.create_metric(name, device=device, as_loss=False)
    except Exception as error:  # noqa: BLE001 - downloads and loading fail in every way there is
        reason = secrets_around().clean(short(" ".join(str(error).split()), 300))
        files.fault(
            "metric",
            f"pyiqa cannot load {name} ({type(error).__name__}: {reason}). It fetches weights by itself; without a "
            "network put them into its cache first.",
        )
        return None


def _digest(metric: Model) -> str:
    """Digest the tensors of a metric by name."""
    words = []
    for name, tensor in sorted(metric.state_dict().items()):
        values = tensor.detach().cpu().contiguous()
        words += [name, str(values.dtype), str(tuple(values.shape)), file_digest(values.numpy().tobytes())]
    return "sha256:" + text_digest(*words)
