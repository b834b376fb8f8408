"""A lake of whole audits with known answers, as the stages write them: two sources, one ladder, two controls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from judge_audit.core.tables import from_rows
from judge_audit.lake import Lake

START = datetime(2026, 1, 1, 2, tzinfo=UTC)
SOURCES = ("a", "b")
CHECKS = ("premature", "jitter", "top_response")
MEASURES = {"premature": "edge_lift", "jitter": "jitter", "top_response": "top_lift"}


def night(number):
    return START + timedelta(days=number)


def plan_rows(plan, sources=SOURCES, rungs=(1, 2, 3)):
    items, probes = [], []
    for source in sources:
        for n in range(3):
            item = f"{source}{n}"
            items.append({"plan_id": plan, "item_id": item, "source": source, "cluster": item, "prompt": "x"})
            for rung in (0, *(rungs if n < 2 else ())):
                axis = "blur" if rung else "original"
                probe = f"{item}/{axis}/{rung}"
                place = {"plan_id": plan, "probe_id": probe, "item_id": item, "axis": axis}
                probes.append({**place, "rung": rung, "repeat": 0})
    return items, probes


def add_plan(lake, plan, **parts):
    items, probes = plan_rows(plan, **parts)
    lake.commit({"items": from_rows("items", items), "probes": from_rows("probes", probes)})
    return [probe["probe_id"] for probe in probes]


def add_judge(lake, judge, name="taste", *, is_control=False, card="{}"):
    lake.commit({"judges": from_rows("judges", [{"judge_id": judge, "kind": "k", "card": card}])})
    label = {"judge_id": judge, "name": name, "version": judge, "is_control": is_control}
    lake.commit({"judge_labels": from_rows("judge_labels", [label])})


def add_answers(lake, judge, probes, state="ok"):
    calls = [
        {"judge_id": judge, "probe_id": probe, "repeat": 0, "state": state, "pixel_digest": probe}
        for probe in probes
    ]
    scores = [
        {
            "judge_id": judge,
            "probe_id": probe,
            "repeat": 0,
            "dimension": "overall",
            "value": float(n),
            "state": "ok",
        }
        for n, probe in enumerate(probes)
    ]
    lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})


def verdict_rows(audit, judge, failing=(), provisional=(), controls=("honest", "lover")):
    """Every check on the ladder passes but those named; `provisional` ones fail without having been read."""
    told = {"audit_id": audit, "subject": judge, "axis": "blur", "dimension": "overall"}
    rows = []
    for check in CHECKS:
        failed = check in failing or check in provisional
        rows.append(
            {
                **told,
                "check": check,
                "measure": MEASURES[check],
                "verdict": "fail" if failed else "pass",
                "finding": f"{check} fault" if failed else "",
                "provisional": check in provisional,
                "reason": f"On blur {check} {'fails' if failed else 'passes'}.",
            }
        )
    proof = {"audit_id": audit, "check": "controls", "measure": "convicted", "is_control": True}
    rows += [
        {**proof, "subject": f"c-{name}", "kind": name, "verdict": "pass", "reason": "As planted."}
        for name in controls
    ]
    return rows


def standing_rows(audit, judge, allowed=("filtering", "ranking"), position="filter and rank"):
    rows = [
        {
            "audit_id": audit,
            "judge_id": judge,
            "use": use,
            "standing": "allowed" if use in allowed else "unproven",
            "reasons": ["Every item of the checklist is proved."] if use in allowed else [],
            "missing": [] if use in allowed else [f"Nobody has shown that {use} works."],
        }
        for use in ("filtering", "ranking", "reward", "acceptance")
    ]
    first = {"audit_id": audit, "judge_id": judge, "use": "position", "standing": position}
    return [*rows, {**first, "reasons": ["So."], "missing": []}]


def drift_rows(audit, judge, values):
    """Rows of check `stability`: drift by source."""
    told = {
        "audit_id": audit,
        "subject": judge,
        "check": "stability",
        "measure": "edge_drift",
        "axis": "blur",
    }
    return [
        {
            **told,
            "dimension": "overall",
            "source": source,
            "value": value,
            "ci_low": value - 0.03,
            "ci_high": value + 0.03,
            "n": 48,
        }
        for source, value in values.items()
    ]


def add_audit(
    lake,
    audit,
    *,
    judge="j1",
    at=0,
    plan="plan",
    verdicts=None,
    standings=None,
    drift=None,
    status="complete",
    anchors=None,
    origin=None,
    row=None,
    **parts,
):
    """Write a whole audit; whatever is not given is as it should be. `anchors` is a version of the set."""
    used = (
        {"anchor_set": "set", "anchor_version": anchors, "anchor_head": f"head{anchors}"} if anchors else {}
    )
    names = lake.read("judge_labels", judge_id=judge)["name"].to_pylist()
    origin = origin or (f"card:cards/{names[0]}.yaml" if names else None)
    extra = row or {}
    row = {**used, "audit_id": audit, "judge_id": judge, "plan_id": plan, "started_at": night(at), "seed": 1}
    row |= {"origin": origin}
    lake.commit(
        {"audits": from_rows("audits", [{**row, "status": "started", "configuration": "{}", **extra}])}
    )
    results = {
        "curves": [],
        "measures": drift_rows(audit, judge, drift if drift is not None else {"a": 0.01, "b": -0.01}),
        "verdicts": verdicts if verdicts is not None else verdict_rows(audit, judge, **parts),
        "standings": standings if standings is not None else standing_rows(audit, judge),
    }
    lake.commit({name: from_rows(name, rows) for name, rows in results.items()})
    if status == "complete":
        done = {
            **row,
            "status": "complete",
            "ended_at": night(at) + timedelta(hours=1),
            "configuration": "{}",
            **extra,
        }
        lake.commit({"audits": from_rows("audits", [done])})


def add_anchors(lake, plan, *, version=1, names=range(30)):
    """Anchors of a set, good ones last, shown twice in a plan; people's labels are their numbers."""
    own, said, items, probes = [], [], [], []
    for n in names:
        key = {"set_id": "set", "anchor_version": version, "anchor_id": f"a{n:02}"}
        item = f"anchor:a{n:02}"
        tier = ("bad", "middling", "good")[n * 3 // 30]
        own.append({**key, "anchor_head": f"head{version}", "item_id": item, "tier": tier, "cluster": item})
        said.append({**key, "dimension": "overall", "annotator_id": "p", "value": float(n)})
        items.append({"plan_id": plan, "item_id": item, "source": "anchors", "cluster": item, "prompt": "x"})
        place = {"plan_id": plan, "probe_id": item, "item_id": item, "axis": "anchor", "rung": 0}
        probes += [{**place, "repeat": repeat} for repeat in (0, 1)]
    lake.commit({"anchors": from_rows("anchors", own), "anchor_labels": from_rows("anchor_labels", said)})
    lake.commit({"items": from_rows("items", items), "probes": from_rows("probes", probes)})


def answer_anchors(lake, judge, values):
    """Scores of anchors by number, the same both times."""
    keys = [{"judge_id": judge, "probe_id": f"anchor:a{n:02}", "repeat": r} for n in values for r in (0, 1)]
    calls = [{**key, "state": "ok", "pixel_digest": "p"} for key in keys]
    twice = [value for value in values.values() for _ in (0, 1)]
    scores = [
        {**key, "dimension": "overall", "value": value, "state": "ok"}
        for key, value in zip(keys, twice, strict=True)
    ]
    lake.commit({"calls": from_rows("calls", calls), "scores": from_rows("scores", scores)})


def whole_lake(folder):
    """One judge, one complete audit `first`, nothing approved."""
    lake = Lake.open(folder)
    probes = add_plan(lake, "plan")
    add_judge(lake, "j1")
    add_answers(lake, "j1", probes)
    add_audit(lake, "first")
    return lake
