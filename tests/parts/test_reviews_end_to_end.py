"""From an audit to a pack, to people, and back: verdicts appear and standings change."""

from __future__ import annotations

import csv

import pytest
from small_world import OWNED, World, key_of

from judge_audit.cli import run_command
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.lake.connect import connect

pytestmark = pytest.mark.parts

ASKED = (
    ("review", "quantile_difference"),
    ("choices", "first_choice"),
    ("separation", "separated"),
    ("acceptance", "false_accept_rate"),
    ("acceptance", "false_reject_rate"),
    ("acceptance", "overturn_rate"),
    ("appeals", "appeal_trend"),
    ("appeals", "overturn_trend"),
)


def export(world, *words):
    pack = world.folder / "pack"
    given = ["study", "export", "--for", "reviews", str(pack), "--lake", str(world.folder / "lake")]
    assert run_command([*given, "--before", "base", "--after", "tuned", *words]) == 0
    return pack


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A world before and after its people have looked."""
    world = World(tmp_path_factory.mktemp("world"))
    before = world.audit(uses=OWNED)
    world.decide()
    world.appeal()
    world.choose()
    pack = export(world, "--each", "80")
    for name in ("ann", "bob"):
        import_file(world.lake, "reviews", world.fill(pack, name))
    return world, pack, before, world.audit(uses=OWNED)


def test_before_anybody_has_looked_every_piece_is_missing_and_says_how_to_get_it(reviewed):
    _, _, (verdicts, standings, *_), _ = reviewed
    for key in ASKED:
        assert verdicts[key]["verdict"] == "missing", key
        assert verdicts[key]["value"] is None
    assert "study export --for reviews" in verdicts["review", "quantile_difference"]["reason"]
    assert {standings[use]["standing"] for use in ("filtering", "ranking")} == {"unproven"}


def test_what_people_found_becomes_verdicts_and_standings(reviewed):
    _, _, _, (verdicts, standings, outcome, _) = reviewed
    told = {key: verdicts[key]["verdict"] for key in ASKED}
    assert told["review", "quantile_difference"] == "pass"
    assert told["choices", "first_choice"] == "pass"
    assert told["acceptance", "false_accept_rate"] == "pass"
    assert told["acceptance", "false_reject_rate"] == "pass"
    assert told["acceptance", "overturn_rate"] == "pass"
    assert verdicts["separation", "separated"]["verdict"] in {"pass", "inconclusive"}
    assert standings["filtering"]["standing"] == standings["ranking"]["standing"] == "allowed"
    assert outcome.position == "filter and rank"
    assert standings["acceptance"]["standing"] == "unproven"


def test_the_rates_are_those_of_all_decisions(reviewed):
    world, _, _, (_, _, _, prepared) = reviewed
    rows = world.lake.read("measures", audit_id=prepared.audit_id, check="acceptance", source="*").to_pylist()
    found = {(row["measure"], row["kind"]): row for row in rows}
    accepted = [item for item, value in world.score.items() if value > 0]
    rejected = [item for item, value in world.score.items() if value <= 0]
    bad = {item for item, quality in world.quality.items() if quality <= 0}
    planted = {
        ("false_accept_rate", "bad_given_accepted"): len(bad & set(accepted)) / len(accepted),
        ("false_accept_rate", "accepted_given_bad"): len(bad & set(accepted)) / len(bad),
        ("false_reject_rate", "good_given_rejected"): 1 - len(bad & set(rejected)) / len(rejected),
    }
    # Who is drawn hangs on the audit's own id, which is new each time: twice the 90 % interval, which chance alone
    # leaves once in a thousand times.
    for key, value in planted.items():
        row = found[key]
        below, above = row["value"] - row["ci_low"], row["ci_high"] - row["value"]
        assert row["value"] - 2 * below - 0.02 < value < row["value"] + 2 * above + 0.02, key
    assert found["overturn_rate", "settled_appeals"]["value"] == pytest.approx(5 / 30)


def test_the_pack_shows_neither_scores_nor_reasons_and_its_order_tells_nothing(reviewed):
    world, pack, *_ = reviewed
    text = (pack / "reviews.csv").read_text()
    with (pack / "reviews.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert set(rows[0]) == {
        "pack", "row", "image", "prompt", "annotator_id", "outcome",
        "semantic", "structure", "aesthetic", "compliance", "axes", "reason",
    }  # fmt: skip
    for word in ("top", "bottom", "boundary", "appeal", "before", "after", *map(str, world.score.values())):
        assert word not in text
    assert not list(pack.glob("*.key.json"))
    key = key_of(pack)
    first = [draw["queue"] for row in key["rows"][:40] for draw in row["draws"]]
    assert len(set(first)) >= 5
    assert all(0 < draw["inclusion"] <= 1 for row in key["rows"] for draw in row["draws"])


def test_the_same_seed_draws_the_same_pack(reviewed, tmp_path):
    world, pack, *_ = reviewed
    given = [
        "study",
        "export",
        "--for",
        "reviews",
        str(tmp_path / "again"),
        "--lake",
        str(world.folder / "lake"),
    ]
    audits = world.lake.read("audits", status="complete").to_pylist()
    first = min(audits, key=lambda row: row["ended_at"])["audit_id"]
    words = ["--audit", first, "--before", "base", "--after", "tuned", "--each", "80"]
    assert run_command([*given, *words]) == 0
    assert (tmp_path / "again" / "reviews.csv").read_bytes() == (pack / "reviews.csv").read_bytes()
    assert key_of(tmp_path / "again") == key_of(pack)


def test_reviews_stand_by_dimension_and_axis_and_make_the_next_labelling_round(reviewed):
    world, *_ = reviewed
    rows = world.lake.read("reviews").to_pylist()
    assert {row["dimension"] for row in rows} == {"overall", "structure"}
    assert {row["axis"] for row in rows} == {"", "blur", "noise"}
    assert {row["queue"] for row in rows} == {
        "top",
        "bottom",
        "boundary",
        "beyond",
        "appeal",
        "before",
        "after",
    }
    with connect(world.lake) as connection:
        told = connection.execute(
            "SELECT why, axes, low_dimensions, said FROM next_labelling_round"
        ).fetchall()
    assert {row[0] for row in told} >= {"reviewers disagree", "the judge likes it, people do not"}
    assert ("blur, noise", "structure", "soft") in {row[1:] for row in told}


def test_judge_up_people_flat_bars_the_reward_use(tmp_path):
    world = World(tmp_path, judge_rise=1.5)
    world.audit()
    pack = export(world, "--each", "150")
    import_file(world.lake, "reviews", world.fill(pack, "ann"))
    verdicts, standings, *_ = world.audit()
    row = verdicts["separation", "separated"]
    assert (row["verdict"], row["finding"]) == ("fail", "separated")
    assert standings["reward"]["standing"] == "barred"


def test_another_judges_decisions_and_reviews_are_no_evidence(tmp_path):
    world = World(tmp_path)
    world.audit()
    world.decide(judge="theirs")
    world.appeal()
    verdicts, _, _, prepared = world.audit(uses=OWNED)
    assert verdicts["acceptance", "false_accept_rate"]["verdict"] == "missing"
    assert verdicts["acceptance", "overturn_rate"]["verdict"] == "missing"
    assert verdicts["appeals", "appeal_trend"]["verdict"] == "missing"
    assert any("name another judge" in note for note in prepared.warnings)
