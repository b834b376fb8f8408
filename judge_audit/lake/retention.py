"""Which raw answers nobody needs any more, and why the others stay.

Raw is what was asked and answered: plans with their items and probes, calls and scores. What an audit came to
(curves, measures, verdicts, standings, gates) stays for good, and so does all that people gave. Never removed are
the answers of audits that somebody approved or signed, that a gate was asked about (its certificate names their
rows) or held others against, that people drew packs of; the answers to anchors, which every comparison with a later
judge needs; and those to untouched pictures that people or production spoke of.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from judge_audit_schemas.rows import AuditsRow, JudgesRow

from judge_audit.core.tables import rows_of
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL
from judge_audit.lake.audits import first_names
from judge_audit.stimuli.combinations import chosen_id, soundings_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from judge_audit.lake.lake import Lake

    Going = Callable[[pa.Table], pa.ChunkedArray]

ANSWERS = ("calls", "scores")
BUILT = ("refusals", "mismatches", "unsuited", "zones")
"""Tables of a plan that go whole; of items and probes, those of anchors and those that people spoke of stay."""

SPOKEN_OF = ("labels", "choices", "reviews", "decisions", "appeals", "draws")
"""Tables in which people or production speak of items."""

BASELINES = 2
"""The newest audits of each judge's name always stay: the gate holds the next one against them."""

RUNNING = timedelta(days=7)
"""An audit that began within this time and is not complete may be running, or be run again."""

TABLE_JUDGE = "table"
NEWEST = "it is one of the newest of its judge: the next is held against it"
NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Retention:
    """What may go.

    Attributes:
        keep_days: Audits that ended within so many days stay; None sets no time.
        keep_audits: The newest so many audits of each judge's name stay; None sets no number.
    """

    keep_days: float | None
    keep_audits: int | None

    @property
    def rule(self) -> str:
        """Say it in words."""
        conditions = [
            f"ended more than {self.keep_days:g} days ago" if self.keep_days is not None else "",
            f"not among the newest {self.keep_audits} of its judge" if self.keep_audits is not None else "",
        ]
        return " and ".join(filter(None, conditions))


@dataclass(frozen=True, slots=True)
class Purged:
    """An audit whose raw answers go.

    Attributes:
        audit_id: The audit.
        judge_id: Its judge.
        plan_id: Its plan.
        probes: How many of the judge's answers to its plan go.
    """

    audit_id: str
    judge_id: str
    plan_id: str
    probes: int


@dataclass(frozen=True, slots=True)
class Decided:
    """What retention came to.

    Attributes:
        kept: Why each audit that the rule would let go stays, by audit.
        purged: The audits whose raw answers go.
        going: Which rows go, by table.
    """

    kept: Mapping[str, str]
    purged: tuple[Purged, ...]
    going: Mapping[str, Going]


def decide(lake: Lake, retention: Retention, now: datetime) -> Decided:
    """Say which raw answers go, and why audits that are old enough stay all the same.

    Args:
        lake: The lake.
        retention: What may go.
        now: The time.
    """
    audits = rows_of(lake.read("audits"), AuditsRow)
    complete = {row["audit_id"]: row for row in audits if row["status"] == "complete"}
    open_ = [row for row in audits if row["audit_id"] not in complete]
    gone = set(lake.select("purges", ["audit_id"], {})["audit_id"].to_pylist())
    reasons = _reasons(lake, complete)
    young = _young(lake, complete, retention, now)
    judges = rows_of(lake.select("judges", ["judge_id", "kind"], {}), JudgesRow)
    kinds = {row["judge_id"]: row["kind"] for row in judges}
    going = [
        row
        for name, row in sorted(complete.items())
        if name not in gone | young and name not in reasons and kinds.get(row["judge_id"]) != TABLE_JUDGE
    ]
    needed = [row for name, row in complete.items() if name not in gone and row not in going]
    needed += [row for row in open_ if row["started_at"] is None or row["started_at"] > now - RUNNING]
    kept = {name: why for name, why in sorted(reasons.items()) if name in complete and name not in young}
    return _rows_going(lake, going, needed, kept, complete)


