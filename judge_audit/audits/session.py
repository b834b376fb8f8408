"""What a process keeps between the tasks of one audit: the lake, the axes, the loaded judge, the plan.

Tasks are named by ids and paths alone, so they can run in any process; a judge is loaded once per process.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.anchors import hold_to_lake, read_anchors
from judge_audit.audits.plugins import configured_judge, find_mismatches, select_axes
from judge_audit.core.digests import canonical_json, text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import ANCHOR, PAIR_AXIS, POOLED
from judge_audit.inputs.ingest.imported_pairs import pairs_of
from judge_audit.inputs.items import ItemsRead, read_items
from judge_audit.inputs.pairs import PairsRead, read_pairs
from judge_audit.inputs.prompt_pool import read_strangers
from judge_audit.inputs.traffic import read_traffic
from judge_audit.judges.adapters.table import KIND as TABLE_KIND
from judge_audit.judges.calling.budget import FOLDER as BUDGET_FOLDER
from judge_audit.judges.calling.budget import Purse
from judge_audit.judges.canaries import at_epoch, known_epoch
from judge_audit.judges.controls import builtin_controls, seeing_controls
from judge_audit.judges.instruments.covariates import Surveyor
from judge_audit.judges.instruments.surface import Ruler
from judge_audit.judges.protocol import PricedJudge
from judge_audit.lake import Lake
from judge_audit.people.freshness import Freshness
from judge_audit.people.labels import Labels, labels_of
from judge_audit.people.production_events import Acts, acts_of
from judge_audit.people.readings import read_readings, readings_of
from judge_audit.stimuli.brand_rules import read_brand_rules
from judge_audit.stimuli.images import load_image
from judge_audit.stimuli.masks import load_mask, mask_digest
from judge_audit.stimuli.pair_builder import PairBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from judge_audit.anchors import AnchorSet
    from judge_audit.core.configuration import Configuration
    from judge_audit.judges.cards.card import Card
    from judge_audit.judges.controls.pixel_control import SeeingJudge
    from judge_audit.judges.controls.recipe_control import PlantedJudge
    from judge_audit.judges.protocol import Judge
    from judge_audit.stimuli.axes.axis import Axis
    from judge_audit.stimuli.brand_rules import BrandRules
    from judge_audit.stimuli.mismatches.kind import Kind

    Pixels = NDArray[np.uint8]


@dataclass(eq=False)
class Session:
    """Everything loaded for one configuration in one process.

    Attributes:
        configuration: What the audit was asked to do.
        given_judge: A judge handed over in Python, instead of the configuration's name for one.
        requests: Requests of the judge that this process may have under way at most, where it is one of several;
            0 for what the card says.
    """

    configuration: Configuration
    given_judge: Judge | None = None
    requests: int = 0
    _judge: Judge | None = None
    _items: ItemsRead | None = None
    _plans: dict[str, dict[str, pa.Table]] = field(default_factory=dict)
    _labels: dict[str, Labels] = field(default_factory=dict)
    _acts: dict[str, Acts] = field(default_factory=dict)
    _turns: dict[str, threading.BoundedSemaphore] = field(default_factory=dict)

    @cached_property
    def lake(self) -> Lake:
        """The lake, made if it is not there."""
        return Lake.open(self.configuration.lake)

    @cached_property
    def axes(self) -> Mapping[str, Axis]:
        """The axes this audit climbs; none where no picture is in reach."""
        none = self.is_table or self.configuration.only
        return {} if none else select_axes(self.configuration)

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The mismatch kinds."""
        return {name: part.thing for name, part in find_mismatches(self.configuration.project).items()}

    @cached_property
    def rules(self) -> BrandRules | None:
        """The team's brand rules, None where none were given.

        Raises:
            UsageError: If they cannot be used; names every fault.
        """
        return read_brand_rules(self.configuration.rules) if self.configuration.rules else None

    @cached_property
    def strangers(self) -> tuple[tuple[str, str], ...]:
        """Topic and prompt to exchange with where the items have one topic; none takes the package's own.

        Raises:
            UsageError: If they cannot be used.
        """
        path = self.configuration.strangers
        return read_strangers(path) if path else ()

    @property
    def is_table(self) -> bool:
        """Whether the judge is a table of scores: it is audited from the lake alone."""
        return self.judge.card.kind == TABLE_KIND

    @property
    def judge(self) -> Judge:
        """The judge under audit, of the epoch it is in by what the lake has seen."""
        if self._judge is None:
            found = self.given_judge or configured_judge(self.configuration, self.requests)
            self._judge = at_epoch(found, known_epoch(self.configuration.lake, found.card))
        return self._judge

    def at_epoch(self, epoch: int) -> None:
        """Go on with the judge of another epoch."""
        if self.judge.card.epoch != epoch:
            self._judge = at_epoch(self.judge, epoch)
            self._acts.clear()

    @cached_property
    def ruler(self) -> Ruler:
        """The instrument that measures surface statistics."""
        return Ruler()

    @cached_property
    def surveyor(self) -> Surveyor:
        """The instrument that measures, once per untouched picture, what no ladder turns."""
        return Surveyor()

    @cached_property
    def seeing(self) -> tuple[SeeingJudge, ...]:
        """The controls that are shown the pictures by which it is found out what a judge can see."""
        return () if self.is_table or self.configuration.only else seeing_controls()

    def controls(self, zones_id: str) -> tuple[PlantedJudge, ...]:
        """The planted-fault judges, answering to the given zones."""
        return builtin_controls(zones_id, self.configuration.seed)

    def items(self, on_image: Callable[[int, int], None] | None = None) -> ItemsRead:
        """Read the items file and every picture it names, once per process.

        Args:
            on_image: Told (decoded, all).

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
        held = read_anchors(self.configuration.anchors)
        held.at(self.configuration.anchor_version)
        hold_to_lake(held, self.lake)
        return held

    @cached_property
    def readings(self) -> pa.Table | None:
        """People's readings of the ladders, None where none were given.

        Raises:
            UsageError: If they cannot be used; names every fault.
        """
        path = self.configuration.readings
        if self.is_table or self.configuration.only:
            return None
        if path:
            return read_readings(path, self.axes, self.items().items)
        found, _ = self.imported_readings
        return found if found.num_rows else None

    @cached_property
    def imported_readings(self) -> tuple[pa.Table, dict[str, str]]:
        """Readings in the lake and where they came from; they serve where no readings file is named."""
        items = self.items().items
        rows = {row["item_id"]: row for row in items.to_pylist()}
        looked_at = Freshness(self.axes, rows, lambda item: self.pixels(item["uri"]), self.mask)
        return readings_of(self.lake, self.axes, items, looked_at.is_stale)

    def by_hand(self, rows: Sequence[Mapping[str, Any]]) -> PairsRead:
        """Read the pairs that people made: of the manifest, else those in the lake whose members are items.

        Raises:
            UsageError: If the manifest cannot be used; names every fault.
        """
        path = self.configuration.pairs
        if path and not self.is_table:
            return read_pairs(path, items=rows, kinds=self.kinds)
        return pairs_of(self.lake, rows, self.kinds)

    def workshop(self, rows: Iterable[Mapping[str, Any]]) -> PairBuilder:
        """Lay out what pairs are built with.

        Args:
            rows: The items, by whose prompts one may be exchanged.
        """
        knows = getattr(self.judge, "knows", None)
        told = sorted({(str(row["topic"] or ""), str(row["prompt"] or "")) for row in rows})
        prompts, strangers = (
            tuple(entry for entry in entries if knows is None or knows(entry[1]))
            for entries in (told, self.strangers)
        )
        return PairBuilder(
            kinds=self.kinds,
            seed=self.configuration.seed,
            pixels=self.pixels,
            mask=self.mask,
            rules=self.rules,
            prompts=prompts,
            spare_prompts=strangers,
            knows=knows,
        )

    def damage(self, plan_id: str) -> Callable[[Mapping[str, Any], Mapping[str, Any], Pixels], Pixels]:
        """Give what draws the damaged members of a plan's pairs: from an item, a probe and the item's pixels."""
        pairs = self.plan_table("mismatches", plan_id).to_pylist()
        planned = {(row["damaged"], PAIR_AXIS + row["kind"], row["rung"]): row for row in pairs}
        built = {row["intact"] for row in pairs if row["constructed"]}
        items = self.plan_table("items", plan_id).select(["item_id", "topic", "prompt"]).to_pylist()
        workshop = self.workshop(items if built else ())

        def draw(item: Mapping[str, Any], probe: Mapping[str, Any], pixels: Pixels) -> Pixels:
            return workshop.draw(item, planned[item["item_id"], probe["axis"], probe["rung"]], pixels)

        return draw

    def labels(self, plan_id: str) -> Labels:
        """Read what people said of a plan's items, once per process."""
        if plan_id not in self._labels:
            told = (self.plan_table(name, plan_id) for name in ("items", "mismatches"))
            self._labels[plan_id] = labels_of(self.lake, *told)
        return self._labels[plan_id]

    def acts(self, plan_id: str) -> Acts:
        """Read what production decided by the judge and what people did about it, once per process."""
        if plan_id not in self._acts:
            items = self.plan_table("items", plan_id)
            self._acts[plan_id] = acts_of(self.lake, items, self.judge.card.judge_id)
        return self._acts[plan_id]

    def plan_table(self, name: str, plan_id: str) -> pa.Table:
        """Read a table of the plan once per process."""
        held = self._plans.setdefault(plan_id, {})
        if name in held:
            return held[name]
        found = self.lake.read(name, plan_id=plan_id)
        # A plan of combined probes is asked for before it is made; nothing is not remembered.
        if found.num_rows:
            held[name] = found
        return found

    def items_of(self, plan_id: str) -> pa.Table:
        """Read the items of a plan without its anchors."""
        probes, items = self.plan_table("probes", plan_id), self.plan_table("items", plan_id)
        chosen = probes.filter(pc.equal(probes["axis"], ANCHOR))["item_id"]
        return items.filter(pc.invert(pc.is_in(items["item_id"], value_set=chosen.combine_chunks())))

    def zones(self, plan_id: str, zones_id: str) -> pa.Table:
        """Read the zones of a plan."""
        table = self.plan_table("zones", plan_id)
        return table.filter(pc.equal(table["zones_id"], zones_id))

    def turn(self, card: Card) -> threading.BoundedSemaphore:
        """Give the gate through which at most `concurrency` requests of a judge pass in this process."""
        with _lock:
            if card.judge_id not in self._turns:
                self._turns[card.judge_id] = threading.BoundedSemaphore(card.concurrency)
            return self._turns[card.judge_id]

    def purse(self, audit_id: str) -> Purse | None:
        """Give what an audit's answers are paid from, None where nothing costs and nothing is capped.

        Raises:
            UsageError: If a sum is capped and the judge's card names no prices.
        """
        told = self.configuration
        currency = self.judge.currency if isinstance(self.judge, PricedJudge) else ""
        if told.max_cost is not None and not currency:
            raise UsageError(
                f"--max-cost: the judge “{self.judge.card.name}” names no prices, so what it costs is not known. Add "
                "them to its card, for example prices: {currency: USD, input: 2.5, output: 10}, or use --max-calls."
            )
        if self.is_table or (told.max_calls is None and not currency):
            return None
        path = self.lake.storage.beside / BUDGET_FOLDER / f"{audit_id}.sqlite"
        return Purse(path, told.max_calls, told.max_cost, currency)

    def pixels(self, uri: str) -> NDArray[np.uint8]:
        """Decode one image."""
        return load_image(uri).pixels

    def planned_pixels(self, item: Mapping[str, Any]) -> NDArray[np.uint8]:
        """Decode the image of an item.

        Raises:
            UsageError: If it is not the picture that was planned with.
        """
        image = load_image(item["uri"])
        if image.pixel_digest != item["pixel_digest"]:
            raise UsageError(
                f"{item['uri']}: the picture of “{item['item_id']}” has changed since the audit was planned. "
                "Run it again."
            )
        return image.pixels

    def mask(self, item: Mapping[str, Any]) -> NDArray[np.bool_] | None:
        """Read the mask of an item, None if it came without.

        Raises:
            UsageError: If the file is not the mask that was planned with.
        """
        if not item.get("mask_uri"):
            return None
        mask = load_mask(item["mask_uri"], (item["height"], item["width"]))
        if mask_digest(mask) != item["mask_digest"]:
            raise UsageError(
                f"{item['mask_uri']}: the mask of “{item['item_id']}” has changed since the audit was planned. "
                "Run it again."
            )
        return mask


