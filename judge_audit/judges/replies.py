"""Reading what judges write: a text becomes values or a state, never a guess and never nothing.

A number counts only where the reply says plainly that it is the score: alone, as `8/10`, after `Score:`, in
JSON, or as a word of the card's scale. A number somewhere in prose is not one ("two of the three cats …").
Nothing is clipped or rescaled: 810 on a scale from 0 to 10 is out of scale, 3/5 on it cannot be read.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.digests import canonical_json, text_digest
from judge_audit.vocabulary import OVERALL, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.judges.cards import Card

    Found = tuple[float | None, State]

VERSION = "1"
"""Raised whenever the same reply would be read otherwise."""

LONGEST = 20_000
"""Characters of a reply that are looked at; a longer one is no score."""

DEEPEST = 4
"""Levels of JSON that are looked into."""

PLAIN = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
NUMBER = re.compile(PLAIN, re.ASCII)
FRACTION = re.compile(rf"({PLAIN})\s*(?:/|out of)\s*({PLAIN})", re.ASCII | re.IGNORECASE)
LABELLED = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z _-]{0,40}?) ?(?:\([^()\n]{1,20}\))? ?[*_]{0,3} ?(?::|=|\bis\b)\s?[*_]{0,3} ?"
    rf"(?P<value>{PLAIN}(?![\d.]*\d)(?: ?(?:/|out of) ?{PLAIN})?|[A-Za-z]+\b)",
    re.ASCII,
)
GAPS = re.compile(r"\s+")
SCORE_WORDS = frozenset(
    {"score", "rating", "overall", "total", "final score", "overall score", "answer", "grade"}
)
FINAL_WORDS = frozenset({"overall", "total", "final score", "overall score", "final rating", "total score"})
NOTHING = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>", "[]", "{}"})
FENCE = re.compile(r"^```[A-Za-z]*\s*\n?(.*?)\n?```$", re.DOTALL)
REFUSAL = re.compile(
    r"\b(?:i(?:['\u2019]?m| am) sorry|i apologi[sz]e|i(?:['\u2019]m| am) (?:not able|unable)|"
    r"i (?:can(?:['\u2019]t|not| not)|won['\u2019]t|will not) (?:help|assist|rate|score|evaluate|provide|comply|do|"
    r"process|analy[sz]e|view|see|judge)|as an ai\b|content[ _]policy|blocked (?:by|for|due)|"
    r"safety (?:filter|settings))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRule:
    """How one judge's replies are read.

    Attributes:
        dimensions: The card's dimensions.
        low: Lower end of the declared scale, None if none is declared.
        high: Upper end.
        words: Words of its scale (lower case) to numbers.
        lists: A name the file or reply uses to the dimensions its list of sub-scores holds.
        names: What the judge calls a dimension (lower case) to the card's name.
        combine: A dimension made of others to those others and how: least or mean.
    """

    dimensions: tuple[str, ...] = (OVERALL,)
    low: float | None = None
    high: float | None = None
    words: Mapping[str, float] = field(default_factory=dict)
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    combine: Mapping[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Version of the parser with what the card tells it."""
        told = {"words": self.words, "lists": self.lists, "names": self.names, "combine": self.combine}
        bare = not any(told.values())
        return VERSION if bare else f"{VERSION}-{text_digest(canonical_json(told))[:8]}"

    def targets(self, given: str) -> tuple[str, ...]:
        """Name the dimensions that a reply given under a name speaks of; none if nobody knows.

        Args:
            given: A dimension of the card, a name of `lists` or `names`, or "" for the whole reply.
        """
        if given in self.lists:
            return self.lists[given]
        if given in self.dimensions:
            return (given,)
        if given.strip().casefold() in self.names:
            return (self.names[given.strip().casefold()],)
        return tuple(name for name in self.dimensions if name not in self.combine) if not given else ()


