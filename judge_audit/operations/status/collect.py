"""How things stand in a lake: the last good audit of each judge, its gate, its approvals and what failed.

Only what is needed is read: the latest runs and audits, and of the audit told of its standing and a few figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judge_audit.core.errors import UsageError
from judge_audit.core.vocabulary import POOLED
from judge_audit.decisions.gate.approvals import approvals_of
from judge_audit.decisions.standings import position_of
from judge_audit.lake.audits import first_names
from judge_audit.operations.runs.run_history import newest, read_runs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from judge_audit.lake import Lake
    from judge_audit.operations.runs.run_history import Runs

    Row = dict[str, Any]

FIRST_LOOK = 24
"""Audits that are looked at first; further ones are read only where a judge has no complete one among them."""


@dataclass(eq=False)
class Held:
    """What a lake holds of runs, audits, gates and approvals, each read once and only where asked for.

    Attributes:
        lake: The lake.
        now: The time.
    """

    lake: Lake
    now: datetime

    @cached_property
    def names(self) -> dict[str, str]:
        """What each judge is called, by its id; controls are left out."""
        return first_names(self.lake)

    @cached_property
    def runs(self) -> Runs:
        """The latest runs, and every one without an end."""
        return read_runs(self.lake, self.now)

    @cached_property
    def audit_ids(self) -> list[str]:
        """The audits by name, the latest first as far as their names tell."""
        held = self.lake.partitions("audits")
        names = held if held is not None else set(self.lake.read("audits")["audit_id"].to_pylist())
        return newest(names, len(names))

    @cached_property
    def recent(self) -> list[str]:
        """The audits looked at first."""
        return newest(self.audit_ids, FIRST_LOOK)

    @cached_property
    def recent_audits(self) -> list[Row]:
        """Complete audits among these, the latest ended last."""
        return self.audits(self.recent)

    @cached_property
    def all_audits(self) -> list[Row]:
        """Every complete audit, the latest ended last."""
        return self.audits(self.audit_ids)

    @cached_property
    def approvals(self) -> list[Row]:
        """The approvals, the newest first."""
        return approvals_of(self.lake)

    @cached_property
    def gate_rows(self) -> list[Row]:
        """Answers of the gate about the audits looked at first, and about those of the latest runs."""
        asked = [row["audit_id"] for row in self.runs.ended if row["gate_id"]][:FIRST_LOOK]
        held: list[Row] = self.lake.read("gates", audit_id=sorted({*asked, *self.recent})).to_pylist()
        return held

    def audits(self, names: list[str]) -> list[Row]:
        """Read complete audits by name, the latest ended last."""
        rows = self.lake.read("audits", audit_id=names, status="complete").to_pylist() if names else []
        return sorted(rows, key=lambda row: (row["ended_at"], row["audit_id"]))

    def name_of(self, judge_id: str | None) -> str:
        """Give what a judge is called."""
        return self.names.get(judge_id or "", judge_id or "")

    def last_good(self, name: str) -> Row | None:
        """Find the last complete audit of a judge of a name."""
        for read in ("recent_audits", "all_audits"):
            own = [row for row in getattr(self, read) if self.name_of(row["judge_id"]) == name]
            if own:
                found: Row = own[-1]
                return found
        return None

    def watched(self, judge: str) -> tuple[list[str], list[str]]:
        """Give the names of the judges that are told of, and of the others in the lake.

        Args:
            judge: A name or judge_id; "" for those that are approved for anything, else that of the newest audit,
                else whatever runs were started for.

        Raises:
            UsageError: If the lake knows no such judge.
        """
        known = sorted(set(self.names.values()))
        if judge:
            asked_for = {row["judge"] for row in self._runs_told()}
            name = self.names.get(judge, judge)
            if name not in known and name not in asked_for:
                listed = ", ".join(known) or "none"
                raise UsageError(
                    f"--judge {judge}: the lake at {self.lake.url} knows no such judge; those it knows: {listed}."
                )
            return [name], [other for other in known if other != name]
        chosen = list(dict.fromkeys(self.name_of(row["judge_id"]) for row in self.approvals))
        if not chosen and (audits := self.recent_audits or self.all_audits):
            chosen = [self.name_of(audits[-1]["judge_id"])]
        if not chosen:
            begun = [self.run_name(row) for row in self._runs_told()]
            chosen = list(dict.fromkeys(name for name in begun if name))[:1]
        return sorted(chosen), [name for name in known if name not in chosen]

    def run_name(self, row: Row) -> str:
        """Give what the judge of a run is called, though the run may not have come to know it."""
        if row["judge_id"]:
            return self.name_of(row["judge_id"])
        for other in self._runs_told():
            if other["judge"] == row["judge"] and other["judge_id"]:
                return self.name_of(other["judge_id"])
        return str(row["judge"])

    def of_judge(self, rows: Iterable[Row], name: str) -> list[Row]:
        """Keep the runs of a judge of a name."""
        return [row for row in rows if name in {self.run_name(row), row["judge"]}]

    def _runs_told(self) -> tuple[Row, ...]:
        return (*self.runs.living, *self.runs.lost, *self.runs.ended)

    def position(self, audit_id: str) -> str:
        """Give the position that an audit came to."""
        return position_of(self.lake, audit_id)

    def coverage(self, audit: Row) -> Row:
        """Say of how much of what it asked an audit has an answer, and how much of real traffic it reached."""
        checks = ["completeness", "coverage"]
        rows = self.lake.read(
            "measures", audit_id=audit["audit_id"], check=checks, is_control=False
        ).to_pylist()
        lost: dict[str, float] = {}
        for row in rows:
            if (row["measure"], row["source"], row["subject"]) == ("state_share", POOLED, audit["judge_id"]):
                lost[row["dimension"]] = lost.get(row["dimension"], 0.0) + (row["value"] or 0.0)
        bare = {row["kind"]: row["value"] for row in rows if row["measure"] == "uncovered_share"}
        return {"answered_share": 1.0 - max(lost.values(), default=0.0), "uncovered_share": bare or None}
