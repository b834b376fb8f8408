"""Mismatch: are the sub-scores several, and does each fall on its own damage and hold on the others'?

One verdict per sub-score. *deaf*: it does not fall on the damage it exists to catch. *halo*: it follows
another sub-score's damage. One verdict on all of them together: *copies*, if they behave as one score. A judge
that returns a total only has *no dimensions* and cannot pass; it is told which damage moved the total most. A judge
that compares is shown both members side by side, and asked whether it prefers the intact one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from judge_audit.checks.check import Check, Needs, cannot_be_asked
from judge_audit.checks.evidence import Findings
from judge_audit.checks.ladders.ladder_question import Judged
from judge_audit.checks.mismatches.mismatch_pairs import (
    CONSTRUCTED,
    HAND_MADE,
    in_our_words,
    match,
    of_people,
)
from judge_audit.checks.mismatches.mismatch_rows import (
    EFFECTIVE,
    NAME,
    SELECTIVITY,
    Matrix,
    cell_rows,
    damage,
    listed,
    subscore,
)
from judge_audit.checks.one_limit import answer
from judge_audit.checks.result_rows import deciding_level, interval_words
from judge_audit.core.formatting import number, percent
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import OVERALL, PAIR_AXIS, PEOPLE, State, Verdict
from judge_audit.measures.dimensions import Cell, holds
from judge_audit.measures.estimates import NOTHING, Answer, corrected_level, items_needed
from judge_audit.measures.paired_comparisons import clustered_mean
from judge_audit.stimuli.planning.comparisons import PAIRS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from judge_audit_schemas.rows import VerdictsRow

    from judge_audit.checks.evidence import Evidence
    from judge_audit.checks.result_rows import Figure, RowWriter

PREFERENCE = "damage_preference"


def run(evidence: Evidence) -> Findings:
    """Measure the response matrix of the deliberate mismatches and judge every sub-score by it."""
    if evidence.compared is not None:
        return _damage_preferred(evidence)
    evidence = in_our_words(evidence)
    matrices = _matrices(evidence, evidence.judge_id)
    if not matrices:
        writer = evidence.writer(NAME)
        row = writer.verdict(SELECTIVITY, Verdict.MISSING, say("mismatch.none"), "", NOTHING)
        return Findings(verdicts=(row,))
    claims = sum(len(matrix.holding(at)) for matrix in matrices for at in range(matrix.subscores))
    findings = Findings()
    for matrix in matrices:
        findings += Findings(measures=tuple(matrix.measures()))
        if matrix.subscores < 2:
            findings += Findings(verdicts=(_total_only(matrix),))
            continue
        answers = {
            (kind, at): _hold(matrix, kind, at, claims)
            for at in range(matrix.subscores)
            for kind, _ in matrix.holding(at)
        }
        copies = _copies(matrix, len(matrices))
        rows = [_dimension(matrix, at, answers, together=copies) for at in range(matrix.subscores)]
        rows += _not_returned(matrix)
        cells = cell_rows(matrix, answers, claims)
        findings += Findings(verdicts=(*rows, *([copies] if copies else []), *cells))
    return findings + _people(evidence)


def _people(evidence: Evidence) -> Findings:
    """Measure the same on people's labels of the same pairs; those invented for a control say nothing of anybody."""
    tables = [table for table in (evidence.labels, evidence.damaged_labels) if table is not None]
    labels = pa.concat_tables(tables, promote_options="default") if tables else None
    if labels is None or not labels.num_rows or evidence.is_control:
        return Findings()
    matrices = _matrices(of_people(evidence, labels), PEOPLE)
    rows = (row for matrix in matrices for row in matrix.measures())
    return Findings(measures=tuple(row for row in rows if row["value"] is not None))


def _matrices(evidence: Evidence, subject: str) -> list[Matrix]:
    """Give the matrices of hand-made and of constructed pairs, those there are."""
    aimed = [entry.damages for entry in evidence.kinds.values()]
    card = evidence.card.dimensions
    subscores = tuple(name for name in dict.fromkeys(aimed) if name in card)
    if len(subscores) < 2:
        dimensions, count = evidence.dimensions[:1], 0
    else:
        total = (OVERALL,) if OVERALL in card else ()
        dimensions, count = subscores + total, len(subscores)
    matched = (match(evidence, dimensions, origin) for origin in (HAND_MADE, CONSTRUCTED))
    return [Matrix(evidence, pairs, count, subject) for pairs in matched if pairs.kinds]


