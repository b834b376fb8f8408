"""Deliberate mismatches in a plan: hand-made and built, drawn again as they were planned."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import InputError, MachineryError, UsageError
from judge_audit.demo.staged_scenes import write_scene_pairs
from judge_audit.inputs.items import read_items
from judge_audit.inputs.pairs import read_pairs
from judge_audit.inputs.prompt_pool import read_prompt_pool
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Reply
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.brand_rules import example_rules
from judge_audit.stimuli.images import load_image
from judge_audit.stimuli.mismatches import mismatch_kinds
from judge_audit.stimuli.pair_builder import PairBuilder
from judge_audit.stimuli.planning.blocks import blocks
from judge_audit.stimuli.planning.mismatches import plan_mismatches, sides_of
from judge_audit.stimuli.planning.probes import make_plan, round_robin_order

KINDS = mismatch_kinds()
AXES = {name: axis for name, axis in builtin_axes().items() if name == "blur"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """An items file of intact and damaged scenes, and the manifest of their pairs."""
    return write_scene_pairs(tmp_path_factory.mktemp("scenes"), 2, 5, size=160)


@pytest.fixture(scope="module")
def rows(corpus):
    return read_items(corpus[0]).items.to_pylist()


def workshop(rows, **changed):
    prompts = tuple(sorted({(row["topic"], row["prompt"]) for row in rows}))
    given = {
        "kinds": KINDS,
        "seed": 1,
        "mask": lambda item: None,
        "rules": example_rules(),
        "prompts": prompts,
    }
    return PairBuilder(**{**given, "pixels": lambda uri: load_image(uri).pixels, **changed})


def planned(rows, by_hand=(), *, per_kind=3, repeats=1, **changed):
    return plan_mismatches(
        rows,
        by_hand,
        workshop(rows, **changed),
        order=round_robin_order(rows, 1),
        per_kind=per_kind,
        repeats=repeats,
    )


@pytest.fixture(scope="module")
def by_hand(corpus, rows):
    return read_pairs(corpus[1], items=rows, kinds=KINDS).pairs


@pytest.fixture(scope="module")
def both(rows, by_hand):
    return planned(rows, by_hand)


def plan_of(rows, mismatches, corpus, **options):
    given = {"ladder_items": 6, "repeats": 1, "seed": 1, "mismatches": mismatches}
    return make_plan(read_items(corpus[0]).items, (), AXES, **{**given, **options})


def test_damaged_items_carry_no_ladder_and_are_never_untouched(rows, both, corpus):
    plan = plan_of(rows, both, corpus)
    damaged = {row["item_id"] for row in rows if row["item_id"].endswith("-damaged")}
    assert both.damaged == damaged
    assert not damaged & {*plan.ladder_items, *plan.sight_items}
    axes = {row["axis"] for row in plan.probes.to_pylist() if row["item_id"] in damaged}
    assert all(axis.startswith("pair:") for axis in axes)
    asked = {row["item_id"] for row in plan.probes.to_pylist() if row["axis"] == "original"}
    assert asked == {row["item_id"] for row in rows} - damaged


def test_every_item_with_its_ladders_and_pairs_is_in_one_block(rows, both, corpus):
    plan = plan_of(rows, both, corpus)
    held = [item_id for block in blocks(plan) for item_id in block.item_ids]
    assert sorted(held) == sorted(row["item_id"] for row in rows)
    assert sum(block.probes for block in blocks(plan)) == plan.probes.num_rows


def test_so_many_pairs_of_each_kind_are_built_with_sources_taking_turns(rows, both):
    built = [row for row in both.pairs if row["constructed"] and row["intact"] == row["damaged"]]
    for name in KINDS:
        mine = [row for row in built if row["kind"] == name]
        assert len(mine) == 3
        assert len({row["source"] for row in mine}) == 2
    assert not [row for row in planned(rows, per_kind=0).pairs if row["constructed"]]


def test_the_same_inputs_give_the_same_plan_and_another_seed_other_pairs(rows, both, by_hand, corpus):
    again = planned(rows, by_hand)
    assert again == both
    assert plan_of(rows, again, corpus).plan_id == plan_of(rows, both, corpus).plan_id
    other = planned(rows, by_hand, seed=2)
    assert {row["probe_id"] for row in other.probes} != {row["probe_id"] for row in both.probes}


def test_what_is_drawn_again_is_what_was_planned_and_differs_only_in_its_region(rows, both):
    items = {row["item_id"]: row for row in rows}
    shop = workshop(rows)
    changed = 0
    for pair in both.pairs:
        item = items[pair["damaged"]]
        pixels = load_image(item["uri"]).pixels
        drawn = shop.draw(item, pair, pixels)
        assert pixel_digest(drawn) == pair["pixel_digest"]
        if pair["intact"] == pair["damaged"] and pair["region_box"] and not pair["frame"]:
            left, top, right, bottom = sides_of(pair["region_box"])
            apart = (drawn != pixels).any(axis=-1)
            assert apart.any()
            apart[top:bottom, left:right] = False
            assert not apart.any()
            changed += 1
    assert changed >= 6


def test_a_pair_that_comes_out_otherwise_is_refused(rows, both):
    pair = next(row for row in both.pairs if row["rule"])
    item = next(row for row in rows if row["item_id"] == pair["damaged"])
    rules = example_rules()
    other = replace(rules, rules=tuple(replace(rule, size=0.2, margin=0.1) for rule in rules.rules[:2]))
    with pytest.raises(UsageError, match="otherwise than it was planned"):
        workshop(rows, rules=other).draw(item, pair | {"pixel_digest": "x"}, load_image(item["uri"]).pixels)


def test_a_kind_that_needs_rules_is_refused_whole_without_them(rows):
    made = planned(rows, rules=None)
    (refusal,) = [row for row in made.unsuited if row["kind"] == "compliance_breach"]
    assert (refusal["item_id"], "no brand rules" in refusal["reason"]) == ("*", True)
    assert not [row for row in made.pairs if row["kind"] == "compliance_breach"]


def test_a_judge_of_stored_texts_is_asked_only_what_it_knows(rows):
    known = {row["prompt"] for row in rows}
    made = planned(rows, knows=known.__contains__)
    exchanged = [row for row in made.pairs if row["kind"] == "semantic_miss"]
    assert exchanged
    assert {row["prompt"] for row in exchanged} <= known
    none = planned([{**row, "topic": "one"} for row in rows], knows=known.__contains__)
    assert {row["kind"] for row in none.pairs} == set(KINDS) - {"semantic_miss"}
    assert any("stored texts" in row["reason"] for row in none.unsuited)


def test_pictures_outside_the_items_file_become_items_and_only_intact_ones_are_untouched(
    corpus, rows, tmp_path
):
    for name in ("good", "blurred", "warped"):
        shutil.copy(corpus[0].parent / "images" / f"{_file(rows, name)}.png", tmp_path / f"{name}.png")
    whole = rows[0]["item_id"].replace("damaged", "intact")
    head = "pair_id,kind,intact,damaged,source,intact_prompt,damaged_prompt"
    lines = [
        "p1,poor_quality,good.png,blurred.png,s,a lake,",
        "p2,structural_error,good.png,warped.png,s,a lake,",
        "p3,semantic_miss,good.png,good.png,s,a lake,a desert",
        f"p4,semantic_miss,{whole},{whole},,,a desert",
    ]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    made = planned(rows, read_pairs(path, items=rows, kinds=KINDS).pairs, per_kind=0)
    assert [row["item_id"] for row in made.items] == [
        "blurred.png",
        "good.png",
        "good.png (p3)",
        "warped.png",
    ]
    assert made.damaged == {"blurred.png", "warped.png", "good.png (p3)"}
    plan = plan_of(rows, made, corpus, sight=False)
    axes = {
        row["item_id"]: [
            probe["axis"] for probe in plan.probes.to_pylist() if probe["item_id"] == row["item_id"]
        ]
        for row in made.items
    }
    assert axes["good.png"] == ["original"]
    assert axes["good.png (p3)"] == ["pair:semantic_miss"]
    assert {row["intact"] for row in made.pairs} == {"good.png", made.pairs[3]["damaged"]}


def _file(rows, name):
    place = ("good", "blurred", "warped").index(name)
    return sorted(row["item_id"] for row in rows)[place]


def test_an_intact_member_that_is_damaged_in_another_pair_is_refused(corpus, rows, tmp_path):
    one, other = (row["item_id"] for row in rows[:2])
    path = tmp_path / "pairs.csv"
    path.write_text(
        f"pair_id,kind,intact,damaged\np1,poor_quality,{one},{other}\np2,poor_quality,{other},{one}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError, match="damaged member of pair"):
        read_pairs(path, items=rows, kinds=KINDS)


class Counting:
    """A judge that keeps what it was shown."""

    card = Card(kind="callable", name="counting", weights="w", batch_size=4)

    def __init__(self):
        self.shown = []

    def score(self, stimuli):
        self.shown += [(pixel_digest(entry.image), entry.image.shape, entry.prompt) for entry in stimuli]
        return [Reply({"overall": float(entry.image.mean())}) for entry in stimuli]


def test_every_damaged_member_is_shown_with_its_own_pixels_and_prompt(rows, both, corpus):
    plan = plan_of(rows, both, corpus, sight=False)
    pairs = {(row["damaged"], "pair:" + row["kind"], row["rung"]): row for row in both.pairs}
    shop, judge, loads = workshop(rows), Counting(), []
    work = [
        (item, [probe for probe in plan.probes.to_pylist() if probe["item_id"] == item["item_id"]])
        for item in plan.items.to_pylist()
    ]

    def load(item):
        loads.append(item["item_id"])
        return load_image(item["uri"]).pixels

    given = {"axes": AXES, "load": load, "answered": {}}
    results = list(
        score_block(
            judge, work, **given, damage=lambda item, probe, pixels: shop.draw(
                item, pairs[item["item_id"], probe["axis"], probe["rung"]], pixels
            ),
        )
    )  # fmt: skip
    assert sorted(loads) == sorted({item["item_id"] for item, _ in work})
    calls = {call["probe_id"]: call for result in results for call in result.calls}
    for pair in both.pairs:
        call = calls[pair["probe_id"]]
        assert (call["state"], call["pixel_digest"]) == ("ok", pair["pixel_digest"])
        assert (pair["pixel_digest"], pair["prompt"]) in {
            (digest, prompt) for digest, _, prompt in judge.shown
        }
    assert len({shape for _, shape, _ in judge.shown}) > 1 or not any(row["frame"] for row in both.pairs)
    with pytest.raises(MachineryError, match="nobody draws"):
        list(score_block(Counting(), work, **given))


def test_repeats_ask_a_damaged_member_as_often(rows):
    made = planned(rows, per_kind=1, repeats=3)
    assert len(made.probes) == 3 * len(made.pairs)
    assert {row["repeat"] for row in made.probes} == {0, 1, 2}


def test_strangers_are_rows_of_topic_and_prompt(tmp_path):
    path = tmp_path / "strangers.csv"
    path.write_text("topic,prompt\nsea,a boat\nfood,a cake\n", encoding="utf-8")
    assert read_prompt_pool(path) == (("food", "a cake"), ("sea", "a boat"))
    path.write_text("topic,prompt\n,a boat\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 1, column topic"):
        read_prompt_pool(path)
    path.write_text("prompt\na boat\n", encoding="utf-8")
    with pytest.raises(InputError, match="topic: this column is missing"):
        read_prompt_pool(path)


def test_real_generated_pictures_are_damaged_where_it_is_declared_and_nowhere_else(shared_cases):
    rows = read_items(shared_cases / "images.csv").items.to_pylist()
    made = planned(rows, per_kind=4)
    counts = {name: sum(row["kind"] == name for row in made.pairs) for name in KINDS}
    assert counts == dict.fromkeys(KINDS, 4)
    items, shop = {row["item_id"]: row for row in rows}, workshop(rows)
    for pair in made.pairs:
        item = items[pair["intact"]]
        pixels = load_image(item["uri"]).pixels
        drawn = shop.draw(item, pair, pixels)
        if pair["frame"]:
            left, top, right, bottom = sides_of(pair["frame"])
            assert np.array_equal(drawn, pixels[top:bottom, left:right])
        elif pair["region_box"]:
            left, top, right, bottom = sides_of(pair["region_box"])
            apart = np.abs(drawn.astype(int) - pixels).max(axis=-1)
            assert (apart[top:bottom, left:right] >= 16).mean() > 0.1, pair["pair_id"]
            apart[top:bottom, left:right] = 0
            assert not apart.any()
        else:
            assert pair["prompt"] != item["prompt"]


def test_imported_pairs_whose_members_are_items_serve_where_no_manifest_is_named(tmp_path):
    from judge_audit.inputs.ingest.imported_pairs import pairs_of
    from judge_audit.inputs.ingest.importer import import_file
    from judge_audit.lake import Lake

    lake = Lake.open(tmp_path / "lake")
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [
                ("pair_id", "kind", "intact", "damaged"),
                ("p1", "poor_quality", "a", "b"),
                ("p2", "poor_quality", "a", "elsewhere"),
                ("p3", "bad_mood", "a", "b"),
            ]
        )
    import_file(lake, "pairs", path)
    blank = {"prompt": "p", "pixel_digest": None, "source": "s", "topic": "", "cluster": "c"}
    found = pairs_of(lake, [{**blank, "item_id": name} for name in ("a", "b")], KINDS)
    assert [pair.pair_id for pair in found.pairs] == ["p1"]
    assert not found.pairs[0].constructed
    assert "bad_mood" in found.warnings[0]
    assert len(found.imports) == 1


def test_small_pictures_are_refused_by_name(tmp_path):
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "items.csv").write_text("item_id,source,prompt,image\na,s,,a.png\n", encoding="utf-8")
    made = planned(read_items(tmp_path / "items.csv").items.to_pylist())
    assert not made.pairs
    assert {row["kind"] for row in made.unsuited} == set(KINDS)
    assert all(row["item_id"] == "a" for row in made.unsuited)


def test_scores_imported_for_both_members_become_a_pair_and_no_untouched_item(tmp_path):
    from judge_audit.audits.modes.table import plan_table_audit
    from judge_audit.inputs.ingest.importer import import_file
    from judge_audit.judges import load_judge
    from judge_audit.lake import Lake

    lake = Lake.open(tmp_path / "lake")
    (tmp_path / "ours.yaml").write_text("kind: table\nname: ours\nversion: '1'\n", encoding="utf-8")
    card = load_judge(tmp_path / "ours.yaml").card
    scores = [("item_id", "source", "value"), *((f"i{at}", "s", at) for at in range(6))]
    pairs = [
        ("pair_id", "kind", "intact", "damaged"),
        ("p1", "poor_quality", "i1", "i5"),
        ("p2", "poor_quality", "i2", "i5"),
    ]
    for name, content in (("scores", scores), ("pairs", pairs)):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(content)
    import_file(lake, "scores", tmp_path / "scores.csv", card=card)
    import_file(lake, "pairs", tmp_path / "pairs.csv")
    made = plan_table_audit(lake, card, kinds=KINDS)
    asked = sorted((row["item_id"], row["axis"], row["rung"]) for row in made.plan.probes.to_pylist())
    assert asked == [
        *((f"i{at}", "original", 0) for at in range(5)),
        ("i5", "pair:poor_quality", 1),
        ("i5", "pair:poor_quality", 2),
    ]
    assert len({row["probe_id"] for row in made.plan.probes.to_pylist()}) == 6
    assert made.plan.mismatches.num_rows == 2
    assert any("import" in name for name in made.imports)
    assert len(made.imports) == 2
