"""Finding what a package's files state: every module below it that holds a constant of a given name.

A new axis, check, judge kind or mismatch kind is one new file with that constant; a file without it is a helper.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


@cache
def modules_stating(package: str, constant: str) -> tuple[ModuleType, ...]:
    """Import the modules below a package that state a constant, in the order of their dotted names.

    Args:
        package: Dotted name of the package; its sub-packages are searched as well.
        constant: Name of the module-level constant.
    """
    modules: list[ModuleType] = []
    for info in sorted(
        pkgutil.iter_modules(importlib.import_module(package).__path__), key=lambda entry: entry.name
    ):
        name = f"{package}.{info.name}"
        if info.ispkg:
            modules += modules_stating(name, constant)
        elif hasattr(module := importlib.import_module(name), constant):
            modules.append(module)
    return tuple(modules)
