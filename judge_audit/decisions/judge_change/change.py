"""Comparing a judge with the one before it, on anchors: what changed of it, and what changed of the order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
from judge_audit_schemas.rows import JudgesRow

from judge_audit.core.errors import UsageError
from judge_audit.core.limits import Limits, read_limits
from judge_audit.core.messages import say
from judge_audit.core.tables import from_rows, rows_of
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.decisions.judge_change.compared_judges import (
    CLAIMS_EACH,
    AnchorSet,
    Both,
    Side,
    on_dimension,
    read_side,
)
from judge_audit.decisions.judge_change.identity import Difference, difference
from judge_audit.decisions.judge_change.rows import (
    flip_rows,
    is_real,
    measure_rows,
    missing_verdicts,
    verdicts_of,
)
from judge_audit.lake.audits import called

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa
    from judge_audit_schemas.rows import AuditsRow

    from judge_audit.decisions.judge_change.compared_judges import OnDimension
    from judge_audit.lake import Lake

    Row = dict[str, Any]

CHECK = "change"
OLD_ANCHORS = "old anchors"
"""Kind of figures on the anchor set of the baseline's audit, where the candidate's is another."""

SHOWN = 8
"""Names that a sentence lists."""


@dataclass(frozen=True, slots=True, eq=False)
class OnAnchors:
    """Two judges compared on one version of the anchors.

    Attributes:
        anchors: The version.
        kind: `*`, or `OLD_ANCHORS`.
        dimensions: What was compared, by dimension.
        verdicts: The verdicts, by dimension and measure; rows of `verdicts` without audit and judges.
    """

    anchors: AnchorSet
    kind: str
    dimensions: tuple[OnDimension, ...]
    verdicts: tuple[dict[str, Any], ...]

    def verdict(self, dimension: str, measure: str) -> dict[str, Any] | None:
        """Give one verdict."""
        wanted = (dimension, measure)
        return next((row for row in self.verdicts if (row["dimension"], row["measure"]) == wanted), None)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What changed from one judge to the next.

    Attributes:
        old: The judge before (the baseline).
        new: The judge after (the candidate).
        difference: Which part of the identity changed, and which did not.
        versions: The comparison on the candidate's anchors; then, if they are others, on the baseline's.
        notes: What the change of anchors alone did, and what is missing; one sentence each.
        claims: Verdicts given together.
    """

    old: Side
    new: Side
    difference: Difference
    versions: tuple[OnAnchors, ...]
    notes: tuple[str, ...]
    claims: int

    @property
    def real(self) -> bool | None:
        """Whether the order changed beyond both judges' noise anywhere; None if that is unknown somewhere."""
        parts = [part for version in self.versions for part in version.dimensions]
        drops = [part.whole.figures["drop"] for part in parts if part.whole is not None]
        if any(is_real(figure, self.claims) for figure in drops):
            return True
        return False if drops and len(drops) == len(parts) and all(drop.usable for drop in drops) else None

    @property
    def answers_differ(self) -> bool:
        """Whether the old anchors give another verdict than the new ones in any dimension."""
        first, *others = (
            {(row["dimension"], row["measure"]): row["verdict"] for row in part.verdicts}
            for part in self.versions
        )
        return any(part != first for part in others)

    @property
    def rank_changes(self) -> list[dict[str, Any]]:
        """Rows of `rank_changes`: every pair turned round, on every version."""
        told = {"judge_id": self.new.judge_id, "baseline": self.old.judge_id, "audit_id": self.new.audit_id}
        return [
            {**row, **told, "anchors_used": version.anchors.version}
            for version in self.versions
            for part in version.dimensions
            for row in flip_rows(version.anchors, part)
        ]

    @property
    def measures(self) -> list[dict[str, Any]]:
        """Rows of `measures`."""
        return [
            {**self._key(version), **row}
            for version in self.versions
            for part in version.dimensions
            for row in measure_rows(version.anchors, part)
            if version.kind == POOLED or "kind" not in row
        ]

    @property
    def verdicts(self) -> list[dict[str, Any]]:
        """Rows of `verdicts`: `tau_drop` (is it the same order) and `net_against_people` of each dimension."""
        return [{**self._key(version), **row} for version in self.versions for row in version.verdicts]

    def _key(self, version: OnAnchors) -> dict[str, Any]:
        told = {"audit_id": self.new.audit_id, "subject": self.new.judge_id, "baseline": self.old.judge_id}
        return {**told, "check": CHECK, "kind": version.kind}

    def tables(self) -> dict[str, pa.Table]:
        """Give everything as tables, ready for one commit."""
        return {
            "rank_changes": from_rows("rank_changes", self.rank_changes),
            "measures": from_rows("measures", self.measures),
            "verdicts": from_rows("verdicts", self.verdicts),
        }


