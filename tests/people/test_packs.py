"""Packs: what is drawn, what people see of it, and what is refused when it comes back."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from packed import audited, decide, filled, key_of, made, rows_of, write
from PIL import Image

from judge_audit.cli import run_command
from judge_audit.core.errors import InputError, UsageError
from judge_audit.core.tables import from_rows
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.lake.connect import connect
from judge_audit.people.production_events import acts_of
from judge_audit.people.review_pack import Wanted, export_reviews
from judge_audit.people.review_sample import draw_decisions, draw_order

AXES = ("blur", "noise")


@pytest.fixture
def lake(tmp_path):
    return audited(tmp_path)


@pytest.fixture
def pack(lake, tmp_path):
    wanted = Wanted(each=3, quantile=0.3, before="base", after="tuned", axes=AXES)
    export_reviews(lake, "latest", tmp_path / "pack", wanted)
    return tmp_path / "pack"


def faults_of(lake, path, **options):
    with pytest.raises(InputError) as error:
        import_file(lake, "reviews", path, **options)
    return {(fault.row, fault.column): fault.message for fault in error.value.faults}


def test_the_ends_of_each_source_are_drawn_from_and_the_middle_is_not():
    scored = {f"{source}{at}": (source, float(at)) for source in "ab" for at in range(100)}
    draws = draw_order(scored, quantile=0.2, each=10, seed=1)
    places = {
        queue: [int(draw.item_id[1:]) for draw in draws if draw.queue == queue] for queue in ("top", "bottom")
    }
    assert min(places["top"]) >= 80
    assert max(places["bottom"]) < 20
    assert Counter(draw.stratum for draw in draws) == dict.fromkeys(
        ("top / a", "top / b", "bottom / a", "bottom / b"), 10
    )
    assert {(draw.inclusion, draw.stratum_size) for draw in draws} == {(0.5, 20.0)}


def test_the_strata_of_decisions_hold_each_decision_once_and_the_boundary_is_dense():
    rows = [
        {"decision_id": f"d{at}", "item_id": f"i{at}", "source": "s", "value": float(at)}
        | {"decision": "accept" if at >= 40 else "reject"}
        for at in range(100)
    ]
    appealed = frozenset({"d0", "d39"})
    draws = draw_decisions(rows, appealed, boundary=0.2, each=8, seed=1)
    sizes = {draw.stratum: draw.stratum_size for draw in draws}
    assert sum(sizes.values()) == 100
    boundary = {int(draw.item_id[1:]) for draw in draws if draw.queue == "boundary"}
    assert boundary <= set(range(31, 52))
    assert {draw.decision_id for draw in draws if draw.queue == "appeal"} == appealed
    dense = {draw.queue: draw.inclusion for draw in draws if "accept" in draw.stratum}
    assert dense["boundary"] > 3 * dense["beyond"]


def test_probabilities_are_those_with_which_items_are_drawn():
    scored = {f"a{at}": ("a", float(at)) for at in range(20)}
    drawn = Counter()
    for seed in range(600):
        drawn.update(draw.item_id for draw in draw_order(scored, quantile=0.5, each=4, seed=seed))
    assert max(abs(count / 600 - 0.4) for count in drawn.values()) < 0.08
    assert len(drawn) == 20


def test_the_pictures_are_the_pixels_that_were_scored_under_names_that_say_nothing(lake, pack):
    for row in key_of(pack)["rows"]:
        pixels = np.asarray(Image.open(pack / row["image"]))
        assert (pixels == int(row["item_id"][-2:])).all()
        assert row["item_id"] not in row["image"]
    assert {path.name for path in pack.iterdir()} == {"images", "reviews.csv", "README.txt"}


def test_a_picture_that_has_changed_since_is_refused_and_nothing_is_left(lake, tmp_path):
    Image.fromarray(np.full((16, 16, 3), 99, np.uint8)).save(tmp_path / "base00.png")
    with pytest.raises(UsageError, match="has changed since it was scored"):
        export_reviews(lake, "latest", tmp_path / "pack", Wanted(each=100, quantile=0.5))
    assert not [path for path in tmp_path.iterdir() if "pack" in path.name]
    assert not lake.read("packs").num_rows


def test_a_folder_that_is_there_is_left_alone(lake, pack):
    with pytest.raises(UsageError, match="it is there already"):
        export_reviews(lake, "latest", pack, Wanted())


def test_a_prompt_is_never_a_formula(tmp_path):
    lake = audited(tmp_path, prompt='=HYPERLINK("http://x")')
    export_reviews(lake, "latest", tmp_path / "pack", Wanted(each=2))
    assert all(row["prompt"].startswith("'=") for row in rows_of(tmp_path / "pack" / "reviews.csv"))


def test_items_without_a_picture_stand_by_their_names(tmp_path):
    lake = audited(tmp_path, pictures=False)
    done = export_reviews(lake, "latest", tmp_path / "pack", Wanted(each=2))
    assert done.unpictured == done.rows
    assert {row["image"] for row in rows_of(tmp_path / "pack" / "reviews.csv")} <= {
        f"{source}{at:02d}" for source in ("base", "tuned") for at in range(20)
    }


def test_what_comes_back_stands_by_queue_dimension_and_axis(lake, pack):
    rows = filled(pack)
    rows[0] |= {"outcome": "bad", "structure": "bad", "axes": "blur | noise", "reason": "soft, noisy"}
    rows[1] |= {"outcome": "", "annotator_id": ""}
    done = import_file(lake, "reviews", write(pack / "ann.csv", rows))
    found = lake.read("reviews").to_pylist()
    key = key_of(pack)
    assert done.rows == len(found)
    first, second = (key["rows"][at]["item_id"] for at in (0, 1))
    mine = [row for row in found if row["item_id"] == first]
    queues = len(key["rows"][0]["draws"])
    assert len(mine) == 4 * queues
    assert Counter((row["dimension"], row["axis"]) for row in mine) == dict.fromkeys(
        [("overall", ""), ("structure", ""), ("overall", "blur"), ("overall", "noise")], queues
    )
    assert not [row for row in found if row["item_id"] == second]
    assert {row["pack_id"] for row in found} == {key["pack_id"]}
    partners = {row["item_id"]: row["partner"] for row in found if row["queue"] == "before"}
    assert all(other == item.replace("base", "tuned") for item, other in partners.items())


def test_several_annotators_bring_back_their_own_copies_and_the_newest_of_each_counts(lake, pack):
    import_file(lake, "reviews", write(pack / "ann.csv", filled(pack, "ann")))
    import_file(
        lake,
        "reviews",
        write(pack / "bob.csv", filled(pack, "", "bad")),
        options={"set": {"annotator_id": "bob"}},
    )
    import_file(lake, "reviews", write(pack / "ann2.csv", filled(pack, "ann", "bad")))
    acts = acts_of(lake, lake.read("items"), key_of(pack)["judge_id"])
    rows = acts.reviews.to_pylist()
    assert {(row["annotator_id"], row["outcome"]) for row in rows} == {("ann", "bad"), ("bob", "bad")}
    assert len(rows) == 2 * len(acts.draws)


def test_the_next_round_goes_by_the_newest_word_of_each_annotator(lake, pack):
    import_file(lake, "reviews", write(pack / "ann.csv", filled(pack, "ann", "good")))
    import_file(lake, "reviews", write(pack / "ann2.csv", filled(pack, "ann", "bad")))
    with connect(lake) as connection:
        rows = connection.execute(
            "SELECT DISTINCT judge, why, queue, bad, reviewers FROM next_labelling_round"
        ).fetchall()
    told = "the judge likes it, people do not"
    assert set(rows) == {("ours 1", told, "top", 1, 1), ("ours 1", told, "after", 1, 1)}


def test_the_newest_pack_counts_for_each_family_of_queues(lake, pack, tmp_path):
    import_file(lake, "reviews", write(pack / "ann.csv", filled(pack)))
    export_reviews(lake, "latest", tmp_path / "second", Wanted(each=2, seed=7))
    second = tmp_path / "second"
    import_file(lake, "reviews", write(second / "ann.csv", filled(second)))
    acts = acts_of(lake, lake.read("items"), key_of(pack)["judge_id"])
    named = {(row["queue"], row["pack_id"]) for row in acts.reviews.to_pylist()}
    assert {name for queue, name in named if queue in {"top", "bottom"}} == {key_of(second)["pack_id"]}
    assert {name for queue, name in named if queue in {"before", "after"}} == {key_of(pack)["pack_id"]}
    assert any("the newest counts" in note for note in acts.notes)


def test_edited_packs_are_refused_with_every_row_and_column(lake, pack):
    rows = filled(pack)
    rows[0]["row"] = "r999"
    rows[1]["pack"] = "0" * 32
    rows[2]["image"], rows[3]["image"] = rows[3]["image"], rows[2]["image"]
    rows[4]["outcome"] = "fine"
    rows[5]["axes"] = "blur|smell"
    rows[6]["annotator_id"] = " "
    rows[7]["semantic"] = "7"
    rows[8] |= {"outcome": "", "structure": "bad"}
    rows.append(dict(rows[9]))
    rows.append({**rows[9], "row": "r998", "image": "images/../../x.png"})
    said = faults_of(lake, write(pack / "ann.csv", rows))
    n = len(rows)
    assert "no row “r999”" in said[1, "row"]
    assert "names another pack" in said[2, "pack"]
    assert "not the image of this row" in said[3, "image"]
    assert "not the image of this row" in said[4, "image"]
    assert "none of good, bad" in said[5, "outcome"]
    assert "no axis “smell”" in said[6, "axes"]
    assert "who reviewed" in said[7, "annotator_id"]
    assert "none of good, bad" in said[8, "semantic"]
    assert "it is empty" in said[9, "outcome"]
    assert "in row 10 already" in said[n - 1, "row"]
    assert "no row “r998”" in said[n, "row"]
    assert len(said) == 11
    assert not lake.read("reviews").num_rows


def test_bad_rows_can_be_left_out_and_are_listed(lake, pack):
    rows = filled(pack)
    rows[0]["row"] = "r999"
    done = import_file(lake, "reviews", write(pack / "ann.csv", rows), skip_bad=True)
    assert done.refused == 1
    assert lake.read("refusals").to_pylist()[0]["column"] == "row"


@pytest.mark.parametrize("change", ["inclusion", "queue", "item", "judge", "id"])
def test_a_changed_key_is_refused(lake, pack, change):
    path = pack.with_name("pack.key.json")
    key = key_of(pack)
    if change == "inclusion":
        key["rows"][0]["draws"][0]["inclusion"] = 1.0
    elif change == "queue":
        key["rows"][0]["draws"][0]["queue"] = "bottom"
        key["rows"][1]["draws"][0]["queue"] = "top"
        key["rows"][1]["draws"][0]["stratum"] = "x"
    elif change == "item":
        key["rows"][0]["item_id"] = "base99"
    elif change == "judge":
        key["judge_id"] = "0" * 32
    else:
        key["rows"] = key["rows"][1:]
    path.write_text(json.dumps(key))
    said = faults_of(lake, write(pack / "ann.csv", filled(pack)), skip_bad=True)
    assert "the key was changed" in said[0, "pack_id"]


def test_a_key_that_was_sealed_anew_is_not_the_lakes(lake, pack):
    from judge_audit.people.review_pack import seal

    key = key_of(pack)
    key["rows"][0]["item_id"] = "invented"
    key["pack_id"] = seal(key)
    pack.with_name("pack.key.json").write_text(json.dumps(key))
    rows = [{**row, "pack": key["pack_id"]} for row in filled(pack)]
    assert "has drawn no such pack" in faults_of(lake, write(pack / "ann.csv", rows))[0, "pack_id"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"pack_id": 1}', "[" * 100_000])
def test_a_key_that_is_none_is_refused(lake, pack, text):
    key = pack.with_name("other.json")
    key.write_text(text)
    with pytest.raises(UsageError, match="key"):
        import_file(lake, "reviews", write(pack / "ann.csv", filled(pack)), key=key)


def test_a_pack_without_its_key_says_how_to_name_it(lake, pack, tmp_path):
    home = tmp_path / "mail" / "inbox"
    home.mkdir(parents=True)
    with pytest.raises(UsageError, match="--key FILE"):
        import_file(lake, "reviews", write(home / "ann.csv", filled(pack)))
    words = ["import", "reviews", str(home / "ann.csv"), "--lake", str(tmp_path / "lake")]
    assert run_command(words) == 2
    assert run_command([*words, "--key", str(tmp_path / "pack.key.json")]) == 0


def test_a_table_of_ones_own_is_in_no_pack(lake, pack, tmp_path):
    columns = {"review_id": "x", "item_id": "base01", "outcome": "good", "queue": "top", "judge": "ours"}
    path = write(tmp_path / "own.csv", [{**columns, "pack_id": key_of(pack)["pack_id"]}])
    import_file(lake, "reviews", path)
    assert lake.read("reviews").to_pylist()[0]["pack_id"] == ""


def test_a_wrong_wish_is_refused_in_words(lake, tmp_path, capsys):
    given = ["study", "export", str(tmp_path / "pack"), "--lake", str(tmp_path / "lake"), "--for"]
    for words, said in (
        (["portraits"], "there is no such pack"),
        (["labels"], "--lake belongs to another kind of pack"),
        (["reviews", "--before", "base"], "given together"),
        (["reviews", "--before", "base", "--after", "later"], "no such source"),
        (["reviews", "--audit", "a9"], "no complete audit “a9”; the newest are a1"),
        (["reviews", "--dimension", "taste"], "the judge has overall"),
    ):
        assert run_command([*given, *words]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("ours", True),
        ("Ours 1", True),
        ("ours@1", True),
        ("ours:1", True),
        ("ours 2", False),
        ("", False),
        ("theirs", False),
    ],
)
def test_decisions_are_tied_to_a_judge_by_what_they_call_it(lake, name, ours):
    decide(lake, [("base00", "accept", 1.0)], judge=name)
    acts = acts_of(lake, lake.read("items"), made_by(lake))
    assert (acts.decisions is not None) == ours


def test_a_name_that_two_judges_bear_names_neither(lake):
    lake.commit(
        {"judge_labels": from_rows("judge_labels", [{"judge_id": "other", "name": "ours", "version": "2"}])}
    )
    decide(lake, [("base00", "accept", 1.0)], judge="ours")
    acts = acts_of(lake, lake.read("items"), made_by(lake))
    assert acts.decisions is None
    assert any("a name that several judges" in note for note in acts.notes)


def test_a_judge_id_names_its_judge(lake):
    decide(lake, [("base00", "accept", 1.0)], judge=made_by(lake)[:10].upper())
    assert acts_of(lake, lake.read("items"), made_by(lake)).decisions is not None


def made_by(lake):
    return lake.read("audits").to_pylist()[0]["judge_id"]


def test_decisions_are_drawn_with_what_the_audit_knows(lake, tmp_path):
    decide(lake, [(f"base{at:02d}", "accept" if at > 9 else "reject", None) for at in range(20)])
    appeal = {"import_id": "e", "appeal_id": "x", "decision_id": "d-base03", "outcome": "open"}
    lake.commit(
        {"appeals": from_rows("appeals", [appeal]), "imports": from_rows("imports", [made("e", "appeals")])}
    )
    done = export_reviews(lake, "latest", tmp_path / "pack", Wanted(each=2))
    assert done.strata["appeal / reject / base"] == (1, 1)
    assert done.strata["boundary / accept / base"] == (2, 2)
    assert done.strata["beyond / accept / base"] == (2, 8)