def _verdict(
    writer: RowWriter,
    measure: str,
    judged: Judged,
    figure: Figure = NOTHING,
    claims: int = 1,
    /,
    **columns: Unpack[VerdictsRow],
) -> VerdictsRow:
    level = deciding_level(judged.verdict, claims)
    reason = " ".join(judged.notes)
    return writer.verdict(measure, judged.verdict, reason, judged.finding, figure, level, **columns)


def _origin_note(matrix: Matrix) -> tuple[str, ...]:
    return (say("mismatch.constructed"),) if matrix.matched.origin == CONSTRUCTED else ()


def _total_only(matrix: Matrix) -> VerdictsRow:
    """Say that there are no dimensions, and what moved the total most."""
    notes = [say("mismatch.no_dimensions")]
    most = matrix.largest(0)
    if most is not None:
        notes.append(say("mismatch.moved_total", damage=damage(most[0]), value=number(most[1])))
    if _prompt_blind(matrix, 0):
        notes.append(say("mismatch.prompt_blind"))
    judged = Judged(Verdict.MISSING, "no_dimensions", (*notes, *_origin_note(matrix)))
    return _verdict(matrix.writer(), SELECTIVITY, judged)


def _prompt_blind(matrix: Matrix, at: int) -> bool:
    """Whether an exchanged prompt over the same picture changed not one score."""
    if matrix.matched.origin != CONSTRUCTED or "semantic_miss" not in matrix.matched.kinds:
        return False
    estimate = matrix.response_raw("semantic_miss", at)
    still = all(
        not group.raw(group.of_kind("semantic_miss"), at).values.any() for group in matrix.matched.usable(at)
    )
    return estimate.usable and still


def _not_returned(matrix: Matrix) -> Iterator[VerdictsRow]:
    """Name the sub-scores that a kind of damage is aimed at and the judge does not return."""
    for name in dict.fromkeys(entry.damages for entry in matrix.evidence.kinds.values()):
        if name not in matrix.judged:
            judged = Judged(Verdict.MISSING, "", (say("mismatch.not_returned", dimension=subscore(name)),))
            yield _verdict(matrix.writer(dimension=name), SELECTIVITY, judged)


def _hold(matrix: Matrix, kind: str, at: int, claims: int) -> Answer:
    """Ask whether a sub-score holds on another's damage; open unless that one fell."""
    own = matrix.own(kind)
    if own is None or kind not in matrix.fallen:
        return Answer(Verdict.INCONCLUSIVE)
    most = max(matrix.matched.missing_share(kind, place) for place in (own, at))
    if most > matrix.evidence.limits["ladder.missing_share"]:
        return Answer(Verdict.INCONCLUSIVE)
    groups = [(g, g.of_kind(kind, dimension=matrix.judged[at])) for g in matrix.matched.usable(own, at)]
    cell = Cell(
        tuple(g.lifts(which, own) for g, which in groups),
        tuple(g.raw(which, own) for g, which in groups),
        tuple(g.lifts(which, at) for g, which in groups),
        tuple(g.raw(which, at) for g, which in groups),
        tuple(g.scales[:, [own, at]] for g, _ in groups),
    )
    return holds(cell, matrix.evidence.limits["mismatch.spill"], claims)


def _copies(matrix: Matrix, claims: int) -> VerdictsRow | None:
    """Ask whether the sub-scores behave as one score; None where too few damages were done to say."""
    found = matrix.effective()
    if found is None:
        return None
    estimate, silent = found
    limit = matrix.evidence.limits["mismatch.n_eff"]
    verdict = answer(estimate, low=limit, claims=claims)
    # Sub-scores that may follow one another's damage are alike for a sound judge that is deaf to one of the two.
    if verdict == Verdict.FAIL and not any(matrix.holding(at) for at in matrix.aimed):
        verdict = Verdict.INCONCLUSIVE
    finding = "copies" if verdict == Verdict.FAIL else ""
    count = len(matrix.aimed) - len(silent)
    values = {"value": f"{estimate.value:.1f}", "count": count}
    name = finding or ("several" if verdict == Verdict.PASS else "n_eff_open")
    notes = [say(f"mismatch.{name}", **values)]
    if silent:
        notes.append(say("mismatch.silent", list=", ".join(subscore(entry) for entry in silent)))
    judged = Judged(verdict, finding, (*notes, *_origin_note(matrix)))
    return _verdict(matrix.writer(), EFFECTIVE, judged, estimate, claims, limit_low=limit)


