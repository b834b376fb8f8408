"""A vision-language model behind an OpenAI-compatible endpoint, asked for a number, sub-scores, or Yes.

Its card names the address, the model, the template around the prompt and the form of the answer. An endpoint
is an alias unless the card pins it: what answers behind the name may change, so it is unpinned, and its address
is part of its identity.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from judge_audit.errors import UsageError
from judge_audit.judges.card_files import CardFiles
from judge_audit.judges.chat_client import ChatClient, Failed, Patience
from judge_audit.judges.chat_replies import NoLogprobs, ReplyReader, Usage, served_by, short, usage_of
from judge_audit.judges.chat_requests import SLOT, ChatRequest, characters
from judge_audit.judges.keys import Hidden, read_key
from judge_audit.judges.prices import Prices, prices_of
from judge_audit.judges.protocol import Judge, Reply, Stimulus, Unanswered
from judge_audit.judges.replies import rule_of
from judge_audit.vocabulary import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from judge_audit.judges.cards import Card
    from judge_audit.judges.replies import ReplyRule

KIND = "endpoint"

MOST_TEMPLATE_BYTES = 262_144
MOST_TOKENS = 512
"""Tokens of an answer, where the card does not say."""

BROKEN = 8
"""Requests that fail one after another before the rest of a batch is not sent."""


@dataclass(slots=True)
class _Line:
    """What the requests under way know of one another.

    Attributes:
        failures: Requests that failed since the last answer.
        most_in: Most tokens that any request was, so far.
        error: What the last failure was.
    """

    failures: int = 0
    most_in: int = 0
    error: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def heard(self, usage: Usage) -> None:
        """Note an answer."""
        with self.lock:
            self.failures, self.most_in = 0, max(self.most_in, usage.tokens_in or 0)

    def failed(self, reason: str) -> None:
        """Note a failure."""
        with self.lock:
            self.failures, self.error = self.failures + 1, reason


@dataclass(frozen=True, slots=True)
class EndpointJudge:
    """The judge; it may be asked from several threads, and at most `concurrency` requests are under way at a time.

    Attributes:
        card: Its card.
        request: How it is asked.
        reader: How its answers are read.
        prices: What an answer costs.
    """

    card: Card
    request: ChatRequest
    reader: ReplyReader
    prices: Prices
    most_out: int
    _client: ChatClient = field(repr=False)
    _hidden: Hidden = field(repr=False)
    _pool: ThreadPoolExecutor = field(repr=False)
    _line: _Line = field(default_factory=_Line, repr=False)

    @property
    def currency(self) -> str:
        """What its prices are in."""
        return self.prices.currency

    def most_cost(self, height: int, width: int, prompt: str) -> float:
        """Say what one answer may cost at most: the longest answer allowed, and the largest request seen so far."""
        guess = self.prices.tokens_in(*self.request.size(height, width), characters(self.request, prompt))
        most = self._line.most_in
        return self.prices.cost(max(most + most // 10, 0 if most else guess), self.most_out)

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Ask for every picture in a request of its own.

        Raises:
            Unanswered: If requests failed; carries all replies.
            UsageError: If the endpoint cannot be asked at all.
        """
        self._line.failures = min(self._line.failures, BROKEN - 1)
        waiting = [self._pool.submit(self._ask, stimulus) for stimulus in stimuli]
        try:
            replies = [future.result() for future in waiting]
        finally:
            for future in waiting:
                future.cancel()
        if any(reply.state == State.FAILED for reply in replies):
            raise Unanswered(self._line.error, replies)
        return replies

    def _ask(self, stimulus: Stimulus) -> Reply:
        """Ask for one picture: a value or a named state."""
        if self._line.failures >= BROKEN:
            return Reply(state=State.FAILED, raw="not asked: the endpoint had stopped answering", attempts=0)
        try:
            content, attempts, losses = self._client.ask(self.request.fields(stimulus))
        except Failed as failed:
            return self._unanswered(failed, stimulus)
        usage = usage_of(content)
        try:
            reply = self.reader.read(content)
        except NoLogprobs:
            raise UsageError(
                f"judge “{self.card.name}”: the endpoint answers without logprobs, by which answer: "
                f"{self.request.answer} is read. Write answer: text in the card, or use a server that gives them."
            ) from None
        if reply.state == State.FAILED:
            self._line.failed(self._hidden.clean(reply.raw))
        else:
            self._line.heard(usage)
        cost = self._cost(usage, stimulus) + losses * self._lost(stimulus)
        return replace(
            reply,
            raw=self._hidden.clean(reply.raw),
            attempts=attempts,
            tokens=(usage.tokens_in or 0) + (usage.tokens_out or 0),
            cost=cost,
            served_by=self._hidden.clean(served_by(content)),
        )

    def _unanswered(self, failed: Failed, stimulus: Stimulus) -> Reply:
        """Write down a request that brought no answer."""
        if failed.refused:
            self._line.heard(Usage())
            return Reply(state=State.REFUSED, raw=short(str(failed)), attempts=failed.attempts)
        self._line.failed(str(failed))
        cost = failed.losses * self._lost(stimulus)
        return Reply(state=State.FAILED, raw=short(str(failed)), attempts=failed.attempts, cost=cost)

    def _cost(self, usage: Usage, stimulus: Stimulus) -> float:
        """Price an answer; where the endpoint does not say what it used, by the most it may have been."""
        if usage.tokens_in is None or usage.tokens_out is None:
            return self._lost(stimulus)
        return self.prices.cost(usage.tokens_in, usage.tokens_out)

    def _lost(self, stimulus: Stimulus) -> float:
        """Price a request whose answer nobody got: it may have been charged."""
        height, width = stimulus.image.shape[:2]
        return self.most_cost(height, width, stimulus.prompt)


