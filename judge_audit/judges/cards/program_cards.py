"""What the card of a program says of what is started, and what of it makes the judge the judge."""

from __future__ import annotations

import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.judges.cards.card_files import MIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.cards.card_files import CardFiles

MOST_FILE_BYTES = 65_536 * MIB

LAUNCHER = re.compile(
    r"(python|pypy|node|deno|bun|ruby|perl|php|Rscript|julia|java|lua|bash|sh|zsh|dash|env|uv|uvx|npx|conda|docker|"
    r"podman|apptainer|singularity|srun|ssh|torchrun|accelerate)[\d.]*(?:\.exe)?$"
)
"""Programs that start others: which one it is, and where it lies, says nothing of the judge."""


def program_of(files: CardFiles, folder: Path, words: Sequence[str]) -> Path:
    """Find the program: beside the card if it is written as a path, else where programs lie."""
    first = words[0]
    found = shutil.which(str(folder / first) if "/" in first or "\\" in first else first)
    if found is None:
        example = 'For example: command: ["python3", "score.py"].'
        files.fault("command", f"there is no program {first} that can be started. {example}")
        return Path(first)
    return Path(found)


def identity_of(card: Card, files: CardFiles, folder: Path, words: Sequence[str]) -> list[str]:
    """Give the words of the command with digests in place of the files they name, and those of further files.

    A program of which nothing is digested or declared is refused: a new version of it would go unseen.
    """
    told, unread = [], []
    for at, word in enumerate(words):
        if at == 0 and (launcher := LAUNCHER.match(Path(word).name)):
            told.append(launcher[1])
            continue
        path = folder / word
        named = at > 0 or "/" in word or "\\" in word
        mode = 0
        with suppress(OSError, ValueError):
            mode = path.stat().st_mode if named else 0
        if stat.S_ISREG(mode):
            name = f"command: {word}"
            files.read(name, word, MOST_FILE_BYTES)
            told.append(files.digests.get(name, word))
        else:
            told.append(word)
            if stat.S_ISDIR(mode):
                unread.append(word)
    for name in card.settings.get("files", ()):
        files.read(f"files: {name}", name, MOST_FILE_BYTES)
        told.append(files.digests.get(f"files: {name}", name))
    if card.weights:
        return told
    if unread:
        files.fault(
            "weights",
            f"{', '.join(unread)} is a folder, of which no digest is taken. Say by weights: what version it is, e.g. "
            "weights: 2026-11-03.",
        )
    elif not any(part.startswith("sha256:") for part in told):
        files.fault(
            "files",
            "nothing tells one version of this program from another. Name its files, for example files: [score.py, "
            "weights.bin], or declare its version by weights: 2026-11-03.",
        )
    return told
