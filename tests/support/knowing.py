"""A judge that was told every intact picture and its prompt: what is wrong with a copy it finds by comparing."""

from __future__ import annotations

import csv
import hashlib

import cv2
import numpy as np

from judge_audit.judges.adapters.python_callable import CallableJudge
from judge_audit.judges.cards.card import Card
from judge_audit.stimuli.images import load_image

DIMENSIONS = ("semantic", "structure", "aesthetic", "compliance")
LOSS = 4.0


def thumbnail(pixels):
    grey = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY)
    return cv2.resize(grey, (16, 16), interpolation=cv2.INTER_AREA).astype(np.float64).ravel()


def hidden(name, dimension):
    """A quality that depends on the picture and the dimension alone, between 5 and 8."""
    whole = int(hashlib.sha256(f"{name}/{dimension}".encode()).hexdigest()[:8], 16)
    return 5 + 3 * whole / 16**8


def taught(items, *, names=None, halo=0.0, total=False, only=None):
    """Teach a judge the pictures of an items file.

    Args:
        items: The items file.
        names: Names of its own for the four dimensions.
        halo: Share of each loss that every other dimension shows too.
        total: Whether it answers one total only.
        only: Item ids it is taught; all by default.
    """
    with items.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if only is None or row["item_id"] in only]
    known = [
        (row["item_id"], load_image(str(items.parent / row["image"])).pixels, row["prompt"]) for row in rows
    ]
    small = np.stack([thumbnail(pixels) for _, pixels, _ in known])
    names = names or {name: name for name in DIMENSIONS}

    def score(images, prompts):
        return [answer(image, prompt) for image, prompt in zip(images, prompts, strict=True)]

    def answer(image, prompt):
        item, intact, own = known[int(np.abs(small - thumbnail(image)).mean(axis=1).argmin())]
        losses = dict.fromkeys(DIMENSIONS, 0.0)
        if prompt != own:
            losses["semantic"] = LOSS
        if (fault := _fault(image, intact)) is not None:
            losses[fault] = LOSS
        whole = sum(losses.values())
        told = {
            name: hidden(item, name) - losses[name] - halo * (whole - losses[name]) for name in DIMENSIONS
        }
        if total:
            return float(np.mean(list(told.values())))
        return {names[name]: value for name, value in told.items()}

    card = Card(
        kind="callable",
        name="taught",
        weights=f"taught {sorted(names.values())} {halo} {total}",
        pinned=True,
        dimensions=("overall",) if total else tuple(names.values()),
        means={} if total else {name: own for name, own in names.items() if name != own},
    )
    return CallableJudge(score, card)


def _fault(image, intact):
    """What is wrong with a picture beside the intact one; None if nothing is."""
    if image.shape != intact.shape:
        return "compliance"
    moved = np.abs(image.astype(np.int16) - intact).max(axis=-1) > 12
    if not moved.any():
        return None
    if moved.mean() > 0.4:
        return "aesthetic"
    rows, columns = np.nonzero(moved)
    height, width = moved.shape
    down, across = rows.mean() / height, columns.mean() / width
    return "compliance" if down < 0.3 or (down > 0.7 and not 0.25 < across < 0.75) else "structure"
