"""Every way of changing a set behind the ledger's back is refused, with the place."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from anchor_files import NOW, labels, picture, small_set
from PIL import Image

from judge_audit.anchors import Draft, read_anchors, relabel, retire, verified
from judge_audit.anchors.folder import manifest_of
from judge_audit.anchors.ledger import Entry
from judge_audit.core.errors import InputError, UsageError


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "anchors"
    small_set(home)
    relabel(home, [Draft(anchor_id="a001", tier="good")], author="Ada", reason="second look", now=NOW)
    retire(home, ["a005"], author="Ada", reason="its owner asked", now=NOW + timedelta(hours=1))
    assert read_anchors(home).version == 8
    return home


def lines(folder, name="ledger.jsonl"):
    return (folder / name).read_text(encoding="utf-8").splitlines()


def put(folder, told, name="ledger.jsonl"):
    (folder / name).write_text("".join(f"{line}\n" for line in told), encoding="utf-8")


def edit(folder, number, **changes):
    """Change an entry and leave its digest as it was."""
    told = lines(folder)
    content = json.loads(told[number - 1]) | changes
    told[number - 1] = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    put(folder, told)


def entries(folder):
    return [Entry.from_json(json.loads(line)) for line in lines(folder)]


def reseal(folder, held, *, manifest=True):
    """Write a ledger whose digests fit, as a forger who knows the rules would."""
    sealed = []
    for entry in held:
        last = sealed[-1].digest if sealed else ""
        sealed.append(replace(entry, previous=last, number=len(sealed) + 1, digest="").sealed())
    put(folder, [entry.as_json() for entry in sealed])
    if manifest:
        (folder / "anchors.jsonl").write_text(manifest_of(sealed), encoding="utf-8")


def image_of(folder, place=0):
    return folder / read_anchors(folder).at()[place].image


def a_byte_of_an_image(folder):
    path = image_of(folder)
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    return path.name, 0


def another_image_under_the_same_name(folder):
    path = image_of(folder)
    picture(path, 999)
    return path.name, 0


def an_image_that_is_gone(folder):
    path = image_of(folder)
    path.unlink()
    return path.name, 0


def an_image_that_is_a_link(folder):
    path = image_of(folder)
    real = folder.parent / "elsewhere.png"
    shutil.move(path, real)
    path.symlink_to(real)
    return path.name, 0


def an_image_that_is_a_pipe(folder):
    path = image_of(folder)
    path.unlink()
    os.mkfifo(path)
    return path.name, 0


def an_image_bomb(folder):
    path = image_of(folder)
    Image.fromarray(np.zeros((9000, 9000), np.uint8)).save(path)
    return path.name, 0


def a_stranger_among_the_images(folder):
    picture(folder / "images" / ("0" * 32 + ".png"), 5)
    return "0" * 32 + ".png", 0


def a_label_in_the_manifest(folder):
    told = lines(folder, "anchors.jsonl")
    told[2] = told[2].replace('"value":3.0', '"value":5.0')
    put(folder, told, "anchors.jsonl")
    return "anchors.jsonl", 3


def a_tier_in_the_manifest(folder):
    told = lines(folder, "anchors.jsonl")
    told[1] = told[1].replace('"tier":"bad"', '"tier":"middling"')
    put(folder, told, "anchors.jsonl")
    return "anchors.jsonl", 2


def a_row_of_the_manifest_without_an_entry(folder):
    told = lines(folder, "anchors.jsonl")
    put(folder, [*told, told[1].replace("a000", "a777")], "anchors.jsonl")
    return "anchors.jsonl", 7


def a_row_of_the_manifest_that_is_gone(folder):
    told = lines(folder, "anchors.jsonl")
    put(folder, told[:-1], "anchors.jsonl")
    return "anchors.jsonl", 0


def a_label_in_the_ledger(folder):
    told = lines(folder)
    told[2] = told[2].replace('"value":5.0', '"value":1.0')
    put(folder, told)
    return "ledger.jsonl", 3


def an_empty_reason(folder):
    edit(folder, 4, reason="  ")
    return "ledger.jsonl", 4


def a_missing_author(folder):
    told = lines(folder)
    content = json.loads(told[3])
    del content["author"]
    told[3] = json.dumps(content, sort_keys=True, separators=(",", ":"))
    put(folder, told)
    return "ledger.jsonl", 4


def another_reason(folder):
    edit(folder, 2, reason="because")
    return "ledger.jsonl", 2


def a_deleted_entry(folder):
    told = lines(folder)
    put(folder, told[:3] + told[4:])
    return "ledger.jsonl", 4


def entries_in_another_order(folder):
    told = lines(folder)
    told[2], told[3] = told[3], told[2]
    put(folder, told)
    return "ledger.jsonl", 3


def an_entry_twice(folder):
    told = lines(folder)
    put(folder, [*told, told[-1]])
    return "ledger.jsonl", 9


def a_ledger_cut_off_within_a_line(folder):
    path = folder / "ledger.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    return "ledger.jsonl", 8


def a_ledger_cut_off_between_lines(folder):
    put(folder, lines(folder)[:-2])
    return "ledger.jsonl", 6


def a_ledger_that_is_gone(folder):
    (folder / "ledger.jsonl").unlink()
    return "ledger.jsonl", 0


def an_empty_ledger(folder):
    (folder / "ledger.jsonl").write_text("")
    return "ledger.jsonl", 0


def a_name_used_twice(folder):
    held = entries(folder)
    again = replace(held[0], time=held[-1].time)
    reseal(folder, [*held, again])
    return "ledger.jsonl", 9


def a_retired_name_used_again(folder):
    held = entries(folder)
    reseal(folder, [*held, replace(held[5], time=held[-1].time)])
    return "ledger.jsonl", 9


def a_clock_set_back(folder):
    held = entries(folder)
    held[6] = replace(held[6], time="2026-02-01T00:00:00+00:00")
    reseal(folder, held)
    return "ledger.jsonl", 7


def a_time_in_the_future(folder):
    held = entries(folder)
    reseal(folder, [*held[:-1], replace(held[-1], time="2999-01-01T00:00:00+00:00")])
    return "ledger.jsonl", 8


def a_relabelling_that_swaps_the_picture(folder):
    held = entries(folder)
    other = replace(held[6].anchor, image=held[0].anchor.image, file_digest=held[0].anchor.file_digest)
    held[6] = replace(held[6], anchor=other, after=other.digest)
    reseal(folder, held)
    return "ledger.jsonl", 7


def a_relabelling_of_what_is_not_there(folder):
    held = entries(folder)
    reseal(folder, [*held[:1], held[6], held[7]])
    return "ledger.jsonl", 2


def a_digest_before_that_does_not_fit(folder):
    held = entries(folder)
    held[6] = replace(held[6], before="0" * 64)
    reseal(folder, held)
    return "ledger.jsonl", 7


def annotators_who_did_not_label(folder):
    held = entries(folder)
    held[0] = replace(held[0], annotators=("zoe",))
    reseal(folder, held)
    return "ledger.jsonl", 1


def an_unknown_tier(folder):
    held = entries(folder)
    odd = replace(held[1].anchor, tier="fine")
    held[1] = replace(held[1], anchor=odd, after=odd.digest)
    reseal(folder, held[:2])
    return "ledger.jsonl", 2


def a_path_out_of_the_folder(folder):
    held = entries(folder)
    odd = replace(held[1].anchor, image="../secret.png")
    held[1] = replace(held[1], anchor=odd, after=odd.digest)
    reseal(folder, held[:2])
    return "ledger.jsonl", 2


def a_file_address(folder):
    held = entries(folder)
    place = (folder.parent / "drawn" / "1.png").as_uri()
    odd = replace(held[1].anchor, image=place)
    held[1] = replace(held[1], anchor=odd, after=odd.digest)
    reseal(folder, held[:2])
    return place, 0


def a_ledger_that_is_a_link(folder):
    real = folder.parent / "real.jsonl"
    shutil.move(folder / "ledger.jsonl", real)
    (folder / "ledger.jsonl").symlink_to(real)
    return "ledger.jsonl", 0


def images_that_are_a_link(folder):
    real = folder.parent / "real"
    shutil.move(folder / "images", real)
    (folder / "images").symlink_to(real)
    return "images", 0


def a_key_twice_in_an_entry(folder):
    told = lines(folder)
    told[1] = '{"reason":"hidden",' + told[1][1:]
    put(folder, told)
    return "ledger.jsonl", 2


def a_line_that_is_no_json(folder):
    told = lines(folder)
    told[1] = "[" * 100_000
    put(folder, told)
    return "ledger.jsonl", 2


def a_byte_that_is_no_text(folder):
    path = folder / "ledger.jsonl"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"Ada", b"\xff\xfeA", 1))
    return "ledger.jsonl", 1


def a_label_beyond_its_ends(folder):
    held = entries(folder)
    odd = replace(held[1].anchor, labels=labels(9))
    held[1] = replace(held[1], anchor=odd, after=odd.digest)
    reseal(folder, held[:2])
    return "ledger.jsonl", 2


WAYS = (
    a_byte_of_an_image,
    another_image_under_the_same_name,
    an_image_that_is_gone,
    an_image_that_is_a_link,
    an_image_that_is_a_pipe,
    an_image_bomb,
    a_stranger_among_the_images,
    a_label_in_the_manifest,
    a_tier_in_the_manifest,
    a_row_of_the_manifest_without_an_entry,
    a_row_of_the_manifest_that_is_gone,
    a_label_in_the_ledger,
    an_empty_reason,
    a_missing_author,
    another_reason,
    a_deleted_entry,
    entries_in_another_order,
    an_entry_twice,
    a_ledger_cut_off_within_a_line,
    a_ledger_cut_off_between_lines,
    a_ledger_that_is_gone,
    an_empty_ledger,
    a_name_used_twice,
    a_retired_name_used_again,
    a_clock_set_back,
    a_time_in_the_future,
    a_relabelling_that_swaps_the_picture,
    a_relabelling_of_what_is_not_there,
    a_digest_before_that_does_not_fit,
    annotators_who_did_not_label,
    an_unknown_tier,
    a_path_out_of_the_folder,
    a_file_address,
    a_ledger_that_is_a_link,
    images_that_are_a_link,
    a_key_twice_in_an_entry,
    a_line_that_is_no_json,
    a_byte_that_is_no_text,
    a_label_beyond_its_ends,
)


@pytest.mark.parametrize("tamper", WAYS, ids=lambda way: way.__name__)
def test_tampering_is_refused_with_the_place(folder, tamper):
    file, row = tamper(folder)
    with pytest.raises(InputError) as caught:
        read_anchors(folder)
    places = [(fault.file, fault.row) for fault in caught.value.faults]
    assert any(place.endswith(file) and number == row for place, number in places), places
    assert all(fault.message.strip() for fault in caught.value.faults)


def test_several_faults_are_told_at_once(folder):
    a_byte_of_an_image(folder)
    told = lines(folder)
    told[2] = told[2].replace('"value":5.0', '"value":1.0')
    told[4] = told[4].replace("the first round", "")
    put(folder, told)
    _, faults = verified(folder)
    assert {fault.row for fault in faults if fault.file == "ledger.jsonl"} >= {3, 5}
    assert any(fault.file.startswith("images/") for fault in faults)


def test_a_whole_ledger_made_anew_does_not_extend_the_head_before(folder):
    head = read_anchors(folder).head()
    reseal(folder, [replace(entry, reason="another story") for entry in entries(folder)])
    assert read_anchors(folder).head() != head
    with pytest.raises(InputError, match="does not extend the version with the head"):
        read_anchors(folder, extends=head)


def test_a_longer_ledger_extends_every_head_before(folder):
    held = read_anchors(folder)
    for version in range(1, held.version + 1):
        assert read_anchors(folder, extends=held.head(version)).version == held.version


def test_a_folder_without_a_set_is_wrong_use(tmp_path):
    with pytest.raises(UsageError, match="no anchor set in it"):
        read_anchors(tmp_path)
    with pytest.raises(UsageError, match="no such folder"):
        read_anchors(tmp_path / "nowhere")


def test_the_picture_of_a_retired_anchor_may_be_deleted_and_is_missed_by_name(folder):
    held = read_anchors(folder)
    gone = next(row.image for row in held.at(7) if row.anchor_id == "a005")
    (folder / gone).unlink()
    after = read_anchors(folder)
    assert any("a005" in note for note in after.notes)
    assert "a005" not in {anchor.anchor_id for anchor in after.ever()}
    assert "a005" in {anchor.anchor_id for anchor in after.at(7)}


def test_the_picture_of_a_retired_anchor_may_not_be_another(folder):
    gone = next(row.image for row in read_anchors(folder).at(7) if row.anchor_id == "a005")
    picture(folder / gone, 12345)
    with pytest.raises(InputError, match="its bytes have changed"):
        read_anchors(folder)