def build(card: Card, *, project: Path | None = None) -> Judge:
    """Make the judge that a card describes; nothing is sent.

    Raises:
        InputError: With everything that is wrong with the card and its files.
        UsageError: If the client is not installed; says how to install it.
    """
    client = _client_version(card)
    files = CardFiles(card, project)
    for name in ("target", "preprocessing"):
        if getattr(card, name):
            files.fault(name, "a card of kind endpoint has none; see picture.")
    if card.pinned and not card.weights:
        files.fault("pinned", "say by weights: what is pinned, e.g. weights: sha256:9f86d0….")
    rule = rule_of(card)
    request, reader = _request(card, files, rule), _reader(card, files, rule)
    key = read_key(card, files)
    hidden = Hidden(key)
    if hidden.within(card.as_json()):
        files.fault(
            "", "the card holds the key itself. Take it out, and name where it lies: key_env or key_file."
        )
    files.raise_faults()
    asking = Patience(timeout=card.settings.get("timeout", 120.0), **card.settings.get("retries", {}))
    address = card.settings["base_url"].rstrip("/")
    template, preprocessing, decoding = request.identity()
    identified = replace(
        card,
        target=request.model if card.pinned else f"{address} {request.model}",
        prompt_template=template,
        preprocessing=preprocessing,
        decoding=decoding,
        parser_version=f"{card.parser_version}/{reader.version}",
        needs_prompt=card.needs_prompt or SLOT in template,
        runtime=f"openai {client}, {address}",
        **_claims(card, request),
    )
    return EndpointJudge(
        card=identified,
        request=request,
        reader=reader,
        prices=prices_of(card),
        most_out=_most_out(request.decoding),
        _client=ChatClient(address, key, hidden, asking, name=card.name),
        _hidden=hidden,
        _pool=ThreadPoolExecutor(card.concurrency, thread_name_prefix="endpoint"),
    )


def _client_version(card: Card) -> str:
    """Give the client's version."""
    try:
        version("stamina")
        return version("openai")
    except PackageNotFoundError as error:
        raise UsageError(
            f"judge “{card.name}”: a judge of kind endpoint needs a client ({error}). Install the extra: "
            "pip install 'image-judge-audit[endpoint]'"
        ) from error


