"""JSON Schemas: those that ship, how they derive from models, and what they find wrong with the content of a file."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jsonschema import ValidationError


def shipped_schema(name: str) -> dict[str, Any]:
    """Read a schema of the package.

    Args:
        name: Its path below `schemas/`, such as audit/audit.schema.json.
    """
    text = files("judge_audit_schemas").joinpath(name).read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def derived_schema(model: type, title: str) -> dict[str, Any]:
    """Derive the JSON Schema of a file from the model of its content.

    A key that may be left out is neither nullable nor required, its default is not repeated, and an enumeration is
    only that: each fault of a file is then found once.

    Args:
        model: A pydantic model, or a dataclass whose fields pydantic understands.
        title: What the file is.
    """
    from pydantic import TypeAdapter  # noqa: PLC0415 - only where a schema is written
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415

    class Plain(GenerateJsonSchema):
        def default_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401 - pydantic's own types
            return self.generate_inner(schema["schema"])

        def nullable_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401
            return self.generate_inner(schema["schema"])

        def literal_schema(self, schema: Any) -> dict[str, Any]:  # noqa: ANN401
            return {"enum": list(schema["expected"])}

        def sort(self, value: Any, parent_key: str | None = None) -> Any:  # noqa: ANN401, ARG002
            return value

        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002
            return False

    content = TypeAdapter(model).json_schema(schema_generator=Plain)
    for part in (content, *content.get("$defs", {}).values()):
        part.pop("title", None)
        for about in (part, *part.get("properties", {}).values()):
            if "description" in about:
                about["description"] = " ".join(about["description"].split())
    content.pop("description", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **content,
        "additionalProperties": False,
    }


def schema_text(schema: Mapping[str, Any]) -> str:
    """Write a schema as its file holds it."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def schema_errors(
    content: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[tuple[list[str], ValidationError | None]]:
    """Hold keys and values against a schema.

    Yields:
        For each fault its path and the error; an unknown top-level key has None for an error.
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only where a file is read

    plain = json.loads(json.dumps(content, default=str))
    for error in Draft202012Validator(schema).iter_errors(plain):
        path = [str(part) for part in error.absolute_path]
        unknown_keys = [key for key in plain if key not in schema["properties"]] if not path else []
        if unknown_keys:
            for key in unknown_keys:
                yield [key], None
        else:
            yield path, error
