"""What pairs are built with, and built again when they are scored and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import UsageError
from judge_audit.stimuli.mismatches.kind import Built, Material, Unsuited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from judge_audit_schemas.rows import ItemsRow, MismatchesRow
    from numpy.typing import NDArray

    from judge_audit.stimuli.brand_rules import BrandRules
    from judge_audit.stimuli.mismatches.kind import Kind

    Pixels = NDArray[np.uint8]

UNKNOWN_TEXT = (
    "the judge knows stored texts only, and none to exchange with is among them; name some under strangers."
)


@dataclass(frozen=True, slots=True)
class PairBuilder:
    """What pairs are built with.

    Attributes:
        kinds: The mismatch kinds by name.
        seed: The audit's seed.
        pixels: Decodes a picture by its uri.
        mask: Reads the mask of an item, None if it has none.
        rules: The team's brand rules.
        prompts: Topic and prompt of the items.
        spare_prompts: Topic and prompt to exchange with where the items have one topic.
        knows: Whether the judge can answer for a prompt; None if it takes any.
    """

    kinds: Mapping[str, Kind]
    seed: int
    pixels: Callable[[str], Pixels]
    mask: Callable[[ItemsRow], NDArray[np.bool_] | None]
    rules: BrandRules | None = None
    prompts: tuple[tuple[str, str], ...] = ()
    spare_prompts: tuple[tuple[str, str], ...] = ()
    knows: Callable[[str], bool] | None = None

    def material(self, item: ItemsRow, pixels: Pixels) -> Material:
        """Lay out what a builder works on."""
        return Material(
            item, pixels, self.seed, self.mask(item), self.rules, self.prompts, self.spare_prompts
        )

    def build(self, kind: Kind, material: Material) -> Built | Unsuited:
        """Build a pair that the judge can be asked about; each variant is tried before an item is refused."""
        made = kind.build(material)
        if not isinstance(made, Built) or self._answerable(made):
            return made
        for variant in kind.variants:
            other = variant.build(material)
            if isinstance(other, Built) and self._answerable(other):
                return other
        return Unsuited(UNKNOWN_TEXT)

    def _answerable(self, made: Built) -> bool:
        return made.prompt is None or self.knows is None or self.knows(made.prompt)

    def draw(self, item: ItemsRow, pair: MismatchesRow, pixels: Pixels) -> Pixels:
        """Draw a damaged member again, as it was planned.

        Args:
            item: Row of table `items` of the damaged member.
            pair: Row of table `mismatches`.
            pixels: The item's own pixels.

        Raises:
            UsageError: If it comes out otherwise, because what it was built with has changed.
        """
        if pair["pixel_digest"] == item["pixel_digest"]:
            return pixels
        kind = self.kinds.get(pair["kind"])
        made = kind.build(self.material(item, pixels), pair["variant"]) if kind else None
        changed = made.pixels if isinstance(made, Built) else None
        if changed is not None and pixel_digest(changed) == pair["pixel_digest"]:
            return changed
        raise UsageError(
            f"the pair “{pair['pair_id']}” comes out otherwise than it was planned: its brand rules, its mask or its "
            "kind have changed since. Run the audit again."
        )