def _young(lake: Lake, complete: Mapping[str, AuditsRow], retention: Retention, now: datetime) -> set[str]:
    """Name the audits that the rule lets stay."""
    young: set[str] = set()
    if retention.keep_days is not None:
        since = now - timedelta(days=retention.keep_days)
        young |= {
            name for name, row in complete.items() if row["ended_at"] is None or row["ended_at"] >= since
        }
    if retention.keep_audits is not None:
        young |= _newest(lake, complete, retention.keep_audits)
    return young


def _newest(lake: Lake, complete: Mapping[str, AuditsRow], count: int) -> set[str]:
    """Name the newest audits of each judge's name."""
    names = first_names(lake)
    by_name: dict[str, list[AuditsRow]] = {}
    for row in complete.values():
        by_name.setdefault(names.get(row["judge_id"]) or row["judge_id"], []).append(row)
    newest: set[str] = set()
    for rows in by_name.values():
        rows.sort(key=lambda row: (row["ended_at"] or NEVER, row["audit_id"]))
        newest.update(row["audit_id"] for row in rows[len(rows) - count :] if count)
    return newest


def _reasons(lake: Lake, complete: Mapping[str, AuditsRow]) -> dict[str, str]:
    """Say which audits stay whatever their age, and why; the gravest reason counts."""
    reasons = dict.fromkeys(_newest(lake, complete, BASELINES), NEWEST)
    sources = (
        ("packs", "audit_id", "people were handed a pack drawn from it"),
        ("gates", "baseline", "a gate held another audit against it"),
        ("gates", "audit_id", "a gate was asked about it, and the certificate names its rows"),
        ("signoffs", "audit_id", "somebody signed it"),
        ("approvals", "audit_id", "somebody approved it"),
    )
    for table, column, why in sources:
        audits = pc.unique(lake.select(table, [column], {})[column])
        reasons |= dict.fromkeys((name for name in audits.to_pylist() if name), why)
    return reasons


def plans_of(audit: AuditsRow, judges: Iterable[str]) -> set[str]:
    """Name the plans of an audit: its own, and those of combined probes, its judge's and each control's."""
    configuration = json.loads(audit["configuration"] or "{}")
    zones_id, plan_id = configuration.get("zones_id"), audit["plan_id"]
    plans = {plan_id, *configuration.get("combined_ids", ())}
    if zones_id:
        plans |= {soundings_id(plan_id, zones_id)} | {chosen_id(plan_id, zones_id, name) for name in judges}
    return plans - {None}


def _rows_going(
    lake: Lake,
    going: list[AuditsRow],
    needed: list[AuditsRow],
    kept: dict[str, str],
    complete: Mapping[str, AuditsRow],
) -> Decided:
    """Find the rows that belong to audits that go and to none that stays."""
    if not going:
        return Decided(kept, (), {})
    judges = rows_of(lake.select("judges", ["judge_id", "is_control"], {}), JudgesRow)
    controls = [row["judge_id"] for row in judges if row["is_control"]]
    plans = {
        row["audit_id"]: plans_of(row, controls) | plans_of(row, [row["judge_id"]])
        for row in [*going, *needed]
    }
    every = sorted(set().union(*plans.values()))
    probes = lake.select("probes", ["plan_id", "probe_id", "item_id", "axis"], {"plan_id": every})
    people = _spoken_of(lake)
    spared = _spared(probes, people)
    ours = {row["judge_id"] for row in complete.values()}
    asked: dict[str, pa.Array] = {}
    for judge_id in {row["judge_id"] for row in going}:
        asked[judge_id] = _only(
            probes,
            [plans[row["audit_id"]] for row in going if row["judge_id"] == judge_id],
            [plans[row["audit_id"]] for row in needed if row["judge_id"] == judge_id],
            spared,
        )
    instruments = _only(
        probes, [plans[row["audit_id"]] for row in going], [plans[row["audit_id"]] for row in needed], spared
    )
    asked |= {name: instruments for name in controls if name not in ours}
    purged, whole = [], set()
    for row in going:
        of_plan = _probe_ids(probes, plans_of(row, [row["judge_id"]]))
        count = pc.sum(pc.is_in(of_plan, value_set=asked[row["judge_id"]])).as_py() or 0
        if count:
            purged.append(Purged(row["audit_id"], row["judge_id"], row["plan_id"], count))
            whole.add(row["audit_id"])
        else:
            kept[row["audit_id"]] = "all its answers are those of audits that stay"
    stay = set().union(
        *(plans[row["audit_id"]] for row in needed), *(plans[name] for name in kept if name in plans)
    )
    dead = set().union(*(plans[name] for name in whole)) - stay if whole else set()
    items = pc.unique(probes.filter(pc.is_in(probes["probe_id"], value_set=spared))["item_id"])
    masks = _masks(asked, dead, spared, pa.array(sorted({*items.to_pylist(), *people}), pa.string()))
    return Decided(dict(sorted(kept.items())), tuple(purged), masks if whole else {})