def _request(card: Card, files: CardFiles, rule: ReplyRule) -> ChatRequest:
    """Read how the judge is asked, or note what is wrong."""
    told, picture = card.settings, card.settings.get("picture", {})
    template = _text(files, "prompt", card.prompt_template, told.get("prompt_file", ""))
    system = _text(files, "system", told.get("system", ""), told.get("system_file", ""))
    if not template:
        files.fault(
            "prompt_file", "name the file that holds the question, with {prompt} where the prompt goes."
        )
    decoding = {"temperature": 0, **card.decoding}
    if not {"max_tokens", "max_completion_tokens"} & set(decoding):
        decoding["max_tokens"] = MOST_TOKENS if told.get("answer", "text") in {"text", "json"} else 4
    return ChatRequest(
        model=told["model"],
        template=template,
        system=system,
        answer=told.get("answer", "text"),
        dimensions=tuple(name for name in card.dimensions if name not in rule.combine),
        whole=card.scale_step is not None and float(card.scale_step).is_integer(),
        place=picture.get("place", "before"),
        most_side=picture.get("most_side"),
        interpolation=picture.get("interpolation", "lanczos"),
        detail=picture.get("detail", ""),
        decoding={name: value for name, value in decoding.items() if value is not None},
    )


def _text(files: CardFiles, field_: str, given: str, file: str) -> str:
    """Take a text from the card or from the file it names."""
    if not file:
        return given
    name = f"{field_}_file"
    if given:
        files.fault(name, "the card holds the text already; give the text or the file.")
    content = files.read(name, file, MOST_TEMPLATE_BYTES)
    try:
        return (content or b"").decode("utf-8").strip()
    except UnicodeDecodeError:
        files.fault(name, f"{file} is not UTF-8 text.")
        return ""


def _reader(card: Card, files: CardFiles, rule: ReplyRule) -> ReplyReader:
    """Read how answers become scores, or note what is wrong."""
    answer = card.settings.get("answer", "text")
    tokens: dict[str, float] = {}
    if answer in {"expected", "yes_probability"} and len(card.dimensions) > 1:
        files.fault("dimensions", f"answer: {answer} gives one number; name one dimension.")
    if answer == "expected":
        tokens = _tokens(card)
        if not tokens:
            files.fault(
                "tokens",
                "answer: expected reads one token: declare a scale of whole numbers from 0 to 9 at most (scale_low: 1, "
                "scale_high: 5), or name the tokens and their values. For example: tokens: {A: 5, B: 4, C: 3}.",
            )
    elif card.settings.get("tokens"):
        files.fault("tokens", "tokens belong to answer: expected.")
    return ReplyReader(answer, rule, card.dimensions[0], tokens)


def _tokens(card: Card) -> dict[str, float]:
    """Give the score tokens: those of the card, else the digits of its scale."""
    if told := card.settings.get("tokens"):
        return {str(token).strip().casefold(): float(value) for token, value in told.items()}
    low, high = card.scale_low, card.scale_high
    if low is None or high is None or low != int(low) or high != int(high) or not 0 <= low <= high <= 9:
        return {}
    return {str(level): float(level) for level in range(int(low), int(high) + 1)}


def _claims(card: Card, request: ChatRequest) -> dict[str, Any]:
    """Give the scale that a probability has by itself."""
    bare = card.scale_low is None and card.scale_high is None
    return {"scale_low": 0.0, "scale_high": 1.0} if request.answer == "yes_probability" and bare else {}


def _most_out(decoding: Mapping[str, Any]) -> int:
    """Give the tokens that an answer may have at most."""
    told = [decoding.get(name) for name in ("max_tokens", "max_completion_tokens")]
    return max((int(value) for value in told if isinstance(value, (int, float))), default=MOST_TOKENS)
