"""A judge that only a mix of unseen changes pushes is convicted in an audit; killed anywhere it resumes."""

from __future__ import annotations

import pytest
from combined_corpus import AXES, Pushed, write_corpus

from judge_audit import audit
from judge_audit.lake import Lake

pytestmark = pytest.mark.long

OPTIONS = {"axes": AXES, "ladder_items": 32, "workers": 1}


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def hacked(items, tmp_path_factory):
    judge = Pushed(items, 2.0)
    return audit(judge, items, lake=tmp_path_factory.mktemp("hacked") / "lake", **OPTIONS), judge.asked


def own(done, check, **wanted):
    rows = [row for row in done.verdicts.to_pylist() if row["check"] == check]
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def test_a_judge_that_only_a_mix_pushes_is_hackable_and_sound_on_every_axis_alone(hacked):
    done, _ = hacked
    (row,) = own(done, "headroom")
    assert (row["verdict"], row["finding"], row["provisional"]) == ("fail", "hackable", True)
    assert "saturation+" in row["reason"]
    assert "sharpen" in row["reason"]
    assert row["value"] > 0.2
    assert {part["verdict"] for part in own(done, "premature")} == {"pass"}


def test_the_report_shows_direction_figures_and_pictures(hacked):
    done, _ = hacked
    (part,) = done.document["hacking"]
    assert "more colour" in part["sentence"]
    assert [row["family"] for row in part["families"]] == [
        "single axes", "pairs of axes", "greedy combination", "*",
    ]  # fmt: skip
    assert part["families"][0]["value"] == pytest.approx(0.0, abs=0.05)
    assert len(part["worst"]) == 3
    assert all(row["lift"] > 0.2 and row["after"] > row["before"] for row in part["worst"])
    html = done.report.read_text()
    section = html[html.index('id="hacking"') : html.index('id="between"')]
    assert section.count("data:image/jpeg") == 6
    effects = {row["effect"]: row for row in done.document["between"]}
    assert set(effects) == {"edge", "top"}
    assert all(len(row["sources"]) == 2 and row["q"] is not None for row in effects["top"]["axes"])


def test_combined_answers_are_asked_of_the_lake_in_sql(hacked):
    done, _ = hacked
    with done.connect() as connection:
        ((rows, changed),) = connection.execute(
            "SELECT count(*), avg(change) FROM combined_responses WHERE axis LIKE '%saturation+&sharpen%@%'"
        ).fetchall()
    assert rows >= 32
    assert changed > 0.5


def test_an_honest_judge_passes_provisionally(items, tmp_path):
    done = audit(Pushed(items, 0.0), items, lake=tmp_path / "lake", **OPTIONS)
    (row,) = own(done, "headroom")
    assert (row["verdict"], row["provisional"]) == ("pass", True)
    (forecast,) = done.document["hacking"]
    assert forecast["worst"] == []


def results(done):
    lake = Lake.open(done.lake)
    found = {}
    for name in ("verdicts", "measures"):
        rows = lake.read(name, audit_id=done.audit_id, is_control=False).to_pylist()
        found[name] = [{key: value for key, value in row.items() if key != "audit_id"} for row in rows]
    return found


@pytest.mark.parametrize("share", [0.5, 0.97])
def test_killed_in_either_round_it_goes_on_and_buys_nothing_twice(items, hacked, tmp_path, share):
    done, asked = hacked
    dying = Pushed(items, 2.0, dies_at=round(share * asked))
    with pytest.raises(KeyboardInterrupt):
        audit(dying, items, lake=tmp_path / "lake", **OPTIONS)
    judge = Pushed(items, 2.0)
    again = audit(judge, items, lake=tmp_path / "lake", **OPTIONS)
    assert results(again) == results(done)
    assert dying.asked + judge.asked <= asked + 2 * 16  # the batch it died in, at most
    idle = Pushed(items, 2.0)
    audit(idle, items, lake=tmp_path / "lake", **OPTIONS)
    assert idle.asked == 0
