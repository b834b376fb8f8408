"""What a comparison is made of: two judges with their scores on anchors, and what people say of the anchors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from judge_audit.core.digests import draw_seed
from judge_audit.core.vocabulary import OVERALL, POOLED, State, Verdict
from judge_audit.measures.change import Choices, Readings, compared, first_choices, order_pairs
from judge_audit.measures.lifts import rounded
from judge_audit.measures.resampling import draws_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from judge_audit.core.limits import Limits
    from judge_audit.lake import Lake
    from judge_audit.measures.change import Compared

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

ANCHOR = "anchor"
"""Axis of the probes that show the judge its anchors."""

TIERS = ("bad", "middling", "good")
"""Tiers of anchors, the worst first."""

SCORES = pa.schema(
    [
        ("anchor_id", pa.string()),
        ("dimension", pa.string()),
        ("repeat", pa.int64()),
        ("value", pa.float64()),
        ("state", pa.string()),
    ]
)
"""Scores of anchors as a comparison takes them; a call without any score stands with dimension `*`."""

FEWEST = 3
"""With fewer anchors there is no order to speak of."""

LOW, HIGH = -1e30, 1e30
CLAIMS_EACH = 2
"""Verdicts on each dimension: is it the same order, and what did people's order lose."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One of the two judges.

    Attributes:
        judge_id: The judge.
        card: Its card, as table `judges` holds it.
        scores: Its scores of anchors as the judge gave them, columns of `SCORES`.
        audit_id: The audit they belong to.
        name: What to call it.
        steady: Whether it is known to say the same again (True, False), None to see by the repeats.
    """

    judge_id: str
    card: Mapping[str, Any]
    scores: pa.Table
    audit_id: str = ""
    name: str = ""
    steady: bool | None = None

    @property
    def sign(self) -> float:
        """1 if higher is better, else −1."""
        return 1.0 if self.card.get("higher_is_better", True) else -1.0

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions it scored, in the order of its card."""
        told = pc.unique(self.scores["dimension"]).to_pylist()
        named = list(self.card.get("dimensions") or ())
        named += sorted(set(told) - set(named) - {POOLED})
        return tuple(name for name in named if name in told)


@dataclass(frozen=True, slots=True, eq=False)
class AnchorSet:
    """The anchors of one version.

    Attributes:
        version: Its name.
        anchors: anchor_id, and where known tier, kind, source, cluster, prompt_id or prompt.
        labels: anchor_id, dimension, value, and where known higher_is_better: one row a label; None if nobody
            has labelled.
    """

    version: str
    anchors: pa.Table
    labels: pa.Table | None = None
    _rows: dict[str, dict[str, Any]] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The anchors by name, sorted."""
        if not self._rows:
            told = sorted(self.anchors.to_pylist(), key=lambda row: str(row["anchor_id"]))
            self._rows.update({row["anchor_id"]: row for row in told})
        return self._rows

    def column(self, names: Sequence[str], column: str) -> list[str]:
        """Give what is known of some anchors, "" where nothing is."""
        return [str(self.rows[name].get(column) or "") for name in names]

    def clusters(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Number the clusters of some anchors; one without a cluster is one by itself."""
        held = [self.rows[name].get("cluster") or f"\0{name}" for name in names]
        return np.unique(np.array(held, str), return_inverse=True)[1].astype(np.intp)

    def across_tiers(self, names: Sequence[str]) -> Mask:
        """Say which pairs are of different tiers, both known: shape (n, n)."""
        tiers = np.array(self.column(names, "tier"), str)
        known = tiers != ""
        return np.asarray((tiers[:, None] != tiers[None, :]) & known[:, None] & known[None, :])

    def people(self, names: Sequence[str], dimension: str) -> tuple[Floats, Mask]:
        """Say whom people put above, by labels of the dimension, else by tiers.

        Args:
            names: Anchors, n of them.
            dimension: The judge's dimension. `overall` without labels of its own takes the mean of people's
                dimensions where all are there.

        Returns:
            +1, −1, 0 or NaN (unknown) for each pair, and whether that rests on labels; shapes (n, n).
        """
        by_label = order_pairs(self._label_means(names, dimension))
        tiers = [TIERS.index(tier) if tier in TIERS else np.nan for tier in self.column(names, "tier")]
        by_tier = order_pairs(np.array(tiers, float))
        by_tier[by_tier == 0] = np.nan  # one tier holds better and worse ones
        labelled = np.isfinite(by_label)
        return np.where(labelled, by_label, by_tier), labelled

    def _label_means(self, names: Sequence[str], dimension: str) -> Floats:
        means = self._by_dimension()
        wanted = [dimension] if dimension in means else sorted(means) if dimension == OVERALL else []
        if not wanted:
            return np.full(len(names), np.nan)
        held = [[means[one].get(name, np.nan) for name in names] for one in wanted]
        return rounded(np.mean(np.array(held, float), axis=0))

    def _by_dimension(self) -> dict[str, dict[str, float]]:
        gathered: dict[str, dict[str, list[float]]] = {}
        for row in self.labels.to_pylist() if self.labels is not None else ():
            if row["value"] is None or not np.isfinite(row["value"]):
                continue
            sign = 1.0 if row.get("higher_is_better", True) in {True, None} else -1.0
            told = gathered.setdefault(row["dimension"], {}).setdefault(row["anchor_id"], [])
            told.append(sign * float(row["value"]))
        return {
            name: {anchor: float(np.mean(sorted(values))) for anchor, values in held.items()}
            for name, held in gathered.items()
        }


