"""A whole audit of pairs on staged scenes: hand-made by a manifest with known truth, and built by rule."""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path

import pytest
from knowing import DIMENSIONS, LOSS, hidden

import judge_audit
from judge_audit.core.digests import pixel_digest
from judge_audit.demo.staged_scenes import scene_pairs, write_scene_pairs
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.judges.adapters.python_callable import CallableJudge
from judge_audit.judges.cards.card import Card
from judge_audit.lake import Lake

pytestmark = pytest.mark.long

COUNT, SIDE, SEED = 8, 128, 3
NAMES = {"semantic": "match", "structure": "anatomy", "aesthetic": "aesthetic", "compliance": "brand"}
RULES = Path(judge_audit.__file__).parents[1] / "schemas" / "brand" / "example.yaml"


def told_the_truth():
    """A judge that knows what is true of every drawn scene, under names of its own for the dimensions.

    Of any other picture or prompt it knows that something is wrong with the picture, or with the prompt.
    """
    known = {}
    for pair in scene_pairs(COUNT, SEED, size=SIDE):
        known[pixel_digest(pair.intact)] = (pair.pair_id, pair.sound, pair.prompt)
        known[pixel_digest(pair.made.pixels)] = (pair.pair_id, pair.faulty, pair.prompt)

    def score(images, prompts):
        return [answer(image, prompt) for image, prompt in zip(images, prompts, strict=True)]

    def answer(image, prompt):
        name, truth, own = known.get(pixel_digest(image), ("none", None, prompt))
        losses = {part: LOSS * (truth is None or getattr(truth, part) < 1) for part in DIMENSIONS}
        losses["semantic"] = max(losses["semantic"], LOSS * (prompt != own))
        return {NAMES[part]: hidden(name, part) - losses[part] for part in DIMENSIONS}

    means = {part: own for part, own in NAMES.items() if part != own}
    names = tuple(NAMES.values())
    card = Card(kind="callable", name="truth", weights="t1", pinned=True, dimensions=names, means=means)
    return CallableJudge(score, card)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    items, pairs = write_scene_pairs(folder, COUNT, SEED, size=SIDE)
    pairs.write_text(pairs.read_text(encoding="utf-8").replace(",true,", ",false,"), encoding="utf-8")
    return items, pairs


@pytest.fixture(scope="module")
def options(scenes):
    return {"pairs": str(scenes[1]), "pairs_per_kind": 3, "only": "mismatches", "rules": str(RULES)}


@pytest.fixture(scope="module")
def done(scenes, options, tmp_path_factory):
    return judge_audit.audit(
        told_the_truth(), scenes[0], lake=tmp_path_factory.mktemp("m") / "lake", **options
    )


def rows(done, query):
    with done.connect() as connection:
        found = connection.execute(query)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def test_every_sub_score_passes_on_the_pairs_made_by_hand(done):
    told = {
        row["dimension"]: row["verdict"]
        for row in done.verdicts.to_pylist()
        if (row["check"], row["measure"], row["kind"]) == ("mismatch", "selectivity", "*")
    }
    assert told == dict.fromkeys(DIMENSIONS, "pass")
    effective = [row for row in done.measures.to_pylist() if row["measure"] == "n_eff" and row["kind"] == "*"]
    assert effective[0]["value"] > 3.5


def test_a_damaged_member_is_never_an_untouched_item(done):
    damaged = {row["damaged"] for row in rows(done, "SELECT damaged FROM mismatches WHERE NOT constructed")}
    assert len(damaged) == 8 * COUNT
    untouched = {
        row["item_id"] for row in rows(done, "SELECT item_id FROM responses WHERE axis = 'original'")
    }
    assert untouched
    assert not untouched & damaged
    asked = rows(done, "SELECT DISTINCT axis, strength, rung FROM probes WHERE item_id LIKE '%-damaged'")
    assert {(row["strength"], row["axis"][:5]) for row in asked} == {(1.0, "pair:")}


def test_built_pairs_stand_apart_and_say_what_was_done(done):
    built = rows(done, "SELECT * FROM mismatches WHERE constructed")
    assert {row["kind"] for row in built} == {
        "semantic_miss", "poor_quality", "compliance_breach", "structural_error",
    }  # fmt: skip
    for row in built:
        assert row["intact"] == row["damaged"]
        assert row["intact"].endswith("-intact")
        assert row["told"]
        assert row["honest_limits"]
        assert 0 <= row["difficulty"] <= 1
        assert (row["rule"] != "") == (row["kind"] == "compliance_breach")
    kinds = {row["kind"] for row in done.measures.to_pylist() if row["measure"] == "response_lift"}
    assert kinds >= {"poor_quality", "poor_quality (constructed)"}


def test_an_exchanged_prompt_is_asked_although_no_pixel_differs(done):
    asked = rows(
        done,
        """SELECT calls.state, calls.pixel_digest, items.pixel_digest AS own, probes.prompt, items.prompt AS kept
        FROM probes JOIN calls USING (probe_id, repeat) JOIN items USING (plan_id, item_id)
        JOIN judge_labels USING (judge_id)
        WHERE axis = 'pair:semantic_miss' AND item_id LIKE '%-intact' AND judge_labels.name = 'truth'""",
    )
    assert len(asked) == 3
    assert all(row["state"] == "ok" and row["pixel_digest"] == row["own"] for row in asked)
    assert all(row["prompt"] != row["kept"] for row in asked)


def test_instruments_measure_no_damaged_member(done):
    found = rows(
        done,
        """SELECT DISTINCT name FROM all_responses JOIN judge_labels USING (judge_id) WHERE starts_with(axis, 'pair:')
        AND name IN ('ruler', 'surveyor')""",
    )
    assert found == []


