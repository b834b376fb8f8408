"""Anchors as tables: what checks, comparisons and the report see of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from judge_audit_schemas.rows import AnchorLedgerRow, AuditsRow

from judge_audit.anchors.ledger import LEDGER, RESTORE
from judge_audit.core.digests import text_digest
from judge_audit.core.errors import Fault, InputError, UsageError
from judge_audit.core.tables import from_rows, rows_of, schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from judge_audit_schemas.rows import ItemsRow

    from judge_audit.anchors.folder import AnchorSet
    from judge_audit.lake import Lake

PREFIX = "anchor:"
"""Begins the item_id under which an anchor stands in an audit."""

OWN = ("anchor_id", "item_id", "tier", "kind", "source", "topic", "cluster")
SAID = ("dimension", "annotator_id", "value", "level", "low", "high", "higher_is_better")
SCHEMA = pa.schema(
    [
        *(schema("anchors").field(name) for name in OWN),
        *(schema("anchor_labels").field(name) for name in SAID),
    ]
)
"""Anchors in long form: a row for every label, the anchor's own columns repeated."""

MEAN_SCHEMA = pa.schema(
    [
        *(schema("anchors").field(name) for name in OWN),
        pa.field("dimension", pa.string()),
        pa.field("label", pa.float64()),
        pa.field("annotators", pa.int64()),
    ]
)
"""A row for every anchor and dimension that anybody labelled."""


def item_of(anchor_id: str) -> str:
    """Give the item_id under which an anchor stands in `items`, `probes` and responses."""
    return PREFIX + anchor_id


def item_rows(held: AnchorSet) -> list[tuple[ItemsRow, str]]:
    """Make rows of `items` of every anchor there ever was: what an audit shows the judge.

    Retired ones are shown too, so that a verdict can be replayed on any version of the set.

    Returns:
        Each row but for plan_id, with the item_id under which imported scores know the picture.
    """
    found: list[tuple[ItemsRow, str]] = []
    for anchor in held.ever():
        seen = held.pictures[anchor.anchor_id]
        row: ItemsRow = {
            "item_id": item_of(anchor.anchor_id),
            "source": anchor.source,
            "topic": anchor.topic,
            "prompt": anchor.prompt,
            "prompt_id": text_digest(anchor.prompt)[:12],
            "cluster": anchor.cluster,
            "uri": held.place(anchor),
            "file_digest": anchor.file_digest,
            "pixel_digest": seen.pixel_digest,
            "width": seen.width,
            "height": seen.height,
            "frames": seen.frames,
            "image_notes": seen.notes,
            "file_bytes": seen.file_bytes,
            "face_count": None,
            "mask_uri": None,
            "mask_digest": None,
        }
        found.append((row, anchor.known_as or anchor.anchor_id))
    return found


def tables_of(held: AnchorSet, version: int | None = None) -> dict[str, pa.Table]:
    """Make the rows of `anchors` and `anchor_labels` of a version, of the newest by default."""
    number = version or held.version
    own, said = [], []
    for anchor in held.at(number):
        key = {"set_id": held.set_id, "anchor_version": number, "anchor_id": anchor.anchor_id}
        named = (
            "known_as",
            "prompt",
            "source",
            "topic",
            "cluster",
            "tier",
            "kind",
            "file_digest",
            "pixel_digest",
        )
        row = {name: getattr(anchor, name) for name in named}
        place = {"item_id": item_of(anchor.anchor_id), "uri": anchor.image, "anchor_head": held.head(number)}
        own.append({**key, **row, **place})
        said += [{**key, **{name: getattr(label, name) for name in SAID}} for label in anchor.labels]
    return {"anchors": from_rows("anchors", own), "anchor_labels": from_rows("anchor_labels", said)}


def in_long_form(anchors: pa.Table, labels: pa.Table) -> pa.Table:
    """Put rows of `anchors` and `anchor_labels` of one version together, as `SCHEMA`."""
    own = {row["anchor_id"]: {name: row[name] for name in OWN} for row in anchors.to_pylist()}
    rows = [
        {**own[row["anchor_id"]], **{name: row[name] for name in SAID}}
        for row in labels.to_pylist()
        if row["anchor_id"] in own
    ]
    rows.sort(key=lambda row: (row["anchor_id"], row["dimension"], row["annotator_id"]))
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def anchor_labels(held: AnchorSet, version: int | None = None) -> pa.Table:
    """Give the anchors of a version of a set in long form, a row for every label, as `SCHEMA`."""
    made = tables_of(held, version)
    return in_long_form(made["anchors"], made["anchor_labels"])


