"""An audit with anchors: asked first, kept with the audit, refused after a rewrite."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from anchor_files import drafts, labels, picture, small_set
from PIL import Image

import judge_audit
from judge_audit.anchors import (
    PREFIX,
    Draft,
    add,
    anchors_of_audit,
    kept_anchors,
    mean_labels,
    read_anchors,
    relabel,
    retire,
)
from judge_audit.anchors.folder import manifest_of
from judge_audit.audits.context import AuditContext
from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.cli import run_command
from judge_audit.core.configuration import resolve
from judge_audit.core.digests import pixel_digest
from judge_audit.core.errors import InputError, UsageError
from judge_audit.judges import load_judge
from judge_audit.lake import Lake
from judge_audit.stimuli.planning.blocks import rounds

QUICK = {"axes": ["contrast-"], "ladder_items": 2}


class Bright:
    """A judge that says how light a picture is, and remembers what it was shown."""

    identity = "bright"
    pinned = True

    def __init__(self):
        self.shown = []

    def __call__(self, images, prompts):
        self.shown += [pixel_digest(image) for image in images]
        return [float(image.mean()) for image in images]


def write_items(place):
    lines = ["item_id,source,prompt,image"]
    for number in range(12):
        picture(place / f"i{number}.png", 5000 + number)
        lines.append(f"i{number:02d},{'xy'[number % 2]},a grey wall,i{number}.png")
    (place / "items.csv").write_text("\n".join(lines))
    return place / "items.csv"


@pytest.fixture
def items(tmp_path):
    return write_items(tmp_path)


@pytest.fixture
def folder(tmp_path):
    small_set(tmp_path / "anchors")
    return tmp_path / "anchors"


@dataclass(frozen=True)
class Audited:
    """A folder with items, anchors and a lake, and the audit that was made in it."""

    place: Path
    judge: Bright
    found: judge_audit.Audit

    @property
    def items(self):
        return self.place / "items.csv"

    @property
    def folder(self):
        return self.place / "anchors"


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    place = tmp_path_factory.mktemp("audited")
    small_set(place / "anchors")
    judge = Bright()
    return Audited(place, judge, run(write_items(place), place / "anchors", judge, workers=4))


@pytest.fixture
def again(audited, tmp_path):
    """A copy of it in which things may change."""
    return replace(audited, place=shutil.copytree(audited.place, tmp_path / "again"))


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The same items without anchors."""
    place = tmp_path_factory.mktemp("bare")
    return judge_audit.audit(Bright(), write_items(place), lake=place / "lake", **QUICK)


def run(items, folder, judge=None, **options):
    options = {"lake": items.parent / "lake", **QUICK, **options}
    return judge_audit.audit(judge or Bright(), items, anchors=str(folder), **options)


def row_of(lake, audit):
    (row,) = Lake.open(lake).read("audits", audit_id=audit.audit_id, status="complete").to_pylist()
    return row


def test_anchors_are_asked_before_anything_else_and_at_least_twice(audited):
    held = read_anchors(audited.folder)
    own = {anchor.pixel_digest for anchor in held.at()}
    assert set(audited.judge.shown[: 2 * len(own)]) == own
    asked = Lake.open(audited.found.lake).read("probes", axis="anchor").to_pylist()
    assert {(row["item_id"], row["repeat"]) for row in asked} == {
        (PREFIX + anchor.anchor_id, repeat) for anchor in held.at() for repeat in range(2)
    }


def test_an_audit_stores_set_version_and_head_and_the_anchors_themselves(audited):
    found = audited.found
    held = read_anchors(audited.folder)
    row = row_of(found.lake, found)
    assert (row["anchor_set"], row["anchor_version"], row["anchor_head"]) == (
        held.set_id,
        held.version,
        held.head(),
    )
    table = anchors_of_audit(Lake.open(found.lake), found.audit_id)
    assert table.num_rows == 12
    means = {entry["anchor_id"]: entry["label"] for entry in mean_labels(table).to_pylist()}
    assert means == {f"a{n:03d}": (1.0, 3.0, 5.0)[n % 3] for n in range(6)}
    with judge_audit.connect(found.lake) as views:
        told = views.execute(
            "SELECT count(*), count(DISTINCT item_id) FROM responses WHERE axis = 'anchor'"
        ).fetchone()
        ledger = views.execute("SELECT action, author FROM anchor_ledger ORDER BY anchor_version").fetchall()
    assert told == (12, 6)
    assert ledger == [("add", "Ada")] * 6


