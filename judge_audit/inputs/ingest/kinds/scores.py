"""Scores: what a judge has answered already, as numbers or as the text it wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_audit.inputs.ingest.columns import Field
from judge_audit.inputs.ingest.items import (
    ITEM_COLUMNS,
    NO_SOURCE,
    check_names,
    covariate_rows,
    items_of_rows,
    probe_name,
    probe_row,
)
from judge_audit.inputs.ingest.rows import TableKind, Taken, read_values
from judge_audit.inputs.ingest.table_judge import (
    EMPTY,
    against_lake,
    call_row,
    describe,
    held_scores,
    packed,
    read_raw,
    score_rows,
    state_lines,
)
from judge_audit.judges.cards.reply_rules import rule_of

if TYPE_CHECKING:
    from judge_audit_schemas.rows import CallsRow, ScoresRow

    from judge_audit.core.errors import Fault
    from judge_audit.core.vocabulary import State
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged, Entry
    from judge_audit.inputs.ingest.rows import Around
    from judge_audit.judges.cards.reply_rules import ReplyRule

    Row = dict[str, Any]
    Score = tuple[float | None, State]

COLUMNS = (
    Field("item_id", "name", needed=True, filled=True),
    Field("value", "text", needed=True),
    Field("dimension", "name"),
    Field("repeat", "whole"),
    *ITEM_COLUMNS,
)


@dataclass(slots=True)
class _Answer:
    """What one call of the judge answered, gathered over the rows of the file.

    Attributes:
        raw: Reply by the name it was given under ("" for the whole reply).
        entries: Row of the file by that name.
        found: What each dimension was read as.
    """

    raw: dict[str, str] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    found: dict[str, Score] = field(default_factory=dict)


def take(arranged: Arranged, reading: Reading, around: Around) -> Taken:
    """Make items, probes, calls and scores of a file, with the covariates that came along."""
    card = around.card
    assert card is not None  # the importer asks for it
    check_names(arranged.file, reading)
    rows, faults = read_values(arranged, COLUMNS)
    items, sound, wrong = items_of_rows(arranged, rows)
    rule = rule_of(card)
    answers, twice = _answers(arranged, sound, rule)
    covariates, unread = covariate_rows(arranged, reading)
    faults += [*wrong, *twice, *unread]
    judge_id = card.judge_id
    stored = held_scores(around.lake, judge_id)
    calls: list[CallsRow] = []
    scores: list[ScoresRow] = []
    states: list[tuple[str, str, State]] = []
    known = 0
    for (item_id, repeat), answer in answers.items():
        there, fresh, odd = against_lake(stored, item_id, repeat, answer.found)
        probe_id = probe_name(item_id)
        faults += [_contradicts(arranged, answer, name, stored[probe_id, repeat][name], rule) for name in odd]
        known += there and not fresh and not odd
        if odd:
            continue
        if not there:
            calls.append(call_row(judge_id, probe_id, repeat, packed(answer.raw), answer.found))
        scores += score_rows(judge_id, card.parser_version, probe_id, repeat, fresh)
        states += [(name, items[item_id]["source"], state) for name, (_, state) in fresh.items()]
    kept = {item_id for item_id, _ in answers}
    listed = [item for item_id, item in items.items() if item_id in kept]
    probes = [probe_row(items[item_id], repeat) for item_id, repeat in answers]
    lines, notes = state_lines(states), []
    if known:
        lines.append(f"{known:,} answers were in the lake already.")
    if lost := sum(item["source"] == NO_SOURCE for item in listed):
        notes.append(
            f"The file does not say which generator {lost:,} of {len(listed):,} images came from: figures within a "
            "source cannot be made of them."
        )
    return Taken(
        {"items": listed, "probes": probes, "calls": calls, "scores": scores},
        faults,
        notes,
        lines,
        [covariates] if covariates else [],
    )


def _answers(
    arranged: Arranged, rows: list[tuple[Entry, Row]], rule: ReplyRule
) -> tuple[dict[tuple[str, int], _Answer], list[Fault]]:
    """Gather rows into calls and read their replies; a dimension others have and one lacks is empty there."""
    answers: dict[tuple[str, int], _Answer] = {}
    faults: list[Fault] = []
    for entry, row in rows:
        asked_as = row["dimension"]
        if not rule.targets(asked_as):
            known = ", ".join(dict.fromkeys([*rule.dimensions, *rule.lists]))
            message = f"the card has no dimension “{asked_as}”; it has {known}."
            faults.append(arranged.fault(entry, "dimension", message))
            continue
        answer = answers.setdefault((row["item_id"], row["repeat"] or 0), _Answer())
        if asked_as in answer.raw:
            message = (
                f"row {answer.entries[asked_as].number} holds a score of this item"
                f"{f' and {asked_as}' if asked_as else ''} already; answers to the same question asked again need "
                "a column repeat (0, 1, …)."
            )
            faults.append(arranged.fault(entry, "item_id", message))
            continue
        answer.raw[asked_as] = row["value"]
        answer.entries[asked_as] = entry
    for answer in answers.values():
        answer.found = read_raw(answer.raw, rule)
    spoken = dict.fromkeys(name for answer in answers.values() for name in answer.found)
    for answer in answers.values():
        answer.found = {name: answer.found.get(name, EMPTY) for name in spoken}
    return answers, faults


def _contradicts(
    arranged: Arranged, answer: _Answer, name: str, stored: tuple[float | None, str], rule: ReplyRule
) -> Fault:
    """Say that the lake holds another answer of the judge to the same question."""
    asked_as = next((key for key in answer.entries if name in rule.targets(key)), next(iter(answer.entries)))
    now = describe((answer.found[name][0], answer.found[name][1].value))
    message = (
        f"the lake holds {describe(stored)} of this judge for {name}, the file {now}. Answers to the same question "
        "asked again need a column repeat; a judge that has changed needs another version or epoch in its card."
    )
    return arranged.fault(answer.entries[asked_as], "value", message)


KIND = TableKind(name="scores", columns=COLUMNS, take=take, table="calls", value="value", wide_as="dimension")
