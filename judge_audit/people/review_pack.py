"""Packs of reviews: drawn from an audit, handed to people without scores or queues, with a sealed key that stays.

A pack is a folder with reviews.csv, the pictures under opaque names, and a sheet that says how to fill it in. The key
is next to the folder, not in it: what each row is, why it was drawn and with which probability. The pack's id is the
digest of its key, and the lake keeps it, so a changed key is found out.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from judge_audit_schemas.rows import ItemsRow, JudgesRow, ProbesRow

from judge_audit.core.digests import canonical_json, draw_seed, pixel_digest, text_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.version import __version__
from judge_audit.core.vocabulary import ORIGINAL, OVERALL, State
from judge_audit.lake.audits import find_audit
from judge_audit.people.production_events import acts_of
from judge_audit.people.review_sample import QUEUES, draw_decisions, draw_order, draw_pairs
from judge_audit.stimuli.images import load_image

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from judge_audit_schemas.rows import AuditsRow, DrawsRow, PacksRow

    from judge_audit.lake import Lake
    from judge_audit.people.review_sample import Draw

    Row = Mapping[str, Any]


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
        unpictured: Rows without a picture in reach: the item's name is given instead.
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
    items = {row["item_id"]: row for row in rows_of(lake.read("items", plan_id=audit["plan_id"]), ItemsRow)}
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
    rows = rows_of(lake.read("judges", judge_id=judge_id), JudgesRow)
    card: Row = json.loads(rows[0]["card"]) if rows else {}
    return card


ASKED = ("semantic", "structure", "aesthetic", "compliance")
"""What people are asked about in addition to the whole where the judge gives a total only."""


def _asked(card: Row) -> list[str]:
    own = list(card.get("dimensions") or ())
    return own if set(own) - {OVERALL} else list(ASKED)


def _sign(card: Row) -> float:
    return 1.0 if card.get("higher_is_better", True) else -1.0


def _scores(lake: Lake, audit: AuditsRow, card: Row, dimension: str) -> dict[str, float]:
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
        for row in rows_of(lake.read("probes", plan_id=audit["plan_id"], axis=ORIGINAL, repeat=0), ProbesRow)
    }
    scores = lake.read("scores", judge_id=audit["judge_id"], dimension=chosen, repeat=0, state=State.OK.value)
    rows = scores.select(["probe_id", "value"]).to_pylist()
    by_probe = {row["probe_id"]: sign * row["value"] for row in rows}
    by_item = {item: by_probe.get(probe) for probe, item in probes.items()}
    return {item: value for item, value in by_item.items() if value is not None}


def _draws(
    lake: Lake,
    audit: AuditsRow,
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
    rows = rows_of(lake.read("items", item_id=sorted(wanted)), ItemsRow) if wanted else []
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


def _commit(lake: Lake, audit: AuditsRow, pack: Pack, seed: int) -> None:
    """Put the pack and its draws into the lake."""
    row: PacksRow = {
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


FORMAT = 1
"""Number of the key's shape."""

FIRST = ("pack", "row", "image", "prompt", "annotator_id", "outcome")
LAST = ("axes", "reason")
"""Columns of the file before and after one for each dimension."""

