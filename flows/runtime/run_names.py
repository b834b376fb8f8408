"""What runs are called on Prefect's page, and their tags: which judge, which sources, which axes and kinds of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, PAIR_AXIS
from judge_audit.measures.headroom import is_combined
from judge_audit.stimuli.planning.blocks import named
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from judge_audit.audits.context import AuditContext
    from judge_audit.audits.model import Prepared
    from judge_audit.judges.cards.card import Card
    from judge_audit.stimuli.planning.blocks import Block

MOST_NAMES = 4
"""Names that a list is given with; of the others it is said how many there are."""


def judge_label(card: Card) -> str:
    """Call a judge by name and version."""
    return f"{card.name} {card.version or ''}".strip()


def run_tags(context: AuditContext) -> list[str]:
    """Tag a run with its project, where there is one, and its judge."""
    project = context.configuration.project
    of_project = [f"project:{Path(project).name}"] if project else []
    return [*of_project, f"judge:{judge_label(context.judge.card)}"]


def flow_run_label(verb: str, context: AuditContext) -> str:
    """Call the run of a flow: what it does to which judge, with pictures of which sources, along which axes."""
    parts = [f"{verb} {judge_label(context.judge.card)}"]
    if context.mode.asks_judge:
        parts += [_listed(context.inputs.items().items["source"].to_pylist()), _listed(context.inputs.axes)]
    return " · ".join(filter(None, parts))


class TaskLabels:
    """Calls the tasks of one audit by what they are about."""

    def __init__(self, context: AuditContext, prepared: Prepared) -> None:
        """Look up what each item is shown for in the audit's plans."""
        self._judge = judge_label(context.judge.card)
        self._axes: dict[str, dict[str, set[str]]] = {}
        for plan_id in sorted({block.plan_id or prepared.plan_id for block in prepared.blocks}):
            of_item = self._axes.setdefault(plan_id, {})
            names = [plan_id] if plan_id != prepared.plan_id else [plan_id, prepared.soundings_id]
            for name in names:
                probes = context.plans.table("probes", name).group_by(["item_id", "axis"]).aggregate([])
                for row in probes.to_pylist():
                    of_item.setdefault(row["item_id"], set()).add(_about(row["axis"]))
        self._plan_id = prepared.plan_id

    def of(self, taken: Sequence[Block], number: int) -> str:
        """Call the task that scores some blocks."""
        of_item = self._axes[taken[0].plan_id or self._plan_id]
        about = {name for block in taken for item in block.item_ids for name in of_item.get(item, ())}
        return f"score {self._judge} · {named(taken)} · {_listed(about)} · {number}"


def _about(axis: str) -> str:
    """Say what a probe is for: an axis, a kind of pairs, or one of the rest."""
    if axis.startswith(PAIR_AXIS):
        return f"pairs {axis.removeprefix(PAIR_AXIS)}"
    if is_combined(axis):
        return "combined changes"
    return {ORIGINAL: "untouched", ANCHOR: "anchors"}.get(axis, "sight" if axis in SIGHT else axis)


def _listed(names: Iterable[str]) -> str:
    """List some names, and say how many more there are; what is untouched goes without saying next to others."""
    every = sorted(set(names))
    shown = [name for name in every if name != "untouched"] or every
    more = len(shown) - MOST_NAMES
    return ", ".join(shown[:MOST_NAMES]) + (f" +{more}" if more > 0 else "")


def deployed_label() -> str:
    """Call the run of a deployed flow by what it does and to which judges; called by Prefect within the run."""
    from prefect.runtime import flow_run  # noqa: PLC0415 - not before its settings are exported

    parameters = flow_run.get_parameters()
    verb = str(flow_run.get_flow_name()).removeprefix("judge-audit-").replace("-", " ")
    judges = parameters.get("judges") or filter(None, [parameters.get("judge")])
    use = parameters.get("use")
    parts = [f"{verb} {_listed(judges) or 'the judge of audit.yaml'}", f"for {use}" if use else ""]
    return " · ".join(filter(None, parts))
