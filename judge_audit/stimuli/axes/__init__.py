"""The axes: one file each, found by its `AXES`.

They may import images, masks and `core`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_audit.core.discovery import modules_stating
from judge_audit.core.errors import MachineryError
from judge_audit.core.vocabulary import ANCHOR, ORIGINAL, POOLED
from judge_audit.stimuli.axes.axis import Axis
from judge_audit.stimuli.sight_probes import SIGHT

if TYPE_CHECKING:
    from types import ModuleType


def builtin_axes() -> dict[str, Axis]:
    """Give the shipped axes by name.

    Raises:
        MachineryError: If a file that states `AXES` holds no axes, or a name stands twice; names the file.
    """
    found: dict[str, Axis] = {}
    for module in modules_stating(__name__, "AXES"):
        file = module.__name__.rpartition(".")[2]
        for axis in axes_of(module, file):
            if axis.name in found:
                raise MachineryError(f"axes/{file}.py: the axis “{axis.name}” stands in another file too.")
            found[axis.name] = axis
    return found


def axes_of(module: ModuleType, origin: str) -> tuple[Axis, ...]:
    """Take the axes out of a file, or say what is wrong with it.

    Raises:
        MachineryError: If the file has no `AXES`, or one that cannot be climbed.
    """
    axes = getattr(module, "AXES", None)
    if not isinstance(axes, tuple) or not axes or not all(isinstance(axis, Axis) for axis in axes):
        raise MachineryError(f"axes/{origin}.py: a file of axes has a tuple AXES of Axis values.")
    for axis in axes:
        if axis.name in {ORIGINAL, ANCHOR, POOLED, *SIGHT}:
            raise MachineryError(
                f"axes/{origin}.py: “{axis.name}” is no name for an axis: it stands for something else in tables. "
                "Choose another."
            )
        rising = all(low < high for low, high in zip(axis.strengths, axis.strengths[1:], strict=False))
        if not axis.strengths or axis.strengths[0] <= 0 or not rising:
            raise MachineryError(
                f"axes/{origin}.py: the strengths of “{axis.name}” must rise from above 0; "
                "rung 0, the original, is not listed."
            )
    return axes


def fingerprint() -> str:
    """Name the libraries that draw: the same fingerprint draws the same pixels."""
    import cv2  # noqa: PLC0415 - heavy, and `judge-audit --help` passes here
    import numpy as np  # noqa: PLC0415

    return f"opencv {cv2.__version__}, numpy {np.__version__}"
