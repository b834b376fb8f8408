"""Packs: what is handed to people for review, without scores or queues, and the sealed key that stays behind.

A pack is a folder with reviews.csv, the pictures under opaque names, and a sheet that says how to fill it in. The key
lies beside the folder, not in it: what each row is, why it was drawn and with which probability. The pack's id is the
digest of its key, and the lake keeps it, so a changed key is found out.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import canonical_json, draw_seed, text_digest
from judge_audit.core.errors import MachineryError, UsageError
from judge_audit.core.messages import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from judge_audit.people.review_sample import Draw

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

    def draw_rows(self) -> list[dict[str, Any]]:
        """Give the draws as rows of table `draws`, but for audit_id."""
        return [
            {**draw, "pack_id": self.pack_id, "row": number, "item_id": row["item_id"]}
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
        images: What stands in column image for each item; "" for a copy under an opaque name.
        audit_id: The audit whose order they were drawn by.
        judge_id: Its judge.
        dimensions: What is asked for beside the whole.
        axes: The axes that may be named as what is wrong.
        seed: Seed.
    """
    held: dict[str, list[Draw]] = {}
    for draw in draws:
        held.setdefault(draw.item_id, []).append(draw)
    items = sorted(held)
    rng = np.random.default_rng(draw_seed(seed, "order of a pack", audit_id))
    order = [items[at] for at in rng.permutation(len(items)).tolist()]
    wide = max(3, len(str(len(order))))
    rows = []
    for number, item in enumerate(order, 1):
        name = f"r{number:0{wide}d}"
        told = [
            {key: value for key, value in asdict(draw).items() if key != "item_id"} for draw in held[item]
        ]
        image = images.get(item) or f"images/{name}.png"
        rows.append({"row": name, "item_id": item, "image": image, "draws": told})
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
    """Say where the key of a pack lies: beside its folder."""
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
        picture: Gives an item's picture as PNG; asked for rows whose image lies in the pack.
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
        told = {"pack": pack.pack_id, "row": row["row"], "image": _harmless(row["image"])}
        writer.writerow({**told, "prompt": _harmless(prompts.get(row["item_id"], ""))})
    return stream.getvalue()


def _harmless(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def shown_image(row: Mapping[str, Any]) -> str:
    """Give what stands in column image of a row."""
    return _harmless(str(row["image"]))


def _sheet(pack: Pack) -> str:
    """Write the sheet that says how to fill it in."""
    lists = {name: ", ".join(pack.key[name]) or "-" for name in ("dimensions", "axes")}
    return say("packs.sheet", n=len(pack.order), **lists)
