"""One dimension on one version of the anchors: both judges set out, compared, and filled in where scores miss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.digests import draw_seed
from judge_audit.decisions.judge_change.compared_judges import oriented, readings, scored
from judge_audit.measures.change import Choices, compared, first_choices
from judge_audit.measures.resampling import draws_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from judge_audit.core.limits import Limits
    from judge_audit.decisions.judge_change.compared_judges import AnchorSet, Side
    from judge_audit.measures.change import Compared

    Floats = NDArray[np.float64]

FEWEST = 3
"""With fewer anchors there is no order to speak of."""

LOW, HIGH = -1e30, 1e30

CLAIMS_EACH = 2
"""Verdicts on each dimension: is it the same order, and what did people's order lose."""


@dataclass(frozen=True, slots=True, eq=False)
class OnDimension:
    """Two judges compared in one dimension on one version of the anchors.

    Attributes:
        dimension: The dimension.
        anchors: Anchors that both scored often enough, sorted.
        old_unscored: Anchors that lack scores of the old judge.
        new_unscored: Anchors that lack scores of the new one.
        whole: The comparison; None with fewer than three anchors.
        sources: The same by source, without intervals where a source is small.
        choices: First choices among the anchors of one prompt; None if no two share one.
        filled: Comparisons with the missing scores put below and above all others, where too many miss.
        by_label: Whether people's order of a pair rests on labels, shape (n, n).
        unknown_noise: Judges that were asked once only, and are not known to repeat themselves: old, new.
    """

    dimension: str
    anchors: tuple[str, ...]
    old_unscored: tuple[str, ...]
    new_unscored: tuple[str, ...]
    whole: Compared | None
    sources: dict[str, Compared]
    choices: Choices | None
    filled: tuple[Compared, ...]
    by_label: NDArray[np.bool_]
    unknown_noise: tuple[str, ...]

    @property
    def unscored(self) -> tuple[str, ...]:
        """Anchors that enter no figure."""
        return tuple(sorted({*self.old_unscored, *self.new_unscored}))


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """The two judges, and what holds for the whole comparison.

    Attributes:
        old: The judge before.
        new: The judge after.
        limits: The limits in force.
        seed: Seed of every draw.
        claims: Verdicts given together.
    """

    old: Side
    new: Side
    limits: Limits
    seed: int
    claims: int


def on_dimension(both: Both, anchors: AnchorSet, dimension: str) -> OnDimension:
    """Compare two judges in a dimension."""
    names = list(anchors.rows)
    held = {side: oriented(judge, dimension, names) for side, judge in _sides(both)}
    fine = {side: scored(held[side], steady=judge.steady) for side, judge in _sides(both)}
    kept = fine["old"] & fine["new"]
    used = [name for name, keep in zip(names, kept, strict=True) if keep]
    values = {side: held[side][kept] for side in held}
    by_label = anchors.people(used, dimension)[1]
    whole = _compare(both, anchors, dimension, used, values) if len(used) >= FEWEST else None
    lost = 1 - len(used) / max(len(names), 1)
    filled: tuple[Compared, ...] = ()
    if whole is not None and lost > both.limits["ladder.missing_share"]:
        filled = tuple(_filled(both, anchors, dimension, names, held, fine, end) for end in (LOW, HIGH))
    return OnDimension(
        dimension,
        tuple(used),
        tuple(name for name, keep in zip(names, fine["old"], strict=True) if not keep),
        tuple(name for name, keep in zip(names, fine["new"], strict=True) if not keep),
        whole,
        dict(_by_source(both, anchors, dimension, used, values)) if whole is not None else {},
        _choices(anchors, used, values),
        filled,
        by_label,
        tuple(side for side, judge in _sides(both) if values[side].shape[1] < 2 and not judge.steady),
    )


def _sides(both: Both) -> tuple[tuple[str, Side], ...]:
    return ("old", both.old), ("new", both.new)


def _compare(
    both: Both,
    anchors: AnchorSet,
    dimension: str,
    names: list[str],
    values: dict[str, Floats],
    key: str = "",
) -> Compared:
    return compared(
        readings(values["old"], steady=both.old.steady),
        readings(values["new"], steady=both.new.steady),
        anchors.clusters(names),
        anchors.people(names, dimension)[0],
        top_share=both.limits["change.top_share"],
        ordered_share=both.limits["change.ordered_share"],
        draws=draws_for(both.claims),
        seed=draw_seed(
            both.seed, "change", both.new.judge_id, both.old.judge_id, anchors.version, dimension, key
        ),
    )


def _filled(
    both: Both,
    anchors: AnchorSet,
    dimension: str,
    names: list[str],
    held: dict[str, Floats],
    fine: dict[str, Any],
    end: float,
) -> Compared:
    """Compare once more with what one judge lacks put at an end; anchors that both lack stay out."""
    either = fine["old"] | fine["new"]
    values = {side: np.where(fine[side][:, None], held[side], end)[either] for side in held}
    used = [name for name, keep in zip(names, either, strict=True) if keep]
    return _compare(both, anchors, dimension, used, values, "filled")


def _by_source(
    both: Both, anchors: AnchorSet, dimension: str, names: list[str], values: dict[str, Floats]
) -> Iterator[tuple[str, Compared]]:
    """Compare inside each source that has anchors enough, if there is more than one."""
    sources = np.array(anchors.column(names, "source"), str)
    known = sorted(set(sources.tolist()) - {""})
    for source in known if len(known) > 1 else ():
        mine = sources == source
        if mine.sum() >= FEWEST:
            used = [name for name, keep in zip(names, mine, strict=True) if keep]
            part = {side: values[side][mine] for side in values}
            yield source, _compare(both, anchors, dimension, used, part, source)


def _choices(anchors: AnchorSet, names: list[str], values: dict[str, Floats]) -> Choices | None:
    """Hold first choices against one another in the prompts that have two anchors or more."""
    known = zip(anchors.column(names, "prompt_id"), anchors.column(names, "prompt"), strict=True)
    prompts = np.array([prompt_id or prompt for prompt_id, prompt in known], str)
    groups = {name: np.flatnonzero(prompts == name) for name in sorted(set(prompts.tolist()) - {""})}
    groups = {name: rows for name, rows in groups.items() if len(rows) > 1}
    if not groups:
        return None
    old, new = (np.nanmean(values[side], axis=1) for side in ("old", "new"))
    return first_choices(old, new, groups)