_sessions: dict[str, Session] = {}
_lock = threading.Lock()


def session(configuration: Configuration, requests: int = 0) -> Session:
    """Give this process's session for a configuration, the same one each time.

    Args:
        configuration: The configuration.
        requests: Requests of the judge that this process may have under way; 0 for what the card says.
    """
    name = text_digest(canonical_json(configuration.as_json()), str(requests))
    with _lock:
        if name not in _sessions:
            _sessions.clear()
            _sessions[name] = Session(configuration, requests=requests)
        return _sessions[name]


def hold(configuration: Configuration, judge: Judge) -> Session:
    """Make a session around a judge that only exists in this process."""
    return Session(configuration, judge)


Answered = tuple[pa.Table, pa.Table]
"""Calls (probe_id, repeat, state) and scores (probe_id, repeat, dimension, value, state) of one judge."""


def answers_of(current: Session, judge_ids: Sequence[str]) -> dict[str, Answered]:
    """Read the answers of several judges at once, which costs little more than those of one."""
    columns = {
        "calls": ["probe_id", "repeat", "state"],
        "scores": ["probe_id", "repeat", "dimension", "value", "state"],
    }
    found = []
    for name, kept in columns.items():
        held = current.lake.read(name, judge_id=list(judge_ids))
        found.append({one: held.filter(pc.equal(held["judge_id"], one)).select(kept) for one in judge_ids})
    calls, scores = found
    return {one: (calls[one], scores[one]) for one in judge_ids}


