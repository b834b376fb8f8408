"""Reading what judges write: a text becomes values or a state, never a guess and never nothing.

A number counts only where the reply says plainly that it is the score: alone, as `8/10`, after `Score:`, in
JSON, or as a word of the card's scale. A number somewhere in prose is not one ("two of the three cats …").
Nothing is clipped or rescaled: 810 on a scale from 0 to 10 is out of scale, 3/5 on it cannot be read.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from judge_audit.core.vocabulary import State
from judge_audit.judges.cards.reply_rules import word_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.judges.cards.reply_rules import ReplyRule

    Found = tuple[float | None, State]

LONGEST = 20_000
"""Characters of a reply that are looked at; a longer one is no score."""

MOST_RAW = 4_000
"""Characters of a reply that are kept."""

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


def combined(values_by_name: Mapping[str, Found], rule: ReplyRule) -> dict[str, Found]:
    """Make the dimensions that a judge combines of its sub-scores; missing where any of them is."""
    made: dict[str, Found] = {}
    for name, (parts, how) in rule.combine.items():
        subscores = [values_by_name[part] for part in parts if part in values_by_name]
        if not subscores or name in values_by_name:
            continue
        lost = [state for value, state in subscores if value is None]
        values = [value for value, _ in subscores if value is not None]
        if lost or len(subscores) < len(parts):
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
    bare = text.strip()
    if fenced := FENCE.match(bare[:LONGEST]):
        bare = fenced[1].strip()
    if bare.casefold() in NOTHING:
        return dict.fromkeys(targets, (None, State.EMPTY))
    if len(bare) > LONGEST:
        return dict.fromkeys(targets, (None, State.UNPARSABLE))
    score = _scalar(bare, rule) if len(targets) == 1 else None
    return {targets[0]: score} if score is not None else _longer(bare, rule, targets)


def _longer(text: str, rule: ReplyRule, targets: Sequence[str]) -> dict[str, Found]:
    """Read a text that is more than one score."""
    structured, content = _json(text)
    if structured:
        return _of_json(content, rule, targets, DEEPEST)
    labelled = _labelled(text, rule, targets)
    if REFUSAL.search(text) and not any(state == State.OK for _, state in labelled.values()):
        return dict.fromkeys(targets, (None, State.REFUSED))
    return labelled


def _scalar(text: str, rule: ReplyRule) -> Found | None:
    """Read a text that is nothing but a score; None if it is more than that."""
    bare = text.strip(" \t\r\n*_\"'`“”")
    if word_key(text) in rule.words:
        return _held(float(rule.words[word_key(text)]), rule)
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
        for name, value in inner.items():
            (named if by_name else plain)[name].append(value)
    return {name: _agreed(named[name] or plain[name]) for name in targets}


def _agreed(entries: Sequence[Found]) -> Found:
    """Give what all entries say; two values for one dimension are none."""
    return entries[0] if len(set(entries)) == 1 else (None, State.UNPARSABLE)


def _spoken(key: str, rule: ReplyRule, targets: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
    """Name the dimensions that a key of a JSON object speaks of, and whether it does so by their names."""
    spoken = word_key(key)
    for name in targets:
        if spoken == word_key(name) or rule.names.get(spoken) == name:
            return True, (name,)
    if key in rule.lists:
        return True, tuple(name for name in rule.lists[key] if name in targets)
    return False, tuple(targets) if spoken in SCORE_WORDS | {"scores", "output"} else ()


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
    values_by_name: dict[str, list[Found]] = {name: [] for name in targets}
    final: list[Found] = []
    for match in LABELLED.finditer(GAPS.sub(_gap, text)):
        label, value = word_key(match["name"]), match["value"]
        words = label.split()
        score = _scalar(value, rule)
        if score is None:
            continue
        named = [name for name in targets if _ends(words, word_key(name)) or _names_it(words, name, rule)]
        if named:
            values_by_name[named[0]].append(score)
        elif len(targets) == 1 and any(_ends(words, word) for word in FINAL_WORDS):
            final.append(score)
        elif len(targets) == 1 and any(_ends(words, word) for word in SCORE_WORDS):
            values_by_name[targets[0]].append(score)
    if final:
        values_by_name[targets[0]] = final
    return {name: _agreed(entries) for name, entries in values_by_name.items()}


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
    return _ends(bare, word_key(name)) or any(
        _ends(bare, called) for called, meant in rule.names.items() if meant == name
    )


def short(text: str, most: int = MOST_RAW) -> str:
    """Keep the beginning of a text, and say how much was left out; what no table can hold is replaced."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} characters more)"