def rule_of(card: Card) -> ReplyRule:
    """Read a card's rule for replies."""
    told = card.settings.get("replies", {})
    return ReplyRule(
        dimensions=tuple(card.dimensions),
        low=card.scale_low,
        high=card.scale_high,
        words={_key(word): float(number) for word, number in told.get("words", {}).items()},
        lists={str(name): tuple(held) for name, held in told.get("lists", {}).items()},
        names={_key(str(name)): held for name, held in told.get("names", {}).items()},
        combine={name: (tuple(entry["of"]), entry["by"]) for name, entry in told.get("combine", {}).items()},
    )


def combined(found: Mapping[str, Found], rule: ReplyRule) -> dict[str, Found]:
    """Make the dimensions that a judge combines of its sub-scores; missing where any of them is."""
    made: dict[str, Found] = {}
    for name, (parts, how) in rule.combine.items():
        held = [found[part] for part in parts if part in found]
        if not held or name in found:
            continue
        lost = [state for value, state in held if value is None]
        values = [value for value, _ in held if value is not None]
        if lost or len(held) < len(parts):
            made[name] = (None, lost[0] if lost else State.EMPTY)
        else:
            made[name] = (min(values) if how == "least" else math.fsum(values) / len(values), State.OK)
    return made


def read_reply(text: str, rule: ReplyRule, given: str = "") -> dict[str, Found]:
    """Read one reply.

    Args:
        text: What the judge wrote.
        rule: How it is read.
        given: The dimension or list it was given under, "" for the whole reply.

    Returns:
        For each dimension it speaks of: the value and ok, or None and what it is instead.
    """
    targets = rule.targets(given)
    told = text.strip()
    if fenced := FENCE.match(told[:LONGEST]):
        told = fenced[1].strip()
    if told.casefold() in NOTHING:
        return dict.fromkeys(targets, (None, State.EMPTY))
    if len(told) > LONGEST:
        return dict.fromkeys(targets, (None, State.UNPARSABLE))
    found = _scalar(told, rule) if len(targets) == 1 else None
    return {targets[0]: found} if found is not None else _longer(told, rule, targets)


def _longer(text: str, rule: ReplyRule, targets: Sequence[str]) -> dict[str, Found]:
    """Read a text that is more than one score."""
    structured, content = _json(text)
    if structured:
        return _of_json(content, rule, targets, DEEPEST)
    labelled = _labelled(text, rule, targets)
    if REFUSAL.search(text) and not any(state == State.OK for _, state in labelled.values()):
        return dict.fromkeys(targets, (None, State.REFUSED))
    return labelled


def _key(word: str) -> str:
    """Bring a word to the form in which words are compared."""
    return " ".join(word.strip(" \t\r\n.!?,;:*_\"'`“”").casefold().split())


def _scalar(text: str, rule: ReplyRule) -> Found | None:
    """Read a text that is nothing but a score; None if it is more than that."""
    bare = text.strip(" \t\r\n*_\"'`“”")
    if _key(text) in rule.words:
        return _held(float(rule.words[_key(text)]), rule)
    if NUMBER.fullmatch(bare.removesuffix(".") or " "):
        return _held(float(bare.removesuffix(".")), rule)
    if parts := FRACTION.fullmatch(bare.removesuffix(".")):
        return _fraction(parts[1], parts[2], rule)
    return None


def _fraction(value: str, whole: str, rule: ReplyRule) -> Found:
    """Read `8/10`: the second number must be the upper end of the scale, if one is declared."""
    if rule.high is not None and float(whole) != rule.high:
        return None, State.UNPARSABLE
    return _held(float(value), rule)


def _held(value: float, rule: ReplyRule) -> Found:
    """Hold a number against the declared scale: never clipped, never rescaled."""
    if not math.isfinite(value):
        return None, State.UNPARSABLE
    if (rule.low is not None and value < rule.low) or (rule.high is not None and value > rule.high):
        return None, State.OUT_OF_SCALE
    return value, State.OK


def _json(text: str) -> tuple[bool, Any]:
    """Find JSON: the whole text, or one object inside it."""
    candidates = [text] if text[0] in "[{" else []
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        candidates.append(text[start : end + 1])
    for candidate in candidates:
        try:
            return True, json.loads(candidate, parse_int=float)
        except (ValueError, RecursionError):
            continue
    return False, None


