"""Reading what a chat endpoint sends back: a score or a named state, whatever it sends.

Nothing in a reply is trusted to have the shape that the protocol gives it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.vocabulary import State
from judge_audit.judges.pairwise import preference_parser
from judge_audit.judges.pairwise.chat_judges import reply_of
from judge_audit.judges.protocol import Reply
from judge_audit.judges.reply_parser import LONGEST, REFUSAL, combined, read_reply, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.judges.cards.reply_rules import ReplyRule
    from judge_audit.judges.chat.chat_requests import Answer

VERSION = "1"
"""Raised whenever the same answer would be read otherwise."""

LEAST_MASS = 0.5
"""Probability that the score tokens must hold together for their expectation to be a score."""

TIGHT = 0.001
"""A probability that is not listed counts as none only if it is smaller than this for certain."""

FILTERED = frozenset({"content_filter", "safety", "prohibited_content", "blocklist"})
"""Reasons for an end that mean: refused."""


class NoLogprobs(Exception):  # noqa: N818 - what happened
    """The endpoint answered without the probabilities it was asked for."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer used: tokens sent and answered; None where the endpoint does not say."""

    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """How one judge's answers become scores.

    Attributes:
        answer: In which form they come.
        rule: How texts are read.
        dimension: The one sub-score that token probabilities give.
        tokens: Score tokens (lower case) and their values, for `expected`.
        compares: Whether texts are choices: 1 for the first picture, 0 for the second, ½ for a tie.
    """

    answer: Answer
    rule: ReplyRule
    dimension: str
    tokens: Mapping[str, float] = field(default_factory=dict)
    compares: bool = False

    @property
    def version(self) -> str:
        """Version of the reading, with what the card tells it."""
        if self.compares:
            return f"pairs {preference_parser.VERSION}"
        if self.answer in {"text", "json"}:
            return f"{VERSION}/{self.rule.version}"
        return f"{VERSION}/{text_digest(canonical_json(dict(self.tokens)))[:8]}" if self.tokens else VERSION

    def read(self, content: Any) -> Reply:  # noqa: ANN401 - whatever the endpoint sent
        """Read the body of one answer.

        Raises:
            NoLogprobs: If probabilities were asked for and none came with an answer.
        """
        choice = _first(content)
        if choice is None:
            error = content.get("error") if isinstance(content, dict) else None
            return Reply(state=State.FAILED, raw=f"no answer in the reply: {short(_plain(error or content))}")
        message = choice.get("message")
        message = message if isinstance(message, dict) else {}
        text, refusal = _text(message.get("content")), message.get("refusal")
        ending = str(choice.get("finish_reason") or "").lower()
        if isinstance(refusal, str) and refusal.strip():
            return _silent(State.REFUSED, refusal)
        if ending in FILTERED:
            return _silent(State.REFUSED, f"{text} [ended by: {ending}]".strip())
        if not text.strip():
            return _silent(State.EMPTY, f"[ended by: {ending}]" if ending else "")
        return self._written(text, ending, choice.get("logprobs"))

    def _written(self, text: str, ending: str, logprobs: Any) -> Reply:  # noqa: ANN401 - whatever the endpoint sent
        """Read what was written."""
        if self.answer in {"expected", "yes_probability"}:
            return self._of_tokens(text, logprobs)
        if ending == "length":
            return _silent(State.UNPARSABLE, f"{short(text)} [cut off by max_tokens]")
        return self._of_text(text)

    def _of_text(self, text: str) -> Reply:
        if self.compares:
            return reply_of(text)
        values = read_reply(text[: LONGEST + 1], self.rule)
        values |= combined(values, self.rule)
        states = {name: state for name, (value, state) in values.items() if value is None}
        scores = {name: value for name, (value, _) in values.items() if value is not None}
        state = State.OK if scores else next(iter(states.values()), State.UNPARSABLE)
        return Reply(scores, state, short(text), states=states)

    def _of_tokens(self, text: str, logprobs: Any) -> Reply:  # noqa: ANN401 - whatever the endpoint sent
        """Read the probabilities at the first token that is not blank."""
        places = logprobs.get("content") if isinstance(logprobs, dict) else None
        if not isinstance(places, list) or not places:
            if REFUSAL.search(text[:LONGEST]):
                return _silent(State.REFUSED, text)
            raise NoLogprobs
        words = [str(place.get("token", "")) if isinstance(place, dict) else "" for place in places]
        at = next((at for at, word in enumerate(words) if word.strip()), len(words))
        listed, unseen = _probabilities(places[at]) if at < len(words) else ({}, 1.0)
        wanted = self.tokens or {"yes": 1.0, "no": 0.0}
        masses = {token: mass for token, mass in listed.items() if token in wanted}
        raw = short(json.dumps({"text": short(text, 1_000), "probabilities": masses}, ensure_ascii=False))
        if (
            not masses
            or sum(masses.values()) < LEAST_MASS
            or _runs_on(words[at], "".join(words[at + 1 : at + 3]))
        ):
            refused = REFUSAL.search(text[:LONGEST]) is not None
            return _silent(State.REFUSED if refused else State.UNPARSABLE, raw)
        if self.answer == "yes_probability":
            return self._yes(masses, unseen, raw)
        value = math.fsum(mass * wanted[token] for token, mass in masses.items()) / math.fsum(masses.values())
        return Reply({self.dimension: value}, raw=raw)

    def _yes(self, masses: Mapping[str, float], unseen: float, raw: str) -> Reply:
        """Give P(Yes) as VQAScore does (Lin et al. 2024); where Yes is not listed it must be next to nothing."""
        if "yes" not in masses and unseen > TIGHT:
            return _silent(State.UNPARSABLE, raw)
        return Reply({self.dimension: min(1.0, masses.get("yes", 0.0))}, raw=raw)