def oriented(side: Side, dimension: str, names: Sequence[str]) -> Floats:
    """Set out a judge's scores of some anchors, higher is better: (n, repeats), NaN where there is none."""
    place = {name: at for at, name in enumerate(names)}
    mine = side.scores.filter(pc.equal(side.scores["dimension"], dimension)).to_pylist()
    mine = [row for row in mine if row["anchor_id"] in place]
    width = 1 + max((row["repeat"] for row in mine), default=0)
    values = np.full((len(names), width), np.nan)
    for row in mine:
        if row.get("state", State.OK) == State.OK and row["value"] is not None:
            values[place[row["anchor_id"]], row["repeat"]] = side.sign * row["value"]
    return values


def scored(values: Floats, *, steady: bool | None) -> Mask:
    """Say which anchors have enough scores: more than half of the repeats, or any of a steady judge."""
    known = np.isfinite(values).sum(axis=1)
    return np.asarray(known > (0 if steady else values.shape[1] / 2))


def readings(values: Floats, *, steady: bool | None) -> Readings:
    """Make readings of scores in which every anchor has one."""
    return Readings(values, steady)


def read_side(lake: Lake, audit_id: str, plans: Sequence[str], judge_id: str, card: str, name: str) -> Side:
    """Read what a judge said of the anchors of some plans.

    Args:
        lake: The lake.
        audit_id: Its audit: whether the judge repeats itself is taken from there.
        plans: Plans whose anchors are meant.
        judge_id: The judge.
        card: Its card as JSON.
        name: What to call it.
    """
    probes = lake.read("probes", plan_id=list(plans), axis=ANCHOR).select(["probe_id", "repeat", "item_id"])
    keys = ["probe_id", "repeat"]
    probes = probes.group_by([*keys, "item_id"]).aggregate([])
    calls = lake.read("calls", judge_id=judge_id).select([*keys, "state"])
    scores = lake.read("scores", judge_id=judge_id).select([*keys, "dimension", "value", "state"])
    answered = probes.join(scores, keys, join_type="inner")
    silent = probes.join(calls, keys, join_type="inner").join(
        scores.select(keys).group_by(keys).aggregate([]), keys, join_type="left anti"
    )
    silent = silent.append_column("dimension", pa.array([POOLED] * silent.num_rows, pa.string()))
    silent = silent.append_column("value", pa.nulls(silent.num_rows, pa.float64()))
    columns = ["item_id", "dimension", "repeat", "value", "state"]
    joined = pa.concat_tables([answered.select(columns), silent.select(columns)])
    held = joined.rename_columns(SCORES.names).cast(SCORES)
    held = held.sort_by([(column, "ascending") for column in ("anchor_id", "dimension", "repeat")])
    return Side(judge_id, json.loads(card), held, audit_id, name, _repeats_itself(lake, audit_id, judge_id))


def _repeats_itself(lake: Lake, audit_id: str, judge_id: str) -> bool | None:
    """Take from the audit whether the judge was seen to say the same twice; None if nobody knows."""
    told = lake.read("verdicts", audit_id=audit_id, subject=judge_id, check="sight", measure="repeat_moved")
    rows = told.to_pylist()
    if any(row["finding"] in {"retest_noise", "not_repeatable"} for row in rows):
        return False
    return True if rows and all(row["verdict"] == Verdict.PASS for row in rows) else None


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
