"""Small anchor sets made of drawn pictures."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from PIL import Image

from judge_audit.anchors import Draft, Label, add

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIERS = ("bad", "middling", "good")


def picture(path, seed, side=32):
    """Draw a picture whose mean brightness rises with its seed."""
    rng = np.random.default_rng(seed)
    level = 40 + 6 * (seed % 30)
    pixels = np.clip(rng.normal(level, 20, (side, side, 3)), 0, 255).astype(np.uint8)
    Image.fromarray(pixels).save(path)
    return path


def labels(value, *people, dimension="overall"):
    return tuple(
        Label(dimension, name, float(value), "ordinal", 1.0, 5.0) for name in people or ("ann", "bob")
    )


def drafts(folder, count, *, start=0, source="x"):
    """Make drafts of a third each: bad pictures are dark, good ones light."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for number in range(start, start + count):
        tier = number % 3
        seed = 3 * number + 10 * tier + 1000 * start
        found.append(
            Draft(
                anchor_id=f"a{number:03d}",
                image=str(picture(folder / f"{number}.png", seed)),
                tier=TIERS[tier],
                kind="poor_quality" if tier == 0 else "",
                source=source,
                prompt="a grey wall",
                labels=labels((1, 3, 5)[tier]),
            )
        )
    return found


def small_set(folder, count=6, **options):
    """Make a set of some anchors."""
    made = drafts(folder.parent / "drawn", count, **options)
    return add(folder, made, author="Ada", reason="the first round", now=NOW)
