"""Verdicts on a change: is it the same order, and did people's order lose by it. Whole intervals decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_audit.checks.ladders.ladder_question import figure_columns
from judge_audit.core.formatting import about
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, items_needed

if TYPE_CHECKING:
    from judge_audit.decisions.judge_change.compared_judges import AnchorSet
    from judge_audit.decisions.judge_change.dimension_change import Both, OnDimension
    from judge_audit.measures.resampling import Resampled

DROP, NET = "tau_drop", "net_against_people"
FIGURES = {DROP: "drop", NET: "net"}
LIMITS = {DROP: "change.tau_drop", NET: "change.against_people"}
FINDINGS = {DROP: "reordered", NET: "reordered_against_people"}


def is_real(figure: Resampled, claims: int) -> bool:
    """Whether a loss lies wholly above 0 at the corrected level: more than noise."""
    return figure.usable and figure.interval(corrected_level(claims))[0] > 0


def _word(figure: Resampled, margin: float, claims: int) -> Verdict:
    """Pass if the loss is shown to be small (wholly below the margin at 90 %); fail if it is real and is not."""
    if figure.interval(PASS_LEVEL)[1] < margin:
        return Verdict.PASS
    return Verdict.FAIL if is_real(figure, claims) else Verdict.INCONCLUSIVE


def verdicts_of(both: Both, anchors: AnchorSet, part: OnDimension) -> list[dict[str, Any]]:
    """Judge one dimension; rows without the key's own columns."""
    return [_judged(both, anchors, part, measure) for measure in (DROP, NET)]


def missing_verdicts(both: Both, reason: str) -> list[dict[str, Any]]:
    """Say of both questions that nothing is known."""
    return [_row(both, measure, Verdict.MISSING, "", reason) for measure in (DROP, NET)]


def _row(
    both: Both,
    measure: str,
    verdict: Verdict,
    finding: str,
    reason: str,
    figure: Resampled | None = None,
) -> dict[str, Any]:
    told = {"measure": measure, "limit_high": both.limits[LIMITS[measure]], "verdict": verdict.value}
    told |= {"finding": finding, "provisional": False, "reason": reason, "n": 0}
    if figure is not None:
        told |= {name: value for name, value in figure_columns(figure).items() if name != "n_clusters"}
    return told


def _judged(both: Both, anchors: AnchorSet, part: OnDimension, measure: str) -> dict[str, Any]:
    """Judge one question in one dimension."""
    if part.whole is None:
        reason = say("change.few_anchors", dimension=part.dimension, n=len(part.anchors))
        return _row(both, measure, Verdict.MISSING, "", _with_unscored(part, reason))
    if why := _nothing_known(part, measure):
        finding = "never_repeated" if measure == DROP and part.unknown_noise else ""
        return _row(both, measure, Verdict.MISSING, finding, why)
    figure = part.whole.figures[FIGURES[measure]]
    margin = both.limits[LIMITS[measure]]
    verdict, notes = _word(figure, margin, both.claims), []
    few = len(part.anchors) < both.limits["change.min_anchors"]
    if verdict == Verdict.PASS and few:
        verdict = Verdict.INCONCLUSIVE
        notes.append(say("change.too_few", n=f"{both.limits['change.min_anchors']:.0f}"))
    if part.filled:
        ways = {_word(way.figures[FIGURES[measure]], margin, both.claims) for way in part.filled}
        if verdict != Verdict.INCONCLUSIVE and ways != {verdict}:
            verdict = Verdict.INCONCLUSIVE
            notes.append(say("change.refusals"))
    real = is_real(figure, both.claims)
    finding = FINDINGS[measure] if verdict == Verdict.FAIL else ""
    needed = None
    if verdict == Verdict.INCONCLUSIVE and figure.usable:
        needed = items_needed(figure.as_estimate(), margin, both.claims, high=margin)
        if needed and needed > len(part.anchors):
            notes.append(say("change.settle", n=about(needed)))
        else:
            needed = None
    reason = " ".join([_sentence(both, part, measure, verdict, real=real), *notes])
    reason = _with_unscored(part, _with_flips(anchors, part, measure, reason))
    return {**_row(both, measure, verdict, finding, reason, figure), "n_needed": needed}


def _nothing_known(part: OnDimension, measure: str) -> str:
    """Say why there is no figure, or nothing."""
    assert part.whole is not None
    if measure == NET:
        return "" if part.whole.people_pairs else say("change.no_people", dimension=part.dimension)
    if part.unknown_noise:
        tau = part.whole.figures["tau"]
        who = " / ".join(say(f"change.judge.{side}") for side in part.unknown_noise)
        return say("change.never_repeated", dimension=part.dimension, tau=_written(tau), who=who)
    return ""


def _sentence(both: Both, part: OnDimension, measure: str, verdict: Verdict, *, real: bool) -> str:
    assert part.whole is not None
    figures = part.whole.figures
    figure = figures[FIGURES[measure]]
    if not figure.usable:
        constant = "constant" if figures["tau"].value != figures["tau"].value else "few_clusters"
        return say(f"change.{constant}", dimension=part.dimension, n=figure.n_clusters)
    word = "real_small" if real and verdict == Verdict.PASS else verdict.value
    low, high = figure.interval(corrected_level(both.claims) if real else PASS_LEVEL)
    if measure == DROP:
        values = {
            name: f"{figures[key].value:.3f}"
            for name, key in (("tau", "tau_like_retest"), ("retest", "retest"))
        }
    else:
        values = {
            name: percent(figures[key].value)
            for name, key in (("against", "against"), ("won", "with_people"))
        }
    shown = (f"{value:.3f}" for value in (figure.value, low, high))
    if measure == NET:
        shown = (percent(value) for value in (figure.value, low, high))
    told = dict(zip(("value", "low", "high"), (text.replace("-", "−") for text in shown), strict=True))
    return say(f"change.{measure}_{word}", dimension=part.dimension, **values, **told)


def percent(share: float) -> str:
    """Write a share that is often small: one decimal."""
    return f"{100 * share:.1f} %"


def _written(figure: Resampled) -> str:
    return f"{figure.value:.3f}".replace("-", "−")


def _with_flips(anchors: AnchorSet, part: OnDimension, measure: str, reason: str) -> str:
    """Name how many pairs turned round, and the anchor that moved furthest."""
    assert part.whole is not None
    turned = part.whole.turned
    if measure != DROP or not len(turned.above):
        return reason
    across = int(anchors.across_tiers(part.anchors)[turned.above, turned.below].sum())
    furthest = int(abs(part.whole.displaced).argmax())
    told = say("change.flips", n=len(turned.above), pairs=part.whole.pairs, across=across)
    moved = say(
        "change.furthest",
        anchor=part.anchors[furthest],
        old=f"{part.whole.ranks_old[furthest]:g}",
        new=f"{part.whole.ranks_new[furthest]:g}",
        n=len(part.anchors),
    )
    return f"{reason} {told} {moved}"


def _with_unscored(part: OnDimension, reason: str) -> str:
    """Name how many anchors enter no figure, and which judge lacks them."""
    if not part.unscored:
        return reason
    counts = {"old": len(part.old_unscored), "new": len(part.new_unscored)}
    return f"{reason} {say('change.unscored', n=len(part.unscored), **counts)}"
