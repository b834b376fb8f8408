"""The files a card names: found beside it, read within bounds, never executed, every fault kept by its field."""

from __future__ import annotations

import io
import json
import math
import stat
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import file_digest
from judge_audit.core.errors import Fault, InputError
from judge_audit.judges.cards.card_errors import ADVICE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card


MIB = 1 << 20
MOST_ARRAY_BYTES = 1024 * MIB
MOST_TEXT_BYTES = 16 * MIB


class CardFiles:
    """Reads what a card names and gathers what is wrong, so that all of it is told at once.

    Attributes:
        digests: `sha256:…` of every file read, by field.
        faults: What is wrong so far.
    """

    def __init__(self, card: Card, project: Path | None = None) -> None:
        """Keep the folder: the card's, or the project's for a card that was not read from a file."""
        self.digests: dict[str, str] = {}
        self.faults: list[Fault] = []
        self._name = card.origin.name if card.origin else card.name
        self._folder = (card.origin.parent if card.origin else project or Path.cwd()).resolve()

    def fault(self, field: str, message: str) -> None:
        """Note what is wrong with a field."""
        self.faults.append(Fault(self._name, 0, field, message))

    def raise_faults(self) -> None:
        """Raise everything noted.

        Raises:
            InputError: If anything was.
        """
        if self.faults:
            raise InputError(self.faults, ADVICE)

    def refuse(self, card: Card, names: tuple[str, ...], why: str) -> None:
        """Note which fields a card has that mean nothing for its kind."""
        for name in names:
            if getattr(card, name):
                self.fault(name, f"a card of kind {card.kind} has none; {why}")

    def hold(self, card: Card, digest: str, what: str) -> None:
        """Hold what was read to the digest that the card declares, if it does."""
        if card.weights not in {"", digest}:
            self.fault("weights", f"the {what}'s digest is {digest}; leave out weights or write that.")

    def read(self, field: str, name: str, most: int) -> bytes | None:
        """Read a file, or note why not.

        Args:
            field: The card's field that names it.
            name: Path relative to the card's folder and inside it, or absolute.
            most: Bytes it may have.
        """
        path = self.place(field, name)
        try:
            if path is None:
                return None
            about = path.stat()
            if not stat.S_ISREG(about.st_mode):
                self.fault(field, f"{name} is not a file.")
                return None
            if about.st_size > most:
                self.fault(field, f"{name} has {about.st_size:,} bytes; {most:,} are the most.")
                return None
            content = path.read_bytes()
        except (OSError, ValueError, RuntimeError) as error:
            why = "there is no such file" if isinstance(error, FileNotFoundError) else f"unreadable: {error}"
            self.fault(field, f"{name}: {why}. Paths are relative to the card.")
            return None
        self.digests[field] = "sha256:" + file_digest(content)
        return content

    def place(self, field: str, name: str) -> Path | None:
        """Say where a name leads, or note that it leads where it may not; whether anything is there is left open.

        Args:
            field: The card's field that names it.
            name: Path relative to the card's folder and inside it, or absolute.
        """
        named = Path(name)
        try:
            path = (self._folder / named).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            self.fault(field, f"{name}: unreadable: {error}. Paths are relative to the card.")
            return None
        if not named.is_absolute() and not path.is_relative_to(self._folder):
            self.fault(
                field, f"{name} leads out of the card's folder; write an absolute path if that is meant."
            )
            return None
        return path

    def array(self, field: str, name: str) -> NDArray[Any] | None:
        """Read an .npy of finite numbers, or note why not."""
        content = self.read(field, name, MOST_ARRAY_BYTES)
        return None if content is None else self._array(field, name, content)

    def arrays(self, field: str, name: str, wanted: tuple[str, ...]) -> dict[str, NDArray[Any]] | None:
        """Read those of the wanted arrays that an .npz holds, or note why not."""
        content = self.read(field, name, MOST_ARRAY_BYTES)
        if content is None:
            return None
        arrays = {}
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                inside = {entry.filename: entry for entry in archive.infolist()}
                for key in wanted:
                    entry = inside.get(f"{key}.npy")
                    if entry is None:
                        continue
                    if entry.file_size > MOST_ARRAY_BYTES:
                        self.fault(field, f"{name}: {key} would unpack to {entry.file_size:,} bytes.")
                        return None
                    array = self._array(field, f"{name}: {key}", archive.read(entry))
                    if array is None:
                        return None
                    arrays[key] = array
        except (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            self.fault(field, f"{name} is not a readable .npz: {error}.")
            return None
        return arrays

    def read_json(self, field: str, name: str) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Read a JSON file, or note why not and give None."""
        content = self.read(field, name, MOST_TEXT_BYTES)
        if content is None:
            return None
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            self.fault(field, f"{name} is not valid JSON: {error}.")
            return None

    def texts(self, field: str, name: str) -> list[str] | None:
        """Read a JSON list of texts, or note why not."""
        known = len(self.faults)
        content = self.read_json(field, name)
        if len(self.faults) > known:
            return None
        if not isinstance(content, list) or not content or not all(isinstance(text, str) for text in content):
            self.fault(field, f'{name} must be a list of texts, e.g. ["cat", "dog"].')
            return None
        return content

    def _array(self, field: str, name: str, content: bytes) -> NDArray[Any] | None:
        """Read an .npy by its header: its size is checked before memory is taken, and objects are never read."""
        stream = io.BytesIO(content)
        try:
            version = np.lib.format.read_magic(stream)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
            if version not in read:
                raise ValueError(f"format {version} is unknown")  # noqa: TRY301 - told like the others
            shape, by_columns, dtype = read[version](stream)
        except (ValueError, OverflowError, MemoryError, RecursionError) as error:
            self.fault(field, f"{name} is not a readable .npy: {str(error)[:200]}.")
            return None
        if dtype.kind not in "fiu":
            self.fault(field, f"{name} holds {dtype} and not numbers.")
            return None
        start = stream.tell()
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(content) - start:
            self.fault(field, f"{name} is cut short or holds more than its header says.")
            return None
        flat = np.frombuffer(content, dtype, offset=start) if math.prod(shape) else np.empty(0, dtype)
        array = flat.reshape(shape, order="F" if by_columns else "C")
        if not np.isfinite(array).all():
            self.fault(field, f"{name} holds numbers that are not finite.")
            return None
        return array
