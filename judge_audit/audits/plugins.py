"""Parts (axes, checks, kinds of judge and of mismatch, suites, uses, views) of the package, of others and of a team.

A team's file is loaded by its path under a private name, so it shadows nothing; a name that is given twice is
refused with both places.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import yaml

from judge_audit.checks import builtin_checks, check_of
from judge_audit.core.digests import file_digest, text_digest
from judge_audit.core.errors import AuditError, UsageError
from judge_audit.core.moved_modules import keep_old_names
from judge_audit.decisions.gate.suites import Suite, builtin_suites, read_suites
from judge_audit.decisions.standings import Use, builtin_uses, parse_use
from judge_audit.judges import builtin_kinds, kind_of, load_judge
from judge_audit.lake.connect import View, parse_view, shipped_views
from judge_audit.stimuli.axes import axes_of, builtin_axes
from judge_audit.stimuli.mismatches import mismatch_kinds, mismatch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from importlib.metadata import EntryPoint, EntryPoints
    from types import ModuleType

    from judge_audit.checks.check import Check
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.protocol import Judge
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.mismatches.kind import Kind

Thing = TypeVar("Thing")
Named = TypeVar("Named", "Axis", "Check", "Kind", Use, View)


@dataclass(frozen=True, slots=True)
class Part(Generic[Thing]):
    """Something found by its name.

    Attributes:
        name: Its name.
        thing: What it is.
        origin: Where it came from, for people.
        digest: Digest of the file, "" for the package's own (its version says it all).
    """

    name: str
    thing: Thing
    origin: str
    digest: str = ""


def things(parts: Mapping[str, Part[Thing]]) -> dict[str, Thing]:
    """Give what parts hold, by name."""
    return {name: part.thing for name, part in parts.items()}


def find_axes(project: str) -> dict[str, Part[Axis]]:
    """Find all axes by name."""
    return _find("axes", builtin_axes(), project, lambda *module: _by_name(*axes_of(*module)))


def find_checks(project: str) -> dict[str, Part[Check]]:
    """Find all checks by name."""
    return _find("checks", builtin_checks(), project, lambda *module: _by_name(check_of(*module)))


def find_kinds(project: str) -> dict[str, Part[ModuleType]]:
    """Find all judge kinds by name."""
    return _find("judges", builtin_kinds(), project, lambda module, origin: {kind_of(module, origin): module})


def find_mismatches(project: str) -> dict[str, Part[Kind]]:
    """Find all mismatch kinds by name."""
    return _find("kinds", mismatch_kinds(), project, lambda *module: _by_name(mismatch_of(*module)))


def find_uses(project: str) -> dict[str, Part[Use]]:
    """Find the checklists of all uses by name; a project's are YAML files in `uses/`."""
    return _read(
        "uses",
        _by_name(*builtin_uses()),
        _files(project, "uses", "*.yaml"),
        lambda path: parse_use(path.name, yaml.safe_load(path.read_bytes())),
    )


def find_views(project: str) -> dict[str, Part[View]]:
    """Find all SQL views by name; a project's are files in `views/`, each opening with a comment."""
    return _read(
        "views",
        shipped_views(),
        _files(project, "views", "*.sql"),
        lambda path: parse_view(path.name, path.read_text(encoding="utf-8")),
    )


def find_suites(project: str) -> dict[str, Part[Suite]]:
    """Find all suites of the gate by name.

    A project's are pairs of files in `suites/`; an entry point names a package whose files are suites.
    """
    folders = [(_origin(entry), files(entry.load())) for entry in _announced("suites")]
    if project and (Path(project) / "suites").is_dir():
        folders.append((str(Path(project) / "suites"), Path(project) / "suites"))
    extra = []
    for origin, folder in folders:
        try:
            read = read_suites(folder)
        except UsageError as error:
            raise UsageError(f"{origin}: {error}") from error
        extra += [
            Part(name, suite, f"{origin}: {name}", file_digest(content))
            for name, (suite, content) in read.items()
        ]
    return _joined("suites", builtin_suites(), extra)


def configured_judge(configuration: Configuration, requests: int = 0) -> Judge:
    """Load the judge that a configuration names.

    Args:
        configuration: The configuration.
        requests: Requests that it may have under way at most, where this process is one of several; 0 for what
            its card says.

    Raises:
        UsageError: If there is none, or it cannot be loaded.
    """
    project = configuration.project
    return load_judge(
        configuration.judge,
        project=Path(project) if project else None,
        kinds={name: part.thing for name, part in find_kinds(project).items()},
        requests=requests,
    )