def mean_labels(table: pa.Table) -> pa.Table:
    """Average people's labels of each anchor and dimension.

    Args:
        table: Anchors in long form.

    Returns:
        Columns anchor_id, item_id, tier, kind, source, topic, cluster, dimension, label (the mean over annotators,
        turned so that higher is better) and annotators (how many), sorted by anchor and dimension.
    """
    held: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        held.setdefault((row["anchor_id"], row["dimension"]), []).append(row)
    rows = []
    for key in sorted(held):
        said = held[key]
        turned = [row["value"] if row["higher_is_better"] else -row["value"] for row in said]
        own = {name: said[0][name] for name in (*OWN, "dimension")}
        rows.append({**own, "label": sum(turned) / len(turned), "annotators": len(said)})
    return pa.Table.from_pylist(rows, schema=MEAN_SCHEMA)


def ledger_rows(held: AnchorSet, after: int = 0) -> Iterable[dict[str, Any]]:
    """Give rows of `anchor_ledger` for the entries after the first `after`."""
    for entry in held.entries[after:]:
        yield {
            "set_id": entry.set_id,
            "anchor_version": entry.number,
            "action": entry.action,
            "anchor_id": entry.anchor_id,
            "reason": entry.reason,
            "author": entry.author,
            "annotators": list(entry.annotators),
            "changed_at": entry.made_at,
            "anchor_before": entry.before,
            "anchor_after": entry.after,
            "previous_entry": entry.previous,
            "anchor_head": entry.digest,
        }


@dataclass(frozen=True, slots=True)
class AnchorsUsed:
    """Which anchors an audit used.

    Attributes:
        set_id: The set.
        version: Its version.
        head: Digest of that version's last entry.
    """

    set_id: str
    version: int
    head: str


def hold_to_lake(held: AnchorSet, lake: Lake) -> None:
    """See that a ledger extends every version of the set that the lake has seen.

    Raises:
        InputError: Naming the first entry that is another one, or is gone.
    """
    where = f"the lake at {lake.url} has seen"
    faults = []
    for row in rows_of(lake.read("anchor_ledger", set_id=held.set_id), AnchorLedgerRow):
        number = row["anchor_version"]
        if number <= held.version and held.head(number) == row["anchor_head"]:
            continue
        said = f"{where} another entry here: the ledger was rewritten since an audit used it."
        if number > held.version:
            said = f"{where} version {number} of this set, and the ledger ends at {held.version}."
        faults.append(Fault(LEDGER, min(number, held.version), "", f"{said} {RESTORE}"))
        break
    known = {entry.digest for entry in held.entries}
    for audit in rows_of(lake.read("audits", anchor_set=held.set_id), AuditsRow):
        head = str(audit["anchor_head"])
        if head not in known and not faults:
            said = f"it does not hold the version that the audit {audit['audit_id']} used ({head[:12]}…)."
            faults.append(Fault(LEDGER, 0, "", f"{said} {RESTORE}"))
    if faults:
        raise InputError(faults, f"The anchor set at {held.folder} is not used as it is; nothing was asked.")


def keep(held: AnchorSet, lake: Lake, version: int | None = None) -> AnchorsUsed:
    """Put the ledger and a version of the set into the lake; what is there already costs nothing.

    Raises:
        InputError: If the ledger does not extend what the lake has seen.
    """
    hold_to_lake(held, lake)
    number = version or held.version
    after = lake.read("anchor_ledger", set_id=held.set_id).num_rows
    if after < held.version:
        lake.commit({"anchor_ledger": from_rows("anchor_ledger", ledger_rows(held, after))})
    if not lake.read("anchors", set_id=held.set_id, anchor_version=number).num_rows:
        lake.commit(tables_of(held, number))
    return AnchorsUsed(held.set_id, number, held.head(number))


def kept_anchors(lake: Lake, set_id: str, version: int) -> pa.Table:
    """Read the anchors of a version from the lake in long form, a row for every label (`standing.SCHEMA`)."""
    key = {"set_id": set_id, "anchor_version": version}
    return in_long_form(lake.read("anchors", **key), lake.read("anchor_labels", **key))


def anchors_of_audit(lake: Lake, audit_id: str) -> pa.Table:
    """Read the anchors that an audit used in long form; no rows if it used none.

    Raises:
        UsageError: If the lake has no such audit.
    """
    rows = rows_of(lake.read("audits", audit_id=audit_id), AuditsRow)
    if not rows:
        raise UsageError(f"the lake at {lake.url} has no audit “{audit_id}”.")
    if rows[0]["anchor_set"] is None or rows[0]["anchor_version"] is None:
        return SCHEMA.empty_table()
    return kept_anchors(lake, rows[0]["anchor_set"], rows[0]["anchor_version"])