def _dimension(
    matrix: Matrix,
    at: int,
    answers: dict[tuple[str, int], Answer],
    *,
    together: VerdictsRow | None,
) -> VerdictsRow:
    """Judge one sub-score: it must fall on its own damage and hold on the others'."""
    limits = matrix.evidence.limits
    own = [kind for kind in matrix.matched.kinds if matrix.own(kind) == at]
    falls = matrix.fall(own[0], at) if own else Answer(Verdict.MISSING)
    follows = [
        (kind, matrix.response(kind, at).value)
        for kind, _ in matrix.holding(at)
        if answers[kind, at].verdict == Verdict.FAIL
    ]
    steady = all(answers[kind, at].verdict == Verdict.PASS for kind, _ in matrix.holding(at))
    asked = {e.name for e in matrix.evidence.kinds.values() if matrix.judged[at] in e.holds}
    whole = asked <= {kind for kind, _ in matrix.holding(at)}
    judged = _decided(matrix, at, falls, follows, all_hold=steady and whole)
    copied = together is not None and together["finding"] == "copies"
    if judged.verdict == Verdict.PASS and (copied or _shaky(matrix, at)):
        judged = judged.opened()
    notes = _open_notes(matrix, at, own, judged, whole=whole)
    needed = None
    if judged.verdict == Verdict.INCONCLUSIVE and own and falls.verdict == Verdict.INCONCLUSIVE:
        fall = limits["mismatch.fall"]
        needed = items_needed(matrix.response(own[0], at), fall, len(matrix.judged), high=-fall)
    judged = Judged(judged.verdict, judged.finding, (*judged.notes, *notes, *_origin_note(matrix)))
    estimate = (None if judged.finding == "deaf" else matrix.selectivity(at)) or NOTHING
    return _verdict(
        matrix.writer(dimension=matrix.judged[at]),
        SELECTIVITY,
        judged,
        estimate,
        len(answers),
        limit_low=1 - limits["mismatch.spill"],
        n_needed=needed,
    )


def _decided(
    matrix: Matrix, at: int, falls: Answer, follows: list[tuple[str, float]], *, all_hold: bool
) -> Judged:
    """Turn the answers on one sub-score into a verdict."""
    name = subscore(matrix.judged[at])
    own = [kind for kind in matrix.matched.kinds if matrix.own(kind) == at]
    if not own and not follows:
        aim = next(e.name for e in matrix.evidence.kinds.values() if e.damages == matrix.judged[at])
        return Judged(Verdict.MISSING, "", (say("mismatch.no_pairs", dimension=name, damage=damage(aim)),))
    values = {"dimension": name, "damage": damage(own[0]) if own else ""}
    values["value"] = number(matrix.response(own[0], at).value) if own else ""
    if falls.verdict == Verdict.FAIL and not _at_floor(matrix, own[0], at):
        notes = [say("mismatch.deaf", **values)]
        if _prompt_blind(matrix, at) and own[0] == "semantic_miss":
            notes.append(say("mismatch.prompt_blind"))
        most = matrix.largest(at)
        if follows or (most is not None and most[0] != own[0] and abs(most[1]) > 0):
            damages = listed(follows or [most] if most else follows)
            notes.append(say("mismatch.eaten", dimension=name, list=damages))
        return Judged(Verdict.FAIL, "deaf", tuple(notes))
    if follows:
        return Judged(Verdict.FAIL, "halo", (say("mismatch.halo", dimension=name, list=listed(follows)),))
    if falls.verdict == Verdict.PASS and all_hold:
        return Judged(Verdict.PASS, "", (say("mismatch.selective", **values),))
    key = "mismatch.fall_open" if falls.verdict != Verdict.PASS else "mismatch.hold_open"
    return Judged(Verdict.INCONCLUSIVE, "", (say(key, **values),))


