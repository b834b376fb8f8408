"""Suites: a query over the lake, the keys that must be there, and what is expected of every row.

A suite is two files of one name. `<name>.sql` holds two queries, each under a comment: the frame, and after a
line `-- keys: …` the keys that the frame must have, no more and no fewer. `<name>.json` holds Great
Expectations expectations. Whatever would pass without having looked at anything is refused here or in
`judge_audit.decisions.gate.expectations`.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.decisions.gate.model import CRITICAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.resources.abc import Traversable

KEYS_MARK = re.compile(r"^-- keys:", re.MULTILINE)


BOTH_ENDS = frozenset({"min_value", "max_value"})
NEEDS: dict[str, frozenset[str]] = {
    "expect_column_values_to_be_between": frozenset({"column"}) | BOTH_ENDS,
    "expect_column_values_to_be_in_set": frozenset({"column", "value_set"}),
    "expect_column_values_to_not_be_in_set": frozenset({"column", "value_set"}),
    "expect_column_values_to_be_unique": frozenset({"column"}),
    "expect_column_values_to_not_be_null": frozenset({"column"}),
    "expect_column_pair_values_to_be_equal": frozenset({"column_A", "column_B"}),
    "expect_column_distinct_values_to_equal_set": frozenset({"column", "value_set"}),
    "expect_column_sum_to_be_between": frozenset({"column"}) | BOTH_ENDS,
    "expect_column_mean_to_be_between": frozenset({"column"}) | BOTH_ENDS,
    "expect_column_min_to_be_between": frozenset({"column"}) | BOTH_ENDS,
    "expect_column_max_to_be_between": frozenset({"column"}) | BOTH_ENDS,
    "expect_table_row_count_to_equal": frozenset({"value"}),
    "expect_table_row_count_to_be_between": BOTH_ENDS,
}
"""Expectations that the gate knows how to guard, and exactly what each must be given.

`mostly` and `row_condition` are left out on purpose: which rows count is the query's business, and an
expectation that may look past rows can pass on none.
"""

COLUMNS = ("column", "column_A", "column_B")
"""Arguments that name a column."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is expected of a frame, and who acts where it is not met."""

    name: str
    type: str
    arguments: Mapping[str, Any]
    severity: str
    owner: str
    reason: str
    remedy: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return tuple(self.arguments[name] for name in COLUMNS if name in self.arguments)

    @property
    def told(self) -> str:
        """What it expects, in words."""
        said = self.type.removeprefix("expect_").replace("_", " ")
        rest = {name: value for name, value in self.arguments.items() if name not in COLUMNS}
        named = " = ".join(self.columns)
        return " ".join(filter(None, (named, said, json.dumps(rest, ensure_ascii=False) if rest else "")))


@dataclass(frozen=True, slots=True)
class Suite:
    """A query with its expectations.

    Attributes:
        name: Its name, that of its files.
        meaning: What it asks, in a sentence.
        frame: The query for the rows.
        keys: The query for the keys that must be there; of a bad-row rule, for the rows that were looked at.
        key: Columns that together name a row.
        bad_rows: Whether the frame is one of bad rows, and must be empty.
        baseline: Whether it compares with the approved audit.
        needed_for: Uses for which the gate cannot open while this cannot be asked; None for all.
        expectations: At least one.
    """

    name: str
    meaning: str
    frame: str
    keys: str
    key: tuple[str, ...]
    bad_rows: bool
    baseline: bool
    needed_for: frozenset[str] | None
    expectations: tuple[Expectation, ...]

    def is_needed(self, use: str) -> bool:
        """Tell whether the gate for a use stays closed while this cannot be asked."""
        return self.needed_for is None or use in self.needed_for


def parse_suite(name: str, sql: str, expectations: str) -> Suite:
    """Make a suite of the contents of its two files.

    Raises:
        UsageError: With everything that is wrong, by file name.
    """
    meaning, frame, keys, wrong = _queries(name, sql)
    if name == RESERVED:
        wrong.append(
            f"suites/{name}: “{name}” is what the gate asks by itself; call the suite something else."
        )
    try:
        content = json.loads(expectations)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"suites/{name}.json: it is not valid JSON: {error}.") from error
    wrong += _shape(name, content)
    if not wrong:
        wrong += [said for entry in content["expectations"] for said in _arguments(name, entry)]
        wrong += _whole(name, content)
    if wrong:
        raise UsageError("\n".join(wrong))
    needed = content.get("needed_for")
    return Suite(
        name=name,
        meaning=meaning,
        frame=frame,
        keys=keys,
        key=tuple(content["key"]),
        bad_rows=content.get("rows") == "none",
        baseline=content.get("baseline", False),
        needed_for=None if needed is None else frozenset(needed),
        expectations=tuple(_expectation(entry, content["owner"]) for entry in content["expectations"]),
    )


