"""A team's project: `audit.yaml`, what a command line adds to it, and the folder `init` makes."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Mapping  # noqa: TC003 - pydantic reads the annotations
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema, WithJsonSchema

from judge_audit.core.audit_blocks import (
    Block,
    LimitBlock,
    NotifyBlock,
    Rate,
    RegistryBlock,
    RunnerBlock,
    RunnerName,
    UsesBlock,
)
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.json_schemas import derived_schema, schema_errors, shipped_schema
from judge_audit.core.lake_address import DEFAULT_LAKE, LAKE_VARIABLE

if TYPE_CHECKING:
    from jsonschema import ValidationError

FOLDERS = ("axes", "judges", "checks", "kinds", "suites", "uses", "cards", "views")
"""Where a team's own parts are, one file each."""

DEFAULT_JUDGE = "brisque"
SCHEMA = "audit/audit.schema.json"
"""Derived from `Configuration` below and written by `make schemas`; a test fails when it is out of date."""


def _of(block: type[Block]) -> BeforeValidator:
    """State what a block may hold; it is kept as the plain values that the file has."""
    return BeforeValidator(dict, json_schema_input_type=block)


def _key(option: str = "", **limits: Any) -> Any:  # noqa: ANN401 - pydantic's own type
    """Say what a key may hold, and what the command line says of it where it is an option there."""
    return Field(json_schema_extra={"x-option": option} if option else None, **limits)


