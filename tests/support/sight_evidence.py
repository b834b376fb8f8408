"""Evidence made by really showing a judge the sight probes of pictures, as an audit does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from judge_audit.checks.evidence import Evidence
from judge_audit.checks.sight.sight import run
from judge_audit.core.digests import pixel_digest
from judge_audit.core.limits import read_limits
from judge_audit.core.tables import from_rows
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Reply
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.planning.probes import make_plan

AXES = builtin_axes()


class Answers:
    """A judge of a function of a batch of stimuli."""

    def __init__(self, rule, **card):
        self.card = Card(**{"kind": "callable", "name": "test", "weights": "w", "batch_size": 8, **card})
        self.rule = rule

    def score(self, stimuli):
        return [Reply({"overall": value}) for value in self.rule(stimuli)]


def picture(rng, size=(48, 64)):
    """Paint something with an up and a down, edges, and a colour of its own."""
    height, width = size
    slope = np.linspace(-1, 1, height)[:, None, None] * rng.uniform(10, 60)
    pixels = np.full((height, width, 3), rng.uniform(60, 190)) + slope + rng.uniform(-30, 30, 3)
    for _ in range(rng.integers(3, 12)):
        top, left = rng.integers(0, height - 4), rng.integers(0, width - 4)
        pixels[top : top + rng.integers(4, 20), left : left + rng.integers(4, 20)] += rng.uniform(-60, 60, 3)
    return np.clip(pixels + rng.normal(0, rng.uniform(1, 8), pixels.shape), 0, 255).astype(np.uint8)


def corpus(seed, count=40, prompts=True, size=(48, 64)):
    """Make a table of items and their pixels by id; topics alternate."""
    rng = np.random.default_rng(seed)
    pixels = {f"i{seed}-{number:02d}": picture(rng, size) for number in range(count)}
    rows = [
        {"plan_id": "", "item_id": item, "source": "ab"[number % 2], "topic": "xyz"[number % 3]}
        | {"prompt": f"prompt {number}" if prompts else "one", "prompt_id": str(number), "cluster": item}
        | {"uri": item, "file_digest": "f", "pixel_digest": pixel_digest(image), "width": size[1]}
        | {"height": size[0], "frames": 1, "image_notes": ""}
        for number, (item, image) in enumerate(pixels.items())
    ]
    return from_rows("items", rows).drop_columns(["plan_id"]), pixels


def shown(judge, seed=0, *, axes=(), ladder_items=0, **options):
    """Show a judge a corpus and gather its answers as evidence."""
    items, pixels = corpus(seed, **options)
    chosen = {name: AXES[name] for name in axes}
    plan = make_plan(items, (), chosen, ladder_items=ladder_items, repeats=1, seed=seed)
    by_item = {row["item_id"]: row for row in plan.items.to_pylist()}
    order = ("axis", "rung", "repeat")
    work = [
        (row, sorted(_of(plan, item), key=lambda probe: [probe[name] for name in order]))
        for item, row in sorted(by_item.items())
    ]
    results = list(
        score_block(judge, work, axes=chosen, load=lambda item: pixels[item["item_id"]], answered={})
    )
    scores = {
        (row["probe_id"], row["repeat"]): (row["dimension"], row["value"], row["state"])
        for result in results
        for row in result.scores
    }
    inert = ("*", None, "inert")
    rows = [
        {name: by_item[probe["item_id"]][name] for name in ("item_id", "source", "topic", "cluster")}
        | {name: probe[name] for name in ("axis", "rung", "strength", "repeat")}
        | dict(
            zip(
                ("dimension", "value", "state"),
                scores.get((probe["probe_id"], probe["repeat"]), inert),
                strict=True,
            )
        )
        for probe in plan.probes.to_pylist()
    ]
    return evidence(rows, judge.card, chosen)


def _of(plan, item):
    return [probe for probe in plan.probes.to_pylist() if probe["item_id"] == item]


def evidence(rows, card, axes, zones=None, **rest):
    """Put rows into evidence; without zones nobody has read anything."""
    names = ("item_id", "axis", "perceptible_low", "perceptible_high", "objectionable", "basis")
    types = (pa.string(), pa.string(), pa.float64(), pa.float64(), pa.float64(), pa.string())
    schema = pa.schema(list(zip(names, types, strict=True)))
    return Evidence(
        audit_id="x",
        judge_id="j",
        is_control=False,
        card=card,
        seed=1,
        responses=pa.Table.from_pylist(rows),
        zones=pa.Table.from_pylist(zones or [], schema),
        axes=axes,
        limits=read_limits(),
        **rest,
    )


def answers(given):
    """Give verdict and finding by what was shown."""
    told = run(given).verdicts
    return {row["axis"]: (row["verdict"], row["finding"]) for row in told if row["finding"] != "unseen"}
