"""What an anchor set covers, and what it does not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge_audit.anchors.tables import mean_labels
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import MISMATCHES, OVERALL, Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

TIERS = tuple(tier.value for tier in Tier)
NAMED = 5
"""Anchors named in one sentence."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a version of a set holds.

    Attributes:
        anchors: How many.
        tiers: How many of each tier.
        kinds: How many show each mismatch.
        cells: How many by source, kind ("" for none) and tier, only where there are any.
        dimensions: By dimension: anchors labelled, of these by one person only, and people.
        annotators: Labels given by each person.
        gaps: What is missing, in words.
    """

    anchors: int
    tiers: Mapping[str, int]
    kinds: Mapping[str, int]
    cells: tuple[Mapping[str, Any], ...]
    dimensions: Mapping[str, Mapping[str, int]]
    annotators: Mapping[str, int]
    gaps: tuple[str, ...]


def coverage(table: pa.Table, smallest: float, sources: Iterable[str] = ()) -> Coverage:
    """Count what anchors cover and name the gaps.

    Args:
        table: Anchors in long form.
        smallest: Anchors at an end before it may be called unreachable (limit `scale.min_end_anchors`).
        sources: Sources that anchors should come from, those of an audit's items.
    """
    labels = table.to_pylist()
    anchors = list({row["anchor_id"]: row for row in labels}.values())
    tiers = Counter(row["tier"] for row in anchors)
    kinds = Counter(row["kind"] for row in anchors if row["kind"])
    cells = Counter((row["source"], row["kind"], row["tier"]) for row in anchors)
    dimensions = _dimensions(labels)
    gaps = [
        *_gaps_of_tiers(anchors, tiers, kinds, smallest, sources),
        *_gaps_of_labels(labels, dimensions, len(anchors)),
        *_contradictions(table),
    ]
    return Coverage(
        len(anchors),
        {tier: tiers[tier] for tier in TIERS},
        {kind: kinds[kind] for kind in MISMATCHES},
        tuple(
            {"source": source, "kind": kind, "tier": tier, "anchors": n}
            for (source, kind, tier), n in sorted(cells.items())
        ),
        dimensions,
        dict(sorted(Counter(row["annotator_id"] for row in labels).items())),
        tuple(gaps),
    )


def _dimensions(labels: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Count anchors and people of each dimension."""
    found = {}
    for name in sorted({row["dimension"] for row in labels}):
        rows = [row for row in labels if row["dimension"] == name]
        people = Counter(row["anchor_id"] for row in rows)
        found[name] = {
            "anchors": len(people),
            "by_one": sum(count == 1 for count in people.values()),
            "annotators": len({row["annotator_id"] for row in rows}),
        }
    return found


def _gaps_of_tiers(
    anchors: Sequence[Mapping[str, Any]],
    tiers: Mapping[str, int],
    kinds: Mapping[str, int],
    smallest: float,
    sources: Iterable[str],
) -> list[str]:
    """Name the tiers, kinds and sources that are not there."""
    if not anchors:
        return [say("anchors.gap.none")]
    found = [say("anchors.gap.tier", tier=tier) for tier in TIERS if not tiers[tier]]
    found += [
        say("anchors.gap.few", n=tiers[tier], tier=tier, smallest=f"{smallest:g}")
        for tier in (Tier.BAD.value, Tier.GOOD.value)
        if 0 < tiers[tier] < smallest
    ]
    found += [say("anchors.gap.kind", kind=kind) for kind in MISMATCHES if not kinds[kind]]
    held = {(row["source"], row["tier"]) for row in anchors}
    own = {source for source, _ in held}
    for source in sorted(own):
        absent = [tier for tier in TIERS if tiers[tier] and (source, tier) not in held]
        if absent:
            found.append(say("anchors.gap.source", source=source, tiers=say("anchors.and").join(absent)))
    found += [say("anchors.gap.strange_source", source=source) for source in sorted(set(sources) - own)]
    return found


def _gaps_of_labels(
    labels: Sequence[Mapping[str, Any]], dimensions: Mapping[str, Mapping[str, int]], n: int
) -> list[str]:
    """Name what people have not labelled, or only one of them, or on no declared scale."""
    found = []
    for name, told in dimensions.items():
        if told["anchors"] < n:
            found.append(say("anchors.gap.unlabelled", n=n - told["anchors"], of=n, dimension=name))
        if told["by_one"]:
            found.append(say("anchors.gap.alone", n=told["by_one"], of=told["anchors"], dimension=name))
        if any(row["low"] is None for row in labels if row["dimension"] == name):
            found.append(say("anchors.gap.ends", dimension=name))
    return found


def _contradictions(table: pa.Table) -> list[str]:
    """Name the anchors whose tier people's own labels of the whole contradict."""
    ends = {
        row["dimension"]: (row["low"], row["high"])
        if row["higher_is_better"]
        else (-(row["high"] or 0.0), -(row["low"] or 0.0))
        for row in table.to_pylist()
        if row["low"] is not None
    }
    names: dict[str, list[str]] = {}
    for row in mean_labels(table).to_pylist():
        if row["dimension"] != OVERALL or OVERALL not in ends:
            continue
        low, high = ends[OVERALL]
        third = (high - low) / 3
        low_end, high_end = row["label"] <= low + third, row["label"] >= high - third
        if (row["tier"] == Tier.GOOD and low_end) or (row["tier"] == Tier.BAD and high_end):
            names.setdefault(row["tier"], []).append(row["anchor_id"])
    return [
        say(
            "anchors.gap.contradicted",
            tier=tier,
            dimension=OVERALL,
            names=", ".join(held[:NAMED])
            + (say("anchors.others", n=len(held) - NAMED) if len(held) > NAMED else ""),
        )
        for tier, held in sorted(names.items())
    ]
