"""Rows of a change: pairs turned round, and every figure with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.checks.result_rows import figure_columns
from judge_audit.core.formatting import about
from judge_audit.core.messages import say
from judge_audit.core.vocabulary import WITHIN, Verdict
from judge_audit.measures.estimates import PASS_LEVEL, corrected_level, items_needed, wilson
from judge_audit.measures.resampling import combined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from judge_audit_schemas.rows import ResultRow

    from judge_audit.decisions.judge_change.compared_judges import AnchorSet, Both, OnDimension
    from judge_audit.measures.change import Compared
    from judge_audit.measures.resampling import Resampled

AGAINST, WITH, TIE, UNKNOWN = "against_people", "with_people", "tie", "unknown"
DIRECTIONS = {1.0: (AGAINST, "first"), -1.0: (WITH, "second"), 0.0: (TIE, "tie")}
MEASURES = {
    "tau": "tau",
    "tau_like_retest": "tau_like_retest",
    "retest": "retest_tau",
    "drop": "tau_drop",
    "against": "flips_against_people",
    "with_people": "flips_with_people",
    "net": "net_against_people",
    "top_churn": "top_churn",
    "retest_churn": "retest_churn",
}
SHARES = {"flips_against_people", "flips_with_people", "top_churn", "retest_churn"}
"""Measures between 0 and 1."""

OF_ONE = {"retest_old": "old judge", "retest_new": "new judge"}
"""Kinds of retest_tau that are one judge's own."""

DROP, NET = "tau_drop", "net_against_people"
FIGURES = {DROP: "drop", NET: "net"}
LIMITS = {DROP: "change.tau_drop", NET: "change.against_people"}
FINDINGS = {DROP: "reordered", NET: "reordered_against_people"}


def flip_rows(anchors: AnchorSet, part: OnDimension) -> Iterator[dict[str, Any]]:
    """Give the pairs turned round in a dimension; rows without judge, baseline, version and audit."""
    if part.whole is None:
        return
    turned, names = part.whole.turned, part.anchors
    known_of = {name: [text or None for text in anchors.column(names, name)] for name in ("tier", "kind")}
    across = anchors.across_tiers(names)
    ranks = {"old": part.whole.ranks_old.tolist(), "new": part.whole.ranks_new.tolist()}
    pairs = zip(turned.above.tolist(), turned.below.tolist(), turned.people.tolist(), strict=True)
    for first, second, people in pairs:
        known = not np.isnan(people)
        direction, order = DIRECTIONS[people] if known else (UNKNOWN, UNKNOWN)
        yield {
            "dimension": part.dimension,
            "anchor_first": names[first],
            "anchor_second": names[second],
            "tier_first": known_of["tier"][first],
            "tier_second": known_of["tier"][second],
            "kind_first": known_of["kind"][first],
            "kind_second": known_of["kind"][second],
            **{f"{side}_rank_first": ranks[side][first] for side in ranks},
            **{f"{side}_rank_second": ranks[side][second] for side in ranks},
            "people_order": order,
            "people_basis": ("labels" if part.by_label[first, second] else "tiers") if known else None,
            "direction": direction,
            "across_tiers": bool(across[first, second]),
            "firm": turned.firm,
        }


def measure_rows(anchors: AnchorSet, part: OnDimension) -> Iterator[dict[str, Any]]:
    """Give the figures of a dimension; rows without audit, subject, baseline and check."""
    lost, n = len(part.unscored), len(anchors.rows)
    yield {"dimension": part.dimension, "measure": "anchors_unscored", **_share(lost, n)}
    if part.whole is None:
        return
    told = {"dimension": part.dimension, "n_clusters": part.whole.figures["tau"].n_clusters}
    for row in _of_whole(part.whole):
        yield {**row, "dimension": part.dimension}
    counts = _counts(anchors, part, part.whole)
    for measure, (value, of) in counts.items():
        yield {**told, "measure": measure, "value": value, "n": of}
    if part.choices is not None:
        told = {"dimension": part.dimension, "measure": "first_choice_churn"}
        yield {**told, **_share(part.choices.changed, part.choices.groups)}
    for source, whole in part.sources.items():
        yield {**_figure("tau", whole.figures["tau"]), "dimension": part.dimension, "source": source}
    if part.sources:
        within = combined([whole.figures["tau"] for whole in part.sources.values()])
        yield {**_figure("tau", within), "dimension": part.dimension, "source": WITHIN}


def _of_whole(whole: Compared) -> Iterator[dict[str, Any]]:
    for name, figure in whole.figures.items():
        if not np.isfinite(figure.value):
            continue
        if name in OF_ONE:
            yield {**_figure("retest_tau", figure), "kind": OF_ONE[name]}
        else:
            yield _figure(MEASURES[name], figure)


def _figure(measure: str, figure: Resampled) -> dict[str, Any]:
    return {"measure": measure, **held(measure, figure)}


def held(measure: str, figure: Resampled) -> ResultRow:
    """Write a figure into result columns; ends of an interval that no share or correlation can have are cut."""
    columns = figure_columns(figure)
    low, high = (0.0, 1.0) if measure in SHARES else (-2.0, 2.0) if measure == "tau_drop" else (-1.0, 1.0)
    for name in ("ci_low", "ci_high"):
        if (end := columns[name]) is not None:
            columns[name] = min(max(end, low), high)
    return columns


def _counts(anchors: AnchorSet, part: OnDimension, whole: Compared) -> Mapping[str, tuple[float, int]]:
    """Give figures that are plain counts: value, and out of how many."""
    across = anchors.across_tiers(part.anchors)[whole.turned.above, whole.turned.below]
    return {
        "discordant_share": (whole.discordant / max(whole.pairs, 1), whole.pairs),
        "flips": (float(len(whole.turned.above)), whole.pairs),
        "flips_across_tiers": (float(across.sum()), whole.pairs),
        "largest_displacement": (float(np.abs(whole.displaced).max()), len(part.anchors)),
    }


def _share(hits: float, n: int) -> dict[str, Any]:
    """Write a share with Wilson's interval at the level at which all figures are shown."""
    low, high = wilson(hits, n, PASS_LEVEL)
    return {"value": hits / n if n else None, "ci_low": low, "ci_high": high, "n": n}


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
