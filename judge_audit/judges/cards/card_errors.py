"""What is wrong with a card, in plain words: which field, what it is, what it must be, and a right value."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import Fault
from judge_audit.judges.cards.redaction import SECRET_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jsonschema.exceptions import ValidationError


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
    part_schema, name, example = schema, "", ""
    for part in path:
        part_schema = part_schema.get("properties", {}).get(part, {})
        name = f"{name}.{part}" if name else str(part)
        if part_schema.get("examples"):
            example = f" For example: {name}: {json.dumps(part_schema['examples'][0], ensure_ascii=False)}."
    return example