def _probe_ids(probes: pa.Table, plans: Iterable[str]) -> pa.Array:
    """Give the probes of some plans, each once."""
    chosen = pc.is_in(probes["plan_id"], value_set=pa.array(sorted(plans), pa.string()))
    return pc.unique(probes.filter(chosen)["probe_id"])


def _only(probes: pa.Table, going: list[set[str]], needed: list[set[str]], spared: pa.Array) -> pa.Array:
    """Give the probes of plans that go and of none that stays, without those that are spared."""
    chosen = _probe_ids(probes, set().union(*going))
    stays = pc.or_(
        pc.is_in(chosen, value_set=_probe_ids(probes, set().union(*needed))),
        pc.is_in(chosen, value_set=spared),
    )
    return chosen.filter(pc.invert(stays))


def _spoken_of(lake: Lake) -> set[str]:
    """Name the items that people or production spoke of."""
    items: set[str] = set()
    for table in SPOKEN_OF:
        items |= set(pc.unique(lake.select(table, ["item_id"], {})["item_id"]).to_pylist())
    return items - {None}


def _spared(probes: pa.Table, people: set[str]) -> pa.Array:
    """Give the probes that stay whatever becomes of their audit: anchors, and untouched pictures spoken of."""
    spoken_of = pc.is_in(probes["item_id"], value_set=pa.array(sorted(people), pa.string()))
    untouched = pc.and_(pc.equal(probes["axis"], ORIGINAL), spoken_of)
    return pc.unique(probes.filter(pc.or_(pc.equal(probes["axis"], ANCHOR), untouched))["probe_id"])


def _masks(
    asked: Mapping[str, pa.Array], dead: set[str], probes: pa.Array, items: pa.Array
) -> dict[str, Going]:
    """Write down which rows go, table by table.

    Args:
        asked: The probes whose answers go, by judge.
        dead: The plans that go.
        probes: Probes that stay.
        items: Items that stay.
    """
    plans = pa.array(sorted(dead), pa.string())

    def answers(rows: pa.Table) -> pa.ChunkedArray:
        goes = pa.chunked_array([pa.array([False] * rows.num_rows)])
        for judge_id in pc.unique(rows["judge_id"]).to_pylist():
            if judge_id in asked:
                own = pc.equal(rows["judge_id"], judge_id)
                goes = pc.or_(goes, pc.and_(own, pc.is_in(rows["probe_id"], value_set=asked[judge_id])))
        return goes

    def of_plan(rows: pa.Table) -> pa.ChunkedArray:
        return pc.is_in(rows["plan_id"], value_set=plans)

    def but(column: str, stay: pa.Array) -> Going:
        return lambda rows: pc.and_(of_plan(rows), pc.invert(pc.is_in(rows[column], value_set=stay)))

    masks: dict[str, Going] = dict.fromkeys(ANSWERS, answers)
    masks |= dict.fromkeys(BUILT, of_plan)
    return masks | {"probes": but("probe_id", probes), "items": but("item_id", items)}