def test_no_control_is_convicted_of_what_was_not_planted(done):
    results = {row["control"]: row["verdict"] for row in done.document["controls"]["results"]}
    assert "fail" not in results.values()


def test_the_report_shows_the_matrix_in_our_words_and_pairs_with_their_scores(done):
    part = done.document["dimensions"]
    assert part["own_names"] == {"semantic": "match", "structure": "anatomy", "compliance": "brand"}
    by_hand, built = part["matrices"]
    assert (by_hand["origin"], built["origin"]) == ("hand-made", "constructed")
    for cell in by_hand["cells"]:
        falls = cell["lift"]["value"] < -0.1
        assert falls == (cell["expected"] == "drops")
        assert cell["verdict"] == (None if cell["expected"] == "free" else "pass")
    shown = [row for row in part["shown"] if row["kind"] == "poor_quality" and not row["constructed"]]
    assert [row["least"] for row in shown] == [True, False]
    for row in shown:
        assert row["scores"]["aesthetic"]["before"] - row["scores"]["aesthetic"]["after"] == pytest.approx(
            LOSS
        )
    page = done.report.read_text(encoding="utf-8")
    assert 'id="dimensions"' in page
    assert page.count('class="three"') == len(part["shown"])
    written = json.loads((done.report.parent / "report.json").read_text(encoding="utf-8"))
    assert written["dimensions"] == json.loads(json.dumps(part))


def test_the_view_gives_the_same_matrix(done):
    found = rows(done, "SELECT * FROM response_matrix WHERE origin = 'hand-made'")
    assert len(found) == 16
    fallen = {(row["damage"], row["dimension"]) for row in found if row["lift"] < -0.1}
    assert fallen == {
        ("semantic_miss", "semantic"),
        ("structural_error", "structure"),
        ("poor_quality", "aesthetic"),
        ("compliance_breach", "compliance"),
    }


def test_a_second_audit_in_the_same_lake_buys_nothing_and_gives_the_same_rows(done, scenes, options):
    class Silent(CallableJudge):
        def score(self, stimuli):
            raise AssertionError(f"{len(stimuli)} pictures were asked again")

    judge = told_the_truth()
    again = judge_audit.audit(Silent(judge.score, judge.card), scenes[0], lake=done.lake, **options)
    assert again.verdicts.drop_columns("audit_id").equals(done.verdicts.drop_columns("audit_id"))
    assert again.measures.drop_columns("audit_id").equals(done.measures.drop_columns("audit_id"))


def test_items_that_do_not_suit_are_counted_with_their_reason(scenes, tmp_path):
    items = tmp_path / "items.csv"
    with scenes[0].open(newline="", encoding="utf-8") as file:
        told = [row for row in csv.DictReader(file) if row["item_id"].endswith("-intact")][:12]
    with items.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["item_id", "source", "prompt", "image"])
        writer.writeheader()
        for row in told:
            image = str(scenes[0].parent / row["image"])
            writer.writerow({"item_id": row["item_id"], "source": "s", "prompt": "a picture", "image": image})
    plain = judge_audit.audit(
        lambda images, prompts: [float(image.mean()) for image in images],
        items,
        only="mismatches",
        pairs_per_kind=2,
        lake=tmp_path / "lake",
    )
    refused = {(row["kind"], row["n"]): row["reason"] for row in plain.document["dimensions"]["unsuited"]}
    assert "no brand rules" in refused["compliance_breach", None]
    reasons = " ".join(reason for (kind, _), reason in refused.items() if kind == "semantic_miss")
    assert "topic" in reasons
    assert "count, colour or time" in reasons
    unsuited = rows(plain, "SELECT count(*) AS n FROM unsuited WHERE kind = 'semantic_miss'")
    assert unsuited == [{"n": 8}]
    assert plain.document["dimensions"]["total_only"]
    page = plain.report.read_text(encoding="utf-8")
    assert "no brand rules" in page


def test_labels_of_damaged_members_enter_the_matrix_and_nothing_else(done, scenes, options):
    lake = Lake.open(done.lake)
    planned = rows(done, "SELECT pair_id, kind, intact, damaged, constructed FROM mismatches")
    damages = {"semantic_miss": "semantic", "poor_quality": "aesthetic", "compliance_breach": "compliance"}
    damages["structural_error"] = "structure"
    path = Path(done.lake).with_name("labels.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "dimension", "annotator_id", "value"])
        intact = [
            row["item_id"]
            for row in rows(done, "SELECT DISTINCT item_id FROM probes WHERE axis = 'original'")
        ]
        names = [(row["pair_id"] if row["constructed"] else row["damaged"], row) for row in planned]
        for name, row in [
            *((item, None) for item in sorted(intact)),
            *sorted(names, key=lambda entry: entry[0]),
        ]:
            for dimension in DIMENSIONS:
                fell = row is not None and damages[row["kind"]] == dimension
                own = name if row is None else row["intact"]
                whole = int(hashlib.sha256(f"{own}{dimension}".encode()).hexdigest()[:6], 16)
                for rater in ("r1", "r2"):
                    writer.writerow([name, dimension, rater, 1 + whole % 4 + (5 if not fell else 0)])
    import_file(lake, "labels", path)
    again = judge_audit.audit(told_the_truth(), scenes[0], lake=done.lake, **options)
    part = again.document["dimensions"]["matrices"]
    for matrix in part:
        fallen = {
            (cell["kind"], cell["dimension"]) for cell in matrix["people"] if cell["lift"]["value"] < -0.1
        }
        assert fallen == set(damages.items())
    people = lake.read("measures", audit_id=again.audit_id, subject="people").to_pylist()
    counted = {
        row["n"] for row in people if row["measure"] == "alpha" and {row["source"], row["topic"]} == {"*"}
    }
    assert counted == {len(intact)}
