"""The JSON Schemas that derive from models, written by `make schemas`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_audit.core import configuration
from judge_audit.core.json_schemas import schema_text
from judge_audit.inputs.ingest import column_mapping
from judge_audit.judges.cards import card

if TYPE_CHECKING:
    from collections.abc import Callable

DERIVED: dict[str, Callable[[], dict[str, Any]]] = {
    configuration.SCHEMA: configuration.derived_audit_schema,
    column_mapping.SCHEMA: column_mapping.derived_mapping_schema,
    card.SCHEMA: card.derived_card_schema,
}
"""Path of a schema below `schemas/`, and what derives it."""

if __name__ == "__main__":
    for name, derived in DERIVED.items():
        Path(str(files("judge_audit_schemas") / name)).write_text(schema_text(derived()), encoding="utf-8")
