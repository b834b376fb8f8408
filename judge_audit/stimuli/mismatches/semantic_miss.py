"""Semantic miss: a good picture for another prompt. The picture stays; the prompt is exchanged.

far: the prompt of an item of another topic. Where the items have but one topic, one of the package's own, of a
topic that shares no word with them. near: one stated word exchanged by the rule table (`exchanges`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judge_audit.stimuli.mismatches.exchanges import SMALL_WORDS, exchanges
from judge_audit.stimuli.mismatches.kind import Built, Kind, Unsuited, Variant

if TYPE_CHECKING:
    from judge_audit.stimuli.mismatches.kind import Material

NAME = "semantic_miss"

SPARE_PROMPTS: tuple[tuple[str, str], ...] = (
    ("buildings", "a stone lighthouse on a cliff above the sea"),
    ("food", "a stack of pancakes with berries on a plate"),
    ("vehicles", "a steam locomotive crossing an iron bridge"),
    ("tools", "a workbench with a hammer, pliers and nails"),
    ("landscape", "a snowy mountain range under a cloudy sky"),
    ("music", "a violin and a trumpet lying on velvet"),
    ("market", "a crowded street market with umbrellas and baskets"),
    ("animals", "a herd of elephants at a waterhole"),
)
"""Prompts of the package's own, for corpora of one topic."""

FRAME = frozenset(
    {"photo", "photograph", "picture", "image", "illustration", "painting", "drawing", "render"}
)
"""Words that say what sort of picture it is: prompts that share them are not alike for it."""

ALIKE = 0.34
"""Prompts that share more of their content words than this are no far exchange."""

_WHOSE = {True: "those given", False: "the package's own"}
_UNCHECKED = "Nobody has checked that the picture shows what its own prompt says."
_SMALLER = (
    "A count that is not drawn exactly, a colour of a small part or a light that looks like either hour makes the "
    "damage smaller than the word says."
)
_BY_CHANCE = "The other prompt may by chance fit the picture too."


def content_words(prompt: str) -> set[str]:
    """Give the words of a prompt that carry content, in lower case, without a plural s."""
    words = re.findall(r"[^\W\d_]{3,}", prompt.lower())
    return {word.removesuffix("s") for word in words if word not in SMALL_WORDS}


def _words_of(entry: tuple[str, str]) -> set[str]:
    """Give the content words of a topic and its prompt, without those of any photograph's prompt."""
    return content_words(" ".join(entry)) - FRAME


def kept_share(intact: str, damaged: str) -> float:
    """Give the share of words that two prompts have in common, of all words of either."""
    first, second = (set(re.findall(r"\w+", text.lower())) for text in (intact, damaged))
    return len(first & second) / max(1, len(first | second))


def _alike(first: str, second: str) -> float:
    """Give the share of the shorter prompt's content words that the other has too."""
    one, other = content_words(first) - FRAME, content_words(second) - FRAME
    return len(one & other) / max(1, min(len(one), len(other)))


def _far(material: Material) -> Built | Unsuited:
    """Exchange the prompt for one of another topic."""
    if not material.prompt.strip():
        return Unsuited("the item has no prompt to exchange.")
    if not material.topic:
        return Unsuited("the item has no topic; fill the column topic, so that another one can be told.")
    others = sorted({entry for entry in material.prompts if entry[0] and entry[0] != material.topic})
    own = not others
    family = [material.topic, material.prompt, *(prompt for _, prompt in material.prompts)]
    if own:
        known = set().union(*(content_words(text) for text in family))
        others = [entry for entry in material.spare_prompts or SPARE_PROMPTS if not _words_of(entry) & known]
    others = [entry for entry in others if _alike(entry[1], material.prompt) <= ALIKE]
    if not others:
        return Unsuited("every prompt of another topic shares too many words with the item's own.")
    topic, prompt = others[int(material.random(NAME, "far").integers(len(others)))]
    whose = f"of the topic “{topic}”"
    if own:
        whose = f"one of {_WHOSE[bool(material.spare_prompts)]}, since the items have one topic"
    return Built(
        variant="far",
        pixels=None,
        prompt=prompt,
        region=None,
        difficulty=round(kept_share(material.prompt, prompt), 4),
        told=f"The prompt is exchanged for another one, {whose}.",
        honest_limits=(_UNCHECKED, _BY_CHANCE),
    )


def _near(material: Material) -> Built | Unsuited:
    """Exchange one stated word."""
    offers = exchanges(material.prompt)
    if not offers:
        return Unsuited("the prompt states no count, colour or time of day that the rule table can exchange.")
    rng = material.random(NAME, "near")
    kinds = sorted({offer.what for offer in offers})
    wanted = kinds[int(rng.integers(len(kinds)))]
    among = [offer for offer in offers if offer.what == wanted]
    offer = among[int(rng.integers(len(among)))]
    return Built(
        variant="near",
        pixels=None,
        prompt=offer.prompt,
        region=None,
        difficulty=round(kept_share(material.prompt, offer.prompt), 4),
        told=f"One {offer.what} of the prompt is exchanged: “{offer.old}” becomes “{offer.new}”.",
        honest_limits=(
            _UNCHECKED,
            _SMALLER,
        ),
    )


KIND = Kind(
    name=NAME,
    description="Good picture, wrong content: the prompt asks for something else than is shown.",
    damages="semantic",
    expectations={"semantic": "drops", "structure": "hold", "aesthetic": "hold", "compliance": "hold"},
    variants=(
        Variant("far", "The prompt of another topic.", _far),
        Variant("near", "One count, colour or time of day exchanged.", _near),
    ),
    recipe_version=1,
)
