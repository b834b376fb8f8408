"""Secrets: taken from the environment or from a file that the card names, and blotted out of all that is told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles

MOST_KEY_BYTES = 16_384

SHORTEST = 4
"""A text shorter than this is no secret: blotting it out would eat words."""

REDACTED = "[key]"

SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
"""Words in the names of environment variables that hold secrets."""


class Secrets:
    """Secrets that are used and never shown: they stand in no repr, and `clean` takes them out of a text."""

    def __init__(self, *secrets: str) -> None:
        """Keep the secrets, longest first, so that none is left by half."""
        known = {secret for secret in secrets if len(secret) >= SHORTEST}
        known |= {quote(secret, safe="") for secret in known}
        self._secrets = tuple(sorted(known, key=len, reverse=True))

    def clean(self, text: str) -> str:
        """Blot every secret out of a text."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text

    def within(self, text: str) -> bool:
        """Tell whether a text holds a secret."""
        return any(secret in text for secret in self._secrets)

    def __repr__(self) -> str:
        return "Secrets(…)"


def secrets_around(*more: str) -> Secrets:
    """Hide given secrets and all that stand in the environment by their variables' names."""
    around = [
        value
        for name, value in os.environ.items()
        if len(value) >= 8 and any(word in name.upper() for word in SECRET_NAMES)
    ]
    return Secrets(*more, *around)


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


def refuse_key_in(card: Card, key: str, files: CardFiles) -> None:
    """Note that a card holds the key itself, where it does."""
    if Secrets(key).within(card.as_json()):
        files.fault(
            "", "the card holds the key itself. Take it out, and name where it lies: key_env or key_file."
        )
