"""What a team gave an audit to go by: items, readings, anchors, traffic, pairs; each read once, when it is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from judge_audit.anchors import hold_to_lake, read_anchors
from judge_audit.core.errors import UsageError
from judge_audit.inputs.ingest.imported_pairs import pairs_of
from judge_audit.inputs.items import ItemsRead, read_items
from judge_audit.inputs.pairs import PairsRead, read_pairs
from judge_audit.inputs.prompt_pool import read_prompt_pool
from judge_audit.inputs.traffic import read_traffic
from judge_audit.people.readings import Freshness, read_readings, readings_of
from judge_audit.stimuli.brand_rules import read_brand_rules
from judge_audit.stimuli.images import load_image, load_mask, mask_digest
from judge_audit.stimuli.pair_builder import PairBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    import numpy as np
    import pyarrow as pa
    from judge_audit_schemas.rows import ItemsRow, ProbesRow
    from numpy.typing import NDArray

    from judge_audit.anchors import AnchorSet
    from judge_audit.audits.plan_tables import PlanTables
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.protocol import Judge
    from judge_audit.lake import Lake
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.brand_rules import BrandRules
    from judge_audit.stimuli.mismatches.kind import Kind
    from judge_audit.stimuli.rendering import Damage

    Pixels = NDArray[np.uint8]
    Row = Mapping[str, Any]


@dataclass(eq=False)
class AuditInputs:
    """What an audit goes by, besides the judge.

    Attributes:
        configuration: Names the files.
        climbs_ladders: Whether readings of ladders are looked at.
        judge: The judge, whose card says what items must have.
        open_lake: Gives the lake, which holds what was imported before and what anchors were; it is made only when
            something of it is wanted.
        axes: The axes that readings are of.
        kinds: The mismatch kinds that pairs are of.
    """

    configuration: Configuration
    climbs_ladders: bool
    judge: Judge
    open_lake: Callable[[], Lake]
    axes: Mapping[str, Axis]
    kinds: Mapping[str, Kind]
    _items: ItemsRead | None = None

    def items(self, on_image: Callable[[int, int], None] | None = None) -> ItemsRead:
        """Read the items file and every picture it names.

        Args:
            on_image: Called with (decoded, all).

        Raises:
            UsageError: If it cannot be used; names every fault.
        """
        if self._items is None:
            self._items = read_items(
                self.configuration.items,
                needs_prompt=self.judge.card.needs_prompt,
                skip_bad=self.configuration.skip_bad,
                on_progress=on_image,
            )
        return self._items

    @cached_property
    def rules(self) -> BrandRules | None:
        """The team's brand rules, None where none were given.

        Raises:
            UsageError: If they cannot be used; names every fault.
        """
        return read_brand_rules(self.configuration.rules) if self.configuration.rules else None

    @cached_property
    def spare_prompts(self) -> tuple[tuple[str, str], ...]:
        """Topic and prompt to exchange with where the items have one topic; none takes the package's own.

        Raises:
            UsageError: If they cannot be used.
        """
        path = self.configuration.strangers
        return read_prompt_pool(path) if path else ()

    @cached_property
    def traffic(self) -> pa.Table | None:
        """The sample of real traffic, None where none was given.

        Raises:
            UsageError: If it cannot be used; names every fault.
        """
        path = self.configuration.traffic
        return read_traffic(path, tuple(self.judge.card.dimensions)) if path else None

    @cached_property
    def anchors(self) -> AnchorSet | None:
        """The anchor set, verified; None where none was given.

        Raises:
            UsageError: If it is not what its ledger and the lake say; names every fault.
        """
        if not self.configuration.anchors:
            return None
        anchors = read_anchors(self.configuration.anchors)
        anchors.at(self.configuration.anchor_version)
        hold_to_lake(anchors, self.open_lake())
        return anchors

    @cached_property
    def readings(self) -> pa.Table | None:
        """People's readings of the ladders, None where none were given.

        Raises:
            UsageError: If they cannot be used; names every fault.
        """
        if not self.climbs_ladders:
            return None
        if self.configuration.readings:
            return read_readings(self.configuration.readings, self.axes, self.items().items)
        readings, _ = self._imported_readings
        return readings if readings.num_rows else None

    @property
    def reading_imports(self) -> Mapping[str, str]:
        """Digest of each file that the lake's readings came from; none where a readings file is named."""
        named = self.configuration.readings or not self.climbs_ladders
        return {} if named else self._imported_readings[1]

    @cached_property
    def _imported_readings(self) -> tuple[pa.Table, dict[str, str]]:
        """Readings in the lake and where they came from; they serve where no readings file is named."""
        items = self.items().items
        rows = {row["item_id"]: row for row in items.to_pylist()}
        freshness = Freshness(self.axes, rows, lambda item: pixels_of(item["uri"]), planned_mask)
        return readings_of(self.open_lake(), self.axes, items, freshness.is_stale)

    def pairs_by_hand(self, rows: Sequence[Row]) -> PairsRead:
        """Read the pairs that people made: of the manifest, else those in the lake whose members are items.

        Raises:
            UsageError: If the manifest cannot be used; names every fault.
        """
        if path := self.configuration.pairs:
            return read_pairs(path, items=rows, kinds=self.kinds)
        return pairs_of(self.open_lake(), rows, self.kinds)

    def pair_builder(self, rows: Iterable[Row]) -> PairBuilder:
        """Lay out what pairs are built with.

        Args:
            rows: The items, by whose prompts one may be exchanged.
        """
        knows = getattr(self.judge, "knows", None)
        of_items = sorted({(str(row["topic"] or ""), str(row["prompt"] or "")) for row in rows})
        prompts, spare = (
            tuple(entry for entry in entries if knows is None or knows(entry[1]))
            for entries in (of_items, self.spare_prompts)
        )
        return PairBuilder(
            kinds=self.kinds,
            seed=self.configuration.seed,
            pixels=pixels_of,
            mask=planned_mask,
            rules=self.rules,
            prompts=prompts,
            spare_prompts=spare,
            knows=knows,
        )

    def damage(self, plans: PlanTables, plan_id: str) -> Damage:
        """Give what draws the damaged members of a plan's pairs: from an item, a probe and the item's pixels."""
        planned = plans.pairs_by_probe(plan_id)
        built = any(row["constructed"] for row in planned.values())
        items = plans.table("items", plan_id).select(["item_id", "topic", "prompt"]).to_pylist()
        builder = self.pair_builder(items if built else ())

        def draw(item: ItemsRow, probe: ProbesRow, pixels: Pixels) -> Pixels:
            return builder.draw(item, planned[item["item_id"], probe["axis"], probe["rung"]], pixels)

        return draw


def pixels_of(uri: str) -> Pixels:
    """Decode one image."""
    return load_image(uri).pixels


def planned_pixels(item: Row) -> Pixels:
    """Decode the image of an item.

    Raises:
        UsageError: If it is not the picture that was planned with.
    """
    image = load_image(item["uri"])
    if image.pixel_digest != item["pixel_digest"]:
        raise _changed(item, item["uri"], "picture")
    return image.pixels


def planned_mask(item: Row) -> NDArray[np.bool_] | None:
    """Read the mask of an item, None if it came without.

    Raises:
        UsageError: If the file is not the mask that was planned with.
    """
    if not item.get("mask_uri"):
        return None
    mask = load_mask(item["mask_uri"], (item["height"], item["width"]))
    if mask_digest(mask) != item["mask_digest"]:
        raise _changed(item, item["mask_uri"], "mask")
    return mask


def _changed(item: Row, uri: str, what: str) -> UsageError:
    message = f"the {what} of “{item['item_id']}” has changed since the audit was planned. Run it again."
    return UsageError(f"{uri}: {message}")