def _name_or_block(schema: dict[str, Any]) -> None:
    """Say of a runner's name, or of its block, exactly what is wrong with it."""
    name, block = schema.pop("anyOf")
    schema |= {"if": {"type": "object"}, "then": block, "else": name}
    schema["x-option"] = "What runs the tasks: threads, processes, dask or ray."


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A resolved configuration: every choice of an audit, recorded with it.

    The fields are the keys of audit.yaml, with what each means, may hold and is by default. The JSON Schema of the
    file, the options of the command line and the defaults of the file that `init` writes derive from them.
    """

    __pydantic_config__ = ConfigDict(use_attribute_docstrings=True)

    items: Annotated[str, _key("Items file: .csv, .jsonl or .parquet.", min_length=1)] = ""
    """Items file (.csv, .jsonl, .parquet), relative to audit.yaml; left out where the judge is a table of scores."""

    judge: Annotated[str, _key("A built-in name, module:attribute, or a card.", min_length=1)] = DEFAULT_JUDGE
    """A built-in name, module:attribute, or the path of a card."""

    axes: Annotated[
        tuple[str, ...],
        BeforeValidator(
            lambda axes: (axes,) if isinstance(axes, str) else tuple(axes),
            json_schema_input_type=Literal["default", "all"]
            | Annotated[list[str], Field(min_length=1, json_schema_extra={"uniqueItems": True})],
        ),
        _key("Names with commas between; default, or all."),
    ] = ("default",)
    """default (the nine that are climbed unasked, and your own), all, or a list of names, default among them if you
    like.
    """

    ladder_items: Annotated[int, _key("How many items carry ladders.", ge=1)] = 48
    """How many items carry ladders."""

    repeats: Annotated[int, _key("How often each probe is asked.", ge=1, le=100)] = 1
    """How often each probe is asked."""

    readings: Annotated[str, _key("Your annotators' readings file.")] = ""
    """Readings file of your annotators."""

    traffic: Annotated[str, _key("A sample of real traffic to hold the items against.")] = ""
    """A sample of real traffic (.csv, .jsonl, .parquet) with any of the columns source, topic, the judge's scores
    by dimension, and surface statistics.
    """

    anchors: Annotated[
        str, _key("Folder of the anchor set: labelled pictures, asked first.", min_length=1)
    ] = ""
    """Folder of the anchor set (`judge-audit anchors`): pictures that people labelled, asked first."""

    anchor_version: Annotated[int, _key("An earlier version of it, to replay a verdict.", ge=0)] = 0
    """Version of the anchor set to go by; 0 for the newest."""

    canaries: Annotated[int, _key(ge=0, le=256)] = 16
    """Pictures that a judge whose weights are not pinned is asked about afresh in every audit, the anchors first; 8
    at least, 0 only where the weights are pinned.
    """

    pairs: Annotated[str, _key("Your manifest of hand-made pairs.")] = ""
    """Manifest of pairs made by hand (.csv, .jsonl, .parquet): pair_id, kind, intact, damaged, and what else it
    knows.
    """

    candidate_pairs: Annotated[int, _key(ge=1, le=1_000_000)] = 1_000
    """Pairs of candidates of one prompt that a judge which compares two pictures is shown at most, each in both
    orders; prompts are taken whole.
    """

    pairs_per_kind: Annotated[
        int, _key("Pairs to build of each mismatch kind; 0 builds none.", ge=0, le=10_000)
    ] = 16
    """Pairs to build of each mismatch kind, spread over the sources; 0 builds none."""

    rules: Annotated[str, _key("Brand rules that built pairs break.")] = ""
    """Brand rules (YAML) that pairs of a compliance breach break; without them none is built."""

    strangers: Annotated[str, _key("Prompts to exchange with where the items have one topic.")] = ""
    """Prompts (columns topic, prompt) to exchange with where the items have one topic; for a judge of stored texts,
    such as it knows.
    """

    only: Annotated[
        str,
        WithJsonSchema({"enum": ["mismatches"]}),
        _key("mismatches: the pairs and what they are held against, nothing else."),
    ] = ""
    """mismatches: no ladders and no look at what it can see, only the pairs and the untouched items they are held
    against.
    """

    seed: Annotated[int, _key("Seed of every draw.")] = 1
    """Seed of every draw."""

    lake: Annotated[str, _key("Folder of the results.", min_length=1)] = DEFAULT_LAKE
    """Folder of the results."""

    report: Annotated[str, _key("Folder of the report.", min_length=1)] = ""
    """Folder of the report."""

    context: Annotated[
        str,
        WithJsonSchema({"enum": ["internal", "outside"]}),
        _key("internal, or outside (people beyond the team)."),
    ] = "outside"
    """internal: failure costs a rerun."""

    limits: Mapping[str, Rate | Annotated[dict[str, Any], _of(LimitBlock)]] = field(default_factory=dict)
    """Limits that differ from the shipped ones, by name: a number, or value, reason and owner."""

    uses: Annotated[Mapping[str, Mapping[str, Any]], _of(UsesBlock)] = field(default_factory=dict)
    registry: Annotated[Mapping[str, Any], _of(RegistryBlock)] = field(default_factory=dict)
    runner: Annotated[
        str,
        BeforeValidator(str, json_schema_input_type=RunnerName | RunnerBlock),
        Field(json_schema_extra=_name_or_block),
    ] = "threads"
    """What runs the tasks: threads, processes, dask or ray; or a block that says more."""

    runner_address: SkipJsonSchema[str] = ""
    runner_options: SkipJsonSchema[Mapping[str, Any]] = field(default_factory=dict)
    workers: Annotated[int, _key("Tasks at a time; 0 for one per core.", ge=0)] = 0
    """Tasks at a time; 0 for one per core."""

    skip_bad: Annotated[bool, _key("Leave bad rows out, and list them.")] = False
    """Leave bad rows of the items file out, and list them."""

    max_calls: Annotated[int | None, _key("Show the judge so many pictures at most.", ge=0)] = None
    """Pictures shown to the judge in one run at most; the run then stops with exit code 1 and goes on from there
    next time.
    """

    max_cost: Annotated[
        float | None, _key("Spend so much at most, in the currency of the judge's card.", ge=0)
    ] = None
    """What they may cost in one run at most, by the prices and in the currency of the judge's card."""

    notify: Annotated[Mapping[str, Any], _of(NotifyBlock)] = field(default_factory=dict)
    project: str = ""

    def as_json(self) -> dict[str, Any]:
        """Give what an audit goes by as plain values; not `notify`, whose address may be a secret."""
        plain = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "notify"}
        listed = {"axes": list(self.axes), "limits": dict(self.limits), "uses": dict(self.uses)}
        mappings = {"registry": dict(self.registry), "runner_options": dict(self.runner_options)}
        return plain | listed | mappings

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Configuration:
        """Make a configuration of plain values that `as_json` gave."""
        return cls(**{**content, "axes": tuple(content["axes"])})


