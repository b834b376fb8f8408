"""Self-proof: were exactly the planted faults convicted, and how small a fault could have been shown?"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from scipy import special

from judge_audit.checks.mismatches.mismatch_rows import CELL
from judge_audit.core.messages import knows, say
from judge_audit.core.vocabulary import POOLED, Verdict
from judge_audit.judges.controls.recipe_control import ALL_AXES
from judge_audit.measures.estimates import corrected_level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from judge_audit_schemas.rows import MeasuresRow, VerdictsRow

    from judge_audit.judges.controls.pairwise_control import PairControl
    from judge_audit.judges.controls.pixel_control import SeeingControl
    from judge_audit.judges.controls.recipe_control import Control

NAME = "controls"
MISMATCH_CHECK, COPIES = "mismatch", "copies"


def expected(pairs: Iterable[tuple[str, str]], verdicts: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Write out a declaration for what an audit could judge.

    Args:
        pairs: The declaration, see `Control.convictions`.
        verdicts: All verdicts on the control; what was not tried is there as missing, or not at all.
    """
    tried: dict[str, set[str]] = {}
    for row in verdicts:
        if row["verdict"] != Verdict.MISSING and row.get("measure") != CELL:
            tried.setdefault(row["check"], set()).add(_subject(row))
    declared = set()
    for check, about in pairs:
        axes = tried.get(check, set())
        if about == ALL_AXES:
            declared |= {(check, name) for name in axes - {POOLED}}
        elif about.rpartition(" ")[2] in axes:
            declared.add((check, about))
    return declared


def convicted(verdicts: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Give what failed, as declarations name it; single cells of a matrix are summed up in their sub-score."""
    failed = (row for row in verdicts if row["verdict"] == Verdict.FAIL and row.get("measure") != CELL)
    return {(row["check"], _conviction(row)) for row in failed}


def _subject(row: Mapping[str, Any]) -> str:
    """Name what a verdict is about: the axis; of the mismatch check the sub-score, or copies."""
    if row["check"] != MISMATCH_CHECK:
        return str(row.get("axis", POOLED))
    return str(row.get("dimension", COPIES))


def _conviction(row: Mapping[str, Any]) -> str:
    """Name what a verdict convicts of: what it is about, with the finding before a sub-score's name."""
    about = _subject(row)
    return f"{row['finding']} {about}" if row["check"] == MISMATCH_CHECK and about != COPIES else about


def control_row(
    audit_id: str,
    judge_id: str,
    control: Control | PairControl | SeeingControl,
    verdicts: Sequence[VerdictsRow],
) -> VerdictsRow:
    """Say whether a control was convicted of exactly what it declares.

    Returns:
        A row of `verdicts`: check `controls`, kind the control's name, pass if caught (or cleared) exactly,
        inconclusive if this corpus was too small to catch it, fail if it was convicted of something else.
    """
    wanted = expected(control.convictions, verdicts)
    allowed = wanted | expected(control.tolerated, verdicts)
    convictions = convicted(verdicts)
    wrong, missed = sorted(convictions - allowed), sorted(wanted - convictions)
    if wrong:
        verdict, outcome, pairs = Verdict.FAIL, "wrong", wrong
    elif missed:
        verdict, outcome, pairs = Verdict.INCONCLUSIVE, "missed", missed
    elif wanted:
        verdict, outcome, pairs = Verdict.PASS, "caught", sorted(wanted)
    elif control.convictions:
        verdict, outcome, pairs = Verdict.MISSING, "untried", []
    else:
        verdict, outcome, pairs = Verdict.PASS, "cleared", []
    return {
        "audit_id": audit_id,
        "subject": judge_id,
        "check": NAME,
        "measure": "convicted",
        "kind": control.name,
        "value": float(len(convictions & wanted)),
        "n": len(wanted),
        "verdict": verdict.value,
        "finding": "",
        "reason": say(f"controls.{outcome}", pairs=_pairs(pairs), planted=control.description),
        "provisional": False,
    }


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Name convictions for people, each fault once with all its axes."""
    axes: dict[str, list[str]] = {}
    for check, axis in pairs:
        axes.setdefault(check, []).append(axis)
    return "; ".join(_fault(check, about) for check, about in axes.items())


def _fault(check: str, axes: Sequence[str]) -> str:
    if check == MISMATCH_CHECK:
        parts = [about.partition(" ") for about in axes]
        return ", ".join(
            say(f"controls.fault.{finding}", dimension=dimension) for finding, _, dimension in parts
        )
    key = f"controls.fault.{check}"
    name = say(key) if knows(key) else check
    known = [axis for axis in axes if axis != POOLED]
    return say("controls.fault_on", fault=name, axes=", ".join(known)) if known else name


def smallest_shown(measures: Sequence[MeasuresRow], margin: float, claims: int) -> list[MeasuresRow]:
    """Say the smallest premature lift this corpus would have convicted four times out of five.

    margin + (z + 0.84)·se per axis, with the judge's own standard error of the edge lift (its 90 % interval
    over Student's t) and z the two-sided normal quantile of the corrected level.
    """
    z = float(special.ndtri((1 + corrected_level(claims)) / 2)) + 0.84
    lifts = [row for row in measures if row["check"] == "premature" and row["measure"] == "edge_lift"]
    whole = [row for row in lifts if row.get("source", POOLED) == row.get("kind", POOLED) == POOLED]
    rows: list[MeasuresRow] = []
    for row in whole:
        if row["ci_low"] is None or row["ci_high"] is None or row["n_clusters"] is None:
            continue
        same = itemgetter("subject", "axis", "dimension")
        strata = sum(part.get("source", POOLED) != POOLED and same(part) == same(row) for part in lifts)
        df = row["n_clusters"] - max(strata, 1)
        error = (row["ci_high"] - row["ci_low"]) / 2 / float(special.stdtrit(df, 0.95))
        subject, axis, dimension = same(row)
        shown: MeasuresRow = {"audit_id": row["audit_id"], "subject": subject, "check": NAME}
        shown |= {"measure": "smallest_lift", "axis": axis, "dimension": dimension, "n": row["n"]}
        shown |= {"value": margin + z * error, "is_control": row.get("is_control", False)}
        rows.append(shown)
    return rows
