"""References of a judge that compares: its preferences are lifts already, and rest on no untouched scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.measures.lifts import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def by_source(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, ...], Reference]]:
    """Gather the items of each source, sorted, with a reference that knows their clusters alone.

    Args:
        rows: Responses with item_id, source and cluster.
    """
    held: dict[str, dict[str, str]] = {}
    for row in rows:
        held.setdefault(row["source"], {})[row["item_id"]] = row["cluster"]
    for source, clusters in sorted(held.items()):
        items = tuple(sorted(clusters))
        names, own = np.unique([clusters[item_id] for item_id in items], return_inverse=True)
        yield source, items, Reference(np.zeros(len(items)), own.astype(np.intp), len(names), direct=True)
