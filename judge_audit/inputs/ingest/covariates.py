"""Surface statistics that come along with scores: readings of an instrument nobody here ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import Fault, InputError
from judge_audit.core.vocabulary import State
from judge_audit.inputs.ingest.columns import Unfit, number_of
from judge_audit.inputs.ingest.items import probe_name
from judge_audit.judges.cards.card import Card

if TYPE_CHECKING:
    from judge_audit.inputs.ingest.column_mapping import Reading
    from judge_audit.inputs.ingest.reshape import Arranged

    Row = dict[str, Any]

MEASURED = ("luma", "contrast", "chroma", "sharpness", "background_blur", "text_area")
"""What may come along; shape, size and faces are columns of the items themselves."""


def instrument() -> Card:
    """Describe the instrument: whatever measured the statistics before they came here."""
    return Card(
        kind="ruler",
        name="imported covariates",
        weights=text_digest("imported covariates"),
        dimensions=MEASURED,
        description="Surface statistics as an imported file gives them, measured elsewhere.",
    )


def check_names(file: str, reading: Reading) -> None:
    """See that only statistics we know are named.

    Raises:
        InputError: Naming every other.
    """
    strangers = [name for name in reading.covariates if name not in MEASURED]
    if strangers:
        said = f"there is no such statistic; there are {', '.join(MEASURED)}."
        raise InputError([Fault(file, 0, f"covariates.{name}", said) for name in strangers])


def covariate_rows(arranged: Arranged, reading: Reading) -> tuple[dict[str, list[Row]], list[Fault]]:
    """Make calls and scores of the instrument, one call per item.

    Returns:
        Rows of `calls` and `scores`, none where no covariates came along, and the faults.
    """
    faults: list[Fault] = []
    card = instrument()
    calls: dict[str, Row] = {}
    scores: list[Row] = []
    for entry in arranged.entries if reading.covariates else ():
        item_id = entry.texts["item_id"].strip()
        if not item_id or item_id in calls:
            continue
        key = {"judge_id": card.judge_id, "probe_id": probe_name(item_id), "repeat": 0, "is_control": True}
        calls[item_id] = {**key, "state": State.OK.value, "attempts": 1, "raw_reply": ""}
        for name in reading.covariates:
            text = entry.texts[f"covariate {name}"]
            try:
                value = number_of(text) if text.strip() else None
            except Unfit as error:
                faults.append(arranged.fault(entry, reading.covariates[name], str(error)))
                continue
            state = State.EMPTY if value is None else State.OK
            scores.append(
                {**key, "dimension": name, "value": value, "state": state.value, "parser_version": "1"}
            )
    return ({"calls": list(calls.values()), "scores": scores} if calls else {}), faults
