"""Pairs of staged scenes: exact damages of all four kinds, with what is true of either member."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2

from judge_audit.demo.scene_styles import draw_scene
from judge_audit.demo.scenes import STYLES, prompt_of
from judge_audit.demo.staged_scenes import DAMAGES, damage_scene, stage_scene
from judge_audit.demo.truth import truth_of
from judge_audit.stimuli.mismatches.kind import Built, Unsuited, picture_difficulty

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.demo.scenes import Scene, Style
    from judge_audit.demo.truth import Truth

SIDE = 320
SEEDS_APART = 10_000
ITEM_COLUMNS = ("item_id", "source", "prompt", "image", "topic", "cluster")
PAIR_COLUMNS = ("pair_id", "kind", "variant", "intact", "damaged", "constructed", "told")


@dataclass(frozen=True, slots=True)
class ScenePair:
    """A pair whose damage is known exactly.

    Attributes:
        pair_id: Its name.
        kind: The mismatch kind.
        style: A name in `STYLES`.
        scene: The intact scene; its prompt is the prompt of both members.
        intact: 8-bit sRGB, shape (side, side, 3).
        made: The damaged member: pixels, the region that differs, difficulty, what was done.
        sound: What is true of the intact member.
        faulty: What is true of the damaged one, under the intact one's prompt.
    """

    pair_id: str
    kind: str
    style: Style
    scene: Scene
    intact: NDArray[np.uint8]
    made: Built
    sound: Truth
    faulty: Truth

    @property
    def prompt(self) -> str:
        """The prompt of both members."""
        return prompt_of(self.scene, self.style)


def scene_pairs(
    count: int, seed: int, *, size: int = SIDE, kinds: tuple[str, ...] = tuple(DAMAGES)
) -> Iterator[ScenePair]:
    """Draw so many pairs of each kind and style; no scene serves twice.

    Args:
        count: Pairs per kind and style.
        seed: Settles scenes and damages.
        size: Side in pixels.
        kinds: Which mismatch kinds.
    """
    number = seed * SEEDS_APART
    for kind in kinds:
        for turn, style in enumerate(STYLES):
            made = 0
            while made < count:
                scene = stage_scene(number)
                variant = DAMAGES[kind][(made + turn * count) % len(DAMAGES[kind])]
                number += 1
                pair = draw_pair(scene, style, kind, variant, seed, size=size)
                if isinstance(pair, ScenePair):
                    made += 1
                    yield pair


def draw_pair(
    scene: Scene, style: Style, kind: str, variant: str, seed: int, *, size: int = SIDE
) -> ScenePair | Unsuited:
    """Draw a staged scene and its damaged twin, or say why the damage does not suit it."""
    damaged = damage_scene(scene, kind, variant, seed)
    if isinstance(damaged, Unsuited):
        return damaged
    intact, pixels = (draw_scene(shown, style, size) for shown in (scene, damaged.scene))
    region = (intact != pixels).any(axis=-1)
    if not region.any():
        return Unsuited("the damage is hidden by what stands before it.")
    made = Built(
        variant=variant,
        pixels=pixels,
        prompt=None,
        region=region,
        difficulty=picture_difficulty(intact, pixels),
        told=damaged.told,
        honest_limits=("A drawn scene: a judge of photographs may find all of it odd.",),
    )
    pair_id = f"{style}-{scene.seed}-{variant}"
    truths = truth_of(scene, scene), truth_of(damaged.scene, scene)
    return ScenePair(pair_id, kind, style, scene, intact, made, *truths)


def write_scene_pairs(folder: Path, count: int, seed: int, *, size: int = SIDE) -> tuple[Path, Path]:
    """Write pairs of staged scenes: pictures, an items file of both members, and a manifest.

    The intact members are of the sources “flat scenes” and “shaded scenes”, the damaged of the same sources and
    of their intact member's cluster.

    Returns:
        Paths of the items file and of the manifest.
    """
    (folder / "images").mkdir(parents=True, exist_ok=True)
    items: list[dict[str, str]] = []
    pairs: list[dict[str, str]] = []
    for pair in scene_pairs(count, seed, size=size):
        for member, pixels in (("intact", pair.intact), ("damaged", pair.made.pixels)):
            assert pixels is not None
            name = f"{pair.pair_id}-{member}"
            done, content = cv2.imencode(".png", pixels[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
            assert done
            (folder / "images" / f"{name}.png").write_bytes(content.tobytes())
            items.append(
                {
                    "item_id": name,
                    "source": f"{pair.style} scenes",
                    "prompt": pair.prompt,
                    "image": f"images/{name}.png",
                    "topic": pair.scene.setting,
                    "cluster": pair.pair_id,
                }
            )
        pairs.append(
            {
                "pair_id": pair.pair_id,
                "kind": pair.kind,
                "variant": pair.made.variant,
                "intact": f"{pair.pair_id}-intact",
                "damaged": f"{pair.pair_id}-damaged",
                "constructed": "true",
                "told": pair.made.told,
            }
        )
    return (
        _listing(folder / "items.csv", ITEM_COLUMNS, items),
        _listing(folder / "pairs.csv", PAIR_COLUMNS, pairs),
    )


def _listing(path: Path, columns: tuple[str, ...], rows: list[dict[str, str]]) -> Path:
    """Write a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path
