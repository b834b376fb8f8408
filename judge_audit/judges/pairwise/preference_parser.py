"""Reading which of two pictures a judge called better: a choice or a state, never a guess.

An answer counts only where it is said plainly: alone (`A`, `left`, `tie`), in brackets (`[[A]]`, `[[A > B]]`, as
arena prompts ask for), after a word such as `Answer:`, or in JSON. A letter somewhere in prose is not one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from judge_audit.core.vocabulary import Choice, State
from judge_audit.judges.pairwise.protocol import Preference
from judge_audit.judges.reply_parser import FENCE, LONGEST, NOTHING, REFUSAL, short

VERSION = "1"
"""Raised whenever the same reply would be read otherwise."""

WORDS = {
    **dict.fromkeys(("a", "left", "first", "1", "image a", "image 1", "picture a", "option a"), Choice.LEFT),
    **dict.fromkeys(
        ("b", "right", "second", "2", "image b", "image 2", "picture b", "option b"), Choice.RIGHT
    ),
    **dict.fromkeys(("tie", "c", "equal", "both", "draw", "neither", "same", "tied", "a tie"), Choice.TIE),
}
"""What judges write, in lower case; C is the tie of arena prompts."""

SIDE = r"(?:image |picture |option )?(?:a|b|1|2|left|right)"
ORDERED = re.compile(rf"^({SIDE})\s*(>>|>|<<|<|=|==|~|≈)\s*({SIDE})$")
BRACKETS = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
BETTER = "better(?: (?:image|picture|one|option))?"
LABEL = rf"\b(?:answer|choice|winner|preferred|preference|verdict|{BETTER})\b[*_\"]{{0,3}}\s*"
NAMED = rf"(?:{SIDE}|first|second|(?:a )?tie|draw|equal)\b"
COLON = re.compile(rf"{LABEL}[:=]\s*[*_\"\[]{{0,3}}\s*(?:the )?({NAMED})", re.IGNORECASE)
IS = re.compile(
    rf"{LABEL}\bis\b\s*[*_\"]{{0,3}}(?:the )?"
    r"((?:(?:image|picture|option) )?(?-i:[AB12])\b|left\b|right\b|first\b|second\b|(?:a )?tie\b)",
    re.IGNORECASE,
)
"""After `is` a small letter is an article ("the better image is a bit brighter")."""
KEYS = ("choice", "answer", "winner", "better", "preferred", "preference", "verdict", "final_answer")
DEEPEST = 4
FIRST, SECOND = ("a", "1", "left"), ("b", "2", "right")


def read_preference(text: str) -> Preference:
    """Read one reply.

    Args:
        text: What the judge wrote.

    Returns:
        Its choice and ok, or no choice and what it is instead; the text is kept.
    """
    raw = short(text)
    bare = text.strip()
    if fenced := FENCE.match(bare[:LONGEST]):
        bare = fenced[1].strip()
    if bare.casefold() in NOTHING:
        return Preference(state=State.EMPTY, raw=raw)
    if len(bare) > LONGEST:
        return Preference(state=State.UNPARSABLE, raw=raw)
    choice = _word(bare) or _structured(bare)
    if choice is None:
        choice = _only({_word(part) for part in BRACKETS.findall(bare)})
    if choice is None:
        choice = _only({_word(part) for part in [*COLON.findall(bare), *IS.findall(bare)]})
    if choice is not None:
        return Preference(choice, raw=raw)
    return Preference(state=State.REFUSED if REFUSAL.search(bare) else State.UNPARSABLE, raw=raw)


def _word(text: str) -> Choice | None:
    """Read a text that is nothing but a choice."""
    plain = " ".join(text.strip().strip("*_\"'`.,:;!()").casefold().split())
    if plain.startswith("[[") and plain.endswith("]]"):
        plain = plain[2:-2].strip()
    plain = plain.strip("[]<>").strip() if len(plain) < 4 else plain
    if plain in WORDS:
        return WORDS[plain]
    if (ordered := ORDERED.match(plain)) is None:
        return None
    one, sign, other = ordered[1].split()[-1], ordered[2], ordered[3].split()[-1]
    sides = (one in FIRST, other in FIRST)
    if sides[0] == sides[1]:
        return None
    if sign[0] not in "<>":
        return Choice.TIE
    return Choice.LEFT if (sign[0] == ">") == sides[0] else Choice.RIGHT


def _structured(text: str) -> Choice | None:
    """Read JSON that is a choice, or names one under a word for it."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _of_json(content, DEEPEST)


def _of_json(content: Any, depth: int) -> Choice | None:  # noqa: ANN401 - whatever JSON holds
    if isinstance(content, str | int) and not isinstance(content, bool):
        return _word(str(content))
    if not isinstance(content, dict) or depth == 0:
        return None
    named = {str(key).strip().casefold().replace(" ", "_"): value for key, value in content.items()}
    if any(key in named for key in KEYS):
        return _only({_of_json(named[key], depth - 1) for key in KEYS if key in named})
    return _of_json(next(iter(content.values())), depth - 1) if len(content) == 1 else None


def _only(choices: set[Choice | None]) -> Choice | None:
    """Give the one choice that was found; two different ones are none."""
    return next(iter(choices)) if len(choices) == 1 else None
