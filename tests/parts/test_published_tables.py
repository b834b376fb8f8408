"""Published tables through import and a whole audit: the figures that others found."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from judge_audit.cli import run_command
from judge_audit.demo.published import JUDGES, card_path, import_published
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.judges import load_judge
from judge_audit.lake import Lake

VIESCORE = {
    "columns": {
        "item_id": ["generator", "item"],
        "source": "generator",
        "value": "raw_scores",
        "dimension": "dim",
    }
}

pytestmark = pytest.mark.parts


def audited(folder, card):
    """Audit a card's scores in the lake of a folder and give the pooled measures of the scale."""
    words = ["run", "--judge", str(card), "--lake", str(folder / "lake"), "--report", str(folder / "report")]
    assert run_command(words) == 0
    lake = Lake.open(folder / "lake")
    done = [row for row in lake.read("audits").to_pylist() if row["status"] == "complete"]
    audit = max(done, key=lambda row: row["ended_at"])
    rows = lake.read(
        "measures", audit_id=audit["audit_id"], subject=audit["judge_id"], source="*", check="scale"
    )
    return {(row["measure"], row["dimension"]): row for row in rows.to_pylist()}


def test_the_second_demo_audits_two_judges_beside_three_people(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JUDGE_AUDIT_LAKE", raising=False)
    assert run_command(["demo", "published"]) == 0
    said = capsys.readouterr().out
    assert "artifacts: 100 empty (DALLE2 20, DeepFloydIF 19, OpenJourney 24, SD 27, SDXL 10)" in said
    assert "naturalness: 4 unparsable (DALLE2 2, SD 2)" in said
    home = tmp_path / "judge-audit-demo" / "published"
    for judge in JUDGES:
        assert (home / "report" / judge / "report.html").exists()
    lake = Lake.open(home / "lake")
    assert len(set(lake.read("labels")["annotator_id"].to_pylist())) == 3
    assert len(set(lake.read("labels")["source"].to_pylist())) == 5
    found = {
        (row["subject"], row["dimension"]): row["value"]
        for row in lake.read("measures", source="*", measure="pile", is_control=False).to_pylist()
    }
    gemini, gpt4v = (load_judge(card_path(judge)).card.judge_id for judge in JUDGES)
    assert found[gemini, "semantic"] == pytest.approx(0.376, abs=0.0005)
    assert found[gpt4v, "artifacts"] == pytest.approx(0.755, abs=0.0005)
    assert all(not done.new for done in import_published(lake))


@pytest.mark.parametrize(
    ("judge", "dimension", "share"), [("gemini", "semantic", 0.376), ("gpt4v", "artifacts", 0.757)]
)
def test_viescore_piles_on_images_with_both_replies_are_the_published_ones(
    shared_cases, tmp_path, judge, dimension, share
):
    with (shared_cases / "viescore_t2i_judges.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["judge"] == f"{judge}_0shot"]
    held = [{(row["generator"], row["item"]) for row in rows if row["dim"] == dim} for dim in ("SC", "PQ")]
    both = [row for row in rows if all((row["generator"], row["item"]) in names for names in held)]
    path = tmp_path / "both.jsonl"
    path.write_text("\n".join(map(json.dumps, both)), encoding="utf-8")
    card = load_judge(card_path(judge)).card
    import_file(Lake.open(tmp_path / "lake"), "scores", path, card=card, options=VIESCORE)
    found = audited(tmp_path, card_path(judge))
    assert round(found["pile", dimension]["value"], 3) == share
    assert found["reach", "semantic"]["value"] > 0


def test_clipscore_lies_in_two_bins_of_its_hundred(shared_cases, tmp_path):
    card = tmp_path / "clipscore.yaml"
    card.write_text("kind: table\nname: clipscore\nscale_low: 0\nscale_high: 100\n")
    words = ["import", "scores", str(shared_cases / "tifa160_judges.csv"), "--card", str(card)]
    words += ["--map", "item_id=image", "--map", "source=generator", "--map", "value=score"]
    assert run_command([*words, "--only", "judge=clipscore_vitb32", "--lake", str(tmp_path / "lake")]) == 0
    scores = np.array(Lake.open(tmp_path / "lake").read("scores")["value"].to_pylist())
    bins = np.histogram(scores, np.arange(0, 101, 10))[0]
    assert max(bins[:-1] + bins[1:]) / len(scores) == pytest.approx(0.985, abs=0.0005)
    sliding = audited(tmp_path, card)["pile", "overall"]["value"]
    assert sliding == pytest.approx(0.996, abs=0.0005)  # fixed edges understate a pile


def test_surface_statistics_that_come_along_are_covariates(shared_cases, tmp_path):
    card = tmp_path / "aesthetics.yaml"
    card.write_text("kind: table\nname: laion aesthetics\n")
    mapping = tmp_path / "how.yaml"
    mapping.write_text(
        "columns: {item_id: path, source: set, value: aesthetics, width: w, height: h, file_bytes: bytes, "
        "cluster: [set, id]}\ncovariates: {luma: lum, contrast: contrast, chroma: colorful, sharpness: sharp}\n"
    )
    words = ["import", "scores", str(shared_cases / "mjbench_images_scores.csv"), "--card", str(card)]
    assert run_command([*words, "--mapping", str(mapping), "--lake", str(tmp_path / "lake")]) == 0
    audited(tmp_path, card)
    lake = Lake.open(tmp_path / "lake")
    (told,) = lake.read(
        "verdicts", check="covariates", measure="explained_share", is_control=False
    ).to_pylist()
    assert told["verdict"] != "missing"
    assert told["value"] is not None
