"""How the columns of an imported file are read: a small YAML file, options of the command line, or both."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.json_schemas import derived_schema, schema_errors, shipped_schema

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "imports/mapping.schema.json"
"""Derived from `Reading` below and written by `make schemas`; a test fails when it is out of date."""


def plain_text(value: object) -> str:
    """Write a YAML scalar as a file would: 1 for 1.0."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _several(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - a text, a number or a list of them
    return tuple(plain_text(entry) for entry in (value if isinstance(value, (list, tuple)) else [value]))


Text = Annotated[str, Field(min_length=1)]
Scalar = Annotated[str | float, WithJsonSchema({"type": ["string", "number"]})]
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A number as the file writes it: 1 stays 1, so that the same mapping names the same import."""

OneOrMore = Annotated[
    tuple[str, ...],
    BeforeValidator(_several, json_schema_input_type=Text | Annotated[list[Text], Field(min_length=1)]),
]
OneValueOrMore = Annotated[
    tuple[str, ...],
    BeforeValidator(_several, json_schema_input_type=Scalar | Annotated[list[Scalar], Field(min_length=1)]),
]
Value = Annotated[str, BeforeValidator(plain_text, json_schema_input_type=Scalar)]
WideColumns = (
    Annotated[list[Text], Field(min_length=1, json_schema_extra={"uniqueItems": True})]
    | Annotated[Mapping[str, Mapping[str, str]], Field(min_length=1)]
)
Level = Literal["nominal", "ordinal", "interval"]


def _wide(columns: Any) -> Any:  # noqa: ANN401 - names, or what each stands for
    return dict.fromkeys(columns) if isinstance(columns, list) else columns


def _words(words: Mapping[object, float]) -> dict[str, float]:
    return {str(word).strip().casefold(): float(number) for word, number in words.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What the labels of a dimension were declared to be.

    Attributes:
        level: nominal, ordinal or interval.
        low: Lower end, None if none was declared.
        high: Upper end.
        higher_is_better: Direction.
    """

    level: str
    low: float | None
    high: float | None
    higher_is_better: bool


class DimensionScale(BaseModel):
    """What differs in one dimension of labels."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: Level | None = None
    low: Number | None = None
    high: Number | None = None
    higher_is_better: bool | None = None


class Reading(BaseModel):
    """How a file is read; the fields are the keys of a mapping file, from which its JSON Schema derives."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    columns: Mapping[str, OneOrMore] = Field({}, examples=[{"item_id": ["model", "uid"], "source": "model"}])
    """Our name of a column: the file's name for it, or several that are put together with the separator."""

    separator: str = Field("/", min_length=1, max_length=8, examples=["/"])
    """What stands between columns that are put together; / if left out."""

    set: Mapping[str, Value] = Field({}, examples=[{"dimension": "semantic"}])
    """Our name of a column: the one value it has in every row."""

    only: Mapping[str, OneValueOrMore] = Field({}, examples=[{"judge": "gemini_0shot"}])
    """The file's name of a column: the value, or values, of the rows that are meant; the others are not part of
    this import.
    """

    values: Mapping[str, Mapping[Value, Value]] = Field({}, examples=[{"generator": {"DALLE2": "DALLE"}}])
    """The file's name of a column: what a value of it is called here. Put in before columns are put together."""

    wide: Annotated[
        Mapping[str, Mapping[str, str] | None], BeforeValidator(_wide, json_schema_input_type=WideColumns)
    ] = Field(
        {},
        examples=[["rater1", "rater2"], {"rater1_SC": {"annotator_id": "rater1", "dimension": "semantic"}}],
    )
    """Columns of the file that each hold a value of their own: their names, or for each what it stands for."""

    wide_as: str = Field("", min_length=1, examples=["annotator_id", "dimension"])
    """What the names of wide columns are; annotator_id for labels and choices, dimension for scores if left out."""

    level: Annotated[str, WithJsonSchema({"enum": ["nominal", "ordinal", "interval"]})] = Field(
        "", examples=["ordinal"]
    )
    """Level of measurement of labels."""

    low: Number | None = Field(None, examples=[1])
    """Lower end of the labels' scale."""

    high: Number | None = Field(None, examples=[5])
    """Upper end of the labels' scale."""

    higher_is_better: bool = Field(True, examples=[True])
    """Direction of the labels; true if left out."""

    words: Annotated[
        Mapping[str, float], BeforeValidator(_words, json_schema_input_type=Mapping[str, float])
    ] = Field({}, examples=[{"bad": 1, "good": 5}])
    """Words that stand for numbers in labels."""

    dimensions: Annotated[
        Mapping[str, Mapping[str, Any]],
        BeforeValidator(dict, json_schema_input_type=Mapping[str, DimensionScale]),
    ] = Field({}, examples=[{"semantic": {"low": 0, "high": 1}}])
    """What differs from the above in one dimension of labels."""

    covariates: Mapping[str, Text] = Field({}, examples=[{"luma": "lum", "sharpness": "sharp"}])
    """Scores: a surface statistic, and the file's column that holds it as somebody else measured it."""

    def scale(self, dimension: str) -> Scale:
        """Give the scale of a dimension's labels; ordinal where nobody said."""
        own = {"level": self.level, "low": self.low, "high": self.high}
        merged = {**own, "higher_is_better": self.higher_is_better, **self.dimensions.get(dimension, {})}
        return Scale(**{**merged, "level": merged["level"] or "ordinal"})

    def as_json(self) -> dict[str, Any]:
        """Give what was said, as plain values; what was left out stays out."""
        return self.model_dump(exclude_defaults=True)