def audit_schema() -> dict[str, Any]:
    """Give the JSON Schema of audit.yaml."""
    return shipped_schema(SCHEMA)


def derived_audit_schema() -> dict[str, Any]:
    """Derive the JSON Schema of audit.yaml from the fields of `Configuration`."""
    return derived_schema(Configuration, "audit.yaml")


def resolve(path: str | Path | None, overrides: Mapping[str, Any] | None = None) -> Configuration:
    """Read audit.yaml, lay the command line's choices over it, and make every path absolute.

    Args:
        path: The file, or None when the command line says it all.
        overrides: Choices that win over the file; None values are no choice.

    Raises:
        UsageError: If the file is missing or not YAML, or neither it nor the command line names items.
        InputError: With every wrong key at once.
    """
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    content = _read(Path(path)) if path is not None else {}
    base = Path(path).resolve().parent if path is not None else Path.cwd()
    _check(content, str(path))
    _check(given, "the command line")
    named = given.get("judge", content.get("judge", ""))
    if "items" not in content and "items" not in given and not is_table(named, base):
        raise UsageError(
            "There are no items to audit. Give an audit.yaml (`judge-audit init FOLDER` writes one) or "
            "--items FILE; `judge-audit demo` audits a built-in judge on built-in pictures. Only a judge whose "
            "scores were imported (a card of kind: table) needs no items."
        )
    lake = os.environ.get(LAKE_VARIABLE)
    merged: dict[str, Any] = {
        **({"lake": lake} if lake else {}),
        **_anchored(content, base),
        **_anchored(given, Path.cwd()),
    }
    if path is not None:
        merged.setdefault("project", str(base))
    merged.setdefault("lake", str(base / DEFAULT_LAKE))
    parent = base if "://" in str(merged["lake"]) else Path(merged["lake"]).parent
    merged.setdefault("report", str(parent / "judge-audit-report"))
    merged |= _runner(content, given)
    axes = merged.get("axes", ("default",))
    merged["axes"] = tuple([axes] if isinstance(axes, str) else axes)
    from judge_audit.core.limits import read_limits  # noqa: PLC0415 - it reads a file

    read_limits(merged.get("limits"))
    return Configuration(**merged)


