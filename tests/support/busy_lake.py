"""A lake as a busy team leaves it: many small commits, keys written twice, failures, pictures drawn anew."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from lake_rows import NOON, call_rows, score_rows

from judge_audit.core.digests import row_digest
from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake
from judge_audit.lake.connect import connect

TABLES = ("calls", "scores", "measures", "purges")


KILLED = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from judge_audit.lake import Lake
from judge_audit.lake.compaction import compact
left = [int(sys.argv[2])]
def counted(act):
    def run(*given, **named):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*given, **named)
    return run
os.fsync, os.link = counted(os.fsync), counted(os.link)
Path.unlink, Path.replace = counted(Path.unlink), counted(Path.replace)
compact(Lake.open(sys.argv[1]), now=datetime.fromisoformat(sys.argv[3]))
"""


def fill(lake, *, judges=3, batches=12, seed=5):
    """Write batches of answers, some of the same probes at other times, in other states or with other pixels."""
    drawn = random.Random(seed)
    for number in range(batches):
        judge = f"judge-{number % judges}"
        probes = sorted({f"p{drawn.randrange(20)}" for _ in range(6)})
        calls = call_rows(
            judge,
            probes,
            state=drawn.choice(["ok", "ok", "failed"]),
            pixels=drawn.choice(["old", "new"]),
            at=NOON + timedelta(minutes=drawn.randrange(10)),
        )
        values = {probe: drawn.random() for probe in probes}
        lake.commit({"calls": calls, "scores": score_rows(judge, values)})
    for night in range(4):
        measures = [
            {
                "audit_id": f"night-{night}",
                "subject": "judge-0",
                "check": "scale",
                "measure": name,
                "value": 0.1,
            }
            for name in ("pile", "ties")
        ]
        lake.commit({"measures": from_rows("measures", measures)})
    return lake


def everything(url):
    """Give what any reader can learn: the tables that `fill` writes, by `read`, by SQL, and digested."""
    lake = Lake.open(url, create=False)
    with connect(lake) as connection:
        asked = {
            name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in TABLES
        }
    tables = {name: lake.read(name) for name in TABLES}
    answers = {judge: lake.read("scores", judge_id=judge) for judge in ("judge-0", "judge-1")}
    return tables, asked, answers, {name: row_digest(table) for name, table in tables.items()}


def parts(url):
    """Count the Parquet files of a lake."""
    return len(list((Path(url) / "data").rglob("*.parquet")))


def all_files(url):
    """Name all files of parts, unfinished ones too."""
    return {path.relative_to(url).as_posix() for path in (Path(url) / "data").rglob("*") if path.is_file()}


def start_killed(url, step, when):
    """Start a compaction in a process that is killed at one of its steps on disk."""
    return subprocess.Popen([sys.executable, "-c", KILLED, str(url), str(step), when.isoformat()])
