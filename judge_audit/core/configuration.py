"""A team's project: `audit.yaml`, what a command line adds to it, and the folder `init` makes."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from judge_audit.core.errors import Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema import ValidationError

FOLDERS = ("axes", "judges", "checks", "kinds", "suites", "uses", "cards", "views")
"""Where a team's own parts lie, one file each."""

LAKE_VARIABLE = "JUDGE_AUDIT_LAKE"
DEFAULT_LAKE = "judge-audit-lake"
DEFAULT_JUDGE = "brisque"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A resolved configuration: every choice of an audit, recorded with it.

    Attributes:
        items: Path of the items file; "" where the judge is a table of scores and the lake holds its items.
        judge: Built-in name, `module:attribute` or path of a card.
        axes: Names of axes, or ("default",) for those that are climbed unasked.
        ladder_items: How many items carry ladders.
        repeats: How often each probe is asked.
        readings: Path of a readings file, "" if nobody has read.
        traffic: Path of a sample of real traffic, "" if there is none.
        anchors: Folder of the anchor set, "" if there is none.
        anchor_version: Version of it to go by, 0 for the newest.
        canaries: Pictures asked afresh in every audit of a judge whose weights are not pinned.
        pairs: Path of a manifest of hand-made pairs, "" if there is none.
        candidate_pairs: Pairs of candidates of one prompt that a judge which compares is shown at most.
        pairs_per_kind: Pairs to build of each mismatch kind; 0 builds none.
        rules: Path of the brand rules that pairs break, "" if there are none.
        strangers: Path of a list of prompts (topic, prompt) to exchange with where the items have one topic.
        only: "mismatches" leaves out everything but the pairs and the untouched items they are held against.
        seed: Seed of every draw.
        lake: Where results go.
        report: Folder of the report.
        context: internal (failure costs a rerun) or outside.
        limits: Limits that differ from the shipped ones.
        uses: What a team declares for its uses: limits, owners and the channel for appeals.
        runner: threads, processes, dask or ray.
        runner_address: Where a Dask scheduler or a Ray cluster is, "" for one that is started for the run.
        runner_options: What one that is started is told beside the number of its workers.
        workers: Tasks at a time; 0 for one per core.
        skip_bad: Leave bad rows of the items file out, and list them.
        max_calls: Pictures shown to the judge in this run at most, None for any number.
        max_cost: What they may cost at most, in the currency of the judge's card, None for any sum.
        registry: The model registry whose new versions are audited; empty if there is none.
        project: The team's folder, "" if there is none.
        notify: The team's command or webhook that is told when something happened; it changes no figure.
    """

    items: str = ""
    judge: str = DEFAULT_JUDGE
    axes: tuple[str, ...] = ("default",)
    ladder_items: int = 48
    repeats: int = 1
    readings: str = ""
    traffic: str = ""
    anchors: str = ""
    anchor_version: int = 0
    canaries: int = 16
    pairs: str = ""
    candidate_pairs: int = 1_000
    pairs_per_kind: int = 16
    rules: str = ""
    strangers: str = ""
    only: str = ""
    seed: int = 1
    lake: str = DEFAULT_LAKE
    report: str = ""
    context: str = "outside"
    limits: Mapping[str, float] = field(default_factory=dict)
    uses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    runner: str = "threads"
    runner_address: str = ""
    runner_options: Mapping[str, Any] = field(default_factory=dict)
    workers: int = 0
    skip_bad: bool = False
    max_calls: int | None = None
    max_cost: float | None = None
    registry: Mapping[str, Any] = field(default_factory=dict)
    project: str = ""
    notify: Mapping[str, Any] = field(default_factory=dict)

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
    text = (files("judge_audit_schemas") / "audit" / "audit.schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


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
    beside = base if "://" in str(merged["lake"]) else Path(merged["lake"]).parent
    merged.setdefault("report", str(beside / "judge-audit-report"))
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
    told = blocks[-1] if blocks[-1]["kind"] != blocks[0]["kind"] else {**blocks[0], **blocks[-1]}
    workers = given.get("workers", told.get("workers", content.get("workers", 0)))
    return {
        "runner": told["kind"],
        "runner_address": told.get("address", ""),
        "runner_options": told.get("options", {}),
        "workers": workers,
    }


def is_table(judge: str, project: Path) -> bool:
    """Tell whether a judge is a table of scores, which lies in the lake with its items.

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
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only where a configuration is read

    schema = audit_schema() | {"required": []}
    faults: list[Fault] = []
    for error in Draft202012Validator(schema).iter_errors(json.loads(json.dumps(content, default=str))):
        path = [str(part) for part in error.absolute_path]
        strangers = sorted(set(content) - set(schema["properties"])) if not path else []
        for key in strangers or [".".join(path)]:
            place = f"{Path(origin).name}{_line(origin, key)}, key {key}"
            said = "there is no such key" if strangers else _told(error, path)
            faults.append(Fault(place, 0, "", f"{said}."))
    if faults:
        known = ", ".join(schema["properties"])
        raise InputError(faults, f"The keys are {known}; schemas/audit/audit.schema.json describes them.")


def _told(error: ValidationError, path: list[str]) -> str:
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
    found = dict(content)
    if isinstance(found.get("registry"), dict):  # YAML reads 2026-11-01 as a date
        found["registry"] = {
            name: str(value) if name == "since" else value for name, value in found["registry"].items()
        }
    for name in ("items", "readings", "traffic", "anchors", "pairs", "rules", "strangers", "lake", "report"):
        if found.get(name) and "://" not in str(found[name]):
            found[name] = str(base / str(found[name]))
    return found


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
    text = (files("judge_audit_schemas") / "audit" / "audit.template.yaml").read_text(encoding="utf-8")
    target.write_text(text, encoding="utf-8")
    return made
