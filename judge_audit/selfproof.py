"""Self-proof: were exactly the planted faults convicted, and how small a fault could have been shown?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import special

from judge_audit.judges.controls.planted import ALL_AXES
from judge_audit.measures.estimates import corrected_level
from judge_audit.messages import knows, say
from judge_audit.sight import SIGHT
from judge_audit.vocabulary import POOLED, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit.judges.controls.planted import Control
    from judge_audit.judges.controls.seeing import SeeingControl

NAME = "controls"
SIGHT_CHECK = "sight"


def expected(
    pairs: Iterable[tuple[str, str]], zoned_axes: Iterable[str], sight: Iterable[str] = ()
) -> set[tuple[str, str]]:
    """Write out a declaration for what an audit could judge.

    Args:
        pairs: The declaration.
        zoned_axes: Axes with zones; others cannot be judged.
        sight: Names of the sight probes that were asked.
    """
    zoned, asked = set(zoned_axes), set(sight)
    found = set()
    for check, axis in pairs:
        if axis == ALL_AXES:
            found |= {(check, name) for name in zoned}
        elif axis == "*" or axis in (asked if check == SIGHT_CHECK else zoned):
            found.add((check, axis))
    return found


def convicted(verdicts: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Give the (check, axis) pairs that failed."""
    return {(row["check"], row.get("axis", "*")) for row in verdicts if row["verdict"] == Verdict.FAIL}


def control_row(
    audit_id: str,
    judge_id: str,
    control: Control | SeeingControl,
    verdicts: Sequence[Mapping[str, Any]],
    zoned_axes: Iterable[str],
) -> dict[str, Any]:
    """Say whether a control was convicted of exactly what it declares.

    Returns:
        A row of `verdicts`: check `controls`, kind the control's name, pass if caught (or cleared) exactly,
        inconclusive if this corpus was too small to catch it, fail if it was convicted of something else.
    """
    zoned = set(zoned_axes)
    sight = {
        row["axis"]
        for row in verdicts
        if row["check"] == SIGHT_CHECK and row["axis"] in SIGHT and row["verdict"] != Verdict.MISSING
    }
    wanted = expected(control.convictions, zoned, sight)
    allowed = wanted | expected(control.tolerated, zoned, sight)
    found = convicted(verdicts)
    wrong, missed = sorted(found - allowed), sorted(wanted - found)
    if wrong:
        verdict, reason = (
            Verdict.FAIL,
            say("controls.wrong", pairs=_pairs(wrong), planted=control.description),
        )
    elif missed:
        verdict, reason = (
            Verdict.INCONCLUSIVE,
            say("controls.missed", pairs=_pairs(missed), planted=control.description),
        )
    elif wanted:
        verdict, reason = (
            Verdict.PASS,
            say("controls.caught", pairs=_pairs(sorted(wanted)), planted=control.description),
        )
    elif control.convictions:
        verdict, reason = Verdict.MISSING, say("controls.untried", planted=control.description)
    else:
        verdict, reason = Verdict.PASS, say("controls.cleared", planted=control.description)
    return {
        "audit_id": audit_id,
        "subject": judge_id,
        "check": NAME,
        "measure": "convicted",
        "kind": control.name,
        "value": float(len(found & wanted)),
        "n": len(wanted),
        "verdict": verdict.value,
        "finding": "",
        "reason": reason,
        "provisional": False,
    }


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Name convictions for people, each fault once with all its axes."""
    axes: dict[str, list[str]] = {}
    for check, axis in pairs:
        axes.setdefault(check, []).append(axis)
    return "; ".join(_fault(check, held) for check, held in axes.items())


def _fault(check: str, axes: Sequence[str]) -> str:
    key = f"controls.fault.{check}"
    name = say(key) if knows(key) else check
    known = [axis for axis in axes if axis != POOLED]
    return say("controls.fault_on", fault=name, axes=", ".join(known)) if known else name


def smallest_shown(measures: Sequence[Mapping[str, Any]], margin: float, claims: int) -> list[dict[str, Any]]:
    """Say the smallest premature lift this corpus would have convicted four times out of five.

    margin + (z + 0.84)·se per axis, with the judge's own standard error of the edge lift (its 90 % interval
    over Student's t) and z the two-sided normal quantile of the corrected level.
    """
    z = float(special.ndtri((1 + corrected_level(claims)) / 2)) + 0.84
    lifts = [row for row in measures if row["check"] == "premature" and row["measure"] == "edge_lift"]
    whole = [row for row in lifts if row.get("source", POOLED) == row.get("kind", POOLED) == POOLED]
    rows = []
    for row in whole:
        if row["ci_low"] is None or row["ci_high"] is None:
            continue
        same = ("subject", "axis", "dimension")
        strata = sum(
            part.get("source", POOLED) != POOLED and all(part[name] == row[name] for name in same)
            for part in lifts
        )
        df = row["n_clusters"] - max(strata, 1)
        error = (row["ci_high"] - row["ci_low"]) / 2 / float(special.stdtrit(df, 0.95))
        key = {name: row[name] for name in ("audit_id", *same, "is_control") if name in row}
        value = margin + z * error
        rows.append({**key, "check": NAME, "measure": "smallest_lift", "value": value, "n": row["n"]})
    return rows
