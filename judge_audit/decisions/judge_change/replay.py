"""Past decisions replayed: which filtered, first-ranked and accepted items would change under the new judge."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from judge_audit_schemas.rows import AuditsRow, DecisionsRow, ItemsRow, JudgeLabelsRow, JudgesRow

from judge_audit.core.digests import text_digest
from judge_audit.core.errors import UsageError
from judge_audit.core.limits import read_limits
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import ORIGINAL, OVERALL, POOLED, State
from judge_audit.measures.replay import (
    Decided,
    changed_rate,
    first_rate,
    kept_by_number,
    kept_by_share,
    recorded_thresholds,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from judge_audit.lake import Lake
    from judge_audit.measures.replay import Rate

    Row = Mapping[str, Any]

CHECK = "replay"
ACCEPTED, FILTERED, FIRST = "accepted", "filtered", "ranked first"


@dataclass(frozen=True, slots=True)
class Replay:
    """What became of past decisions.

    Attributes:
        audit_id: Audit of the new judge.
        judge_id: The new judge.
        baseline: The judge that decided.
        rates: What would change, by kind (`accepted`, `filtered`, `ranked first`) and source (`*`: all).
        rule: How a cut was carried over: `number` or `share`.
        others: Decisions left out because another judge made them.
        sentences: All of it in words.
    """

    audit_id: str
    judge_id: str
    baseline: str
    rates: Mapping[tuple[str, str], Rate]
    rule: str
    others: int
    sentences: tuple[str, ...]

    @property
    def measures(self) -> list[Row]:
        """Rows of `measures`."""
        told = {
            "audit_id": self.audit_id,
            "subject": self.judge_id,
            "baseline": self.baseline,
            "check": CHECK,
        }
        rows: list[Row] = []
        for (kind, source), rate in self.rates.items():
            key = {**told, "kind": kind, "source": source}
            whole = rate.n + rate.n_unknown
            ends = {"ci_low": rate.low, "ci_high": rate.high}
            rows.append({**key, "measure": "replay_changed", "value": rate.changed, **ends, "n": rate.n})
            for measure, value in (
                ("unknown", rate.unknown),
                ("changed_least", rate.least),
                ("changed_most", rate.most),
            ):
                rows.append({**key, "measure": f"replay_{measure}", "value": value, "n": whole})
        return rows

    def tables(self) -> dict[str, pa.Table]:
        """Give the measures as a table, ready for a commit."""
        return {"measures": from_rows("measures", self.measures)}


def draw_sample(decisions: Sequence[Row], seed: int, most: int | None = None) -> dict[str, float]:
    """Draw the decisions worth scoring anew: at most so many of each source and outcome.

    Args:
        decisions: Rows of `decisions`.
        seed: Seed.
        most: Most of a stratum; the limit `change.replay_sample` if not given.

    Returns:
        The drawn decisions by id, each with the probability with which it was drawn.
    """
    most = int(read_limits()["change.replay_sample"]) if most is None else most
    strata: dict[tuple[str, str], list[str]] = {}
    for row in decisions:
        strata.setdefault((row["source"] or "", row["decision"]), []).append(row["decision_id"])
    drawn = {}
    for names in strata.values():
        ordered = sorted(names, key=lambda name: text_digest(str(seed), "replay", name))[:most]
        drawn.update(dict.fromkeys(ordered, len(ordered) / len(names)))
    return drawn


def replay(
    lake: Lake,
    candidate_audit_id: str,
    baseline_audit_id: str,
    *,
    dimension: str = OVERALL,
    sample: Mapping[str, float] | None = None,
) -> Replay:
    """Replay the decisions that a judge made under the one that is to follow it.

    The new judge's scores are those the lake holds of the same item ids, untouched; an item without one is
    unknown, and counted.

    Args:
        lake: The lake, with imported decisions.
        candidate_audit_id: Audit of the new judge.
        baseline_audit_id: Audit of the judge that decided; decisions that name another judge are left out.
        dimension: The new judge's dimension; its only one, if it has one.
        sample: Decisions to replay with their inclusion probabilities (`draw_sample`); all if not given.

    Raises:
        UsageError: If the lake lacks an audit.
    """
    new, old = (_judge(lake, name) for name in (candidate_audit_id, baseline_audit_id))
    rows = rows_of(lake.read("decisions"), DecisionsRow)
    mine = [row for row in rows if not row["judge"] or row["judge"] in old["names"]]
    others = len(rows) - len(mine)
    if sample is not None:
        mine = [row for row in mine if row["decision_id"] in sample]
    facts = _items(lake)
    scores = _scores(lake, new, dimension)
    given, names = _decided(mine, old["sign"], scores, facts, sample)
    thresholds = recorded_thresholds(given) if _same_number(lake, old, new) and mine else None
    rule = "number" if thresholds is not None else "share"
    kept = kept_by_number(given, thresholds) if thresholds is not None else kept_by_share(given)
    rates = _rates(mine, given, kept, names, facts)
    told = _sentences(rates, rule, others, sampled=sample is not None, n=len(mine))
    return Replay(candidate_audit_id, new["judge_id"], old["judge_id"], rates, rule, others, told)


def _judge(lake: Lake, audit_id: str) -> Row:
    """Read what is to be known of an audit's judge: card, direction, and every name it goes by."""
    audits = rows_of(lake.read("audits", audit_id=audit_id), AuditsRow)
    if not audits:
        raise UsageError(f"the lake at {lake.url} has no audit “{audit_id}”.")
    judge_id = audits[0]["judge_id"]
    cards = rows_of(lake.read("judges", judge_id=judge_id), JudgesRow)
    card = json.loads(cards[0]["card"]) if cards else {}
    names = {judge_id}
    for row in rows_of(lake.read("judge_labels", judge_id=judge_id), JudgeLabelsRow):
        names |= {row["name"], f"{row['name']} {row['version'] or ''}".strip()}
    sign = 1.0 if card.get("higher_is_better", True) else -1.0
    return {"audit_id": audit_id, "judge_id": judge_id, "card": card, "names": names, "sign": sign}