def _of_json(content: Any, rule: ReplyRule, targets: Sequence[str], depth: int) -> dict[str, Found]:  # noqa: ANN401
    """Read a JSON value for some dimensions."""
    lost: dict[str, Found] = dict.fromkeys(targets, (None, State.UNPARSABLE))
    if isinstance(content, list):
        if len(content) != len(targets):
            return lost
        return {name: _entry(entry, rule) for name, entry in zip(targets, content, strict=True)}
    if not isinstance(content, dict):
        return {name: _entry(content, rule) for name in targets} if len(targets) == 1 else lost
    plain: dict[str, list[Found]] = {name: [] for name in targets}
    named: dict[str, list[Found]] = {name: [] for name in targets}
    for key, entry in content.items():
        by_name, spoken = _spoken(str(key), rule, targets)
        if spoken and isinstance(entry, (list, dict)) and depth > 0:
            inner = _of_json(entry, rule, spoken, depth - 1)
        else:
            inner = {spoken[0]: _entry(entry, rule)} if len(spoken) == 1 else {}
        for name, found in inner.items():
            (named if by_name else plain)[name].append(found)
    return {name: _agreed(named[name] or plain[name]) for name in targets}


def _agreed(entries: Sequence[Found]) -> Found:
    """Give what all entries say; two values for one dimension are none."""
    return entries[0] if len(set(entries)) == 1 else (None, State.UNPARSABLE)


def _spoken(key: str, rule: ReplyRule, targets: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
    """Name the dimensions that a key of a JSON object speaks of, and whether it does so by their names."""
    told = _key(key)
    for name in targets:
        if told == _key(name) or rule.names.get(told) == name:
            return True, (name,)
    if key in rule.lists:
        return True, tuple(name for name in rule.lists[key] if name in targets)
    return False, tuple(targets) if told in SCORE_WORDS | {"scores", "output"} else ()


def _entry(entry: Any, rule: ReplyRule) -> Found:  # noqa: ANN401 - whatever JSON holds
    """Read one value of JSON."""
    if entry is None:
        return None, State.EMPTY
    if isinstance(entry, float):
        return _held(entry, rule)
    if not isinstance(entry, str):
        return None, State.UNPARSABLE
    if entry.strip().casefold() in NOTHING:
        return None, State.EMPTY
    return _scalar(entry, rule) or (None, State.REFUSED if REFUSAL.search(entry) else State.UNPARSABLE)


def _labelled(text: str, rule: ReplyRule, targets: Sequence[str]) -> dict[str, Found]:
    """Read `Score: 7` and `Naturalness: 8/10`; where one dimension is given two values, neither counts."""
    held: dict[str, list[Found]] = {name: [] for name in targets}
    final: list[Found] = []
    for match in LABELLED.finditer(GAPS.sub(_gap, text)):
        told, value = _key(match["name"]), match["value"]
        words = told.split()
        found = _scalar(value, rule)
        if found is None:
            continue
        named = [name for name in targets if _ends(words, _key(name)) or _names_it(words, name, rule)]
        if named:
            held[named[0]].append(found)
        elif len(targets) == 1 and any(_ends(words, word) for word in FINAL_WORDS):
            final.append(found)
        elif len(targets) == 1 and any(_ends(words, word) for word in SCORE_WORDS):
            held[targets[0]].append(found)
    if final:
        held[targets[0]] = final
    return {name: _agreed(entries) for name, entries in held.items()}


def _gap(match: re.Match[str]) -> str:
    """Bring a run of white space to one character, so that no pattern meets long ones."""
    return "\n" if "\n" in match[0] else " "


def _ends(words: Sequence[str], wanted: str) -> bool:
    """Tell whether words end with others, as “alignment score” ends with “score”."""
    parts = wanted.split()
    return bool(parts) and list(words[-len(parts) :]) == parts


def _names_it(words: Sequence[str], name: str, rule: ReplyRule) -> bool:
    """Tell whether words are what the judge calls a dimension, perhaps with “score” or “rating” behind it."""
    bare = words[:-1] if words and words[-1] in {"score", "rating"} else words
    return _ends(bare, _key(name)) or any(
        _ends(bare, told) for told, held in rule.names.items() if held == name
    )
