"""How the columns of an imported file are read: a small YAML file, options of the command line, or both."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

from judge_audit.core.errors import Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SEPARATOR = "/"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is read.

    Attributes:
        columns: Our name of a column to the file's, several to be put together.
        separator: What stands between them.
        set: Our name of a column to the value it has in every row.
        only: The file's name of a column to the values of the rows that are meant.
        values: The file's name of a column to new names of its values.
        wide: The file's columns that hold a value each, to what each stands for (None: its own name).
        wide_as: What the names of wide columns are, "" for the table's own choice.
        level: Level of labels, "" if nobody said.
        low: Lower end of labels.
        high: Upper end of labels.
        higher_is_better: Direction of labels.
        words: Words that stand for numbers.
        dimensions: What differs in one dimension.
        covariates: Surface statistic to the file's column.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    separator: str = SEPARATOR
    set: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    wide: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)
    wide_as: str = ""
    level: str = ""
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True
    words: Mapping[str, float] = field(default_factory=dict)
    dimensions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    covariates: Mapping[str, str] = field(default_factory=dict)

    def scale(self, dimension: str) -> Scale:
        """Give the scale of a dimension's labels; ordinal where nobody said."""
        own = {"level": self.level, "low": self.low, "high": self.high}
        merged = {**own, "higher_is_better": self.higher_is_better, **self.dimensions.get(dimension, {})}
        return Scale(**{**merged, "level": merged["level"] or "ordinal"})

    def as_json(self) -> dict[str, Any]:
        """Give what was said, as plain values; what was left out stays out."""
        plain = asdict(self)
        bare = asdict(Reading())
        return {name: value for name, value in plain.items() if value != bare[name]}


def mapping_schema() -> dict[str, Any]:
    """Give the JSON Schema of mapping files."""
    text = (files("judge_audit_schemas") / "imports" / "mapping.schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


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
    given = {key: value for key, value in (options or {}).items() if value not in (None, {}, [])}
    merged = {**content, **given}
    for name in ("columns", "set", "only", "values"):
        if isinstance(content.get(name), dict) and name in given:
            merged[name] = {**content[name], **given[name]}
    _check(merged, path.name if path else "the command line")
    return _parsed(merged)


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
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only where a mapping is read

    schema = mapping_schema()
    plain = json.loads(json.dumps(content, default=str))
    faults = []
    for error in Draft202012Validator(schema).iter_errors(plain):
        where = [str(part) for part in error.absolute_path]
        strangers = [key for key in plain if key not in schema["properties"]] if not where else []
        for key in strangers or [".".join(where)]:
            said = "there is no such key" if strangers else error.message
            examples = schema["properties"].get(where[0], {}).get("examples", []) if where else []
            shown = f" For example: {where[0]}: {json.dumps(examples[0])}." if examples else ""
            faults.append(Fault(origin, 0, key, f"{said}.{shown}"))
    faults += _scale_faults(plain, origin) if not faults else []
    if faults:
        advice = f"The keys of a mapping are {', '.join(schema['properties'])}."
        raise InputError(list(dict.fromkeys(faults)), advice)


def _scale_faults(content: Mapping[str, Any], origin: str) -> list[Fault]:
    """See that every scale has two ends in their order, or none."""
    found = []
    base = {name: content.get(name) for name in ("low", "high")}
    entries = {"": {}, **content.get("dimensions", {})}
    for dimension, own in entries.items():
        low, high = ({**base, **own}[name] for name in ("low", "high"))
        finite = all(end is None or math.isfinite(end) for end in (low, high))
        if (low is None) != (high is None) or not finite or (low is not None and low >= high):
            where = f"dimensions.{dimension}.low" if dimension else "low"
            found.append(Fault(origin, 0, where, "low and high are given together, the lower one first."))
    return found


def _parsed(content: Mapping[str, Any]) -> Reading:
    """Make a reading of checked content."""
    wide = content.get("wide", {})
    told: dict[str, Any] = {
        **{entry.name: content[entry.name] for entry in fields(Reading) if entry.name in content},
        "columns": {name: _several(value) for name, value in content.get("columns", {}).items()},
        "only": {name: _several(value) for name, value in content.get("only", {}).items()},
        "set": {name: plain_text(value) for name, value in content.get("set", {}).items()},
        "values": {
            name: {str(old): plain_text(new) for old, new in entries.items()}
            for name, entries in content.get("values", {}).items()
        },
        "wide": dict.fromkeys(wide) if isinstance(wide, list) else wide,
        "words": {
            str(word).strip().casefold(): float(number) for word, number in content.get("words", {}).items()
        },
    }
    return Reading(**told)


def _several(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - a text, a number or a list of them
    entries: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    return tuple(plain_text(entry) for entry in entries)


def plain_text(value: object) -> str:
    """Write a YAML scalar as a file would: 1 for 1.0."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def with_defaults(reading: Reading, wide_as: str) -> Reading:
    """Fill in what the names of wide columns are, where nobody said."""
    return reading if reading.wide_as else replace(reading, wide_as=wide_as)
