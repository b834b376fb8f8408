"""The part about a change of judge: what changed of it, how far the order did, and the pairs turned round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from markupsafe import Markup

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import POOLED
from judge_audit.decisions.judge_change.rows import DROP, MEASURES, NET, held
from judge_audit.report.facts import where
from judge_audit.report.sheets.page_pictures import SIDE, data_uri

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import jinja2
    from judge_audit_schemas.rows import RankChangesRow
    from numpy.typing import NDArray

    from judge_audit.decisions.judge_change import Change, OnAnchors, Replay
    from judge_audit.decisions.judge_change.compared_judges import OnDimension

    Row = Mapping[str, Any]
    Pixels = Callable[[str], NDArray[np.uint8]]

PAIRS_SHOWN = 8
"""Turned pairs that are shown of a dimension."""

ONE_ANCHOR = 2
"""Pairs shown of one anchor at most, so that one anchor far out does not fill the page."""

PLACES_DRAWN = 60
"""With more anchors only those that moved most, and those shown, are drawn."""

GRAVITY = ("against_people", "unknown", "tie", "with_people")


@dataclass(frozen=True, slots=True)
class ChangesPart:
    """The part: its content, ready for JSON, and one section that uses report.css and changes.css."""

    document: dict[str, Any]
    html: Markup


def changes_part(
    change: Change,
    environment: jinja2.Environment,
    pixels: Pixels | None = None,
    replayed: Replay | None = None,
) -> ChangesPart:
    """Write the part of a report about a change of judge.

    Args:
        change: The comparison.
        environment: The template engine of the report.
        pixels: Gives the pixels of an anchor by its id; None leaves the pictures out.
        replayed: Past decisions under the new judge, if they were replayed.
    """
    document = changes_of(change, replayed)
    pictures = _pictures(document, pixels)
    template = environment.get_template("changes.html")
    shown = template.render(part=document, pictures=pictures, side=SIDE)
    return ChangesPart(document, Markup(shown))  # noqa: S704 - made by an escaping template


def changes_of(change: Change, replayed: Replay | None = None) -> dict[str, Any]:
    """Put together what is known of a change, as plain values."""
    return {
        "old": {"judge_id": change.old.judge_id, "name": change.old.name or change.old.judge_id},
        "new": {"judge_id": change.new.judge_id, "name": change.new.name or change.new.judge_id},
        "identity": {
            "another_judge": change.difference.another_judge,
            "changed": list(change.difference.names),
            "fields": [
                {"part": part.name, "identity": part.identity}
                | {"field": field.path, "old": field.old, "new": field.new}
                for part in change.difference.changed
                for field in part.fields
            ],
            "sentences": list(change.difference.sentences),
        },
        "real": change.real,
        "answers_differ": change.answers_differ,
        "notes": list(change.notes),
        "versions": [_version(change, version) for version in change.versions],
        "replay": list(replayed.sentences) if replayed is not None else None,
    }


def _version(change: Change, version: OnAnchors) -> dict[str, Any]:
    rank_changes = cast("list[RankChangesRow]", change.rank_changes)
    rows = [row for row in rank_changes if row["anchors_used"] == version.anchors.version]
    dimensions = [_dimension(version, part, rows) for part in version.dimensions]
    compared = {part.dimension for part in version.dimensions}
    return {
        "version": version.anchors.version,
        "kind": version.kind,
        "main": version.kind == POOLED,
        "dimensions": dimensions,
        "missing": list(
            dict.fromkeys(row["reason"] for row in version.verdicts if row["dimension"] not in compared)
        ),
    }


def _dimension(version: OnAnchors, part: OnDimension, rows: Sequence[RankChangesRow]) -> dict[str, Any]:
    mine = where(rows, dimension=part.dimension)
    verdicts = {
        measure: {
            name: row.get(name)
            for name in ("measure", "verdict", "finding", "provisional", "reason", "value", "n")
        }
        for measure in (DROP, NET)
        if (row := version.verdict(part.dimension, measure)) is not None
    }
    shown = _shown(mine)
    return {
        "dimension": part.dimension,
        "verdicts": verdicts,
        "figures": _figures(part),
        "flips": len(mine),
        "directions": {word: sum(row["direction"] == word for row in mine) for word in GRAVITY},
        "pairs": [dict(row) for row in shown],
        "places": _places(part, shown),
        "n": len(part.anchors),
    }


def _figures(part: OnDimension) -> dict[str, Any]:
    """Give the figures that are shown next to one another: value with its 90 % interval."""
    if part.whole is None:
        return {}
    known = {}
    for name in ("tau", "tau_like_retest", "retest", "retest_old", "retest_new", "top_churn", "retest_churn"):
        figure = part.whole.figures.get(name)
        if figure is not None and np.isfinite(figure.value):
            known[name] = held(MEASURES.get(name, "retest_tau"), figure)
    return known


def gravity(row: RankChangesRow) -> tuple[Any, ...]:
    """Sort pairs turned round: against people first, across tiers first, the widest turn first."""
    width = abs((row["old_rank_first"] or 0.0) - (row["old_rank_second"] or 0.0))
    width += abs((row["new_rank_first"] or 0.0) - (row["new_rank_second"] or 0.0))
    word = GRAVITY.index(row["direction"])
    return (word, not row["across_tiers"], -width, row["anchor_first"], row["anchor_second"])


def _shown(rows: Iterable[RankChangesRow]) -> list[RankChangesRow]:
    """Choose the gravest pairs, no anchor in more than two of them."""
    often: dict[str, int] = {}
    gravest: list[RankChangesRow] = []
    for row in sorted(rows, key=gravity):
        names = (row["anchor_first"], row["anchor_second"])
        if all(often.get(name, 0) < ONE_ANCHOR for name in names):
            gravest.append(row)
            often.update({name: often.get(name, 0) + 1 for name in names})
        if len(gravest) == PAIRS_SHOWN:
            break
    return gravest


def _places(part: OnDimension, shown: Sequence[RankChangesRow]) -> list[dict[str, Any]]:
    """Give the places of the anchors before and after; of many, only those that tell something."""
    if part.whole is None:
        return []
    named = {name for row in shown for name in (row["anchor_first"], row["anchor_second"])}
    places = zip(part.anchors, part.whole.ranks_old.tolist(), part.whole.ranks_new.tolist(), strict=True)
    rows = [{"anchor": name, "old": old, "new": new, "shown": name in named} for name, old, new in places]
    if len(rows) > PLACES_DRAWN:
        moved = sorted(rows, key=lambda row: (not row["shown"], -abs(row["old"] - row["new"]), row["anchor"]))
        rows = moved[:PLACES_DRAWN]
    return sorted(rows, key=lambda row: (row["old"], row["anchor"]))


def _pictures(document: Row, pixels: Pixels | None) -> dict[str, str]:
    """Draw every anchor of a shown pair once; one that cannot be read is left out, and the page says so."""
    uris: dict[str, str] = {}
    if pixels is None:
        return uris
    pairs = [
        row for version in document["versions"] for part in version["dimensions"] for row in part["pairs"]
    ]
    for name in dict.fromkeys(row[key] for row in pairs for key in ("anchor_first", "anchor_second")):
        try:
            picture = pixels(name)
        except Exception:  # noqa: BLE001, S112 - a report is worth having without one of its pictures
            continue
        uris[name] = data_uri(picture, min(1.0, SIDE / max(picture.shape[:2])))
    return uris


def caption(row: Row) -> str:
    """Say of a pair who put which above."""
    return say(f"change.report.order_{row['direction']}")


def member(row: Row, which: str) -> str:
    """Say of a member of a pair its tier, its kind, and its places before and after."""
    parts = [row[f"tier_{which}"] or say("change.report.no_tier"), row[f"kind_{which}"]]
    places = say(
        "change.report.places", old=f"{row[f'old_rank_{which}']:g}", new=f"{row[f'new_rank_{which}']:g}"
    )
    return " · ".join([part for part in parts if part] + [places])