def compare_judges(
    old: Side,
    new: Side,
    anchors: AnchorSet,
    old_anchors: AnchorSet | None = None,
    *,
    limits: Limits | None = None,
    seed: int = 0,
) -> Change:
    """Compare two judges on anchors.

    Args:
        old: The judge before.
        new: The judge after.
        anchors: The anchors of the new judge's audit.
        old_anchors: Those of the old judge's audit; left out if they are the same version.
        limits: The limits in force; the shipped ones if not given.
        seed: Seed of every draw.
    """
    shared = [name for name in new.dimensions if name in old.dimensions]
    both = Both(old, new, limits or read_limits(), seed, CLAIMS_EACH * max(len(shared), 1))
    versions = [_on_anchors(both, anchors, POOLED, shared)]
    if old_anchors is not None and old_anchors.version != anchors.version:
        versions.append(_on_anchors(both, old_anchors, OLD_ANCHORS, shared))
    told = difference(old.card, new.card)
    return Change(old, new, told, tuple(versions), tuple(_notes(versions)), both.claims)


def _on_anchors(both: Both, anchors: AnchorSet, kind: str, shared: list[str]) -> OnAnchors:
    parts = tuple(on_dimension(both, anchors, name) for name in shared)
    rows = [
        {**row, "dimension": part.dimension} for part in parts for row in verdicts_of(both, anchors, part)
    ]
    alone = [*both.old.dimensions, *both.new.dimensions]
    for name in sorted(set(alone) - set(shared)):
        who = say(f"change.judge.{'old' if name in both.old.dimensions else 'new'}")
        reason = say("change.only_one", dimension=name, who=who)
        rows += [{**row, "dimension": name} for row in missing_verdicts(both, reason)]
    if not rows:
        reason = say("change.no_scores")
        rows = [{**row, "dimension": POOLED} for row in missing_verdicts(both, reason)]
    return OnAnchors(anchors, kind, parts, tuple(rows))


def _notes(versions: list[OnAnchors]) -> list[str]:
    """Say what the change of anchors alone did: the same two judges on either version."""
    if len(versions) < 2:
        return []
    now, before = versions
    notes = [say("change.two_versions", new=now.anchors.version, old=before.anchors.version)]
    for part in before.dimensions:
        other = next(entry for entry in now.dimensions if entry.dimension == part.dimension)
        if part.whole is None or other.whole is None:
            continue
        words = [
            say(f"report.verdict.{Verdict((version.verdict(part.dimension, 'tau_drop') or {})['verdict'])}")
            for version in versions
        ]
        values = [entry.whole.figures["tau"].value for entry in (other, part) if entry.whole]
        notes.append(
            say(
                "change.anchors_alone",
                dimension=part.dimension,
                new=f"{values[0]:.3f}",
                old=f"{values[1]:.3f}",
                new_n=len(other.anchors),
                old_n=len(part.anchors),
                new_word=words[0],
                old_word=words[1],
            )
        )
        for side, lacking in (("old", part.old_unscored), ("new", part.new_unscored)):
            if lacking:
                who = say(f"change.judge.{side}")
                shown = ", ".join(lacking[:SHOWN]) + (", …" if len(lacking) > SHOWN else "")
                told = {"who": who, "n": len(lacking), "version": before.anchors.version, "list": shown}
                notes.append(say("change.not_scored", dimension=part.dimension, **told))
    return notes


