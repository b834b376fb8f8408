"""Published agreement of people, reproduced by the commands from the long table alone."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.parts

COMMAND = str(Path(sys.executable).with_name("judge-audit"))
CARD = "kind: table\nname: first rater\nweights: r1\ndimensions: [SC, PQ, overall]\nscale_low: 0\nscale_high: 1\n"
FIGURES = """
SELECT source, dimension, measure, kind, "value" FROM measures
WHERE subject = 'people' AND measure IN ('alpha', 'fleiss_kappa') AND topic = '*' AND source LIKE '%/%'
"""


def _run(folder, *words):
    done = subprocess.run(
        [COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_published_row_comes_out_of_the_commands_to_two_decimals(tmp_path, shared_cases):
    with (shared_cases / "imagenhub_ratings.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        both = row["SC"] and row["PQ"]
        row["overall"] = round(math.sqrt(float(row["SC"]) * float(row["PQ"])), 2) if both else ""
    for name, kept in (("ratings", rows), ("scores", [row for row in rows if row["rater"] == "rater1"])):
        with (tmp_path / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(kept)
    (tmp_path / "card.yaml").write_text(CARD, encoding="utf-8")
    named = ["--map", "item_id=task,generator,item", "--map", "source=task,generator"]
    wide = ["--wide", "SC,PQ,overall", "--wide-as", "dimension", "--lake", "lake"]
    labelled = ["--map", "annotator_id=rater", "--level", "ordinal", "--scale", "0..1"]
    _run(tmp_path, "import", "labels", "ratings.csv", *named, *labelled, *wide)
    _run(tmp_path, "import", "scores", "scores.csv", "--card", "card.yaml", *named, *wide)
    _run(tmp_path, "run", "--judge", "card.yaml", "--lake", "lake", "--report", "report")
    told = json.loads(_run(tmp_path, "lake", "sql", "--lake", "lake", "--json", FIGURES))
    found = {(row["source"], row["dimension"], row["measure"], row["kind"]): row["value"] for row in told}
    with (shared_cases / "imagenhub_agreement_published.csv").open(encoding="utf-8") as stream:
        published = list(csv.DictReader(stream))
    assert len(published) == 39
    for row in published:
        place = (f"{row['task']}/{row['model']}", row["attr"])
        for column, measure, kind in (
            ("fleiss", "fleiss_kappa", "*"),
            ("kripp_ordinal", "alpha", "ordinal"),
            ("kripp_interval", "alpha", "interval"),
        ):
            assert found[(*place, measure, kind)] == pytest.approx(float(row[column]), abs=0.005), (
                place,
                column,
            )
