"""A large audit without asking a judge a hundred thousand times: its answers are written straight into the lake.

The plan, the pictures, the zones, the controls, the checks and the report are the real ones; only what the judge and
the instruments would have answered is drawn.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from PIL import Image

from judge_audit.audits.context import AuditContext
from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.audits.stages.answers import measured_by_instruments
from judge_audit.audits.stages.combinations import combine
from judge_audit.audits.stages.score import instruments
from judge_audit.core.configuration import resolve
from judge_audit.core.tables import empty
from judge_audit.judges import load_judge
from judge_audit.judges.instruments.covariates import MEASURED
from judge_audit.stimuli.axes import fingerprint
from judge_audit.stimuli.surface_statistics import STATISTICS

COMMIT = 2_000
"""Answers put into the lake at a time."""


def spent():
    """Give the processor seconds of this process, user and system."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak():
    """Give the most memory this process ever held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def pictures(folder, items, side=64):
    """Write an items file and its pictures: smooth ground, some noise, four sources."""
    folder.mkdir(parents=True)
    lines = ["item_id,source,topic,prompt,cluster,image"]
    for number in range(items):
        rng = np.random.default_rng(number)
        rough = Image.fromarray(rng.integers(0, 256, (8, 8, 3)).astype(np.uint8))
        smooth = np.asarray(rough.resize((side, side), Image.Resampling.BICUBIC), float)
        pixels = np.clip(smooth + rng.normal(0, 6, smooth.shape), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png", compress_level=1)
        lines.append(
            f"i{number:05d},{'abcd'[number % 4]},t{number % 7},picture {number % 50},c{number},{number}.png"
        )
    (folder / "items.csv").write_text("\n".join(lines))


def brightness(images, prompts):
    """Score how bright a picture is; never asked for more than a handful."""
    return [float(image.mean() / 25.5) for image in images]


brightness.identity = "how bright a picture is"  # the same judge whatever else this file holds
brightness.pinned = True  # no canaries: its first answers are drawn, and are not what it would say


def context(folder, ladders):
    """Give a fresh context, as each night has one."""
    told = {
        "items": str(folder / "items.csv"),
        "lake": str(folder / "lake"),
        "report": str(folder / "report"),
    }
    return AuditContext(resolve(None, {**told, "ladder_items": ladders}), load_judge(brightness))


def answer(lake, card, probes, dimensions):
    """Write answers to probes: a quality of the item's own, some noise, and a little less on every rung."""
    first = probes.group_by(["probe_id", "repeat"], use_threads=False)
    asked = first.aggregate([("item_id", "min"), ("rung", "min")]).sort_by([("probe_id", "ascending")])
    n = asked.num_rows
    names, own = np.unique(asked["item_id_min"].to_numpy(), return_inverse=True)
    rng = np.random.default_rng(n)
    rungs = asked["rung_min"].to_numpy()
    control = card.kind in {"control", "ruler"}
    calls = _table(
        "calls",
        n,
        judge_id=card.judge_id,
        probe_id=asked["probe_id"],
        repeat=asked["repeat"],
        renderer=fingerprint(),
        state="ok",
        pixel_digest=asked["probe_id"],
        called_at=datetime.now(UTC),
        latency_ms=18.0,
        is_control=control,
    )
    columns = []
    for dimension in dimensions:
        quality = rng.normal(5, 1.5, len(names))[own]
        columns.append(
            _table(
                "scores",
                n,
                judge_id=card.judge_id,
                probe_id=asked["probe_id"],
                repeat=asked["repeat"],
                dimension=dimension,
                value=pa.array(np.clip(quality - 0.15 * rungs + rng.normal(0, 0.1, n), 0, 10)),
                state="ok",
                is_control=control,
            )
        )
    for start in range(0, n, COMMIT):
        scores = pa.concat_tables([table.slice(start, COMMIT) for table in columns])
        lake.commit({"calls": calls.slice(start, COMMIT), "scores": scores})


