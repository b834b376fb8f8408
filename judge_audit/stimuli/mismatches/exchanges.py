"""The rule table of near prompt exchanges: one stated word, a count, a colour or a time of day, for another.

Rules are narrow on purpose: a prompt that none fits is offered nothing. Left alone are words in quotes (lettering),
capitalised words but the first (names), parts of words and of hyphenated words (“reddish”, “two-storey”), counts
of units (“two years old”), named things whose colour is no statement (“red wine”), “black and white”, and words
that are as often something else: gold, silver, rose, violet, peach, olive, salmon; orange unless a noun follows.
“One” is never exchanged, since verb and noun would have to change with it; for the same reason no count becomes
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COUNTS: dict[str, tuple[str, ...]] = {
    "two": ("three", "four", "five"),
    "three": ("two", "four", "five"),
    "four": ("two", "three", "six"),
    "five": ("two", "three", "seven"),
    "six": ("two", "three", "four"),
    "seven": ("two", "three", "four"),
    "eight": ("two", "three", "four"),
    "nine": ("two", "three", "four"),
    "ten": ("two", "three", "four"),
}
"""What a count is exchanged for: far enough apart to be counted at a look."""

COLOURS: dict[str, tuple[str, ...]] = {
    "red": ("blue", "green", "yellow", "white"),
    "orange": ("blue", "green", "purple"),
    "yellow": ("blue", "red", "purple", "green"),
    "green": ("red", "purple", "yellow", "white"),
    "blue": ("red", "yellow", "green", "white"),
    "purple": ("green", "yellow", "white", "red"),
    "pink": ("green", "blue", "black", "yellow"),
    "brown": ("blue", "green", "white", "purple"),
    "black": ("white", "red", "yellow", "pink"),
    "white": ("black", "red", "blue", "green"),
    "grey": ("red", "yellow", "green", "blue"),
    "gray": ("red", "yellow", "green", "blue"),
}
"""What a colour is exchanged for: never its neighbour, and never one that needs “an”."""

TIMES: dict[str, tuple[str, ...]] = {
    "at noon": ("at night", "at sunset"),
    "at midday": ("at night", "at sunset"),
    "in the afternoon": ("at night",),
    "in the morning": ("at night",),
    "by day": ("by night",),
    "at night": ("at noon",),
    "by night": ("by day",),
    "at midnight": ("at noon",),
    "in the evening": ("at noon",),
    "at sunset": ("at noon", "at midnight"),
    "at sunrise": ("at noon", "at midnight"),
    "at dusk": ("at noon",),
    "at dawn": ("at noon",),
}
"""What a time of day is exchanged for: another light."""


def _set(words: str) -> frozenset[str]:
    """Take a list of words apart."""
    return frozenset(words.split())


UNITS = _set(
    "years year months weeks days hours minutes seconds o'clock am pm percent dollars euros pounds hundred "
    "thousand million dozen metres meters feet inches miles kilometres kilometers mm cm km megapixels point "
    "times way ways"
)
FIXED = _set(
    "wine tea bear bears whale whales fox foxes panda pandas hole holes shark sharks onion onions cabbage pepper "
    "carpet card cards cross light lights noise chocolate rice bread bean beans belt market flag house panther "
    "swan gold gas salad screen hat"
)
SHADES = _set("sky navy royal baby forest lime hot off infra blood jet snow")
FRUIT = _set("juice peel slice slices tree trees grove groves blossom blossoms zest soda marmalade")
SMALL_WORDS = _set(
    "a an and are as at behind beside but by for from in into is its of on or over the to under was were with "
    "near next"
)

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)|‘[^’]*’(?!\w)")
_WORDS = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One near exchange.

    Attributes:
        what: count, colour or time of day.
        old: The words taken out, as they stood.
        new: The words put in.
        prompt: The prompt afterwards.
    """

    what: str
    old: str
    new: str
    prompt: str