def compare(
    lake: Lake,
    candidate_audit_id: str,
    baseline_audit_id: str,
    anchors: AnchorSet,
    old_anchors: AnchorSet | None = None,
    *,
    limits: Limits | None = None,
) -> Change:
    """Compare the judges of two audits on the anchors they scored.

    Both judges' scores are taken of the anchors in either audit's plan. Limits are those of the candidate's
    audit unless given; the seed is its seed.

    Args:
        lake: The lake.
        candidate_audit_id: Audit of the judge after.
        baseline_audit_id: Audit of the judge before.
        anchors: The anchors of the candidate's audit.
        old_anchors: Those of the baseline's audit, if they are another version.
        limits: The limits in force.

    Raises:
        UsageError: If the lake does not have one of the audits or judges.
    """
    audits = {name: _audit(lake, name) for name in (candidate_audit_id, baseline_audit_id)}
    plans = sorted({row["plan_id"] for row in audits.values()})
    new, old = (_side(lake, audits[name], plans) for name in (candidate_audit_id, baseline_audit_id))
    about = audits[candidate_audit_id]
    held = limits or read_limits(json.loads(about["configuration"] or "{}").get("limits"))
    return compare_judges(old, new, anchors, old_anchors, limits=held, seed=about["seed"] or 0)


def _audit(lake: Lake, audit_id: str) -> dict[str, Any]:
    rows = lake.read("audits", audit_id=audit_id)
    if not rows.num_rows:
        raise UsageError(
            f"the lake at {lake.url} has no audit “{audit_id}”; judge-audit lake tables lists it."
        )
    return dict(rows.take(pc.sort_indices(rows["status"])).to_pylist()[0])


def _side(lake: Lake, audit: dict[str, Any], plans: list[str]) -> Side:
    judge_id = audit["judge_id"]
    cards = rows_of(lake.read("judges", judge_id=judge_id), JudgesRow)
    if not cards:
        raise UsageError(
            f"the lake at {lake.url} has no card of the judge {judge_id} of audit {audit['audit_id']}."
        )
    name = called(lake, judge_id)
    if epoch := json.loads(cards[0]["card"] or "{}").get("epoch"):
        name = say("change.of_epoch", name=name, epoch=epoch)
    return read_side(lake, audit["audit_id"], plans, judge_id, cards[0]["card"], name)


def compare_with(lake: Lake, candidate: AuditsRow, others: Iterable[AuditsRow]) -> list[Change]:
    """Compare the candidate's judge with the judges of other audits on the anchors, and commit what was found.

    The same judge has the same order and is not compared; without anchors in either audit there is nothing to
    compare.

    Args:
        lake: The lake.
        candidate: A row of `audits`.
        others: Rows of `audits`.
    """
    found = []
    for other in {row["audit_id"]: row for row in others}.values():
        if other["judge_id"] == candidate["judge_id"]:
            continue
        new, old = (anchors_in(lake, row) for row in (candidate, other))
        anchors = new or old
        if anchors is None:
            continue
        change = compare(lake, candidate["audit_id"], other["audit_id"], anchors, old)
        lake.commit(change.tables())
        found.append(change)
    return found


def anchors_in(lake: Lake, audit: Mapping[str, Any]) -> AnchorSet | None:
    """Read the anchors an audit went by, under the names its scores know them by; None if it went by none."""
    if audit.get("anchor_set") is None:
        return None
    key = {"set_id": audit["anchor_set"], "anchor_version": audit["anchor_version"]}
    held = lake.read("anchors", **key)
    items = dict(zip(held["anchor_id"].to_pylist(), held["item_id"].to_pylist(), strict=True))
    tables = []
    for table in (held, lake.read("anchor_labels", **key)):
        names = [items.get(name, name) for name in table["anchor_id"].to_pylist()]
        place = table.schema.get_field_index("anchor_id")
        tables.append(table.set_column(place, "anchor_id", [names]))
    version = f"{audit['anchor_set']}/{audit['anchor_version']}"
    return AnchorSet(version, tables[0], tables[1])