def test_anchors_are_no_references_and_change_no_other_figure(audited, bare):
    """Every figure but those of the scale and of completeness is what it is without them."""
    found = audited.found
    named = ("check", "measure", "source", "dimension", "axis", "kind", "value", "ci_low", "ci_high", "n")

    def figures(audit):
        rows = [row for row in audit.measures.to_pylist() if row["check"] not in {"scale", "completeness"}]
        return sorted(json.dumps([row[name] for name in named]) for row in rows)

    assert figures(found) == figures(bare)
    with judge_audit.connect(found.lake) as views:
        (counted,) = views.execute("SELECT count(*) FROM percentiles").fetchone()
    assert counted == 12
    assert found.document["provenance"]["items"]["n"] == 12


def test_an_anchor_that_is_an_item_shares_its_answer(items, folder):
    own = Draft(
        anchor_id="same",
        image=str(items.parent / "i0.png"),
        tier="good",
        source="x",
        prompt="a grey wall",
        labels=labels(5),
    )
    add(folder, [own], author="Ada", reason="an item too")
    judge = Bright()
    run(items, folder, judge, ladder_items=1)
    digest = pixel_digest(np.asarray(Image.open(items.parent / "i0.png").convert("RGB")))
    lake = Lake.open(items.parent / "lake")
    probes = lake.read("probes").to_pylist()
    names = {row["item_id"]: row["probe_id"] for row in probes if row["axis"] in {"anchor", "original"}}
    assert names[PREFIX + "same"] == names["i00"]
    seen_by_sight = [row for row in probes if row["item_id"] == "i00" and row["axis"] in {"alone", "copy"}]
    assert judge.shown.count(digest) <= 2 + len(seen_by_sight) + 1


@pytest.mark.long
def test_the_view_of_anchors_shows_those_of_the_newest_audit_once(items, folder):
    run(items, folder)
    retire(folder, ["a000"], author="Ada", reason="x")
    found = run(items, folder)
    with judge_audit.connect(found.lake) as views:
        told = views.execute(
            "SELECT anchor_id, repeat, tier, label, annotators, anchor_version FROM anchor_scores"
        ).fetchall()
    expected = [
        (f"a{n:03d}", repeat, ("bad", "middling", "good")[n % 3], (1.0, 3.0, 5.0)[n % 3], 2, 7)
        for n in range(1, 6)
        for repeat in range(2)
    ]
    assert told == expected


def test_a_second_audit_buys_no_anchor_again(again):
    judge = Bright()
    run(again.items, again.folder, judge)
    assert not judge.shown


def rewritten(folder, **changes):
    """Tell another story from the first entry on, with digests that fit."""
    sealed = []
    for entry in read_anchors(folder).entries:
        last = sealed[-1].digest if sealed else ""
        sealed.append(replace(entry, previous=last, digest="", **changes).sealed())
    (folder / "ledger.jsonl").write_text("".join(f"{entry.as_json()}\n" for entry in sealed))
    (folder / "anchors.jsonl").write_text(manifest_of(sealed))


def test_a_rewritten_ledger_is_refused_before_anything_is_asked(again):
    rewritten(again.folder, reason="another story")
    read_anchors(again.folder)  # by itself it holds
    judge = Bright()
    with pytest.raises(InputError, match=r"ledger.jsonl, row 1: .*rewritten since an audit used it"):
        run(again.items, again.folder, judge)
    assert not judge.shown


def test_a_ledger_that_lost_its_end_is_refused(again):
    folder = again.folder
    held = read_anchors(folder)
    (folder / "ledger.jsonl").write_text("".join(f"{entry.as_json()}\n" for entry in held.entries[:-1]))
    (folder / "anchors.jsonl").write_text(manifest_of(held.entries[:-1]))
    (lost,) = (anchor for anchor in held.at() if anchor.anchor_id == held.entries[-1].anchor_id)
    (folder / lost.image).unlink()
    read_anchors(folder)
    with pytest.raises(InputError, match="has seen version 6 of this set, and the ledger ends at 5"):
        run(again.items, folder, Bright())


@pytest.mark.long
def test_a_longer_ledger_goes_on(items, folder):
    run(items, folder)
    add(folder, drafts(items.parent / "more", 1, start=30), author="Ada", reason="more")
    found = run(items, folder)
    assert row_of(found.lake, found)["anchor_version"] == 7
    assert Lake.open(found.lake).read("anchor_ledger").num_rows == 7


@pytest.mark.long
def test_another_set_is_told(items, folder):
    run(items, folder)
    other = items.parent / "other"
    add(other, drafts(items.parent / "third", 3, start=60), author="Bo", reason="a new set")
    found = run(items, other)
    assert any("used another anchor set" in text for text in found.document["caveats"])


