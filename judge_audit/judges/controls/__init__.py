"""Controls: judges with one planted fault each, found by their `CONTROL`.

They may import the protocol of judges, `stimuli` and `measures`, and no adapter.

Most answer from the recipes of probes; those whose fault lies in what they see are shown pixels; those that compare
serve beside judges that do.
"""

from __future__ import annotations

from judge_audit.core.discovery import modules_stating
from judge_audit.core.errors import MachineryError
from judge_audit.judges.controls.pairwise_control import PairControl, PairedJudge
from judge_audit.judges.controls.pixel_control import SeeingControl, SeeingJudge
from judge_audit.judges.controls.recipe_control import Control, PlantedJudge


def _found() -> tuple[Control | PairControl | SeeingControl, ...]:
    found = []
    for module in modules_stating(__name__, "CONTROL"):
        control: object = module.CONTROL
        if not isinstance(control, Control | PairControl | SeeingControl):
            file = module.__name__.rpartition(".")[2]
            raise MachineryError(f"controls/{file}.py: a control has a value CONTROL.")
        found.append(control)
    return tuple(found)


def control_list() -> tuple[Control, ...]:
    """Give the shipped controls that answer from recipes, by name.

    Raises:
        MachineryError: If a file in the folder is not a control; names the file.
    """
    return tuple(control for control in _found() if isinstance(control, Control))


def builtin_controls(zones_id: str, seed: int) -> tuple[PlantedJudge, ...]:
    """Bind the shipped controls that answer from recipes to the zones of an audit."""
    return tuple(PlantedJudge(control, zones_id, seed) for control in control_list())


def comparing_controls(zones_id: str, seed: int) -> tuple[PairedJudge, ...]:
    """Bind the shipped controls that compare to the zones of an audit."""
    found = (control for control in _found() if isinstance(control, PairControl))
    return tuple(PairedJudge(control, zones_id, seed) for control in found)


def seeing_controls() -> tuple[SeeingJudge, ...]:
    """Give the shipped controls that are shown pixels."""
    return tuple(SeeingJudge(control) for control in _found() if isinstance(control, SeeingControl))
