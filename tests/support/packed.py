"""A lake with one complete audit of a few pictures, without running one: what a pack is drawn from."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime

import numpy as np
from PIL import Image

from judge_audit.core.tables import from_rows
from judge_audit.judges.cards.card import Card
from judge_audit.lake import Lake
from judge_audit.stimuli.images import load_image

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
CARD = Card(kind="table", name="ours", version="1", scale_low=0.0, scale_high=100.0)


def audited(folder, *, sources=("base", "tuned"), each=20, pictures=True, prompt="a cat"):
    """Items named by a number; item n of a source scores n."""
    lake = Lake.open(folder / "lake")
    items, probes, scores = [], [], []
    for source in sources:
        for at in range(each):
            item = f"{source}{at:02d}"
            uri = digest = None
            if pictures:
                path = folder / f"{item}.png"
                Image.fromarray(np.full((16, 16, 3), at, np.uint8)).save(path)
                uri, digest = str(path), load_image(str(path)).pixel_digest
            row = {"plan_id": "p", "item_id": item, "source": source, "prompt": prompt, "cluster": item}
            items.append({**row, "prompt_id": f"q{at}", "uri": uri, "pixel_digest": digest})
            told = {"probe_id": f"probe {item}", "repeat": 0}
            probes.append({**told, "plan_id": "p", "item_id": item, "axis": "original", "rung": 0})
            score = {"judge_id": CARD.judge_id, "dimension": "overall", "value": float(at), "state": "ok"}
            scores.append({**told, **score})
    judge = {"judge_id": CARD.judge_id, "kind": "table", "card": CARD.as_json(), "registered_at": NOON}
    label = {"judge_id": CARD.judge_id, "name": "ours", "version": "1"}
    calls = [{**row, "called_at": NOON} for row in scores]
    calls = [{k: v for k, v in row.items() if k not in {"dimension", "value"}} for row in calls]
    audit = {"audit_id": "a1", "status": "complete", "judge_id": CARD.judge_id, "plan_id": "p", "seed": 1}
    lake.commit({"items": from_rows("items", items), "probes": from_rows("probes", probes)})
    lake.commit({"judges": from_rows("judges", [judge]), "judge_labels": from_rows("judge_labels", [label])})
    lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})
    lake.commit({"audits": from_rows("audits", [{**audit, "started_at": NOON, "ended_at": NOON}])})
    return lake


def decide(lake, rows, **more):
    """Commit decisions: (item_id, decision, value)."""
    told = [
        {"import_id": "d", "decision_id": f"d-{item}", "item_id": item, "decision": decision, "value": value}
        | {"judge": "ours 1", "source": item[:-2], "topic": "", "stratum": "", **more}
        for item, decision, value in rows
    ]
    lake.commit({"decisions": from_rows("decisions", told), "imports": from_rows("imports", [made("d")])})


def made(name, kind="decisions"):
    return {
        "import_id": name,
        "kind": kind,
        "file": "f",
        "file_digest": "x",
        "imported_at": NOON,
        "notes": [],
    }


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def filled(pack, annotator="ann", outcome="good"):
    """Give the rows of a pack, every one filled in."""
    rows = rows_of(pack / "reviews.csv")
    return [{**row, "annotator_id": annotator, "outcome": outcome} for row in rows]


def key_of(pack):
    return json.loads(pack.with_name(pack.name + ".key.json").read_text(encoding="utf-8"))