def exchanges(prompt: str) -> tuple[Exchange, ...]:
    """Give every exchange the rules offer for a prompt; none if no rule word stands in it."""
    hidden = [match.span() for match in _QUOTED.finditer(prompt)]
    words = list(_WORDS.finditer(prompt))
    told = {match.group().lower() for match in words}
    offers: list[Exchange] = []
    for number, match in enumerate(words):
        if any(start <= match.start() < end for start, end in hidden):
            continue
        word = match.group()
        if word != word.lower() and (word != word.capitalize() or not _opens(prompt, match.start())):
            continue
        before = words[number - 1].group().lower() if number else ""
        after = words[number + 1].group() if number + 1 < len(words) else ""
        joined = bool(re.match(r"[^\S\n]+\w", prompt[match.end() :]))
        if _is_count(word.lower(), before, after, joined=joined):
            offers += _put("count", prompt, match.span(), COUNTS[word.lower()], told)
        if _is_colour(word.lower(), before, after, prompt, joined=joined):
            start = words[number - 1].start() if before == "an" else match.start()
            offers += _put("colour", prompt, (start, match.end()), COLOURS[word.lower()], told)
    return (*offers, *_times(prompt, hidden))


def states_count(prompt: str) -> bool:
    """Say whether a prompt says how many of something there are, be it one."""
    return bool(
        re.search(rf"(?<![\w-])(?:one|single|pair|\d+|{'|'.join(COUNTS)})(?![\w-])", prompt, re.IGNORECASE)
    )


def _opens(prompt: str, start: int) -> bool:
    """Say whether a word opens a sentence, where any word is capitalised."""
    before = prompt[:start].rstrip()
    return not before or before[-1] in ".!?:"


def _is_count(word: str, before: str, after: str, *, joined: bool) -> bool:
    """Say whether a word states how many things there are."""
    if word not in COUNTS or not joined or after.lower() in UNITS | SMALL_WORDS:
        return False
    return before not in {
        "number",
        "no",
        "chapter",
        "route",
        "page",
        "part",
        "level",
        "at",
        "half",
        "past",
    } and (after == after.lower())


def _is_colour(word: str, before: str, after: str, prompt: str, *, joined: bool) -> bool:
    """Say whether a word states the colour of something."""
    if word not in COLOURS or before in SHADES or (joined and after.lower() in FIXED):
        return False
    if joined and after != after.lower():
        return False
    if word == "orange" and (not joined or after.lower() in SMALL_WORDS | FRUIT):
        return False
    if word in {"black", "white"} and re.search(
        r"\b(black\W+and\W+white|white\W+and\W+black)\b", prompt, re.IGNORECASE
    ):
        return False
    return not (before in {"the", "a", "an"} and not joined)


def _put(
    what: str, prompt: str, span: tuple[int, int], targets: tuple[str, ...], told: set[str]
) -> list[Exchange]:
    """Put each target that the prompt does not name yet in the place of a word, its article with it."""
    old = prompt[slice(*span)]
    found = []
    for target in targets:
        if target in told:
            continue
        new = f"a {target}" if old.lower().startswith("an ") else target
        new = new[:1].upper() + new[1:] if old[:1].isupper() else new
        found.append(Exchange(what, old, new, f"{prompt[: span[0]]}{new}{prompt[span[1] :]}"))
    return found


def _times(prompt: str, hidden: list[tuple[int, int]]) -> list[Exchange]:
    """Exchange the time of day; a prompt that names two is left alone."""
    known = "|".join(sorted(TIMES, key=len, reverse=True))
    found = [
        match
        for match in re.finditer(rf"(?<![\w\-])(?:{known})(?![\w\-'’])", prompt, re.IGNORECASE)
        if not any(start <= match.start() < end for start, end in hidden)
    ]
    if len(found) != 1:
        return []
    return _put("time of day", prompt, found[0].span(), TIMES[found[0].group().lower()], set())
