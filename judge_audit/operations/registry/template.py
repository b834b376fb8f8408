"""A card template says how a registered model becomes a judge.

It is a card whose texts may hold `{name}`, `{version}` and the like. They are put into parsed values, never into the
file's text, so no name can add a field; and outside of labels only texts that can be no path, option or address of
their own are let in.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import yaml

from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.judges.cards.card import card_of, unfit
from judge_audit.operations.registry.ledger import Version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


ARTIFACTS = "artifacts"
"""Folder beside the card into which a version's files are fetched."""

CARD_FILE = "card.yaml"
MOST_BYTES = 1 << 20
LONGEST_LABEL = 200

PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
LABELS = ("name", "version", "description", "licence")
"""Fields that people read and nothing is opened by."""

ADVICE = "docs/registry.md says what a template may hold."

LEFT = frozenset({"prompt"})
"""What stands in braces on cards and is the card's own."""

OURS = frozenset({"digest", "project"})
"""Texts that no stranger wrote."""

WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
ADDRESS = re.compile(r"(?:[a-z0-9][a-z0-9+-]*:/{0,3}|/)?[A-Za-z0-9][A-Za-z0-9._:/=+-]*")


def fill(template: Path, version: Version, *, digest: str, project: Path) -> dict[str, Any]:
    """Fill a template for a version.

    Args:
        template: The template's file.
        version: The version.
        digest: Digest of its artifacts.
        project: The team's folder.

    Returns:
        The content of a valid card.

    Raises:
        UsageError: If the template cannot be read.
        InputError: With every field that cannot be filled, and every one that is then no card's.
    """
    content = read_template(template)
    values = {
        "name": version.model,
        "version": version.version,
        "source": version.source,
        "run_id": version.run_id,
        "alias": version.aliases[0] if version.aliases else "",
        "digest": f"sha256:{digest}",
        "project": str(project),
    }
    faults: list[Fault] = []
    filled = {key: _filled(value, str(key), values, faults, template.name) for key, value in content.items()}
    if faults:
        raise InputError(sorted(set(faults)), ADVICE)
    card_of(filled, f"{template.name} for {version.told}")
    return filled


def read_template(template: Path) -> dict[str, Any]:
    """Read a template.

    Raises:
        UsageError: If it is no YAML mapping, or far too large.
    """
    try:
        with template.open("rb") as stream:
            text = stream.read(MOST_BYTES + 1)
        content = yaml.safe_load(text) if len(text) <= MOST_BYTES else None
    except OSError as error:
        raise UsageError(f"{template}: the card template cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{template.name}: the card template is not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{template.name}: a card template is a mapping of fields, as a card is.")
    if message := unfit(content):
        raise UsageError(f"{template.name}: {message}")
    return content


def _filled(
    value: Any,  # noqa: ANN401 - whatever a card holds
    field: str,
    values: Mapping[str, str],
    faults: list[Fault],
    origin: str,
) -> Any:  # noqa: ANN401 - the same
    """Fill the texts within a value; keys of mappings stay as they are."""
    if isinstance(value, dict):
        return {key: _filled(entry, f"{field}.{key}", values, faults, origin) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, field, values, faults, origin) for entry in value]
    if not isinstance(value, str):
        return value

    def put(match: re.Match[str]) -> str:
        if (name := match[1]) in LEFT:
            return match[0]
        if message := _misfit(name, field, values):
            faults.append(Fault(origin, 0, field, message))
        return values.get(name, "")

    return PLACE.sub(put, value)


def _misfit(name: str, field: str, values: Mapping[str, str]) -> str:
    """Say why what a placeholder stands for may not stand in a field, "" if it may."""
    if name not in values:
        return f"there is no {{{name}}}; there are {', '.join(f'{{{known}}}' for known in values)}."
    value = values[name]
    if not value and name not in OURS:
        return f"{{{name}}}: the registry names none for this version."
    shown = ascii(value[:60])
    if field in LABELS:
        if name in OURS or (len(value) <= LONGEST_LABEL and value.isprintable()):
            return ""
        return f"{{{name}}} is {shown}, which is too long or holds signs that cannot be shown: it can be no label."
    allowed, more = (ADDRESS, ", and what addresses hold") if name == "source" else (WORD, "")
    if name in OURS or (allowed.fullmatch(value) and ".." not in value):
        return ""
    return (
        f"{{{name}}} is {shown}; outside of {', '.join(LABELS)} it may hold letters, digits, “.”, “_” and “-” "
        f"only{more}, and open with a letter or digit."
    )


def write_card(content: Mapping[str, Any], folder: Path) -> Path:
    """Write a card, whole or not at all."""
    path = folder / CARD_FILE
    draft = folder / f".{CARD_FILE}.{uuid.uuid4().hex}"
    draft.write_text(yaml.safe_dump(dict(content), allow_unicode=True, sort_keys=False), encoding="utf-8")
    draft.replace(path)
    return path


def check_template(template: Path, project: Path) -> None:
    """Fill a template for a version that might be: what is wrong with it is told before any version is there.

    Raises:
        UsageError: If it cannot be read, or does not make a card.
    """
    some = Version(
        "registry", "model", "1", datetime(2026, 1, 1, tzinfo=UTC), "s3://models/1", "run", ("alias",)
    )
    fill(template, some, digest="0" * 32, project=project)
