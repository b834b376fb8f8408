"""A generative reward model run here by transformers: text scores, score tokens, P(Yes), or the mean of [μ, σ].

It is asked as an endpoint would ask it, with the same template and the same parser, one picture at a time, so no
answer depends on its company.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.cards.reply_rules import rule_of
from judge_audit.judges.chat.chat_cards import claims_of, reader_of, request_of
from judge_audit.judges.chat.chat_requests import SLOT
from judge_audit.judges.protocol import Judge, Reply, Stimulus
from judge_audit.judges.reply_parser import short
from judge_audit.judges.runtimes.model_folders import CODE, SETTINGS, WORDS
from judge_audit.judges.runtimes.pytorch_runtime import device_of, runtime_of, torch_of
from judge_audit.judges.runtimes.transformers_runtime import (
    folder_of,
    load_model,
    load_processor,
    settings_of,
    silent,
    transformers_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.chat.chat_replies import ReplyReader
    from judge_audit.judges.chat.chat_requests import ChatRequest
    from judge_audit.judges.runtimes.model_folders import ModelFolder
    from judge_audit.judges.runtimes.pytorch_runtime import Library, Model

KIND = "generative"
EXTRA = "transformers"
PACKAGES = ("torch", "transformers", "safetensors")

REWARD = "reward"
"""The answer of a head on the language model: one number per dimension, or [μ, σ]."""


@dataclass(frozen=True, slots=True)
class GenerativeJudge:
    """The judge; it answers one picture at a time.

    Attributes:
        card: Its card.
        request: How it is asked.
        reader: How its answers are read; None where a head answers.
        torch: The module.
        model: The model.
        processor: What makes the model's input of messages.
        wanted: Tokens whose probabilities are read, by number; the others are not listed.
    """

    card: Card
    request: ChatRequest
    reader: ReplyReader | None
    torch: Library
    model: Model
    processor: Model
    wanted: Mapping[int, str]
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Ask for every picture by itself."""
        replies = []
        for stimulus in stimuli:
            with self._lock, self.torch.inference_mode():
                inputs = self._input(stimulus)
                replies.append(
                    self._rewarded(inputs) if self.reader is None else self._written(inputs, self.reader)
                )
        return replies

    def _input(self, stimulus: Stimulus) -> Model:
        """Make the model's input: the message in the model's own chat template, with the picture."""
        from PIL import Image  # noqa: PLC0415 - only when a judge of this kind is used

        picture = {"type": "image", "image": Image.fromarray(self.request.picture(stimulus.image))}
        parts = [picture, {"type": "text", "text": self.request.text(stimulus.prompt)}]
        content = parts if self.request.place == "before" else parts[::-1]
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if self.request.system:
            system = [{"type": "text", "text": self.request.system}]
            messages.insert(0, {"role": "system", "content": system})
        inputs = self.processor.apply_chat_template(
            messages,
            add_generation_prompt=self.reader is not None,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        return inputs.to(self.model.device, self.model.dtype)

    def _rewarded(self, inputs: Model) -> Reply:
        """Read the head: a number per dimension; of [μ, σ] for one dimension, the mean."""
        values = [float(value) for value in self.model(**inputs).logits[0].double().cpu()]
        names = self.card.dimensions
        raw = f"mean and spread: {values}" if len(values) > len(names) else ""
        return Reply(
            dict(zip(names, values, strict=False)), raw=raw, tokens=int(inputs["input_ids"].shape[1])
        )

    def _written(self, inputs: Model, reader: ReplyReader) -> Reply:
        """Have the model write, and read that as an endpoint's answer."""
        start = inputs["input_ids"].shape[1]
        made = self.model.generate(
            **inputs, **_sampling(self.request.decoding), return_dict_in_generate=True, output_logits=True
        )
        numbers = made.sequences[0][start:].tolist()
        endings = self.model.generation_config.eos_token_id
        stopped = bool(numbers) and numbers[-1] in (endings if isinstance(endings, list) else [endings])
        choice: dict[str, Any] = {
            "message": {"content": self._text(numbers)},
            "finish_reason": "stop" if stopped else "length",
        }
        if self.wanted:
            choice["logprobs"] = {"content": self._places(numbers, made.logits)}
        reply = reader.read({"choices": [choice]})
        return replace(reply, tokens=start + len(numbers))

    def _text(self, numbers: Sequence[int]) -> str:
        return str(self.processor.tokenizer.decode(list(numbers), skip_special_tokens=True))

    def _places(self, numbers: Sequence[int], logits: Sequence[Any]) -> list[dict[str, Any]]:
        """Tell of every token that was written what it adds to the text, and how probable the wanted ones were."""
        places = []
        for at, number in enumerate(numbers):
            logs = self.torch.log_softmax(logits[at][0].double(), dim=-1)
            listed = [{"token": word, "logprob": float(logs[known])} for known, word in self.wanted.items()]
            before, after = self._text(numbers[:at]), self._text(numbers[: at + 1])
            word = after[len(before) :] if after.startswith(before) else self._text([number])
            if number not in self.wanted:
                listed.append({"token": word, "logprob": float(logs[number])})
            places.append({"token": word, "logprob": float(logs[number]), "top_logprobs": listed})
        return places


def _sampling(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Give what `generate` is told: greedy unless the card sets a temperature."""
    temperature = float(decoding.get("temperature") or 0)
    options: dict[str, Any] = {"max_new_tokens": int(decoding["max_tokens"]), "do_sample": temperature > 0}
    chance = {"temperature": temperature, "top_p": float(decoding.get("top_p") or 1), "top_k": 0}
    return options | (chance if temperature > 0 else dict.fromkeys(chance))


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Load the model a card describes.

    Raises:
        InputError: With everything that is wrong with card and files.
        UsageError: If PyTorch or transformers is not installed; says how to install it.
    """
    torch = torch_of(card, EXTRA)
    transformers = transformers_of(card)
    files = CardFiles(card, project)
    files.refuse(card, ("target", "preprocessing"), "see picture.")
    rule = rule_of(card)
    request = request_of(card, files, rule)
    rewards = card.settings.get("answer") == REWARD
    reader = None if rewards else reader_of(card, files, rule)
    folder = folder_of(card, files)
    device = device_of(torch, card, files)
    files.raise_faults()
    assert folder is not None
    model, processor = _loaded(torch, transformers, card, files, folder, rewards=rewards)
    files.raise_faults()
    folder.check_unchanged(files)
    labels = int(getattr(model.config, "num_labels", 0))
    if rewards and labels not in {len(card.dimensions), 2 if len(card.dimensions) == 1 else 0}:
        files.fault(
            "dimensions", f"the model gives {labels} numbers and {len(card.dimensions)} dimensions are named."
        )
    files.raise_faults()
    identified = _identified(card, folder, request, reader, settings_of(processor.image_processor))
    return GenerativeJudge(
        card=replace(identified, runtime=runtime_of(torch, device, transformers=transformers.__version__)),
        request=request,
        reader=reader,
        torch=torch,
        model=model.to(device),
        processor=processor,
        wanted=_wanted(processor.tokenizer, reader),
    )


def _loaded(
    torch: Library, transformers: Library, card: Card, files: CardFiles, folder: ModelFolder, *, rewards: bool
) -> tuple[Model, Model]:
    """Load model and processor, or note why not."""
    kind = "AutoModelForSequenceClassification" if rewards else "AutoModelForImageTextToText"
    code = bool(card.settings.get("remote_code", False))
    with silent(transformers):
        model = load_model(torch, getattr(transformers, kind), files, folder, card)
        pictures = load_processor(transformers, files, folder, card)
        try:
            processor = transformers.AutoProcessor.from_pretrained(
                str(folder.path), local_files_only=True, trust_remote_code=code
            )
            processor.image_processor = pictures
            if not getattr(processor, "chat_template", None):
                files.fault(
                    "model", "its processor has no chat template, so nobody knows how it is to be asked."
                )
        except Exception as error:  # noqa: BLE001 - whatever a library says of a broken processor
            reason = short(" ".join(str(error).split()), 300)
            files.fault(
                "model", f"transformers cannot load its processor ({type(error).__name__}: {reason})."
            )
            return model, None
    return model, processor


def _wanted(tokenizer: Model, reader: ReplyReader | None) -> dict[int, str]:
    """Find every token that is a score token, whatever its case and blanks; none where text is read."""
    if reader is None or reader.answer not in {"expected", "yes_probability"}:
        return {}
    words = set(reader.tokens or {"yes": 1.0, "no": 0.0})
    numbers = range(len(tokenizer))
    words_by_number = tokenizer.batch_decode([[number] for number in numbers])
    return {
        number: word
        for number, word in zip(numbers, words_by_number, strict=True)
        if word.strip().casefold() in words
    }


def _identified(
    card: Card,
    folder: ModelFolder,
    request: ChatRequest,
    reader: ReplyReader | None,
    pictures: Mapping[str, Any],
) -> Card:
    """Write into the card what makes the judge the judge: digests in place of paths, defaults spelt out."""
    template, shown, _ = request.identity()
    words = folder.part(*WORDS)
    decoding = {
        "answer": card.settings.get("answer", "text"),
        "system": request.system,
        "picture": request.place,
        "fields": dict(request.decoding) if reader is not None else {},
        "config": folder.part(*SETTINGS),
        "code": folder.part(CODE),
        "tokenizer": text_digest(*(part for pair in words.items() for part in pair)),
    }
    more = {name: value for name, value in shown.items() if name in {"most_side", "interpolation"}}
    backend, dtype = (card.settings.get(name) for name in ("backend", "dtype"))
    version = f"/{reader.version}" if reader is not None else ""
    return replace(
        card,
        weights=folder.weights(),
        pinned=True,
        prompt_template=template,
        preprocessing={**pictures, **more, "backend": backend or "pillow", "dtype": dtype or "float32"},
        decoding=decoding,
        parser_version=f"{card.parser_version}{version}",
        needs_prompt=card.needs_prompt or SLOT in template,
        **(claims_of(card, request) if reader is not None else {}),
    )
