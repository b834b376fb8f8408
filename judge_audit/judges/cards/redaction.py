"""Secrets blotted out of whatever is shown or stored."""

from __future__ import annotations

import os
from urllib.parse import quote

SHORTEST = 4
"""A text shorter than this is no secret: blotting it out would eat words."""


BLOT = "[key]"


SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
"""Words in the names of environment variables that hold secrets."""


class Hidden:
    """Secrets that are used and never shown: they stand in no repr, and `clean` takes them out of a text."""

    def __init__(self, *secrets: str) -> None:
        """Keep the secrets, longest first, so that none is left by half."""
        known = {secret for secret in secrets if len(secret) >= SHORTEST}
        known |= {quote(secret, safe="") for secret in known}
        self._secrets = tuple(sorted(known, key=len, reverse=True))

    def clean(self, text: str) -> str:
        """Blot every secret out of a text."""
        for secret in self._secrets:
            text = text.replace(secret, BLOT)
        return text

    def within(self, text: str) -> bool:
        """Tell whether a text holds a secret."""
        return any(secret in text for secret in self._secrets)

    def __repr__(self) -> str:
        return "Hidden(…)"


def secrets_around(*more: str) -> Hidden:
    """Hide given secrets and all that stand in the environment by their variables' names."""
    around = [
        value
        for name, value in os.environ.items()
        if len(value) >= 8 and any(word in name.upper() for word in SECRET_NAMES)
    ]
    return Hidden(*more, *around)
