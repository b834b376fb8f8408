"""The identity of a probe: one text for the same picture, change and prompt, wherever it is planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.digests import text_digest
from judge_audit.core.vocabulary import ORIGINAL, Region
from judge_audit.stimuli.axes.axis import strength_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.stimuli.axes.axis import Axis


RETEST = 2
"""Untouched ladder items are scored at least this often: the judge's own noise is measured, not declared."""


PLANNED = ("items", "refusals", "probes", "mismatches", "unsuited")
"""The tables of a plan."""


def probe_id(
    pixel_digest: str,
    axis: str,
    strength: float,
    recipe_version: int,
    prompt: str,
    region: Sequence[str] = (),
) -> str:
    """Name a planned stimulus by its content.

    Args:
        pixel_digest: The picture.
        axis: The axis.
        strength: Its strength.
        recipe_version: Of the axis.
        prompt: The prompt shown.
        region: What a local axis keeps to, with the mask's digest if it is a mask; empty for the whole picture.
    """
    return text_digest(pixel_digest, axis, strength_text(strength), str(recipe_version), prompt, *region)


def region_of(axis: Axis, item: Mapping[str, Any]) -> tuple[str, ...]:
    """Name what an axis keeps to on an item: nothing, or the region and the digest of a supplied mask."""
    if axis.region is None:
        return ()
    if axis.region == "background":
        mask = item.get("mask_digest")
        return (Region.MASK.value, mask) if mask else (Region.SALIENCY.value,)
    return (axis.region,)


def ladder_probe_ids(item: Mapping[str, Any], axis: Axis) -> list[str]:
    """Name the probes of an item's ladder, weakest first, as an audit asks them."""
    region = region_of(axis, item)
    return [
        probe_id(item["pixel_digest"], axis.name, strength, axis.recipe_version, item["prompt"], region)
        for strength in axis.strengths
    ]


def untouched_id(item: Mapping[str, Any]) -> str:
    """Name the probe that shows an item as it is: whoever shows the same picture and prompt shares its answer."""
    return probe_id(item["pixel_digest"], ORIGINAL, 0.0, 0, item["prompt"])
