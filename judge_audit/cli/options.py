"""Options that several commands have, and those that stand for keys of audit.yaml: derived from its schema."""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any

from typer import Argument, Option

from judge_audit.core.errors import UsageError
from judge_audit.core.json_schemas import shipped_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Commands = dict[str, Callable[..., None]]

LAKE = Option(None, "--lake", help="Folder of the lake; else that of ./audit.yaml or $JUDGE_AUDIT_LAKE.")
AS_JSON = Option(False, "--json", help="Print the results as JSON.")
PROJECT_FILE = Argument(
    None, metavar="audit.yaml", help="The project's audit.yaml; ./audit.yaml if there is one."
)
USE = Option(
    None,
    "--for",
    metavar="USE",
    help="filtering, ranking, reward, acceptance or screening; else what it was approved for last.",
)
BASELINE = Option("approved", "--baseline", metavar="AUDIT|approved", help="What to hold it against.")
TYPES: dict[str, type] = {"integer": int, "number": float, "boolean": bool}


@cache
def _keys() -> dict[str, dict[str, Any]]:
    """Read what the schema of audit.yaml says of the keys that are options of the command line."""
    properties = shipped_schema("audit/audit.schema.json")["properties"]
    return {key: about for key, about in properties.items() if "x-option" in about}


def key_option(key: str, *, least: float | None = None) -> Any:  # noqa: ANN401 - typer's own type
    """Make the option of a key of audit.yaml; the parser itself refuses what is below `least`."""
    about = _keys()[key]
    default = False if about.get("type") == "boolean" else None
    return Option(default, f"--{key.replace('_', '-')}", help=about["x-option"], min=least)


def with_keys(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each key of audit.yaml that it does not name itself.

    Args:
        command: The command; it is handed them as keywords, None where nothing was said. They stand in the help
            before its keyword-only parameters.
    """
    signature = inspect.signature(command)
    own = [entry for entry in signature.parameters.values() if entry.kind is not entry.VAR_KEYWORD]
    derived = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=key_option(key),
            annotation=TYPES.get(about.get("type", ""), str) | None,
        )
        for key, about in _keys().items()
        if key not in signature.parameters
    ]
    first = [entry for entry in own if entry.kind is not entry.KEYWORD_ONLY]
    last = [entry for entry in own if entry.kind is entry.KEYWORD_ONLY]
    vars(command)["__signature__"] = signature.replace(parameters=[*first, *derived, *last])
    return command


def names(text: str | None) -> list[str]:
    """Take names with commas between apart."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def axis_names(text: str | None) -> str | list[str] | None:
    """Take the names of axes apart; default and all are kept as they are."""
    return text if text is None or text in {"default", "all"} else names(text)


def assignments(option: str, entries: Sequence[str], write: str = "NAME=VALUE") -> list[tuple[str, str, str]]:
    """Take NAME=VALUE apart.

    Returns:
        Each entry with its name and its value.

    Raises:
        UsageError: If an entry has no name or no value.
    """
    apart = []
    for entry in entries:
        name, _, value = entry.partition("=")
        if not name or not value:
            raise UsageError(f"{option} {entry}: write {write}.")
        apart.append((entry, name, value))
    return apart


def scale_ends(scale: str, read: Callable[[str], Any] = str) -> tuple[Any, Any]:
    """Take LOW..HIGH apart; each end is read by `read`.

    Raises:
        UsageError: If one of them is missing or cannot be read.
    """
    low, _, high = scale.partition("..")
    try:
        if low and high:
            return read(low), read(high)
    except ValueError:
        pass
    raise UsageError(f"--scale {scale}: write LOW..HIGH, such as 1..5.")
