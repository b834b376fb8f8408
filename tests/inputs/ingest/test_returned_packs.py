"""Work that goes out to other tools and comes back: blind on the way, whole on return."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from judge_audit.core.errors import InputError, UsageError
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.inputs.items import read_items
from judge_audit.lake import Lake
from judge_audit.people.labels import labels_of
from judge_audit.people.readings import Freshness
from judge_audit.people.study.build_plan import Wishes, plan_study
from judge_audit.people.study.picture_provider import PictureProvider
from judge_audit.people.study.tasks import choice_pack, key_path, label_pack, reading_pack, write_tasks
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.images import load_image

AXES = {"blur": builtin_axes()["blur"]}


@pytest.fixture
def items(tmp_path):
    rows = [["item_id", "source", "prompt", "image", "prompt_id"]]
    for number in range(6):
        rng = np.random.default_rng(number)
        Image.fromarray(rng.integers(0, 256, (24, 32, 3)).astype(np.uint8)).save(tmp_path / f"{number}.png")
        prompt = "=a bird" if number < 3 else "a fish"
        rows.append([f"zebra-{number}", f"quokka{number % 2}", prompt, f"{number}.png", f"p{number // 3}"])
    with (tmp_path / "items.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return read_items(tmp_path / "items.csv").items


def pictures(items):
    uris = {row["item_id"]: row["uri"] for row in items.to_pylist()}
    return lambda item_id: load_image(uris[item_id]).pixels


def exported(pack, answers):
    """Write an export as Label Studio does: each answer is (who, {field: value}) or who alone for a skip."""
    tasks = []
    prompts = {task.name: task.prompt for task in pack.tasks}
    for number, (name, given) in enumerate(answers.items(), 1):
        annotations = []
        for place, entry in enumerate(given):
            who, said, more = (*entry, {}) if len(entry) == 2 else entry
            result = [_region(name, value) for name, value in (said or {}).items()]
            when = f"2026-11-30T08:{number:02d}:{place:02d}.000000Z"
            annotations.append({"id": 10 * number + place, "completed_by": who, "was_cancelled": said is None,
                                "result": result, "created_at": when, "updated_at": when, "prediction": {},
                                "parent_prediction": None, "parent_annotation": None, **more})  # fmt: skip
        data = {"pack": pack.pack_id, "name": name, "prompt": prompts[name]}
        tasks.append(
            {"id": number, "annotations": annotations, "predictions": [], "data": data, "drafts": []}
        )
    return tasks


def _region(name, value):
    if isinstance(value, list):
        return {"from_name": name, "to_name": "A", "type": "choices", "value": {"choices": value}}
    return {"from_name": name, "to_name": "picture", "type": "rating", "value": {"rating": value}}


def taken(folder, kind, content, **more):
    path = folder / f"project-{len(json.dumps(content))}.json"
    path.write_text(json.dumps(content))
    key = key_path(folder / "pack")
    return import_file(
        Lake.open(folder / "lake"), kind, path, tool="label-studio", key=key, axes=AXES, **more
    )


def test_labels_go_out_blind_and_come_back_by_person_and_dimension(tmp_path, items):
    pack = label_pack(items.to_pylist(), ("semantic", "overall"), 3)
    made = write_tasks(pack, tmp_path / "pack", "label-studio", pictures(items))
    assert [path.name for path in made] == ["tasks.json", "config.xml"]
    told = (tmp_path / "pack" / "tasks.json").read_text() + (tmp_path / "pack" / "config.xml").read_text()
    told += "".join(path.name for path in (tmp_path / "pack" / "pictures").iterdir())
    assert not any(word in told for word in ("zebra", "quokka", "predictions"))
    fields = {
        entry.get("name"): entry
        for entry in ET.fromstring((tmp_path / "pack" / "config.xml").read_text()).iter()
    }
    assert fields["semantic"].get("maxRating") == "5"
    tasks = json.loads((tmp_path / "pack" / "tasks.json").read_text())
    name = tasks[0]["data"]["picture"].rsplit("/", 1)[1]
    first = pack.tasks[0].key["item_id"]
    shown = np.asarray(Image.open(tmp_path / "pack" / "pictures" / name))
    assert np.array_equal(shown, pictures(items)(first))
    answers = {task.name: [(1, {"semantic": 3, "overall": 4}), ({"id": 2, "email": "ben@x.org"}, {"semantic": 5})]
               for task in pack.tasks[:4]}  # fmt: skip
    answers[pack.tasks[4].name] = [(1, None)]
    done = taken(tmp_path, "labels", exported(pack, answers))
    assert done.rows == 12
    assert any("1 tasks were skipped" in line for line in done.lines)
    rows = Lake.open(tmp_path / "lake").read("labels").to_pylist()
    assert {
        (row["annotator_id"], row["dimension"], row["value"]) for row in rows if row["item_id"] == first
    } == {
        ("1", "semantic", 3.0),
        ("1", "overall", 4.0),
        ("ben@x.org", "semantic", 5.0),
    }
    assert {(row["level"], row["low"], row["high"]) for row in rows} == {("ordinal", 1.0, 5.0)}
    assert {row["source"] for row in rows} == {"quokka0", "quokka1"}


def test_a_later_export_of_the_same_project_doubles_nothing(tmp_path, items):
    pack = label_pack(items.to_pylist(), ("overall",), 3)
    write_tasks(pack, tmp_path / "pack", "label-studio", pictures(items))
    content = exported(pack, {pack.tasks[0].name: [(1, {"overall": 2})]})
    assert taken(tmp_path, "labels", content).new
    assert not taken(tmp_path, "labels", content).new
    content = exported(pack, {task.name: [(1, {"overall": 2}), (2, {"overall": 3})] for task in pack.tasks})
    taken(tmp_path, "labels", content)
    found = labels_of(Lake.open(tmp_path / "lake"), items.append_column("plan_id", [["p"] * 6]))
    assert found.table.num_rows == 12


def test_of_one_persons_two_answers_the_latest_counts(tmp_path, items):
    pack = label_pack(items.to_pylist(), ("overall",), 3)
    write_tasks(pack, tmp_path / "pack", "label-studio", pictures(items))
    done = taken(
        tmp_path, "labels", exported(pack, {pack.tasks[0].name: [(1, {"overall": 2}), (1, {"overall": 5})]})
    )
    assert any("given again by the same person" in line for line in done.lines)
    assert Lake.open(tmp_path / "lake").read("labels")["value"].to_pylist() == [5.0]
    assert any("All answers are of one person" in note for note in done.notes)


@pytest.mark.parametrize(
    "more", [{"prediction": {"id": 3}}, {"parent_prediction": 3}, {"parent_annotation": 9}]
)
def test_answers_that_were_pre_filled_are_refused(tmp_path, items, more):
    pack = label_pack(items.to_pylist(), ("overall",), 3)
    write_tasks(pack, tmp_path / "pack", "label-studio", pictures(items))
    content = exported(pack, {pack.tasks[0].name: [(1, {"overall": 2}), (2, {"overall": 2}, more)]})
    with pytest.raises(InputError, match="only independent answers count"):
        taken(tmp_path, "labels", content)
    assert taken(tmp_path, "labels", content, skip_bad=True).rows == 1


def test_first_choices_come_back_with_ties(tmp_path, items):
    pack = choice_pack(items.to_pylist(), 5)
    write_tasks(pack, tmp_path / "pack", "label-studio", pictures(items))
    one, two = pack.tasks
    done = taken(tmp_path, "choices", exported(pack, {one.name: [(1, {"first": ["B"]}), (2, {"first": ["A", "C"]})],
                                                      two.name: [(1, {"first": ["C"]})]}))  # fmt: skip
    assert done.rows == 3
    rows = {(row["group_id"], row["annotator_id"]): row for row in
            Lake.open(tmp_path / "lake").read("choices").to_pylist()}  # fmt: skip
    candidates = one.key["candidates"]
    single, tied = rows[one.key["group_id"], "1"], rows[one.key["group_id"], "2"]
    assert (single["item_id"], single["tied"], single["candidates"]) == (candidates[1], None, candidates)
    assert (tied["item_id"], tied["tied"]) == (None, [candidates[0], candidates[2]])
    with pytest.raises(InputError, match="none of A, B, C"):
        taken(tmp_path, "choices", exported(pack, {one.name: [(3, {"first": ["D"]})]}))


def test_tables_to_be_filled_in_go_out_one_per_person_and_come_back(tmp_path, items):
    pack = choice_pack(items.to_pylist(), 5)
    made = write_tasks(pack, tmp_path / "pack", "csv", pictures(items), annotators=("ana", "ben"))
    assert [path.name for path in made] == ["choices-ana.csv", "choices-ben.csv"]
    rows = list(csv.DictReader(made[0].read_text().splitlines()))
    assert {row["annotator_id"] for row in rows} == {"ana"}
    assert any(row["prompt"] == "'=a bird" for row in rows)
    assert all((tmp_path / "pack" / row["A"]).is_file() for row in rows)
    rows[0]["first"] = "a=b"
    with made[0].open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    done = import_file(Lake.open(tmp_path / "lake"), "choices", made[0], tool="csv")
    assert done.rows == 1
    assert any("1 tasks were left empty" in line for line in done.lines)
    (row,) = Lake.open(tmp_path / "lake").read("choices").to_pylist()
    assert len(row["tied"]) == 2


def test_ladders_read_in_another_tool_name_the_pixels_that_were_seen(tmp_path, items):
    study = plan_study(items.to_pylist(), AXES, Wishes(name="s", per_axis=3, catches=1, repeats=1)).study
    pictures, ladders = PictureProvider(AXES), {ladder.key: ladder for ladder in study.ladders}
    pack = reading_pack(study)
    write_tasks(
        pack, tmp_path / "pack", "label-studio", lambda shown: pictures.rungs(ladders[shown[0]])[shown[1]]
    )
    task = next(task for task in pack.tasks if not task.key["catch"])
    catch = next(task for task in pack.tasks if task.key["catch"])
    said = {"perceptible": ["6"], "objectionable": ["never"]}
    never = {"perceptible": ["never"], "objectionable": ["never"]}
    taken(
        tmp_path, "readings", exported(pack, {task.name: [(1, said), (2, never)], catch.name: [(1, never)]})
    )
    rows = Lake.open(tmp_path / "lake").read("readings").to_pylist()
    row = next(row for row in rows if row["annotator_id"] == "1" and not row["catch"])
    assert row["perceptible"] == task.key["strengths"][5]
    assert row["objectionable"] == float("inf")
    assert row["protocol"] == "strip"
    assert row["probe_ids"] == list(task.key["probe_ids"])
    rows_of = {entry["item_id"]: entry for entry in items.to_pylist()}
    looked = Freshness(AXES, rows_of, lambda entry: load_image(entry["uri"]).pixels, lambda entry: None)
    assert not looked.is_stale(row)
    with pytest.raises(InputError, match="no step from 1"):
        taken(tmp_path, "readings", exported(pack, {task.name: [(3, {**said, "perceptible": ["99"]})]}))


def test_keys_and_files_that_do_not_belong_together_are_refused(tmp_path, items):
    pack = label_pack(items.to_pylist(), ("overall",), 3)
    other = label_pack(items.to_pylist(), ("overall",), 4)
    write_tasks(pack, tmp_path / "pack", "label-studio", pictures(items))
    good = exported(pack, {pack.tasks[0].name: [(1, {"overall": 2})]})
    with pytest.raises(UsageError, match="is not the key"):
        taken(tmp_path, "labels", exported(other, {other.tasks[0].name: [(1, {"overall": 2})]}))
    with pytest.raises(UsageError, match="holds labels, not choices"):
        taken(tmp_path, "choices", good)
    for wrong in ({"a": 1}, [{"id": 1, "overall": 3}], [1]):
        with pytest.raises(UsageError, match="no export of Label Studio"):
            taken(tmp_path, "labels", wrong)
    nobody = exported(pack, {pack.tasks[0].name: [(None, {"overall": 2})]})
    with pytest.raises(InputError, match="does not say who"):
        taken(tmp_path, "labels", nobody)
    with pytest.raises(UsageError, match="it is there already"):
        write_tasks(pack, tmp_path / "pack", "label-studio", pictures(items))
    path = tmp_path / "x.csv"
    path.write_text("item_id,value\na,1\n")
    with pytest.raises(UsageError, match="--from belongs to"):
        import_file(Lake.open(tmp_path / "lake"), "pairs", path, tool="csv")


def test_a_failed_export_leaves_nothing_behind(tmp_path, items):
    pack = label_pack(items.to_pylist(), ("overall",), 3)

    def broken(_item):
        raise UsageError("gone")

    with pytest.raises(UsageError, match="gone"):
        write_tasks(pack, tmp_path / "new" / "pack", "csv", broken)
    assert list((tmp_path / "new").iterdir()) == []


EXPORTS = Path(__file__).with_name("exports")


@pytest.mark.parametrize(("kind", "rows"), [("labels", 6), ("choices", 2)])
def test_exports_that_label_studio_itself_wrote_are_taken(tmp_path, kind, rows):
    """Captured from Label Studio 1.23 by tests/parts/test_label_studio.py."""
    lake = Lake.open(tmp_path / "lake")
    file, key = EXPORTS / f"label-studio-{kind}.json", EXPORTS / f"{kind}.key.json"
    done = import_file(lake, kind, file, tool="label-studio", key=key)
    assert done.rows == rows
    found = lake.read(kind).to_pylist()
    assert {row["annotator_id"] for row in found} == {"1"}
    if kind == "labels":
        assert any("1 tasks were skipped" in line for line in done.lines)
        assert sorted(row["value"] for row in found) == [1, 2, 3, 5, 5, 5]
    else:
        assert sum(row["tied"] is not None for row in found) == 1