KEY_SUFFIX = ".key.json"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack before it is written.

    Attributes:
        pack_id: Digest of the key.
        key: The key's content, pack_id included.
        order: Item of each row, in the order of the file.
    """

    pack_id: str
    key: Mapping[str, Any]
    order: tuple[str, ...]

    def draw_rows(self) -> list[DrawsRow]:
        """Give the draws as rows of table `draws`, but for audit_id."""
        return [
            cast("DrawsRow", {**draw, "pack_id": self.pack_id, "row": number, "item_id": row["item_id"]})
            for number, row in enumerate(self.key["rows"], 1)
            for draw in row["draws"]
        ]


def make_pack(
    draws: Sequence[Draw],
    images: Mapping[str, str],
    *,
    audit_id: str,
    judge_id: str,
    dimensions: Sequence[str],
    axes: Sequence[str],
    seed: int,
) -> Pack:
    """Put draws together: one row an item, however often it was drawn, in an order that tells nothing.

    Args:
        draws: What was drawn.
        images: Content of column image for each item; "" for a copy under an opaque name.
        audit_id: The audit whose order they were drawn by.
        judge_id: Its judge.
        dimensions: What is asked for in addition to the whole.
        axes: The axes that may be named as what is wrong.
        seed: Seed.
    """
    by_item: dict[str, list[Draw]] = {}
    for draw in draws:
        by_item.setdefault(draw.item_id, []).append(draw)
    items = sorted(by_item)
    rng = np.random.default_rng(draw_seed(seed, "order of a pack", audit_id))
    order = [items[at] for at in rng.permutation(len(items)).tolist()]
    wide = max(3, len(str(len(order))))
    rows = []
    for number, item in enumerate(order, 1):
        name = f"r{number:0{wide}d}"
        row_draws = [
            {key: value for key, value in asdict(draw).items() if key != "item_id"} for draw in by_item[item]
        ]
        image = images.get(item) or f"images/{name}.png"
        rows.append({"row": name, "item_id": item, "image": image, "draws": row_draws})
    key: dict[str, Any] = {
        "format": FORMAT,
        "kind": "reviews",
        "audit_id": audit_id,
        "judge_id": judge_id,
        "seed": seed,
        "dimensions": list(dimensions),
        "axes": list(axes),
        "rows": rows,
    }
    pack_id = seal(key)
    return Pack(pack_id, {"pack_id": pack_id, **key}, tuple(order))


def seal(key: Mapping[str, Any]) -> str:
    """Give the digest of a key, whatever it says of its own."""
    return text_digest(
        "pack", canonical_json({name: value for name, value in key.items() if name != "pack_id"})
    )


def key_path(folder: Path) -> Path:
    """Give the path of a pack's key: next to its folder."""
    return folder.with_name(folder.name + KEY_SUFFIX)


def write_pack(
    pack: Pack,
    folder: Path,
    prompts: Mapping[str, str],
    picture: Callable[[str], bytes],
    commit: Callable[[], object],
) -> None:
    """Write a pack and its key, whole or not at all.

    Args:
        pack: The pack.
        folder: Where to; must not be there.
        prompts: Prompt of each item.
        picture: Gives an item's picture as PNG; asked for rows whose image is in the pack.
        commit: Puts the pack into the lake; called once everything is written under other names.

    Raises:
        UsageError: If the folder or the key is there already.
        MachineryError: If it cannot be written.
    """
    target = key_path(folder)
    for path in (folder, target):
        if path.exists():
            raise UsageError(f"{path}: it is there already; nothing was written. Name another folder.")
    beside = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        (beside / "images").mkdir(parents=True)
        for row in pack.key["rows"]:
            if row["image"].startswith("images/"):
                (beside / row["image"]).write_bytes(picture(row["item_id"]))
        if not any((beside / "images").iterdir()):
            (beside / "images").rmdir()
        (beside / "reviews.csv").write_text(_table(pack, prompts), encoding="utf-8", newline="")
        (beside / "README.txt").write_text(_sheet(pack), encoding="utf-8")
        hidden = beside.with_name(beside.name + KEY_SUFFIX)
        hidden.write_text(json.dumps(pack.key, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        commit()
        hidden.replace(target)
        beside.replace(folder)
    except OSError as error:
        raise MachineryError(f"{folder}: the pack cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        beside.with_name(beside.name + KEY_SUFFIX).unlink(missing_ok=True)


def columns_of(key: Mapping[str, Any]) -> list[str]:
    """List the columns of a pack's file."""
    return [*FIRST, *key["dimensions"], *LAST]


def _table(pack: Pack, prompts: Mapping[str, str]) -> str:
    """Write the file that people fill in."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns_of(pack.key), restval="")
    writer.writeheader()
    for row in pack.key["rows"]:
        row_cells = {"pack": pack.pack_id, "row": row["row"], "image": spreadsheet_text(row["image"])}
        writer.writerow({**row_cells, "prompt": spreadsheet_text(prompts.get(row["item_id"], ""))})
    return stream.getvalue()


def spreadsheet_text(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _sheet(pack: Pack) -> str:
    """Write the sheet that says how to fill it in."""
    lists = {name: ", ".join(pack.key[name]) or "-" for name in ("dimensions", "axes")}
    return say("packs.sheet", n=len(pack.order), **lists)