def _runner(content: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Say what runs the tasks: a name, or a block with its number of workers, its address and its options.

    A runner named on the command line takes nothing of another kind's block.
    """
    blocks = [
        entry if isinstance(entry, dict) else {"kind": entry}
        for entry in (content.get("runner"), given.get("runner"))
        if entry
    ]
    if not blocks:
        return {}
    block = blocks[-1] if blocks[-1]["kind"] != blocks[0]["kind"] else {**blocks[0], **blocks[-1]}
    workers = given.get("workers", block.get("workers", content.get("workers", 0)))
    return {
        "runner": block["kind"],
        "runner_address": block.get("address", ""),
        "runner_options": block.get("options", {}),
        "workers": workers,
    }


def is_table(judge: str, project: Path) -> bool:
    """Say whether a judge is a table of scores, which is in the lake with its items.

    Args:
        judge: The name or path of a card, or anything else that names a judge.
        project: The folder in which names and relative paths are looked for too.
    """
    for path in (project / "cards" / f"{judge}.yaml", project / judge, Path(judge)):
        if judge and path.suffix.lower() in {".yaml", ".yml"} and path.is_file():
            try:
                content = yaml.safe_load(path.read_text(encoding="utf-8"))
            except (OSError, yaml.YAMLError, ValueError, RecursionError):
                return False  # whoever loads the judge says what is wrong with its card
            return isinstance(content, dict) and content.get("kind") == "table"
    return False


def _read(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(f"{path}: there is no such file. `judge-audit init FOLDER` writes one.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: it cannot be read: {error}.") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path.name}: it is not valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path.name}: it must be a mapping of keys, such as “items: items.csv”.")
    return content


def _check(content: Mapping[str, Any], origin: str) -> None:
    """Hold keys and values against the schema; all faults at once."""
    schema = audit_schema()
    faults: list[Fault] = []
    for path, error in schema_errors(content, schema):
        key = ".".join(path)
        place = f"{Path(origin).name}{_line(origin, key)}, key {key}"
        faults.append(Fault(place, 0, "", f"{_said(error, path) if error else 'there is no such key'}."))
    if faults:
        known = ", ".join(schema["properties"])
        raise InputError(faults, f"The keys are {known}; schemas/audit/audit.schema.json describes them.")


def _said(error: ValidationError, path: list[str]) -> str:
    """Say what is wrong with a value; one that may be a secret in the wrong place is not repeated."""
    part: Any = error.schema
    if path[:1] == ["notify"] and error.validator == "additionalProperties":
        return f"it holds a key that is none of {', '.join(part['properties'])}"
    if path[:1] == ["notify"] or (isinstance(part, dict) and part.get("writeOnly")):
        return f"it does not fit, and is not repeated here. {part.get('description', '')}".rstrip(". ")
    return error.message


def _line(origin: str, key: str) -> str:
    """Say in which line of the file a key stands; nothing for the command line."""
    if not Path(origin).is_file():
        return ""
    top = yaml.compose(Path(origin).read_text(encoding="utf-8"), yaml.SafeLoader)
    entries = top.value if isinstance(top, yaml.MappingNode) else []
    lines = [name.start_mark.line + 1 for name, _ in entries if name.value == key.partition(".")[0]]
    return f", line {lines[0]}" if lines else ""


def _anchored(content: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Make the paths of a configuration absolute."""
    anchored = dict(content)
    if isinstance(anchored.get("registry"), dict):  # YAML reads 2026-11-01 as a date
        anchored["registry"] = {
            name: str(value) if name == "since" else value for name, value in anchored["registry"].items()
        }
    for name in ("items", "readings", "traffic", "anchors", "pairs", "rules", "strangers", "lake", "report"):
        if anchored.get(name) and "://" not in str(anchored[name]):
            anchored[name] = str(base / str(anchored[name]))
    return anchored


def _defaults() -> dict[str, str]:
    """Write the defaults as YAML, for the file that `init` makes."""
    bare = Configuration().as_json()
    bare["axes"] = bare["axes"][0]
    return {key: json.dumps(value) if isinstance(value, bool) else str(value) for key, value in bare.items()}


def init_project(folder: Path) -> list[Path]:
    """Make a project folder: a commented audit.yaml and a place for each kind of part.

    Returns:
        What was made.

    Raises:
        UsageError: If there is an audit.yaml already.
    """
    target = folder / "audit.yaml"
    if target.exists():
        raise UsageError(f"{target}: there is one already; nothing was changed.")
    folder.mkdir(parents=True, exist_ok=True)
    made = [target]
    for name in FOLDERS:
        (folder / name).mkdir(exist_ok=True)
        made.append(folder / name)
    template = (files("judge_audit_schemas") / "audit" / "audit.template.yaml").read_text(encoding="utf-8")
    text = string.Template(template).substitute(_defaults())
    target.write_text(text, encoding="utf-8")
    return made