def _table(name, rows, **given):
    """Make a table of columns; one value stands for all rows."""
    columns = []
    for field in empty(name).schema:
        held = given.get(field.name)
        if isinstance(held, (pa.Array, pa.ChunkedArray)):
            columns.append(held.cast(field.type))
        else:
            columns.append(pa.repeat(pa.scalar(held, field.type), rows))
    return pa.table(columns, schema=empty(name).schema)


def first_answers(setup, prepared):
    """Answer everything that the judge and the instruments are asked; return the audit with its second round."""
    for _ in range(2):
        chosen = prepared.combinations_id(prepared.judge_id)
        plans = (prepared.plan_id, prepared.soundings_id, chosen)
        probes = pa.concat_tables([setup.plans.table("probes", name) for name in plans])
        left = probes.select(["probe_id", "repeat", "item_id", "rung", "axis"])
        known = setup.lake.answered(prepared.judge_id).select(["probe_id", "repeat"])
        left = left.join(known, ["probe_id", "repeat"], join_type="left anti")
        answer(setup.lake, setup.judge.card, left, ("overall",))
        if not known.num_rows:
            surface, covariates = (instrument.card for instrument in instruments())
            answer(setup.lake, surface, measured_by_instruments(left, once=False), STATISTICS)
            answer(setup.lake, covariates, measured_by_instruments(left, once=True), MEASURED)
        prepared = combine(setup, prepared)
    return prepared


def night(folder, ladders, *, new=False):
    """Run one night through the real stages; give the processor seconds of each.

    Args:
        folder: Where pictures and lake lie.
        ladders: Items that carry ladders.
        new: Whether the judge has answered nothing yet; then its answers are drawn, outside of the times given.
    """
    executor, times = LocalExecutor(context(folder, ladders)), {}

    def timed(name, act):
        started, wall = spent(), time.perf_counter()
        found = act()
        times[name] = spent() - started
        print(
            f"{name}: {times[name]:.1f} s CPU, {time.perf_counter() - wall:.1f} s, {peak():.2f} GiB",
            flush=True,
        )
        return found

    prepared = timed("prepare", executor.prepare)
    calls = prepared.new_calls
    if new:
        prepared = first_answers(executor.context.setup(prepared), prepared)
    else:
        for block in prepared.blocks:
            timed("score", lambda block=block: executor.score_blocks(prepared, block))
    setup = executor.context.setup(prepared)
    prepared = timed("combine", lambda: combine(setup, prepared))
    assert not prepared.blocks
    timed("controls", lambda: executor.controls(prepared))
    timed("check", lambda: executor.check(prepared))
    timed("report", lambda: executor.report(prepared))
    calls = setup.lake.answered(prepared.judge_id).num_rows if new else calls
    return prepared, calls, times


def rows(folder, ladders):
    """Count the rows of table scores."""
    held = context(folder, ladders).lake.select("scores", ["state"], {})
    return len(held) - pc.sum(pc.is_null(held["state"])).as_py()


def night_apart(folder, ladders, *, new=False):
    """Run one night in a process of its own, whose memory is then the night's; give what it tells."""
    words = [sys.executable, __file__, str(folder), str(ladders), "new" if new else "again"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=7200)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def seconds_of_the_default_judge():
    """Give the processor seconds that the default judge takes for a picture of 512 pixels."""
    from judge_audit.judges.protocol import Stimulus

    rng = np.random.default_rng(1)
    shown = [Stimulus(rng.integers(0, 256, (512, 512, 3)).astype(np.uint8), "") for _ in range(12)]
    judge = load_judge("brisque")
    judge.score(shown[:2])
    started = spent()
    judge.score(shown)
    return (spent() - started) / len(shown)


if __name__ == "__main__":
    home, carriers, turn = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    audit, asked, seconds = night(home, carriers, new=turn == "new")
    print(json.dumps({"audit_id": audit.audit_id, "calls": asked, "seconds": seconds, "peak": peak()}))
