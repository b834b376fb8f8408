"""A judge that is a table, its production and its people: everything that the four uses ask for, with known answers."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from judge_audit.audits.context import AuditContext
from judge_audit.audits.pipeline import LocalExecutor, run_stages
from judge_audit.core.configuration import resolve
from judge_audit.inputs.ingest.importer import import_file
from judge_audit.judges import load_judge
from judge_audit.lake import Lake

if TYPE_CHECKING:
    from pathlib import Path

CARD = "kind: table\nname: ours\nversion: '1'\nscale_low: -10\nscale_high: 10\n"
START = datetime(2026, 1, 5, tzinfo=UTC)
PROMPTS = 200


class World:
    """Qualities, an honest judge of them, its decisions, and people who see them."""

    def __init__(self, folder: Path, *, rise: float = 0.0, judge_rise: float = 0.0, seed: int = 3) -> None:
        """`rise` is what optimisation really gains, `judge_rise` what the judge takes it for on top."""
        self.folder = folder
        self.lake = Lake.open(folder / "lake")
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.quality = {f"base{at:03d}": float(rng.normal()) for at in range(PROMPTS)}
        self.quality |= {f"tuned{at:03d}": float(rng.normal() + rise) for at in range(PROMPTS)}
        self.score = {
            item: quality + 0.4 * float(rng.normal()) + judge_rise * item.startswith("tuned")
            for item, quality in self.quality.items()
        }
        (folder / "ours.yaml").write_text(CARD)
        self.judge = load_judge(folder / "ours.yaml")
        rows = [
            {"item_id": item, "value": f"{value:.6f}", "source": item[:-3], "prompt_id": f"p{item[-3:]}"}
            for item, value in self.score.items()
        ]
        self.take("scores", rows, card=self.judge.card)

    def take(self, kind, rows, **options):
        """Import rows."""
        path = self.folder / f"{kind}.csv"
        columns = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, columns, restval="")
            writer.writeheader()
            writer.writerows(rows)
        return import_file(self.lake, kind, path, **options)

    def audit(self, **options):
        """Audit the judge; gives its verdicts by check and measure, its standings, and the outcome."""
        given = {"judge": str(self.folder / "ours.yaml"), "lake": str(self.folder / "lake")}
        report = str(self.folder / "report")
        context = AuditContext(resolve(None, {**given, "report": report, **options}), self.judge)
        done = run_stages(LocalExecutor(context))
        prepared, outcome = done.prepared, done.outcome
        rows = self.lake.read("verdicts", audit_id=prepared.audit_id, subject=prepared.judge_id).to_pylist()
        verdicts = {(row["check"], row["measure"]): row for row in rows}
        told = self.lake.read("standings", audit_id=prepared.audit_id).to_pylist()
        return verdicts, {row["use"]: row for row in told}, outcome, prepared

    def decide(self, judge="ours 1", weeks=20):
        """Accept what scores above 0."""
        rows = [
            {
                "decision_id": f"d-{item}",
                "item_id": item,
                "decision": "accept" if value > 0 else "reject",
                "source": item[:-3],
                "judge": judge,
                "value": f"{value:.6f}",
                "decided_at": (START + timedelta(days=7 * (at % weeks))).isoformat(),
            }
            for at, (item, value) in enumerate(self.score.items())
        ]
        return self.take("decisions", rows)

    def appeal(self, count=30, *, overturned=5, item=None, open_=0):
        """Have some rejected ones appeal."""
        rejected = [item for item, value in self.score.items() if value <= 0][:count]
        rows = [
            {
                "appeal_id": f"a-{item}",
                "decision_id": f"d-{item}",
                "outcome": "open" if at < open_ else "overturned" if at < overturned + open_ else "upheld",
                "channel": "form",
                "appealed_at": (START + timedelta(days=7 * (at % 10))).isoformat(),
            }
            for at, item in enumerate(rejected)
        ]
        return self.take("appeals", rows)

    def choose(self, annotators=("ann", "bob", "cy"), noise=0.4):
        """Have people choose between the two candidates of each prompt."""
        rows = []
        for at in range(PROMPTS):
            pair = [f"base{at:03d}", f"tuned{at:03d}"]
            for name in annotators:
                seen = [self.quality[item] + noise * self.rng.normal() for item in pair]
                rows.append(
                    {"group_id": f"p{at:03d}", "item_id": pair[int(np.argmax(seen))], "annotator_id": name}
                    | {"candidates": "|".join(pair)}
                )
        return self.take("choices", rows)

    def person(self, item, noise=0.3):
        """Say what a person says of an item."""
        return "good" if self.quality[item] + noise * self.rng.normal() > 0 else "bad"

    def fill(self, pack: Path, annotator: str, *, skip=lambda row: False, say=None, copy=None):
        """Fill a pack in as a person would, who sees names where there are pictures."""
        path = pack / "reviews.csv"
        with path.open(newline="") as stream:
            reader = csv.DictReader(stream)
            rows, columns = list(reader), reader.fieldnames
        for row in rows:
            if not skip(row):
                row["annotator_id"] = annotator
                row["outcome"] = (say or self.person)(row["image"])
                if row["outcome"] == "bad":
                    row |= {"structure": "bad", "axes": "blur|noise", "reason": "soft"}
        target = copy or pack / f"reviews-{annotator}.csv"
        with target.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, columns)
            writer.writeheader()
            writer.writerows(rows)
        return target


OWNED = {
    "acceptance": {
        "false_accept": {"limit": 0.25, "owner": "Ada"},
        "false_reject": {"limit": 0.25, "owner": "Bo"},
        "overturn": {"limit": 0.4, "owner": "Cy"},
        "appeal_channel": "form",
    }
}


def key_of(pack: Path):
    """Read the key of a pack."""
    return json.loads(pack.with_name(pack.name + ".key.json").read_text())
