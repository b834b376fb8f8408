"""An image encoder in an ONNX file, with a linear head, stored texts or neither, described by a card.

A model is data: ONNX Runtime computes its graph and runs none of its own code, and custom operators are not
loaded. The model is read by us and handed over as bytes, so what is digested is what is computed with.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.cards.card_files import MIB, CardFiles
from judge_audit.judges.protocol import Judge, Reply, Stimulus
from judge_audit.judges.runtimes.heads import Head, head_of
from judge_audit.judges.runtimes.preprocessing import Preprocessing, preprocessing_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card

KIND = "onnx"
EXTRA = "onnx"
PACKAGES = ("onnxruntime",)

MOST_MODEL_BYTES = 2048 * MIB
"""What one ONNX file can hold; more lies in `external` files."""

MOST_EXTERNAL_BYTES = 65_536 * MIB
DEFAULT_PROVIDERS = ("CPUExecutionProvider",)
TYPES = {"float32": "tensor(float)", "float16": "tensor(float16)", "uint8": "tensor(uint8)"}
REAL = frozenset({"tensor(float)", "tensor(float16)", "tensor(double)"})
PREFERRED_OUTPUT = "image_embeds"


@dataclass(frozen=True, slots=True)
class OnnxJudge:
    """The judge; a session may be asked from several threads.

    Attributes:
        card: Its card.
        session: ONNX Runtime's session.
        input: Name of the model's input.
        outputs: Names of the outputs that are read.
        batch: Pictures the model takes at a time, None for any number.
        preprocessing: What happens to pixels.
        head: What makes a score of the output.
    """

    card: Card
    session: Any
    input: str
    outputs: tuple[str, ...]
    batch: int | None
    preprocessing: Preprocessing
    head: Head

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Score each picture; one without a stored text is refused, one that cannot be shown fails."""
        replies = [self._turned_away(entry) for entry in stimuli]
        waiting = [at for at, reply in enumerate(replies) if reply is None]
        size = self.batch or self.card.batch_size
        for start in range(0, len(waiting), size):
            chosen = waiting[start : start + size]
            answers = self._answer([stimuli[at] for at in chosen])
            for at, answer in zip(chosen, answers, strict=True):
                replies[at] = answer
        return [reply for reply in replies if reply is not None]

    def knows(self, prompt: str) -> bool:
        """Say whether it can answer for a prompt; with stored texts it knows no others."""
        return not self.head.missing(prompt)

    def _turned_away(self, stimulus: Stimulus) -> Reply | None:
        if reason := self.head.missing(stimulus.prompt):
            return Reply(state=State.REFUSED, raw=reason)
        if reason := self.preprocessing.problem(*stimulus.image.shape[:2]):
            return Reply(state=State.FAILED, raw=reason)
        return None

    def _answer(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Run one batch; pictures that end up in different sizes are run apart."""
        shown = [self.preprocessing.prepare(entry.image) for entry in stimuli]
        sizes: dict[tuple[int, ...], list[int]] = {}
        for at, entry in enumerate(shown):
            sizes.setdefault(entry.shape, []).append(at)
        reply_at: dict[int, Reply] = {}
        for places in sizes.values():
            embeddings = self._run(np.stack([shown[at] for at in places]))
            self._hold_to(embeddings.shape[1])
            for at, embedding in zip(places, embeddings, strict=True):
                scores = map(float, self.head.score(embedding, stimuli[at].prompt))
                reply_at[at] = Reply(dict(zip(self.card.dimensions, scores, strict=True)))
        return [reply_at[at] for at in range(len(stimuli))]

    def _run(self, pictures: NDArray[Any]) -> NDArray[np.float64]:
        """Run the model; a fixed batch is filled up with the last picture.

        Returns:
            Shape (pictures, numbers), the outputs side by side.
        """
        count = len(pictures)
        if self.batch and count < self.batch:
            filling = np.repeat(pictures[-1:], self.batch - count, axis=0)
            pictures = np.concatenate([pictures, filling])
        answers = self.session.run(list(self.outputs), {self.input: pictures})
        columns = []
        for name, answer in zip(self.outputs, answers, strict=True):
            numbers = np.asarray(answer, np.float64)
            if numbers.ndim == 0 or len(numbers) != len(pictures):
                raise UsageError(
                    f"judge “{self.card.name}”: output {name} has the shape {numbers.shape} for "
                    f"{len(pictures)} pictures; it must have one row per picture."
                )
            columns.append(numbers.reshape(len(numbers), -1)[:count])
        return np.concatenate(columns, axis=1)

    def _hold_to(self, width: int) -> None:
        """Refuse an output that no shape in the model had foretold."""
        if problem := _misfit(self.head, width, len(self.card.dimensions)):
            raise UsageError(f"judge “{self.card.name}”: {problem[1]}")


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the model a card describes.

    Raises:
        InputError: With everything that is wrong with card, files and shapes.
        UsageError: If ONNX Runtime is not installed; says how to install it.
    """
    runtime = _runtime(card)
    files = CardFiles(card, project)
    files.refuse(card, ("target", "decoding", "prompt_template"), "the model and its head say it all.")
    preprocessing, faults = preprocessing_of(card.preprocessing)
    for field, message in faults.items():
        files.fault(f"preprocessing.{field}", message)
    content = card.settings.get("head", {"kind": "none"})
    head = head_of(content, files)
    session = _session(runtime, card, files)
    name, outputs = "", tuple[str, ...]()
    if session is not None:
        name = _input_of(session, card, preprocessing, files)
        outputs = _outputs_of(session, card, head, files)
    files.raise_faults()
    assert head is not None
    shape = session.get_inputs()[0].shape
    identified = _identified(card, files, preprocessing, content, outputs)
    return OnnxJudge(
        card=replace(identified, runtime=_runtime_of(card, runtime)),
        session=session,
        input=name,
        outputs=outputs,
        batch=_fixed(shape[:1])[0] if shape else None,
        preprocessing=preprocessing,
        head=head,
    )


def _runtime(card: Card) -> Any:  # noqa: ANN401 - the module
    try:
        import onnxruntime  # noqa: PLC0415 - an extra, imported when such a judge is used
    except ImportError as error:
        raise UsageError(
            f"judge “{card.name}”: a judge of kind onnx needs ONNX Runtime ({error}). Install the extra: "
            "pip install 'image-judge-audit[onnx]'"
        ) from error
    if not hasattr(onnxruntime.SessionOptions, "add_external_initializers_from_files_in_memory"):
        raise UsageError(
            f"judge “{card.name}”: ONNX Runtime {onnxruntime.__version__} is too old, 1.24 is the oldest that "
            "serves. Install the extra: pip install 'image-judge-audit[onnx]'"
        )
    return onnxruntime


def _session(runtime: Any, card: Card, files: CardFiles) -> Any:  # noqa: ANN401 - the module, a session
    """Start a session, or note why not."""
    content = files.read("model", card.settings["model"], MOST_MODEL_BYTES)
    weights = {
        _location(name): files.read(_external(name), name, MOST_EXTERNAL_BYTES)
        for name in card.settings.get("external", ())
    }
    providers = list(card.settings.get("providers", DEFAULT_PROVIDERS))
    there = runtime.get_available_providers()
    if strangers := [name for name in providers if name not in there]:
        files.fault("providers", f"{', '.join(strangers)} is not here; there are {', '.join(there)}.")
    if content is not None:
        files.hold(card, files.digests["model"], "model")
    if content is None or None in weights.values() or strangers:
        return None
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    options.intra_op_num_threads = int(card.settings.get("threads", 0))
    # Weights outside the model come from the files the card names and from nowhere else.
    with tempfile.TemporaryDirectory() as empty:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", empty)
        try:
            if weights:
                sizes = [len(part) for part in weights.values() if part is not None]
                options.add_external_initializers_from_files_in_memory(
                    list(weights), list(weights.values()), sizes
                )
            session = runtime.InferenceSession(content, options, providers=providers)
        except Exception as error:  # noqa: BLE001 - ONNX Runtime's errors share no class of their own
            outside = empty in str(error) or "xternal data" in str(error)
            advice = "; name its files under external:" if outside else ""
            reason = str(error).replace(empty, "…")[:300]
            files.fault("model", f"ONNX Runtime cannot load it{advice}: {reason}")
            return None
    if session.get_providers()[0] != providers[0]:
        files.fault("providers", f"{providers[0]} did not start; ONNX Runtime fell back to another.")
    return session


def _identified(
    card: Card,
    files: CardFiles,
    preprocessing: Preprocessing,
    head: Mapping[str, Any],
    outputs: Sequence[str],
) -> Card:
    """Write into the card what makes the judge the judge: digests in place of paths, defaults spelt out."""
    identity = {
        name: files.digests.get(f"head.{name}", value) for name, value in head.items() if name != "template"
    }
    if head["kind"] == "text":
        identity["logit_scale"] = float(head.get("logit_scale", 1.0))
    external = {_location(name): files.digests[_external(name)] for name in card.settings.get("external", ())}
    return replace(
        card,
        weights=files.digests["model"],
        pinned=True,
        preprocessing=preprocessing.identity(),
        decoding={"outputs": list(outputs), "head": identity, "external": external},
        prompt_template=head.get("template", "{}") if head["kind"] == "text" else "",
        needs_prompt=card.needs_prompt or head["kind"] == "text",
    )


def _runtime_of(card: Card, runtime: Any) -> str:  # noqa: ANN401 - the module
    """Name what it runs on: scores may differ in the last digits, the judge is the same."""
    providers = ", ".join(card.settings.get("providers", DEFAULT_PROVIDERS))
    return f"onnxruntime {runtime.__version__}, {providers}, threads {card.settings.get('threads', 'all')}"


def _external(name: str) -> str:
    return f"external: {name}"


def _location(name: str) -> str:
    """Give the name by which a model knows a file of weights: relative to itself."""
    path = PurePath(name)
    return path.name if path.is_absolute() else path.as_posix()


def _input_of(session: Any, card: Card, preprocessing: Preprocessing, files: CardFiles) -> str:  # noqa: ANN401
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
    made = (None, 3, height, width) if preprocessing.layout == "NCHW" else (None, height, width, 3)
    sizes = _fixed(entry.shape) or [None] * 4
    wanted_shape = " × ".join(str(side) for side in entry.shape)
    if len(sizes) != 4 or any(size and side and size != side for size, side in zip(sizes, made, strict=True)):
        files.fault("preprocessing", f"it makes {_as_text(made)}, and the model takes {wanted_shape}.")
    elif any(size and not side for size, side in zip(sizes[1:], made[1:], strict=True)):
        files.fault(
            "preprocessing",
            f"pictures keep different sizes, and the model takes {wanted_shape}; crop, squash or pad.",
        )
    return str(entry.name)


def _outputs_of(session: Any, card: Card, head: Head | None, files: CardFiles) -> tuple[str, ...]:  # noqa: ANN401
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
    if head is not None and (problem := _misfit(head, width, len(card.dimensions))):
        files.fault(*problem)
    return tuple(chosen)


def _width(shape: Sequence[Any]) -> int | None:
    """Give the numbers per picture that a model foretells of an output, None where it does not."""
    sizes = _fixed(shape)[1:]
    known = [size for size in sizes if size is not None]
    return math.prod(known) if shape and len(known) == len(sizes) else None


def _misfit(head: Head, width: int | None, dimensions: int) -> tuple[str, str] | None:
    """Say which field does not fit the model's output, and why; an output of unknown width may still fit."""
    if None not in {head.width, width} and head.width != width:
        return "head", f"the model gives {width} numbers per picture and the head takes {head.width}."
    scores = head.scores or width
    if scores not in {None, dimensions}:
        return "dimensions", f"there are {scores} scores per picture and {dimensions} dimensions are named."
    return None


def _fixed(shape: Sequence[Any]) -> list[int | None]:
    """Give the sizes a model fixes; names and what is unknown stand as None."""
    return [size if isinstance(size, int) and size > 0 else None for size in shape]


def _as_text(shape: Sequence[int | None]) -> str:
    return " × ".join("any" if size is None else str(size) for size in shape)
