"""Drawing a pack of reviews from an audit: its order, its judge's decisions, and pairs around optimisation."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judge_audit import __version__
from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import ORIGINAL, OVERALL, State
from judge_audit.lake.audits import find_audit
from judge_audit.people.packs import Pack, make_pack, write_pack
from judge_audit.people.production_events import acts_of
from judge_audit.people.review_sample import QUEUES, draw_decisions, draw_order, draw_pairs
from judge_audit.stimuli.images import load_image

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from judge_audit.lake import Lake
    from judge_audit.people.review_sample import Draw

    Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to draw.

    Attributes:
        quantile: Share of a source at each end of the judge's order.
        boundary: Share of a source's accepted and rejected that is close to the boundary.
        each: How many to draw from each stratum.
        before: Source of the items before optimisation, "" for none.
        after: Source of those after.
        dimension: The dimension whose order counts, "" for `overall` or the only one.
        axes: Axes that reviewers may name.
        seed: Seed; None for the audit's own.
    """

    quantile: float = 0.2
    boundary: float = 0.2
    each: int = 30
    before: str = ""
    after: str = ""
    dimension: str = ""
    axes: Sequence[str] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported.

    Attributes:
        pack_id: The pack.
        rows: Rows to fill in.
        strata: Drawn and held, by stratum.
        unpictured: Rows without a picture in reach: the item's name stands in its place.
        notes: What could not be drawn, and why.
    """

    pack_id: str
    rows: int
    strata: dict[str, tuple[int, int]]
    unpictured: int
    notes: tuple[str, ...]


def export_reviews(lake: Lake, audit_id: str, folder: Path, wanted: Wanted) -> Exported:
    """Draw a pack of an audit and write it.

    Args:
        lake: The lake.
        audit_id: The audit, or `latest`.
        folder: Where to; must not be there.
        wanted: What to draw.

    Raises:
        UsageError: If there is no such audit, source or dimension, nothing to draw from, or a picture has changed.
    """
    audit = find_audit(lake, audit_id)
    card = _card(lake, audit["judge_id"])
    items = {row["item_id"]: row for row in lake.read("items", plan_id=audit["plan_id"]).to_pylist()}
    seed = audit["seed"] if wanted.seed is None else wanted.seed
    scores = _scores(lake, audit, card, wanted.dimension)
    draws, notes = _draws(lake, audit, items, scores, wanted, seed, _sign(card))
    if not draws:
        raise UsageError("there is nothing to draw from. " + " ".join(notes))
    pictured = {**_elsewhere(lake, {draw.item_id for draw in draws} - set(items)), **items}
    images = {
        draw.item_id: "" if pictured.get(draw.item_id, {}).get("uri") else draw.item_id for draw in draws
    }
    pack = make_pack(
        draws,
        images,
        audit_id=audit["audit_id"],
        judge_id=audit["judge_id"],
        dimensions=[name for name in _asked(card) if name != OVERALL],
        axes=wanted.axes,
        seed=seed,
    )
    prompts = {item: row["prompt"] or "" for item, row in pictured.items()}
    write_pack(
        pack, folder, prompts, lambda item: _picture(pictured[item]), lambda: _commit(lake, audit, pack, seed)
    )
    drawn = Counter(draw.stratum for draw in draws)
    strata = {draw.stratum: (drawn[draw.stratum], int(draw.stratum_size)) for draw in draws}
    return Exported(
        pack.pack_id, len(pack.order), strata, sum(bool(name) for name in images.values()), tuple(notes)
    )


def _card(lake: Lake, judge_id: str) -> Row:
    rows = lake.read("judges", judge_id=judge_id).to_pylist()
    found: Row = json.loads(rows[0]["card"]) if rows else {}
    return found


ASKED = ("semantic", "structure", "aesthetic", "compliance")
"""What people are asked about beside the whole where the judge gives a total only."""


def _asked(card: Row) -> list[str]:
    own = list(card.get("dimensions") or ())
    return own if set(own) - {OVERALL} else list(ASKED)


def _sign(card: Row) -> float:
    return 1.0 if card.get("higher_is_better", True) else -1.0


def _scores(lake: Lake, audit: Row, card: Row, dimension: str) -> dict[str, float]:
    """Give the oriented first score of every untouched item of an audit."""
    named = list(card.get("dimensions") or (OVERALL,))
    chosen = dimension or (OVERALL if OVERALL in named else named[0] if len(named) == 1 else "")
    if chosen not in named:
        raise UsageError(
            f"--dimension {dimension or '?'}: say whose order counts; the judge has {', '.join(named)}."
        )
    sign = _sign(card)
    probes = {
        row["probe_id"]: row["item_id"]
        for row in lake.read("probes", plan_id=audit["plan_id"], axis=ORIGINAL, repeat=0).to_pylist()
    }
    told = lake.read("scores", judge_id=audit["judge_id"], dimension=chosen, repeat=0, state=State.OK.value)
    rows = told.select(["probe_id", "value"]).to_pylist()
    by_probe = {row["probe_id"]: sign * row["value"] for row in rows}
    by_item = {item: by_probe.get(probe) for probe, item in probes.items()}
    return {item: value for item, value in by_item.items() if value is not None}


def _draws(
    lake: Lake,
    audit: Row,
    items: Mapping[str, Row],
    scores: Mapping[str, float],
    wanted: Wanted,
    seed: int,
    sign: float,
) -> tuple[list[Draw], list[str]]:
    """Draw every queue that there is anything for."""
    notes = []
    scored = {item: (items[item]["source"], value) for item, value in scores.items() if item in items}
    draws = draw_order(scored, quantile=wanted.quantile, each=wanted.each, seed=seed)
    if not scores:
        notes.append(
            "The judge scored no untouched item (one that compares two pictures never does): the top and the "
            "bottom of its order were left out."
        )
    table = lake.read("items", plan_id=audit["plan_id"])
    acts = acts_of(lake, table, audit["judge_id"])
    if acts.decisions is None:
        notes.append("No decisions of this judge are in the lake: boundary and appeals were left out.")
    else:
        decided = [_decision(row, items, scores, sign) for row in acts.decisions.to_pylist()]
        appeals = acts.appeals["decision_id"].to_pylist() if acts.appeals is not None else []
        draws += draw_decisions(
            decided, frozenset(appeals), boundary=wanted.boundary, each=wanted.each, seed=seed
        )
    if wanted.before or wanted.after:
        sources = {row["source"] for row in items.values()}
        for option, name in (("--before", wanted.before), ("--after", wanted.after)):
            if name not in sources:
                raise UsageError(
                    f"{option} {name}: the audit has no such source; it has {', '.join(sorted(sources))}."
                )
        prompts = {item: (row["source"], row["prompt_id"] or "") for item, row in items.items()}
        pairs = draw_pairs(prompts, before=wanted.before, after=wanted.after, each=wanted.each, seed=seed)
        if not pairs:
            notes.append(f"No prompt has an item of both {wanted.before} and {wanted.after}.")
        draws += pairs
    return sorted(draws, key=lambda draw: (QUEUES.index(draw.queue), draw.stratum, draw.item_id)), notes


def _decision(row: Row, items: Mapping[str, Row], scores: Mapping[str, float], sign: float) -> Row:
    """Give a decision its source, and its score oriented: as the file has it, else as the audit does."""
    item = items.get(row["item_id"], {})
    value = scores.get(row["item_id"]) if row["value"] is None else sign * row["value"]
    return {**row, "source": row["source"] or item.get("source") or "unknown", "value": value}


def _elsewhere(lake: Lake, wanted: set[str]) -> dict[str, Row]:
    """Find items of decisions that are not in the audit, in whatever plan has them."""
    if not wanted:
        return {}
    rows = lake.read("items", item_id=sorted(wanted)).to_pylist()
    return {row["item_id"]: row for row in rows}


def _picture(item: Row) -> bytes:
    """Give an item's pixels as the judge was shown them, as PNG without any of the file's own text.

    Raises:
        UsageError: If the picture has changed since it was scored.
    """
    from PIL import Image  # noqa: PLC0415 - only where pictures are written

    pixels = load_image(item["uri"]).pixels
    if item["pixel_digest"] and pixel_digest(pixels) != item["pixel_digest"]:
        raise UsageError(
            f"{item['uri']}: the picture of “{item['item_id']}” has changed since it was scored. Run the audit again."
        )
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def _commit(lake: Lake, audit: Row, pack: Pack, seed: int) -> None:
    """Put the pack and its draws into the lake."""
    row = {
        "audit_id": audit["audit_id"],
        "pack_id": pack.pack_id,
        "kind": "reviews",
        "judge_id": audit["judge_id"],
        "rows": len(pack.order),
        "seed": seed,
        "code_version": __version__,
        "drawn_at": datetime.now(UTC),
    }
    draws = [{**draw, "audit_id": audit["audit_id"]} for draw in pack.draw_rows()]
    lake.commit({"packs": from_rows("packs", [row]), "draws": from_rows("draws", draws)})
