"""Changes of a set: all or nothing, one at a time, and every version there ever was."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from anchor_files import NOW, drafts, labels, picture, small_set

from judge_audit.anchors import Draft, add, mend, read_anchors, relabel, retire, verified
from judge_audit.anchors import edits as changing_module
from judge_audit.core.errors import InputError, UsageError


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "anchors"


def state(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def test_every_version_can_be_rebuilt(folder):
    first = small_set(folder)
    second = relabel(
        folder,
        [Draft(anchor_id="a001", tier="bad", kind="semantic_miss", labels=labels(1, "ann"))],
        author="Ada",
        reason="second look",
        now=NOW,
    )
    third = retire(folder, ["a000", "a002"], author="Bo", reason="too small", now=NOW)
    assert (first.version, second.version, third.version) == (6, 7, 9)
    assert third.at(6) == first.at()
    assert third.at(7) == second.at()
    assert [row.anchor_id for row in third.at(3)] == ["a000", "a001", "a002"]
    assert [row.anchor_id for row in third.at()] == ["a001", "a003", "a004", "a005"]
    assert [row.anchor_id for row in third.ever()] == [f"a00{n}" for n in range(6)]
    changed = next(row for row in third.at() if row.anchor_id == "a001")
    assert (changed.tier, changed.kind) == ("bad", "semantic_miss")
    assert {(label.annotator_id, label.value) for label in changed.labels} == {("ann", 1.0), ("bob", 3.0)}
    assert third.set_id == first.set_id
    with pytest.raises(UsageError, match="versions 1 to 9"):
        third.at(10)


def test_a_picture_may_stand_twice_with_another_prompt_only(folder, tmp_path):
    small_set(folder)
    (draft,) = drafts(tmp_path / "drawn", 1)
    other = replace(draft, anchor_id="miss", prompt="a red car", tier="bad", kind="semantic_miss")
    assert len(add(folder, [other], author="Ada", reason="a miss").at()) == 7
    with pytest.raises(InputError, match="it is the picture of “a000”, with the same prompt"):
        add(folder, [replace(draft, anchor_id="again")], author="Ada", reason="x")


def test_faulty_drafts_are_told_all_at_once_and_change_nothing(folder, tmp_path):
    small_set(folder)
    before = state(folder)
    (good,) = drafts(tmp_path / "more", 1, start=50)
    (tmp_path / "text.png").write_text("no picture")
    bad = [
        replace(good, anchor_id="a/b", row=1),
        replace(good, anchor_id="t", tier="fine", image=str(picture(tmp_path / "t.png", 71)), row=2),
        replace(good, anchor_id="nolabel", labels=(), image=str(picture(tmp_path / "n.png", 72)), row=3),
        replace(good, anchor_id="text", image=str(tmp_path / "text.png"), row=4),
        replace(good, anchor_id="gone", image=str(tmp_path / "gone.png"), row=5),
        replace(good, anchor_id="a001", row=6),
        replace(good, anchor_id="odd", kind="ugly", image=str(picture(tmp_path / "o.png", 73)), row=7),
        replace(good, anchor_id="key", image="https://x.org/a.png?token=1", row=8),
        replace(good, anchor_id="file", image="file:///etc/passwd", row=9),
        replace(good, anchor_id="far", labels=labels(9), image=str(picture(tmp_path / "f.png", 74)), row=10),
        replace(
            good, anchor_id="both", tier="good", kind="poor_quality",
            image=str(picture(tmp_path / "b.png", 75)), row=11,
        ),
        replace(good, anchor_id="star", source="*", image=str(picture(tmp_path / "s.png", 76)), row=12),
        replace(
            good, anchor_id="twice", labels=(*labels(2, "ann"), *labels(3, "ann")),
            image=str(picture(tmp_path / "w.png", 77)), row=13,
        ),
    ]  # fmt: skip
    with pytest.raises(InputError) as caught:
        add(folder, [good, *bad], author="Ada", reason="x", origin="new.csv")
    assert {fault.row for fault in caught.value.faults} == set(range(1, 14))
    assert {fault.file for fault in caught.value.faults} == {"new.csv"}
    assert state(folder) == before


@pytest.mark.parametrize(("author", "reason"), [("", "x"), ("Ada", " ")])
def test_a_change_without_an_author_or_a_reason_is_refused(folder, author, reason, tmp_path):
    with pytest.raises(UsageError, match="who made it and why"):
        add(folder, drafts(tmp_path / "drawn", 1), author=author, reason=reason)
    assert not folder.exists()


def test_a_relabelling_that_says_nothing_new_is_refused(folder):
    small_set(folder)
    with pytest.raises(InputError, match="what the set says already"):
        relabel(folder, [Draft(anchor_id="a000", tier="bad")], author="Ada", reason="x")
    with pytest.raises(InputError, match="there is nothing to withdraw"):
        relabel(folder, [Draft(anchor_id="a000", withdrawn=(("overall", "zoe"),))], author="Ada", reason="x")


def test_nobodys_last_label_can_be_withdrawn(folder):
    small_set(folder)
    away = (("overall", "ann"), ("overall", "bob"))
    with pytest.raises(InputError, match="labels"):
        relabel(folder, [Draft(anchor_id="a000", withdrawn=away)], author="Ada", reason="x")


def test_a_clock_behind_the_last_entry_changes_nothing(folder, tmp_path):
    small_set(folder)
    with pytest.raises(UsageError, match="Set the clock right"):
        retire(folder, ["a000"], author="Ada", reason="x", now=NOW - timedelta(days=1))


def test_a_tampered_set_is_not_changed_further(folder):
    held = small_set(folder)
    picture(folder / held.at()[0].image, 999)
    with pytest.raises(InputError, match="is not changed before this is mended"):
        retire(folder, ["a001"], author="Ada", reason="x")


def _add_one(folder, drawn, number):
    add(Path(folder), drafts(Path(drawn), 1, start=number), author=f"p{number}", reason="at once")


def test_two_changes_at_once_lose_none(folder, tmp_path):
    small_set(folder, 1)
    context = multiprocessing.get_context("spawn")
    running = [
        context.Process(target=_add_one, args=(str(folder), str(tmp_path / f"d{n}"), n))
        for n in range(100, 106)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join(60)
    assert [process.exitcode for process in running] == [0] * 6
    held = read_anchors(folder)
    assert held.version == 7
    assert {row.anchor_id for row in held.at()} == {"a000", *(f"a{n}" for n in range(100, 106))}


def _killed_at(folder, drawn, step):
    """Die by SIGKILL just before the given write."""
    proper, done = changing_module.write, []

    def write(path, content):
        if len(done) == step:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(path)
        proper(path, content)

    changing_module.write = write
    add(Path(folder), drafts(Path(drawn), 2, start=50), author="Ada", reason="killed")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no SIGKILL")
@pytest.mark.parametrize("step", range(5))
def test_a_killed_change_leaves_a_set_that_says_what_to_do(folder, tmp_path, step):
    before = small_set(folder)
    process = multiprocessing.get_context("spawn").Process(
        target=_killed_at, args=(str(folder), str(tmp_path / "more"), step)
    )
    process.start()
    process.join(60)
    assert process.exitcode == (-signal.SIGKILL if step < 4 else 0)
    held, faults = verified(folder)
    assert held is not None
    if step in {0, 4}:  # before the first picture, or not at all
        assert not faults
    elif step < 3:  # pictures without an entry
        assert held.version == before.version
        assert len(faults) == step
        assert all(fault.message.endswith("Remove it.") for fault in faults)
        for fault in faults:
            (folder / fault.file).unlink()
        assert read_anchors(folder).at() == before.at()
    else:  # the ledger without its manifest
        assert held.version == before.version + 2
        assert [fault.file for fault in faults] == ["anchors.jsonl"]
        assert "--mend" in faults[0].message
        assert mend(folder)
        assert read_anchors(folder).version == before.version + 2
        assert not mend(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no SIGKILL")
def test_a_killed_change_can_be_made_again(folder, tmp_path):
    small_set(folder)
    process = multiprocessing.get_context("spawn").Process(
        target=_killed_at, args=(str(folder), str(tmp_path / "more"), 2)
    )
    process.start()
    process.join(60)
    held = add(folder, drafts(tmp_path / "more", 2, start=50), author="Ada", reason="once more")
    assert held.version == 8
    assert not verified(folder)[1]


def test_version_control_is_told_to_leave_the_bytes_alone(folder):
    small_set(folder)
    assert (folder / ".gitattributes").read_text() == "* -text\n"
    assert ".lock" in (folder / ".gitignore").read_text()


def test_images_that_are_a_link_are_not_written_through(folder, tmp_path):
    folder.mkdir()
    (tmp_path / "real").mkdir()
    (folder / "images").symlink_to(tmp_path / "real")
    with pytest.raises(UsageError, match="it is a link"):
        add(folder, drafts(tmp_path / "drawn", 1), author="Ada", reason="x")
    assert not list((tmp_path / "real").iterdir())