def _queries(name: str, sql: str) -> tuple[str, str, str, list[str]]:
    """Take the two queries apart: the meaning, the frame, the keys, and what is wrong."""
    parts = KEYS_MARK.split(sql)
    comment = re.match(r"(?:--[^\n]*\n)+", sql)
    if len(parts) != 2 or comment is None:
        said = (
            f"suites/{name}.sql: it opens with a comment (-- …) that says what is asked and the query for the "
            "rows; then a line “-- keys: …” and the query for the keys that must be there."
        )
        return "", "", "", [said]
    frame, keys = parts[0][comment.end() :], parts[1].partition("\n")[2]
    frame, keys = (text.strip().rstrip(";").strip() for text in (frame, keys))
    meaning = " ".join(line.removeprefix("--").strip() for line in comment[0].splitlines())
    empty = [which for which, text in (("rows", frame), ("keys", keys)) if not text]
    return (
        meaning,
        frame,
        keys,
        [f"suites/{name}.sql: the query for the {which} is empty." for which in empty],
    )


@cache
def _schema() -> dict[str, Any]:
    text = (files("judge_audit_schemas") / "gate" / "suite.schema.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def _shape(name: str, content: Any) -> list[str]:  # noqa: ANN401 - whatever the file holds
    """Hold the file against its schema."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - only where a suite is read

    found = Draft202012Validator(_schema()).iter_errors(content)
    return [
        f"suites/{name}.json, {'.'.join(str(part) for part in error.absolute_path) or 'whole file'}: "
        f"{error.message}."
        for error in sorted(found, key=lambda error: [str(part) for part in error.absolute_path])
    ]


def _arguments(name: str, entry: Mapping[str, Any]) -> Iterable[str]:
    """Say what is wrong with one expectation's arguments."""
    place = f"suites/{name}.json, {entry['meta']['name']}"
    needs = NEEDS.get(entry["type"])
    if needs is None:
        yield f"{place}: “{entry['type']}” is not one of {', '.join(sorted(NEEDS))}. A query can ask for the rest."
        return
    given = entry["kwargs"]
    if set(given) != needs:
        wanted, told = (", ".join(sorted(names)) or "nothing" for names in (needs, given))
        yield f"{place}: it takes exactly {wanted}, and is given {told}."
        return
    for end in ("min_value", "max_value", "value"):
        if end in given and not _is_number(given[end]):
            yield f"{place}: {end} must be a number, not {given[end]!r}: an open end lets everything pass."
    if "value_set" in given and not (isinstance(given["value_set"], list) and given["value_set"]):
        yield f"{place}: value_set must list at least one value: an empty one lets everything pass."
    for column in COLUMNS:
        if column in given and not isinstance(given[column], str):
            yield f"{place}: {column} must be the name of a column."


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _whole(name: str, content: Mapping[str, Any]) -> list[str]:
    """Say what is wrong with the expectations taken together."""
    names = [entry["meta"]["name"] for entry in content["expectations"]]
    wrong = [
        f"suites/{name}.json: two expectations are named “{twice}”."
        for twice in sorted({one for one in names if names.count(one) > 1})
    ]
    none = [
        entry["type"] == "expect_table_row_count_to_equal" and entry["kwargs"].get("value") == 0
        for entry in content["expectations"]
    ]
    if content.get("rows") == "none" and not (len(none) == 1 and none[0]):
        wrong.append(
            f"suites/{name}.json: a rule of bad rows (rows: none) expects one thing: "
            "expect_table_row_count_to_equal with value 0."
        )
    return wrong


def _expectation(entry: Mapping[str, Any], owner: str) -> Expectation:
    meta = entry["meta"]
    return Expectation(
        name=meta["name"],
        type=entry["type"],
        arguments=entry["kwargs"],
        severity=entry.get("severity", CRITICAL),
        owner=meta.get("owner", owner),
        reason=meta["reason"],
        remedy=meta["remedy"],
    )


def read_suites(folder: Traversable) -> dict[str, tuple[Suite, bytes]]:
    """Read every suite in a folder, with the bytes of its two files.

    Raises:
        UsageError: If one is malformed, or only one of its two files is there; names it.
    """
    found = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith((".sql", ".json"))}
    stems = sorted({name.rpartition(".")[0] for name in found})
    read = {}
    for stem in stems:
        pair = [found.get(f"{stem}.{ending}") for ending in ("sql", "json")]
        if None in pair:
            lost = "json" if pair[1] is None else "sql"
            raise UsageError(f"suites/{stem}.{lost} is not there: a suite is {stem}.sql and {stem}.json.")
        content = [entry.read_bytes() for entry in pair if entry is not None]
        try:
            sql, expectations = (text.decode("utf-8") for text in content)
        except UnicodeDecodeError as error:
            raise UsageError(f"suites/{stem}: its files are not UTF-8 text.") from error
        read[stem] = parse_suite(stem, sql, expectations), b"\0".join(content)
    return read


def builtin_suites() -> dict[str, Suite]:
    """Read the shipped suites."""
    return {name: suite for name, (suite, _) in read_suites(files("judge_audit_schemas") / "suites").items()}
