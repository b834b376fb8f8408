"""A lake with one audit of known answers: two sources, one ladder of three rungs, hostile names."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake
from judge_audit.lake.connect import connect
from judge_audit.report import build_report
from judge_audit.stimuli.axes.axis import Axis

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"
AUDIT = "20260101T000000Z-abc"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
STRENGTHS = (0.1, 0.2, 0.4)


def brighter(image, strength, scratch):
    del scratch
    return np.clip(image + 100 * strength, 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def axes():
    axis = Axis("glow", "EV", "Brighter.", STRENGTHS, 0.4, "tone", "luma", True, 1, brighter)
    return {"glow": axis}


def item_rows(sources):
    return [
        {
            "plan_id": "plan",
            "item_id": f"{source}-{n:02}",
            "source": source,
            "cluster": f"{source}-{n}",
            "prompt": HOSTILE,
        }
        for source in sources
        for n in range(40)
    ]


def card_json(card):
    import json

    return json.dumps(
        {"name": "k", "higher_is_better": True, "pinned": True, "dimensions": ["overall"], **card}
    )


def make_lake(
    folder, *, sources=("a", "b"), card=None, name="the judge", results=None, dimensions=("overall",)
):
    """Item n scores n, on rung r of `glow` n + 4 r. Item 0 of each source has the ladder."""
    lake = Lake.open(folder)
    items = item_rows(sources)
    probes, values = [], {}
    for item in items:
        number = int(item["item_id"].rsplit("-", 1)[1])
        rungs = (0, 1, 2, 3) if number == 0 else (0,)
        for rung in rungs:
            probe = f"{item['item_id']}/{rung}"
            axis = "glow" if rung else "original"
            strength = STRENGTHS[rung - 1] if rung else 0.0
            row = {"plan_id": "plan", "probe_id": probe, "item_id": item["item_id"], "axis": axis}
            probes.append({**row, "rung": rung, "strength": strength, "repeat": 0})
            values[probe] = float(number + 4 * rung)
    zones = [
        {
            "plan_id": "plan",
            "zones_id": "z",
            "item_id": f"{source}-00",
            "axis": "glow",
            "perceptible_low": 0.15,
            "perceptible_high": float("inf"),
            "objectionable": 0.4,
            "provisional": True,
            "basis": "models",
        }
        for source in sources
    ]
    lake.commit(
        {
            name_: from_rows(name_, rows)
            for name_, rows in (("items", items), ("probes", probes), ("zones", zones))
        }
    )
    lake.commit(
        {"judges": from_rows("judges", [{"judge_id": "j", "kind": "k", "card": card_json(card or {})}])}
    )
    lake.commit(
        {"judge_labels": from_rows("judge_labels", [{"judge_id": "j", "name": name, "version": "1"}])}
    )
    told = {"judge_id": "j", "repeat": 0, "state": "ok"}
    calls = [
        {**told, "probe_id": probe, "called_at": NOON, "pixel_digest": probe, "renderer": "r"}
        for probe in values
    ]
    scores = [
        {**told, "probe_id": probe, "value": value, "dimension": dimension}
        for probe, value in values.items()
        for dimension in dimensions
    ]
    lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})
    row = {
        "audit_id": AUDIT,
        "judge_id": "j",
        "plan_id": "plan",
        "started_at": NOON,
        "ended_at": NOON,
        "seed": 1,
    }
    row |= {
        "status": "complete",
        "code_version": "0",
        "configuration": '{"zones_id":"z"}',
        "input_digests": "{}",
    }
    lake.commit({"audits": from_rows("audits", [row])})
    stamped = {
        table: from_rows(table, [{**entry, "audit_id": AUDIT} for entry in rows])
        for table, rows in (findings() if results is None else results).items()
    }
    if stamped:
        lake.commit(stamped)
    return lake


def findings():
    """One fault of each gravity, with hostile reasons."""
    told = {
        "subject": "j",
        "axis": "glow",
        "dimension": "overall",
        "provisional": False,
        "reason": f"Because {HOSTILE}",
    }
    curve = {
        "subject": "j",
        "check": "premature",
        "measure": "mean_lift",
        "axis": "glow",
        "dimension": "overall",
    }
    curves = [
        {
            **curve,
            "source": source,
            "rung": rung,
            "strength": STRENGTHS[rung - 1],
            "value": 0.1 * rung,
            "ci_low": 0.1 * rung - 0.05,
            "ci_high": 0.1 * rung + 0.05,
            "n": 2,
            "n_clusters": 2,
        }
        for source in ("*", "a", "b")
        for rung in (1, 2, 3)
    ]
    shift = {"subject": "images", "check": "purity", "axis": "glow", "kind": "chroma", "n": 2}
    return {
        "curves": [*curves, {**shift, "measure": "shift", "rung": 3, "strength": 0.4, "value": 1.5}],
        "measures": [
            {**shift, "measure": "leakage", "value": 1.25},
            {
                "subject": "j",
                "check": "controls",
                "measure": "smallest_lift",
                "axis": "glow",
                "value": 0.09,
                "n": 2,
            },
        ],
        "verdicts": [
            {
                **told,
                "check": "premature",
                "measure": "edge_lift",
                "verdict": "fail",
                "finding": "climbs",
                "value": 0.2,
            },
            {
                **told,
                "check": "jitter",
                "measure": "jitter",
                "verdict": "fail",
                "finding": "jitters",
                "value": 0.9,
            },
            {
                **told,
                "check": "top_response",
                "measure": "top_lift",
                "verdict": "fail",
                "finding": "rewarded",
                "value": 0.3,
                "provisional": True,
            },
            {
                "subject": "c",
                "check": "controls",
                "measure": "convicted",
                "kind": "honest",
                "verdict": "pass",
                "finding": "",
                "reason": "Cleared.",
                "is_control": True,
            },
        ],
        "standings": [
            {"judge_id": "j", "use": "reward", "standing": "barred", "reasons": [HOSTILE], "missing": []},
            {
                "judge_id": "j",
                "use": "position",
                "standing": "screening",
                "reasons": ["So."],
                "missing": ["All of it."],
            },
        ],
    }


def grey(item_id):
    del item_id
    return np.full((24, 32, 3), 90, np.uint8)


@pytest.fixture(scope="session")
def report_of(tmp_path_factory, axes):
    """Write the report of a lake made with the given parts."""

    def make(pixels=grey, warnings=(), **parts):
        lake = make_lake(tmp_path_factory.mktemp("lake") / "lake", **parts)
        with connect(lake) as con:
            return build_report(con, AUDIT, pixels=pixels, axes=axes, warnings=warnings)

    return make


@pytest.fixture(scope="session")
def report(report_of):
    return report_of()


@pytest.fixture(scope="module")
def lake_of_one_night(tmp_path_factory):
    return make_lake(tmp_path_factory.mktemp("night") / "lake")