def _shaky(matrix: Matrix, at: int) -> bool:
    """Whether lifts are coarse or a source could rank nothing: neither supports a pass."""
    few = matrix.evidence.limits["ladder.coarse_reference"]
    groups = matrix.matched.groups
    return any(len(g.references[at].values) < few or not g.resolved[at] for g in groups)


def _at_floor(matrix: Matrix, kind: str, at: int) -> bool:
    """Whether too many intact members stand at the declared end already: they cannot fall."""
    card = matrix.evidence.card
    if card.scale_low is None or card.scale_high is None:
        return False
    floor = min(card.scale_low * matrix.evidence.sign, card.scale_high * matrix.evidence.sign)
    low = [
        bool(value <= floor) for g in matrix.matched.usable(at) for value in g.intact[g.of_kind(kind), at, 0]
    ]
    return bool(low) and sum(low) / len(low) > matrix.evidence.limits["ladder.no_room_share"]


def _open_notes(matrix: Matrix, at: int, own: Sequence[str], judged: Judged, *, whole: bool) -> list[str]:
    """Say what keeps a verdict open."""
    if judged.verdict != Verdict.INCONCLUSIVE:
        return []
    notes = []
    kinds = [*own, *(kind for kind, _ in matrix.holding(at))]
    shares = [matrix.matched.missing_share(kind, at) for kind in kinds]
    few = matrix.evidence.limits["ladder.coarse_reference"]
    if shares and max(shares) > matrix.evidence.limits["ladder.missing_share"]:
        notes.append(say("notes.refusals", share=percent(max(shares))))
    if own and _at_floor(matrix, own[0], at):
        notes.append(say("mismatch.no_room"))
    if any(not g.resolved[at] for g in matrix.matched.groups):
        notes.append(say("mismatch.unresolved"))
    elif _shaky(matrix, at):
        notes.append(say("notes.coarse", smallest=int(few)))
    mute = [kind for kind, _ in matrix.holding(at) if kind not in matrix.fallen]
    if mute:
        notes.append(say("mismatch.not_judged", list=", ".join(damage(kind) for kind in mute)))
    if not whole:
        notes.append(say("mismatch.kinds_missing"))
    return notes


def _damage_preferred(evidence: Evidence) -> Findings:
    """Judge the preference for the damaged member kind by kind; of dimensions nothing can be said.

    Pass: the 90 % interval lies below −`mismatch.preference`. Wholly above it at the corrected level:
    *misses damage*; wholly above +`mismatch.preference`: *prefers damaged*.
    """
    assert evidence.compared is not None
    kinds = sorted({row["axis"] for row in evidence.compared.to_pylist() if row["about"] == PAIRS})
    parts = (_of_kind(evidence, axis, len(kinds)) for axis in kinds)
    return sum(parts, cannot_be_asked(evidence, NAME, (SELECTIVITY,)))


def _of_kind(evidence: Evidence, axis: str, claims: int) -> Findings:
    rows = [row for row in evidence.of_axis(axis) if row["state"] == State.OK]
    values = np.array([row["value"] for row in rows], float)
    clusters = np.unique([row["cluster"] for row in rows], return_inverse=True)[1].astype(np.intp)
    figure = clustered_mean(values, clusters)
    limit = evidence.limits["mismatch.preference"]
    verdict, finding = answer(figure, high=-limit, claims=claims), ""
    if verdict == Verdict.FAIL:
        low, _ = figure.interval(corrected_level(claims))
        finding = "prefers_damaged" if low > limit else "misses_damage"
    kind = axis.removeprefix(PAIR_AXIS)
    words = {"kind": kind.replace("_", " "), "n": f"{len(values):,}", **interval_words(figure)}
    sentence = f"compared.damage.{finding or verdict.value}" if figure.usable else "compared.damage.few"
    writer = evidence.writer(NAME, dimension=OVERALL, kind=kind)
    row = writer.verdict(PREFERENCE, verdict, say(sentence, **words), finding, figure, limit_high=-limit)
    return Findings(measures=(writer.figure(PREFERENCE, figure),), verdicts=(row,))


CHECK = Check(NAME, run, needs=Needs.ANY)
