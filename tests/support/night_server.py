"""Nights of auditing an endpoint on loopback, whose answers a test may change in between."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np
import yaml
from chat_server import answer, serving
from little_vlm import card
from PIL import Image

from judge_audit.audits.context import AuditContext
from judge_audit.audits.pipeline import LocalExecutor
from judge_audit.audits.stages.budget import close_budget, see_budget
from judge_audit.audits.stages.canaries import watch
from judge_audit.audits.stages.plan import audit_row, plan_pictures
from judge_audit.core.configuration import resolve
from judge_audit.core.tables import from_rows
from judge_audit.judges import load_judge
from judge_audit.lake import Lake
from judge_audit.stimuli.planning.blocks import rounds

SMALL = {"only": "mismatches", "pairs_per_kind": 0, "workers": 2}
"""Nothing but the untouched pictures."""


def write_items(folder, count=24, sources=2, seed=4):
    drawn = np.random.default_rng(seed)
    rows = [("item_id", "source", "prompt", "image")]
    for number in range(count):
        path = folder / f"{seed}-{number}.png"
        level = 40 + 160 * number // count
        pixels = np.clip(level + drawn.normal(0, 8 + number, (24, 24, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(path)
        rows.append((f"i{seed}-{number:02}", f"s{number % sources}", f"prompt {number}", path.name))
    with (folder / f"items-{seed}.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return folder / f"items-{seed}.csv"


class Model:
    """What answers behind the name."""

    def __init__(self):
        self.score = lambda pixels, number: 3 + pixels.mean() / 60
        self.fingerprint = "fp_1"
        self.refuses = lambda pixels: False

    def __call__(self, request, pixels, number):
        if self.refuses(pixels):
            return answer("I'm sorry, I can't rate this.", system_fingerprint=self.fingerprint)
        return answer(f"Score: {self.score(pixels, number):.3f}", system_fingerprint=self.fingerprint)


class Nights:
    """A server, a project folder, and audits of the one in the other."""

    def __init__(self, folder, server, model):
        self.folder, self.server, self.model = folder, server, model
        self.items = write_items(folder)
        self.fields = {}
        self.plan_id, self.glances, self.judges = "", 0, {}

    @property
    def lake(self):
        return Lake.open(self.folder / "lake", create=False)

    def context(self, **options):
        path = self.folder / "vlm.yaml"
        content = yaml.safe_dump(card(self.server.url, **{"batch_size": 8, "timeout": 60, **self.fields}))
        path.write_text(content, encoding="utf-8")
        if content not in self.judges:
            self.judges[content] = load_judge(str(path))
        given = {"items": str(self.items), "lake": str(self.folder / "lake"), **SMALL, **options}
        given["report"] = str(self.folder / "report")
        return AuditContext(resolve(None, given), self.judges[content])

    def ask(self, executor, prepared):
        for share in rounds(prepared.blocks):
            for block in share:
                executor.score_blocks(prepared, block)
        see_budget(executor.context.setup(prepared), prepared)
        close_budget(executor.context.setup(prepared), prepared)

    def end(self, context, prepared):
        """Write the audit down as complete, without what it measures."""
        row = audit_row(context.setup(prepared), context.inputs, prepared, "complete")
        context.lake.commit({"audits": row})

    def glance(self, plan_id=None, *, ended=True, **options):
        """One night of which nothing but the canaries is asked; without a plan, one is made first."""
        before = len(self.server.requests)
        context = self.context(**options)
        setup = context.setup()
        if plan_id is None:
            made = plan_pictures(setup, context.inputs, None).plan
            context.lake.commit(made.tables)
            self.plan_id = made.plan_id
        plan = [context.plans.table(name, plan_id or self.plan_id) for name in ("items", "probes")]
        self.glances += 1
        watched = watch(setup, *plan, f"glance-{self.glances}")
        if ended and watched:
            row = {"audit_id": f"glance-{self.glances}", "status": "complete", "plan_id": self.plan_id}
            card = setup.at_epoch(watched.epoch).judge.card
            row |= {"judge_id": card.judge_id, "canary_asking": watched.asking}
            context.lake.commit({"audits": from_rows("audits", [{**row, "ended_at": datetime.now(UTC)}])})
        return watched, len(self.server.requests) - before

    def night(self, **options):
        """One night: what the canaries showed, and how many requests the server got."""
        before = len(self.server.requests)
        executor = LocalExecutor(self.context(**options))
        prepared = executor.prepare()
        self.ask(executor, prepared)
        self.end(executor.context, prepared)
        return prepared, len(self.server.requests) - before


@contextmanager
def nights_in(folder):
    model = Model()
    with serving(model) as server:
        yield Nights(folder, server, model)
