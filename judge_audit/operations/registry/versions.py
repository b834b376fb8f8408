"""A version of a registered model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.digests import text_digest
from judge_audit.core.formatting import harmless

if TYPE_CHECKING:
    from datetime import datetime

NO_WORD = re.compile(r"[^A-Za-z0-9._-]")
SHOWN = 80
"""Characters of a name that a sentence shows."""


@dataclass(frozen=True, slots=True)
class Version:
    """What the registry tells of a version.

    Attributes:
        registry: The registry's name.
        model: The model's name.
        version: The version's number, as text.
        created_at: When it was created (UTC).
        source: Where its artifacts lie.
        run_id: The training run it came from, "" if it names none.
        aliases: Its aliases, in order.
    """

    registry: str
    model: str
    version: str
    created_at: datetime
    source: str = ""
    run_id: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def registration_id(self) -> str:
        """Name the version for good: a registry gives the number of a deleted version to another one."""
        when = self.created_at.isoformat()
        return text_digest("registration", self.registry, self.model, self.version, when)

    @property
    def folder(self) -> str:
        """Name a folder for it: readable, unlike any other version's, and nowhere else than where it is put."""
        slug = NO_WORD.sub("_", f"{self.model[:60]}-{self.version[:20]}").lstrip(".-")
        return f"{slug}-{self.registration_id[:12]}"

    @property
    def told(self) -> str:
        """Name the version in a sentence, without what a terminal would obey."""
        return f"{plain(self.model)} version {plain(self.version)}"


def plain(text: str) -> str:
    """Cut a stranger's text short and leave out what a terminal would obey."""
    seen = harmless(text)
    return seen if len(seen) <= SHOWN else seen[: SHOWN - 1] + "…"