def select_axes(configuration: Configuration) -> dict[str, Axis]:
    """Give the axes a configuration asks for, in the order of their names.

    `default` means every axis that is climbed unasked, a team's own among them; `all` for every axis.
    Either may be given together with names.

    Raises:
        UsageError: If it names an axis that does not exist; lists those that do.
    """
    axes = find_axes(configuration.project)
    wanted = set(configuration.axes)
    if "all" in wanted:
        wanted = (wanted - {"all", "default"}) | set(axes)
    if "default" in wanted:
        wanted = (wanted - {"default"}) | {name for name, part in axes.items() if part.thing.default}
    unknown = sorted(wanted - set(axes))
    if unknown:
        raise UsageError(f"axes: there is no {', '.join(unknown)}; the axes are {', '.join(sorted(axes))}.")
    return {name: axes[name].thing for name in sorted(wanted)}


def part_digests(configuration: Configuration) -> dict[str, str]:
    """Digest every loaded file that is not the package's own."""
    finders: tuple[Callable[[str], Mapping[str, Part[Any]]], ...] = (
        *(find_axes, find_checks, find_kinds, find_mismatches),
        *(find_uses, find_views, find_suites),
    )
    parts = (part for find in finders for part in find(configuration.project).values())
    return {part.origin: part.digest for part in parts if part.digest}


def _by_name(*things: Named) -> dict[str, Named]:
    """Give things by their own names."""
    return {thing.name: thing for thing in things}


def _find(
    kind: str,
    own: Mapping[str, Thing],
    project: str,
    take: Callable[[ModuleType, str], Mapping[str, Thing]],
) -> dict[str, Part[Thing]]:
    """Add installed packages' and the project's parts of a kind to the package's own."""
    extra: list[Part[Thing]] = []
    for entry in _announced(kind):
        keep_old_names()
        things = take(entry.load(), entry.name)
        digest = text_digest(entry.value, getattr(entry.dist, "version", ""))
        extra += [Part(name, thing, _origin(entry), digest) for name, thing in things.items()]
    for path in _files(project, kind, "*.py"):
        with _blamed_on(path):
            things = take(_load(kind, path), path.stem)
        digest = file_digest(path.read_bytes())
        extra += [Part(name, thing, str(path), digest) for name, thing in things.items()]
    return _joined(kind, own, extra)


def _read(
    kind: str, own: Mapping[str, Named], paths: Iterable[Path], parse: Callable[[Path], Named]
) -> dict[str, Part[Named]]:
    """Add the project's parts of a kind that is no Python to the package's own."""
    extra = []
    for path in paths:
        with _blamed_on(path):
            thing = parse(path)
        extra.append(Part(thing.name, thing, str(path), file_digest(path.read_bytes())))
    return _joined(kind, own, extra)


def _origin(entry: EntryPoint) -> str:
    return f"the installed entry point {entry.name} ({entry.value})"


def _announced(kind: str) -> EntryPoints:
    """List the entry points by which installed packages bring parts of a kind."""
    return _entry_points(f"judge_audit.{kind}", tuple(sys.path))


@cache
def _entry_points(group: str, searched: tuple[str, ...]) -> EntryPoints:
    """Read the entry points of a group; every read walks all installed packages, so it is done once."""
    del searched
    return entry_points(group=group)


def _files(project: str, kind: str, pattern: str) -> list[Path]:
    """List the project's files of a kind."""
    return sorted((Path(project) / kind).glob(pattern)) if project else []


@contextmanager
def _blamed_on(path: Path) -> Iterator[None]:
    """Say of a team's own file that it is wrong, and not of the machinery."""
    try:
        yield
    except UsageError:
        raise
    except (AuditError, yaml.YAMLError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from error


def _joined(kind: str, own: Mapping[str, Thing], extra: Iterable[Part[Thing]]) -> dict[str, Part[Thing]]:
    """Add parts to the package's own, or refuse a name that is given twice."""
    parts = {name: Part(name, thing, "the package") for name, thing in own.items()}
    for part in extra:
        if part.name in parts:
            raise UsageError(
                f"{kind}: “{part.name}” stands twice, in {parts[part.name].origin} and in {part.origin}. "
                "Rename one."
            )
        parts[part.name] = part
    return parts


def _load(kind: str, path: Path) -> ModuleType:
    """Load a team's file under a private name."""
    keep_old_names()
    name = f"_judge_audit_project_{kind}_{text_digest(str(path))[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: it cannot be loaded as Python.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except AuditError:
        raise
    except Exception as error:
        del sys.modules[name]
        raise UsageError(f"{path}: loading it failed: {error!r}.") from error
    return module