def responses(
    current: Session, plan_id: str, judge_id: str, *combined: str, answers: Answered | None = None
) -> pa.Table:
    """Put scores beside their probes and items: what a check sees.

    Args:
        current: The session.
        plan_id: The audit's plan.
        judge_id: Whose answers.
        combined: Plans of combined probes on the same items.
        answers: Their answers, where they were read already.

    Returns:
        Columns item_id, source, topic, prompt_id, cluster, axis, rung, strength, repeat, dimension, value, state.
        Inert rungs and calls without an answer stand with dimension `*` and no value.
    """
    probes = pa.concat_tables([current.plan_table("probes", name) for name in (plan_id, *combined)])
    items = current.plan_table("items", plan_id).select(
        ["item_id", "source", "topic", "prompt_id", "cluster"]
    )
    calls, scores = answers or answers_of(current, [judge_id])[judge_id]
    asked = probes.select(["probe_id", "repeat", "item_id", "axis", "rung", "strength"])
    keys = ["probe_id", "repeat"]
    answered = asked.join(scores, keys, join_type="inner")
    unscored = calls.join(scores.select(keys).group_by(keys).aggregate([]), keys, join_type="left anti")
    silent = asked.join(unscored, keys, join_type="inner")
    silent = silent.append_column("dimension", pa.array([POOLED] * silent.num_rows, pa.string()))
    silent = silent.append_column("value", pa.nulls(silent.num_rows, pa.float64()))
    columns = ["item_id", "axis", "rung", "strength", "repeat", "dimension", "value", "state"]
    joined = pa.concat_tables([answered.select(columns), silent.select(columns)])
    joined = joined.join(items, "item_id", join_type="inner")
    ordered = ["item_id", "axis", "rung", "repeat", "dimension"]
    return joined.sort_by([(name, "ascending") for name in ordered])
