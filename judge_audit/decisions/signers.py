"""Who may sign: a project's people with their public keys, as `people.yaml` lists them.

Where the file is, a signature counts only if its key is that of the person it names, and that person may sign the act.
Without it anybody can write a signature under any name, and whatever shows one says so.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from judge_audit.core.digests import file_digest
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PEOPLE_FILE = "people.yaml"
FIELDS = {"name", "key", "may"}
LARGEST = 1 << 20
"""Bytes of the file that are read at all."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person who may sign.

    Attributes:
        name: The name that signatures bear.
        key: The Ed25519 public key, 32 bytes in base64.
        may: Uses that the person may sign off, `screening` among them.
    """

    name: str
    key: str
    may: frozenset[str]


@dataclass(frozen=True, slots=True)
class People:
    """The people of a project.

    Attributes:
        persons: By name.
        digest: Of the file.
    """

    persons: Mapping[str, Person]
    digest: str

    def objection(self, signer: str, key: str, use: str) -> str:
        """Say why a signature does not count; "" if it does.

        Args:
            signer: The name that it bears.
            key: Its public key in base64, "" if it has none.
            use: What was signed.
        """
        person = self.persons.get(signer)
        if person is None:
            return say("signoffs.unknown_person", name=signer, file=PEOPLE_FILE)
        if not key:
            return say("signoffs.without_key", name=signer, file=PEOPLE_FILE)
        if key != person.key:
            return say("signoffs.other_key", name=signer, file=PEOPLE_FILE)
        if use not in person.may:
            may = ", ".join(sorted(person.may)) or "–"
            return say("signoffs.may_not", name=signer, use=use, may=may)
        return ""


def read_people(project: str) -> People | None:
    """Read the people of a project; None if it has no `people.yaml`.

    Args:
        project: The team's folder, "" if there is none.

    Raises:
        InputError: With every fault of the file, by entry and field.
        UsageError: If it cannot be read.
    """
    path = Path(project) / PEOPLE_FILE
    if not project or not path.is_file():
        return None
    try:
        raw = path.read_bytes()
        if len(raw) > LARGEST:
            raise UsageError(f"{path}: it is larger than {LARGEST >> 20} MiB.")
        content = yaml.safe_load(raw.decode("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise UsageError(f"{path}: it cannot be read: {' '.join(str(error).split())}") from error
    entries = content.get("people") if isinstance(content, dict) else None
    if not isinstance(entries, list) or set(content) != {"people"}:
        raise UsageError(f"{path}: it holds one key, people: a list of entries with name, key and may.")
    faults = [fault for place, entry in enumerate(entries, 1) for fault in _faults(place, entry)]
    names = [entry["name"] for entry in entries if isinstance(entry, dict) and "name" in entry]
    faults += [
        Fault(PEOPLE_FILE, place, "name", f"“{name}” is listed twice.")
        for place, name in enumerate(names, 1)
        if name in names[: place - 1]
    ]
    if faults:
        raise InputError(faults)
    persons = [Person(entry["name"], entry["key"], frozenset(entry["may"])) for entry in entries]
    return People({person.name: person for person in persons}, file_digest(raw))


def _faults(place: int, entry: Any) -> Iterator[Fault]:  # noqa: ANN401 - whatever the file holds
    """Say what is wrong with one entry."""
    if not isinstance(entry, dict) or set(entry) != FIELDS:
        yield Fault(
            PEOPLE_FILE, place, "", f"an entry has the fields {', '.join(sorted(FIELDS))}, and no others."
        )
        return
    if not isinstance(entry["name"], str) or not entry["name"].strip():
        yield Fault(PEOPLE_FILE, place, "name", "it must be a name.")
    if not isinstance(entry["may"], list) or not all(isinstance(use, str) for use in entry["may"]):
        yield Fault(PEOPLE_FILE, place, "may", "it must be a list of uses, such as [screening, filtering].")
    if not _is_key(entry["key"]):
        yield Fault(
            PEOPLE_FILE,
            place,
            "key",
            "it must be an Ed25519 public key, 32 bytes in base64; of a private key: "
            "openssl pkey -in key.pem -pubout -outform DER | tail -c 32 | base64",
        )


def _is_key(text: Any) -> bool:  # noqa: ANN401 - whatever the file holds
    try:
        Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except (ValueError, TypeError, binascii.Error):
        return False
    return True