def _silent(state: State, raw: str) -> Reply:
    """Make a reply without a score."""
    return Reply(state=state, raw=short(raw))


def usage_of(content: Any) -> Usage:  # noqa: ANN401 - whatever the endpoint sent
    """Read what an answer used."""
    usage = content.get("usage") if isinstance(content, dict) else None
    if not isinstance(usage, dict):
        return Usage()
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def served_by(content: Any) -> str:  # noqa: ANN401 - whatever the endpoint sent
    """Name what answered: the model and its fingerprint, as the endpoint gives them."""
    if not isinstance(content, dict):
        return ""
    names = (content.get("model"), content.get("system_fingerprint"))
    return short(" ".join(part for part in names if isinstance(part, str) and part), 200)


def _first(content: Any) -> dict[str, Any] | None:  # noqa: ANN401 - whatever the endpoint sent
    """Give the first choice of an answer."""
    choices = content.get("choices") if isinstance(content, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else None


def _text(content: Any) -> str:  # noqa: ANN401 - whatever the endpoint sent
    """Give the text of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(part for part in parts if isinstance(part, str))


def _probabilities(place: Mapping[str, Any]) -> tuple[dict[str, float], float]:
    """Add up the probabilities of what stands at one place, by its word whatever its case and blanks.

    Returns:
        Probability by word, and the most that a word may have that is not listed.
    """
    listed = place.get("top_logprobs")
    entries = listed if isinstance(listed, list) and listed else [place]
    masses: dict[str, float] = {}
    least = 1.0
    for entry in entries:
        logprob = entry.get("logprob") if isinstance(entry, dict) else None
        if isinstance(logprob, (int, float)) and not isinstance(logprob, bool) and -1e6 < logprob <= 1e-6:
            word, mass = str(entry.get("token", "")).strip().casefold(), math.exp(logprob)
            masses[word] = masses.get(word, 0.0) + mass
            least = min(least, mass)
    return masses, min(least, max(0.0, 1.0 - math.fsum(masses.values())))


def _runs_on(token: str, after: str) -> bool:
    """Tell whether what follows goes on with the same word or number: `1` before `0`, or `7` before `.5`."""
    if not token[-1:].isalnum() or not after:
        return False
    return after[0].isalnum() or (after[0] in ".," and after[1:2].isdigit())


def _count(value: Any) -> int | None:  # noqa: ANN401 - whatever the endpoint sent
    """Read a number of tokens."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 10**9 else None


def _plain(content: Any) -> str:  # noqa: ANN401 - whatever the endpoint sent
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