def test_a_tampered_picture_refuses_the_audit(items, folder):
    picture(folder / read_anchors(folder).at()[0].image, 999)
    judge = Bright()
    with pytest.raises(InputError, match="its bytes have changed"):
        run(items, folder, judge)
    assert not judge.shown


def test_a_picture_swapped_between_plan_and_call_is_refused(items, folder):
    context = AuditContext(
        resolve(
            None,
            {
                "items": str(items),
                "anchors": str(folder),
                "lake": str(items.parent / "lake"),
                "axes": ["contrast-"],
            },
        ),
        load_judge(Bright()),
    )
    executor = LocalExecutor(context)
    prepared = executor.prepare()
    first = rounds(prepared.blocks)[0]
    assert all(block.first for block in first)
    picture(folder / read_anchors(folder).at()[0].image, 999)
    with pytest.raises(UsageError, match="has changed since the audit was planned"):
        executor.score_blocks(prepared, first[0])


def test_an_earlier_version_can_be_replayed_without_asking(items, folder):
    """A retired anchor and a changed label: the old version's figures come back from the same answers."""
    before = read_anchors(folder).version
    relabel(folder, [Draft(anchor_id="a001", tier="bad", labels=labels(1))], author="Ada", reason="x")
    retire(folder, ["a000"], author="Ada", reason="x")
    judge = Bright()
    run(items, folder, judge)
    bought = len(judge.shown)
    replay = run(items, folder, judge, anchor_version=before)
    assert len(judge.shown) == bought
    lake = Lake.open(replay.lake)
    row = row_of(replay.lake, replay)
    assert row["anchor_version"] == before
    assert row["anchor_head"] == read_anchors(folder).head(before)
    old = {
        entry["anchor_id"]: entry["tier"]
        for entry in kept_anchors(lake, row["anchor_set"], before).to_pylist()
    }
    assert old == {f"a{n:03d}": ("bad", "middling", "good")[n % 3] for n in range(6)}
    scored = set(lake.read("probes", plan_id=row["plan_id"], axis="anchor")["item_id"].to_pylist())
    assert scored == {PREFIX + name for name in old}
    assert replay.document["anchors"]["newest"] == before + 2


def test_the_report_names_version_coverage_and_gaps(audited):
    found = audited.found
    part = found.document["anchors"]
    held = read_anchors(audited.folder)
    assert (part["set_id"], part["version"], part["head"]) == (held.set_id, 6, held.head())
    assert part["tiers"] == {"good": 2, "middling": 2, "bad": 2}
    assert any("semantic_miss" in gap for gap in part["gaps"])
    assert any(gap.startswith("From y, which the items come from") for gap in part["gaps"])
    page = Path(found.report).read_text(encoding="utf-8")
    assert held.head()[:12] in page
    assert "Anchor set" in page


def test_a_report_without_anchors_has_no_such_part(bare):
    assert bare.document["anchors"] is None
    assert row_of(bare.lake, bare)["anchor_head"] is None


def test_an_item_may_not_bear_the_name_of_an_anchor(items, folder):
    text = items.read_text().replace("i00,", "anchor:a000,")
    items.write_text(text)
    with pytest.raises(InputError, match="an anchor of the set goes by this name"):
        run(items, folder)


def test_a_table_of_scores_answers_for_the_anchors_it_knows(items, folder, tmp_path, monkeypatch):
    """The anchor a000 is known to the scores as img-0; a001 by its own name; the others are not known."""
    own = Draft(
        anchor_id="named",
        known_as="img-0",
        image=str(picture(tmp_path / "named.png", 77)),
        tier="bad",
        source="x",
        labels=labels(1),
    )
    add(folder, [own], author="Ada", reason="imported under another name")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "card.yaml").write_text(
        "kind: table\nname: imported\nversion: '1'\nscale_low: 0\nscale_high: 10\ndimensions: [overall]\n"
    )
    rows = "".join(f"t{n},x,{n % 10}\n" for n in range(20))
    (tmp_path / "scores.csv").write_text(f"item_id,source,value\nimg-0,x,1\na001,x,5\n{rows}")
    lake = str(tmp_path / "tables")
    assert run_command(["import", "scores", "scores.csv", "--card", "card.yaml", "--lake", lake]) == 0
    words = ["run", "--judge", "card.yaml", "--lake", lake, "--anchors", str(folder), "--report", "r"]
    assert run_command(words) == 0
    with judge_audit.connect(lake) as views:
        told = views.execute(
            """SELECT item_id, "value" FROM responses WHERE axis = 'anchor' ORDER BY item_id"""
        ).fetchall()
        (counted,) = views.execute("SELECT count(*) FROM percentiles").fetchone()
    assert told == [("anchor:a001", 5.0), ("anchor:named", 1.0)]
    assert counted <= 22
