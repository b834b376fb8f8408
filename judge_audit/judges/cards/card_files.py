"""The files a card names: found beside it, read within bounds, never executed, every fault kept by its field.

What is wrong with a card, in plain words: which field, what it is, what it must be, and a right value.
"""

from __future__ import annotations

import io
import json
import math
import stat
import zipfile
import zlib
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import file_digest
from judge_audit.core.errors import Fault, InputError
from judge_audit.judges.cards.api_keys import SECRET_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jsonschema.exceptions import ValidationError
    from numpy.typing import NDArray

    from judge_audit.judges.cards.card import Card


ADVICE = "judge-audit judges new KIND writes a card with every field of its kind and what it means."

TYPES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping of fields",
    "null": "left out",
}
BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}
LONGEST = 60
"""Letters of a wrong value that are repeated."""


def kind_fault(origin: str, content: Mapping[str, Any], kinds: Iterable[str]) -> Fault | None:
    """Say that a card names no kind that there is, before anything else is said of it."""
    known = sorted(kinds)
    there = f"there are {', '.join(known)}"
    kind = content.get("kind")
    if kind is None:
        return Fault(origin, 0, "kind", f'it is missing; {there}. For example: kind: "onnx".')
    if kind in known:
        return None
    near = get_close_matches(str(kind), known, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return Fault(origin, 0, "kind", f"there is no kind {_told(kind)}; {there}.{hint}")


def schema_faults(origin: str, schema: Mapping[str, Any], errors: Iterable[ValidationError]) -> list[Fault]:
    """Say of every error which field it is and what a right value looks like, each once.

    Args:
        origin: Name of the card's file.
        schema: What the card was held against.
        errors: What did not fit.
    """
    return sorted({fault for error in errors for fault in _faults(origin, schema, error)})


def _faults(origin: str, schema: Mapping[str, Any], error: ValidationError) -> list[Fault]:
    """Say of one error what it is; of fields that are missing or strange, one by one, under their own names."""
    place = list(error.absolute_path)
    if error.validator == "required" and isinstance(error.instance, dict):
        wanted = error.validator_value if isinstance(error.validator_value, list) else []
        absent = [[*place, str(name)] for name in wanted if name not in error.instance]
        return [Fault(origin, 0, _dotted(path), f"it is missing.{_example(schema, path)}") for path in absent]
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = list(error.schema.get("properties", {})) if isinstance(error.schema, dict) else []
        strangers = [str(name) for name in error.instance if name not in known]
        return [
            Fault(origin, 0, _dotted([*place, name]), _stranger(schema, place, name, known))
            for name in strangers
        ]
    return [Fault(origin, 0, _dotted(place), f"{_words(error)}.{_example(schema, place)}")]


def _stranger(schema: Mapping[str, Any], place: Sequence[str | int], name: str, known: Sequence[str]) -> str:
    """Say of a field that there is none of its name, and which may be meant."""
    if near := get_close_matches(name, known, 1):
        return f"there is no such field. Did you mean {near[0]}?{_example(schema, [*place, near[0]])}"
    if "key_env" in known and any(word in name.upper() for word in SECRET_NAMES):
        return (
            "there is no such field, and no key stands in a card: name the variable that holds it."
            f"{_example(schema, ['key_env'])}"
        )
    return (
        f"there is no such field{'; judge-audit judges list shows those of a kind' if not place else ''}."
        + (f" There are {', '.join(known)}." if place and known else "")
    )


def _words(error: ValidationError) -> str:  # noqa: PLR0911 - one rule of a schema a line
    """Say what is wrong; of a field that may hold a secret by mistake, not what it holds."""
    rule, wanted = str(error.validator), error.validator_value
    if isinstance(error.schema, dict) and error.schema.get("writeOnly"):
        return "it is not what belongs there (and is not repeated here, lest it be a key)"
    it_is = f"it is {_told(error.instance)}"
    if rule == "type":
        names = wanted if isinstance(wanted, list) else [wanted]
        return f"{it_is} and must be {' or '.join(TYPES.get(str(name), str(name)) for name in names)}"
    if rule == "enum" and isinstance(wanted, list):
        return f"{it_is} and must be one of {', '.join(str(entry) for entry in wanted)}"
    if rule in BOUNDS:
        return f"{it_is} and must be {BOUNDS[rule]} {wanted}"
    if rule in {"minLength", "minItems", "minProperties"}:
        return "it is empty" if wanted == 1 else f"{it_is} and must hold at least {wanted}"
    if rule in {"maxLength", "maxItems", "maxProperties"}:
        return f"{it_is} and must hold at most {wanted}"
    if rule == "uniqueItems":
        return f"{it_is} and names the same twice"
    if rule == "pattern":
        return f"{it_is}, which is not written as it must be"
    return error.message


def _told(value: Any) -> str:  # noqa: ANN401 - whatever YAML holds
    """Repeat a value, as far as it is short."""
    text = str(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f"“{text}”" if isinstance(value, str) else text


def _dotted(place: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in place)


def _example(schema: Mapping[str, Any], path: Iterable[str | int]) -> str:
    """Show a right value of the innermost field on a path that has one."""
    found, name, example = schema, "", ""
    for part in path:
        found = found.get("properties", {}).get(part, {})
        name = f"{name}.{part}" if name else str(part)
        if found.get("examples"):
            example = f" For example: {name}: {json.dumps(found['examples'][0], ensure_ascii=False)}."
    return example


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
        given = Path(name)
        try:
            path = (self._folder / given).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            self.fault(field, f"{name}: unreadable: {error}. Paths are relative to the card.")
            return None
        if not given.is_absolute() and not path.is_relative_to(self._folder):
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
        found = {}
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as held:
                inside = {entry.filename: entry for entry in held.infolist()}
                for key in wanted:
                    entry = inside.get(f"{key}.npy")
                    if entry is None:
                        continue
                    if entry.file_size > MOST_ARRAY_BYTES:
                        self.fault(field, f"{name}: {key} would unpack to {entry.file_size:,} bytes.")
                        return None
                    array = self._array(field, f"{name}: {key}", held.read(entry))
                    if array is None:
                        return None
                    found[key] = array
        except (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            self.fault(field, f"{name} is not a readable .npz: {error}.")
            return None
        return found

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
        found = self.read_json(field, name)
        if len(self.faults) > known:
            return None
        if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
            self.fault(field, f'{name} must be a list of texts, e.g. ["cat", "dog"].')
            return None
        return found

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
        found = flat.reshape(shape, order="F" if by_columns else "C")
        if not np.isfinite(found).all():
            self.fault(field, f"{name} holds numbers that are not finite.")
            return None
        return found
