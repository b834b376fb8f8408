"""The anchor set: pictures that people labelled, under version control, whose every change is an entry.

It may import `inputs` and what is below, and neither `decisions` nor `demo`.

Reading it:

- `read_anchors(folder)` gives an `AnchorSet`, verified; `.at(version)` its anchors, `.version`, `.head()`, `.set_id`.
- `anchor_labels(held, version)`, `kept_anchors(lake, set_id, version)` and `anchors_of_audit(lake, audit_id)` give
  anchors as a table in long form, a row for every label: anchor_id, item_id, tier, kind, source, topic, cluster,
  dimension, annotator_id, value, level, low, high, higher_is_better.
- `mean_labels(table)` averages such a table: anchor_id, item_id, tier, kind, source, topic, cluster, dimension,
  label (higher is better), annotators (how many).

An anchor answers in an audit's responses under its item_id (`item_of(anchor_id)`) with the axis `anchor`.
`hold_to_lake(held, lake)` refuses a ledger that does not extend what the lake has seen, `keep` puts it there.
"""

from judge_audit.anchors.coverage import Coverage, coverage
from judge_audit.anchors.edits import Draft, add, mend, relabel, retire
from judge_audit.anchors.folder import AnchorSet, read_anchors, verified
from judge_audit.anchors.ledger import Anchor, Entry, Label
from judge_audit.anchors.tables import (
    PREFIX,
    AnchorsUsed,
    anchor_labels,
    anchors_of_audit,
    hold_to_lake,
    item_of,
    keep,
    kept_anchors,
    mean_labels,
)

__all__ = [
    "PREFIX",
    "Anchor",
    "AnchorSet",
    "AnchorsUsed",
    "Coverage",
    "Draft",
    "Entry",
    "Label",
    "add",
    "anchor_labels",
    "anchors_of_audit",
    "coverage",
    "hold_to_lake",
    "item_of",
    "keep",
    "kept_anchors",
    "mean_labels",
    "mend",
    "read_anchors",
    "relabel",
    "retire",
    "verified",
]
