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
from typing import TYPE_CHECKING

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import State
from judge_audit.judges.cards.card_files import CardFiles
from judge_audit.judges.cards.prices import Prices, prices_of
from judge_audit.judges.cards.redaction import Secrets, read_key, refuse_key_in
from judge_audit.judges.cards.reply_rules import rule_of
from judge_audit.judges.chat.chat_cards import claims_of, in_pairs, most_out, reader_of, request_of
from judge_audit.judges.chat.chat_client import ChatClient, Failed, Patience
from judge_audit.judges.chat.chat_replies import NoLogprobs, ReplyReader, Usage, served_by, usage_of
from judge_audit.judges.chat.chat_requests import SLOT, ChatRequest, characters
from judge_audit.judges.pairwise.chat_judges import Comparer
from judge_audit.judges.protocol import Judge, Reply, Stimulus, Unanswered
from judge_audit.judges.reply_parser import short

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from judge_audit.judges.cards.card import Card

KIND = "endpoint"
EXTRA = "endpoint"
PACKAGES = ("openai", "tenacity")

GIVE_UP_AFTER = 8
"""Requests that fail one after another before the rest of a batch is not sent."""


@dataclass(slots=True)
class _Requests:
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
    _hidden: Secrets = field(repr=False)
    _pool: ThreadPoolExecutor = field(repr=False)
    _requests: _Requests = field(default_factory=_Requests, repr=False)

    @property
    def currency(self) -> str:
        """What its prices are in."""
        return self.prices.currency

    def most_cost(self, height: int, width: int, prompt: str) -> float:
        """Say what one answer may cost at most: the longest answer allowed, and the largest request seen so far."""
        guess = self.prices.tokens_in(*self.request.size(height, width), characters(self.request, prompt))
        most = self._requests.most_in
        return self.prices.cost(max(most + most // 10, 0 if most else guess), self.most_out)

    def score(self, stimuli: Sequence[Stimulus]) -> list[Reply]:
        """Ask for every picture in a request of its own.

        Raises:
            Unanswered: If requests failed; carries all replies.
            UsageError: If the endpoint cannot be asked at all.
        """
        self._requests.failures = min(self._requests.failures, GIVE_UP_AFTER - 1)
        waiting = [self._pool.submit(self._ask, stimulus) for stimulus in stimuli]
        try:
            replies = [future.result() for future in waiting]
        finally:
            for future in waiting:
                future.cancel()
        if any(reply.state == State.FAILED for reply in replies):
            raise Unanswered(self._requests.error, replies)
        return replies

    def _ask(self, stimulus: Stimulus) -> Reply:
        """Ask for one picture: a value or a named state."""
        if self._requests.failures >= GIVE_UP_AFTER:
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
            self._requests.failed(self._hidden.clean(reply.raw))
        else:
            self._requests.heard(usage)
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
            self._requests.heard(Usage())
            return Reply(state=State.REFUSED, raw=short(str(failed)), attempts=failed.attempts)
        self._requests.failed(str(failed))
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
    files.refuse(card, ("target", "preprocessing"), "see picture.")
    if card.pinned and not card.weights:
        files.fault("pinned", "say by weights: what is pinned, e.g. weights: sha256:9f86d0….")
    rule = rule_of(card)
    request, reader = request_of(card, files, rule), reader_of(card, files, rule)
    if card.compares:
        request, reader = in_pairs(card, files, request, reader)
    key = read_key(card, files)
    hidden = Secrets(key)
    refuse_key_in(card, key, files)
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
        **claims_of(card, request),
    )
    judge = EndpointJudge(
        card=identified,
        request=request,
        reader=reader,
        prices=replace(prices_of(card), pictures=2 if card.compares else 1),
        most_out=most_out(request.decoding),
        _client=ChatClient(address, key, hidden, asking, name=card.name),
        _hidden=hidden,
        _pool=ThreadPoolExecutor(card.concurrency, thread_name_prefix="endpoint"),
    )
    return Comparer(judge) if card.compares else judge


def _client_version(card: Card) -> str:
    """Give the client's version."""
    try:
        version("tenacity")
        return version("openai")
    except PackageNotFoundError as error:
        raise UsageError(
            f"judge “{card.name}”: a judge of kind endpoint needs a client ({error}). Install the extra: "
            "pip install 'image-judge-audit[endpoint]'"
        ) from error