def derived_mapping_schema() -> dict[str, Any]:
    """Derive the JSON Schema of mapping files from the fields of `Reading`."""
    return derived_schema(Reading, "How the columns of an imported file are read")


def read_mapping(path: Path | None, options: Mapping[str, Any] | None = None) -> Reading:
    """Read a mapping file and lay options over it.

    Args:
        path: The YAML file, None if there is none.
        options: Keys of a mapping file that win over it; None values are no choice.

    Raises:
        UsageError: If the file is missing or not YAML.
        InputError: With every wrong key at once.
    """
    content = _content(path) if path is not None else {}
    chosen = {key: value for key, value in (options or {}).items() if value not in (None, {}, [])}
    merged = {**content, **chosen}
    for name in ("columns", "set", "only", "values"):
        if isinstance(content.get(name), dict) and name in chosen:
            merged[name] = {**content[name], **chosen[name]}
    _check(merged, path.name if path else "the command line")
    return Reading.model_validate(merged)


def _content(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: the mapping cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{path.name}: the mapping is not valid YAML: {error}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UsageError(f"{path.name}: a mapping is made of keys, such as “level: ordinal”.")
    return content


def _check(content: Mapping[str, Any], origin: str) -> None:
    """Hold keys and values against the schema; all faults at once."""
    properties = (schema := shipped_schema(SCHEMA))["properties"]
    faults = []
    for path, error in schema_errors(content, schema):
        examples = properties.get(path[0], {}).get("examples", []) if path else []
        example = f" For example: {path[0]}: {json.dumps(examples[0])}." if examples else ""
        message = error.message if error else "there is no such key"
        faults.append(Fault(origin, 0, ".".join(path), f"{message}.{example}"))
    faults = faults or _scale_faults(content, origin)
    if faults:
        raise InputError(list(dict.fromkeys(faults)), f"The keys of a mapping are {', '.join(properties)}.")


def _scale_faults(content: Mapping[str, Any], origin: str) -> list[Fault]:
    """See that every scale has two ends in their order, or none."""
    faults = []
    base = {name: content.get(name) for name in ("low", "high")}
    entries = {"": {}, **content.get("dimensions", {})}
    for dimension, own in entries.items():
        low, high = ({**base, **own}[name] for name in ("low", "high"))
        finite = all(end is None or math.isfinite(end) for end in (low, high))
        if (low is None) != (high is None) or not finite or (low is not None and low >= high):
            where = f"dimensions.{dimension}.low" if dimension else "low"
            faults.append(Fault(origin, 0, where, "low and high are given together, the lower one first."))
    return faults


def with_defaults(reading: Reading, wide_as: str) -> Reading:
    """Fill in what the names of wide columns are, where nobody said."""
    return reading if reading.wide_as else reading.model_copy(update={"wide_as": wide_as})