def _items(lake: Lake) -> dict[str, Row]:
    """Give source and prompt of every item the lake knows, the first plan by name winning."""
    found: dict[str, Row] = {}
    for row in rows_of(lake.read("items").select(["item_id", "source", "prompt_id"]), ItemsRow):
        found.setdefault(row["item_id"], row)
    return found


def _scores(lake: Lake, judge: Row, dimension: str) -> dict[str, float]:
    """Give the new judge's mean untouched oriented score of each item."""
    named = tuple(judge["card"].get("dimensions") or (OVERALL,))
    wanted = named[0] if len(named) == 1 else dimension
    probes = lake.read("probes", axis=ORIGINAL).select(["probe_id", "item_id"])
    told = lake.read("scores", judge_id=judge["judge_id"], dimension=wanted, state=State.OK.value)
    by_probe: dict[str, list[float]] = {}
    for row in told.to_pylist():
        by_probe.setdefault(row["probe_id"], []).append(judge["sign"] * row["value"])
    pairs = sorted({(row["item_id"], row["probe_id"]) for row in probes.to_pylist()})
    held: dict[str, float] = {}
    for item_id, probe_id in pairs:
        if probe_id in by_probe:
            held.setdefault(item_id, float(np.mean(by_probe[probe_id])))
    return held


def _decided(
    rows: Sequence[Row],
    sign: float,
    scores: Mapping[str, float],
    facts: Mapping[str, Row],
    sample: Mapping[str, float] | None,
) -> tuple[Decided, list[str]]:
    """Set the decisions out; strata are sources × outcomes × the strata recorded."""
    sources = [row["source"] or facts.get(row["item_id"], {}).get("source") or "" for row in rows]
    names, of_source = np.unique(np.array(sources, str), return_inverse=True)
    strata = [f"{s}\0{row['decision']}\0{row['stratum'] or ''}" for s, row in zip(sources, rows, strict=True)]
    inclusion = [1.0 if sample is None else sample[row["decision_id"]] for row in rows]
    given = Decided(
        np.array([row["decision"] == "accept" for row in rows], bool),
        np.array([math.nan if row["value"] is None else sign * row["value"] for row in rows], float),
        np.array([scores.get(row["item_id"], math.nan) for row in rows], float),
        of_source.astype(np.intp),
        np.unique(np.array(strata, str), return_inverse=True)[1].astype(np.intp),
        np.array(inclusion, float),
    )
    return given, names.tolist()


def _same_number(lake: Lake, old: Row, new: Row) -> bool:
    """Whether a number means the same to both: both scales proved absolute, and declared alike."""
    fields = ("scale_low", "scale_high", "scale_step", "higher_is_better")
    if old["card"].get("scale_low") is None or any(old["card"].get(f) != new["card"].get(f) for f in fields):
        return False
    for judge in (old, new):
        told = lake.read(
            "verdicts",
            audit_id=judge["audit_id"],
            subject=judge["judge_id"],
            check="scale",
            measure="absolute",
        )
        words = {row["verdict"] for row in told.to_pylist()}
        if words != {"pass"}:
            return False
    return True


def _rates(
    rows: Sequence[Row],
    given: Decided,
    kept: NDArray[np.float64],
    names: Sequence[str],
    facts: Mapping[str, Row],
) -> dict[tuple[str, str], Rate]:
    rates = {}
    places = {POOLED: np.ones(len(rows), bool)}
    if len(names) > 1:
        places |= {name: given.sources == at for at, name in enumerate(names)}
    for source, mine in places.items():
        part = Decided(
            given.accepted[mine],
            given.old[mine],
            given.new[mine],
            given.sources[mine],
            given.strata[mine],
            given.inclusion[mine],
        )
        for kind, accepted in ((ACCEPTED, True), (FILTERED, False)):
            rates[kind, source] = changed_rate(part, kept[mine], accepted=accepted)
    prompts: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        if prompt := facts.get(row["item_id"], {}).get("prompt_id"):
            prompts.setdefault(prompt, []).append(at)
    groups = {name: np.array(held, np.intp) for name, held in sorted(prompts.items()) if len(held) > 1}
    rates[FIRST, POOLED] = first_rate(given, groups)
    return {key: rate for key, rate in rates.items() if rate.n + rate.n_unknown}


def _sentences(
    rates: Mapping[tuple[str, str], Rate], rule: str, others: int, *, sampled: bool, n: int
) -> tuple[str, ...]:
    if not n:
        return (say("change.replay.none"),)
    told = [say(f"change.replay.rule_{rule}")]
    for (kind, source), rate in rates.items():
        if source != POOLED:
            continue
        word = say(f"change.replay.{kind.replace(' ', '_')}")
        if not rate.n:
            told.append(say("change.replay.unknown", kind=word, n=rate.n_unknown))
            continue
        ends = {"low": _percent(rate.low), "high": _percent(rate.high), "n": rate.n}
        line = say("change.replay.rate", kind=word, share=_percent(rate.changed), **ends)
        if rate.n_unknown:
            bounds = {"least": _percent(rate.least), "most": _percent(rate.most)}
            line += " " + say("change.replay.some_unknown", n=rate.n_unknown, **bounds)
        told.append(line)
    if sampled:
        told.append(say("change.replay.sampled", n=n))
    if others:
        told.append(say("change.replay.others", n=others))
    return tuple(told)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
