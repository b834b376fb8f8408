"""The plan: content-named probes, a fair draw of ladder items."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from judge_audit.core.errors import Fault
from judge_audit.core.tables import from_rows
from judge_audit.core.vocabulary import ORIGINAL
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.planning import probes

if TYPE_CHECKING:
    import pyarrow as pa


def rows(sources: dict[str, int], clusters: int = 1000) -> list[dict]:
    return [
        {
            "item_id": f"{source}-{number:03d}",
            "source": source,
            "topic": "",
            "prompt": f"prompt {number}",
            "prompt_id": str(number),
            "cluster": f"{source}-{number % clusters}",
            "uri": "x",
            "file_digest": "f",
            "pixel_digest": f"pixels {source} {number}",
            "width": 8,
            "height": 8,
            "frames": 1,
            "image_notes": "",
        }
        for source, count in sources.items()
        for number in range(count)
    ]


def items(sources: dict[str, int]) -> pa.Table:
    return from_rows("items", [{**row, "plan_id": ""} for row in rows(sources)]).drop_columns(["plan_id"])


def plan(sources: dict[str, int], **changes) -> probes.Plan:
    options = {"ladder_items": 6, "repeats": 1, "seed": 1} | changes
    axes = {name: builtin_axes()[name] for name in ("blur", "saturation+")}
    return probes.make_plan(items(sources), (), axes, **options)


def test_ladder_items_are_spread_evenly_over_sources_of_unequal_size():
    chosen = probes.choose_ladder_items(rows({"a": 100, "b": 100, "c": 4}), 12, seed=3)
    assert Counter(item_id[0] for item_id in chosen) == {"a": 4, "b": 4, "c": 4}


def test_ladder_items_of_a_source_come_from_different_clusters_first():
    chosen = probes.choose_ladder_items(rows({"a": 100}, clusters=8), 8, seed=3)
    assert len({int(item_id[2:]) % 8 for item_id in chosen}) == 8


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_rows():
    given = rows({"a": 50, "b": 50})
    assert probes.choose_ladder_items(given, 10, 1) == probes.choose_ladder_items(given[::-1], 10, 1)
    assert probes.choose_ladder_items(given, 10, 1) != probes.choose_ladder_items(given, 10, 2)


def test_all_items_carry_ladders_when_there_are_fewer_than_asked_for():
    assert len(probes.choose_ladder_items(rows({"a": 3}), 48, 1)) == 3


def test_every_item_is_asked_untouched_and_ladder_items_twice():
    made = plan({"a": 10, "b": 10})
    originals = Counter(row["item_id"] for row in made.probes.to_pylist() if row["axis"] == ORIGINAL)
    assert len(originals) == 20
    assert {item_id for item_id, times in originals.items() if times == 2} == set(made.ladder_items)


def test_the_same_inputs_give_the_same_plan_and_any_change_another():
    same = plan({"a": 10, "b": 10})
    assert same.plan_id == plan({"a": 10, "b": 10}).plan_id
    assert same.plan_id != plan({"a": 10, "b": 10}, seed=2).plan_id
    assert same.plan_id != plan({"a": 10, "b": 11}).plan_id
    refused = probes.make_plan(
        items({"a": 10, "b": 10}),
        [Fault("f", 1, "image", "gone")],
        {name: builtin_axes()[name] for name in ("blur", "saturation+")},
        ladder_items=6,
        repeats=1,
        seed=1,
    )
    assert refused.plan_id != same.plan_id


@pytest.mark.parametrize("change", ["pixels", "axis", "strength", "version", "prompt"])
def test_a_change_of_anything_the_judge_sees_is_another_probe(change):
    base = {"pixels": "p", "axis": "blur", "strength": 0.1, "version": 1, "prompt": "a cat"}
    other = {"pixels": "q", "axis": "crop", "strength": 0.2, "version": 2, "prompt": "a dog"}
    assert probes.probe_id(*base.values()) != probes.probe_id(*(base | {change: other[change]}).values())


def test_a_local_axis_names_its_region_in_the_probe_and_a_mask_makes_another_probe():
    axes = {name: builtin_axes()[name] for name in ("background_blur", "blur", "watermark")}
    given = rows({"a": 2})
    given[1] |= {"mask_uri": "m", "mask_digest": "d", "pixel_digest": given[0]["pixel_digest"]}
    given[1]["prompt"] = given[0]["prompt"]
    table = from_rows("items", [{**row, "plan_id": ""} for row in given]).drop_columns(["plan_id"])
    found = probes.make_plan(table, (), axes, ladder_items=2, repeats=1, seed=1).probes.to_pylist()
    regions = {(row["item_id"], row["axis"]): row["region"] for row in found}
    assert regions["a-000", "background_blur"] == "saliency"
    assert regions["a-001", "background_blur"] == "mask"
    assert regions["a-000", "watermark"] == regions["a-001", "watermark"] == "corner"
    assert regions["a-000", "blur"] is None
    assert regions["a-000", ORIGINAL] is None
    ids = {(row["item_id"], row["axis"], row["rung"]): row["probe_id"] for row in found}
    assert ids["a-000", "background_blur", 3] != ids["a-001", "background_blur", 3]
    assert ids["a-000", "watermark", 3] == ids["a-001", "watermark", 3]
    assert ids["a-000", "blur", 3] == probes.probe_id(
        given[0]["pixel_digest"],
        "blur",
        axes["blur"].strengths[2],
        axes["blur"].recipe_version,
        given[0]["prompt"],
    )


def test_an_item_without_a_mask_has_the_plan_it_had_before_masks_were_known():
    table = items({"a": 3})
    before = table.drop_columns(["mask_uri", "mask_digest"])
    axes = {"blur": builtin_axes()["blur"]}
    first, second = (
        probes.make_plan(given, (), axes, ladder_items=2, repeats=1, seed=1) for given in (table, before)
    )
    assert first.plan_id == second.plan_id
