"""Names of modules under which a team's plug-ins for version 0.1.0 import what they are made of."""

from __future__ import annotations

import importlib
import sys

MOVED = {
    "judge_audit.axes": "judge_audit.stimuli.axes",
    "judge_audit.axes.axis": "judge_audit.stimuli.axes.axis",
    "judge_audit.axes.regions": "judge_audit.stimuli.axes.regions",
    "judge_audit.axes.scratch": "judge_audit.stimuli.axes.image_buffers",
    "judge_audit.brand": "judge_audit.stimuli.brand_rules",
    "judge_audit.digests": "judge_audit.core.digests",
    "judge_audit.errors": "judge_audit.core.errors",
    "judge_audit.images": "judge_audit.stimuli.images",
    "judge_audit.kinds": "judge_audit.stimuli.mismatches",
    "judge_audit.kinds.elements": "judge_audit.stimuli.mismatches.elements",
    "judge_audit.kinds.exchanges": "judge_audit.stimuli.mismatches.exchanges",
    "judge_audit.kinds.kind": "judge_audit.stimuli.mismatches.kind",
    "judge_audit.kinds.places": "judge_audit.stimuli.mismatches.places",
    "judge_audit.limits": "judge_audit.core.limits",
    "judge_audit.masks": "judge_audit.stimuli.images",
    "judge_audit.messages": "judge_audit.core.messages",
    "judge_audit.surface": "judge_audit.stimuli.surface_statistics",
    "judge_audit.tables": "judge_audit.core.tables",
    "judge_audit.vocabulary": "judge_audit.core.vocabulary",
}
"""Old name → where the module is now."""


def keep_old_names() -> None:
    """Let the old names import the modules where they are now; done once, before a plug-in is loaded."""
    for old, new in MOVED.items():
        if old not in sys.modules:
            module = importlib.import_module(new)
            sys.modules[old] = module
            parent, _, leaf = old.rpartition(".")
            if parent == "judge_audit":
                setattr(sys.modules[parent], leaf, module)
