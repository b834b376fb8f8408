"""What the stages of an audit hand on to one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judge_audit.anchors import AnchorsUsed
    from judge_audit.judges.canaries import Watched
    from judge_audit.stimuli.planning.blocks import Block


KEYS = ["probe_id", "repeat"]
"""What names a call of a judge."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A planned audit, named by ids: what the later stages are handed.

    Attributes:
        audit_id: This run.
        plan_id: What it asks.
        zones_id: What people see of the ladders.
        judge_id: Whom it asks.
        blocks: The shares of work.
        new_calls: Answers still to be bought.
        reused_calls: Answers that are in the lake already.
        warnings: What a person should know before trusting the figures.
        started_at: When it began, as ISO 8601 text.
        imports: Digest of each imported file it goes by, by `import <import_id>`.
        anchors: Which anchors it goes by; None if none were given.
        canaries: What the judge's canaries showed; None where its weights are pinned, and in a dry run.
    """

    audit_id: str
    plan_id: str
    zones_id: str
    judge_id: str
    blocks: tuple[Block, ...]
    new_calls: int
    reused_calls: int
    warnings: tuple[str, ...]
    started_at: str
    imports: Mapping[str, str]
    anchors: AnchorsUsed | None = None
    canaries: Watched | None = None
