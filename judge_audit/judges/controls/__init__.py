"""Controls: judges with one planted fault each, found by the `CONTROLS` that a file states.

They may import the protocol of judges, `stimuli` and `measures`, and no adapter.

Most answer from the recipes of probes; those whose fault lies in what they see are shown pixels; those that compare
serve beside judges that do.
"""

from __future__ import annotations

from typing import TypeVar

from judge_audit.core.discovery import modules_stating
from judge_audit.core.errors import MachineryError
from judge_audit.judges.controls.pairwise_control import PairControl, PairedJudge
from judge_audit.judges.controls.pixel_control import SeeingControl, SeeingJudge
from judge_audit.judges.controls.recipe_control import Control, PlantedJudge

Kind = TypeVar("Kind", Control, PairControl, SeeingControl)


def _of_kind(kind: type[Kind]) -> list[Kind]:
    """Give the shipped controls of a kind, by name."""
    controls: list[object] = []
    for module in modules_stating(__name__, "CONTROLS"):
        stated = module.CONTROLS
        if not isinstance(stated, tuple) or not all(
            isinstance(control, Control | PairControl | SeeingControl) for control in stated
        ):
            file = module.__name__.rpartition(".")[2]
            raise MachineryError(f"controls/{file}.py: CONTROLS is a tuple of controls.")
        controls += stated
    return sorted(
        (control for control in controls if isinstance(control, kind)), key=lambda control: control.name
    )


def control_list() -> tuple[Control, ...]:
    """Give the shipped controls that answer from recipes, by name.

    Raises:
        MachineryError: If what a file in the folder states are no controls; names the file.
    """
    return tuple(_of_kind(Control))


def builtin_controls(zones_id: str, seed: int) -> tuple[PlantedJudge, ...]:
    """Bind the shipped controls that answer from recipes to the zones of an audit."""
    return tuple(PlantedJudge(control, zones_id, seed) for control in _of_kind(Control))


def comparing_controls(zones_id: str, seed: int) -> tuple[PairedJudge, ...]:
    """Bind the shipped controls that compare to the zones of an audit."""
    return tuple(PairedJudge(control, zones_id, seed) for control in _of_kind(PairControl))


def seeing_controls() -> tuple[SeeingJudge, ...]:
    """Give the shipped controls that are shown pixels."""
    return tuple(SeeingJudge(control) for control in _of_kind(SeeingControl))
