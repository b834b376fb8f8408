"""Secrets: taken from the environment or from a file that the card names, and blotted out of all that is told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles


MOST_KEY_BYTES = 16_384


def read_key(card: Card, files: CardFiles) -> str:
    """Read the key that a card names by `key_env` or `key_file`, or note what is wrong; empty if it names none."""
    variable, file = card.settings.get("key_env", ""), card.settings.get("key_file", "")
    if variable and file:
        files.fault("key_env", "give key_env or key_file, not both.")
        return ""
    if variable:
        key = os.environ.get(variable, "").strip()
        if not key:
            files.fault("key_env", f"the environment variable {variable} is not set. Set it to the key.")
    elif file:
        content = files.read("key_file", file, MOST_KEY_BYTES)
        files.digests.pop("key_file", None)  # not even a digest of a key is kept
        key = (content or b"").decode("utf-8", "replace").strip()
        if content is not None and not key:
            files.fault("key_file", "the file is empty; it holds the key and nothing else.")
    else:
        return ""
    if key and not (key.isascii() and key.isprintable()):
        files.fault("key_env" if variable else "key_file", "the key holds characters that no key has.")
        return ""
    return key
