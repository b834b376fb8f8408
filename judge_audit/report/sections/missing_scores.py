"""What a judge's scale cannot carry, and why: averages and thresholds need an absolute scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Capability, Verdict
from judge_audit.decisions.standings import capability_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REFUSED = ("averages", "thresholds")


def refused_of(verdicts: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Say what is refused to a judge without an absolute scale; None to one that has it.

    Returns:
        what, and reasons, each once with its dimensions.
    """
    if capability_of(verdicts) == Capability.ABSOLUTE:
        return None
    held: dict[str, list[str]] = {}
    for row in verdicts:
        absolute = row["check"] == "scale" and row["measure"] == "absolute"
        if absolute and row["verdict"] != Verdict.PASS:
            held.setdefault(row["reason"], []).append(row["dimension"])
    reasons = [{"dimensions": names, "reason": reason} for reason, names in held.items()]
    unknown = {"dimensions": [], "reason": say("people.refused_unknown")}
    return {"what": list(REFUSED), "reasons": reasons or [unknown]}
