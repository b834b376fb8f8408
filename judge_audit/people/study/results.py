"""What came of a study: thresholds, agreement, false alarms, consistency, and who reads out of line."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judge_audit.core.formatting import finite
from judge_audit.measures.agreement import INTERVAL, Ratings, alpha
from judge_audit.measures.estimates import PASS_LEVEL, Estimate, wilson
from judge_audit.measures.influence import Clusters
from judge_audit.people.study.marks import SECOND, MarkRow, Marks
from judge_audit.people.study.plan import slots_of
from judge_audit.people.zones import APART, QUANTILE, READ_ENOUGH, careless_readers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judge_audit.lake import Lake
    from judge_audit.people.study.plan import Ladder, Study
    from judge_audit.people.study.readers import Reader


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 90 % interval and what it rests on; None where there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def factor(apart: Mapping[str, Sequence[float]]) -> Figure:
    """Give the mean of differences of logarithms as a factor, its interval by clusters with Student's t."""
    means = [float(np.mean(moves)) for moves in apart.values()]
    n = sum(map(len, apart.values()))
    if not means:
        return Figure(None, None, None, 0)
    value = float(np.mean(means))
    if len(means) < 2:
        return Figure(math.exp(value), None, None, n)
    variance = float(np.var(means, ddof=1)) / len(means)
    estimate = Estimate(value, variance, len(means) - 1, n, len(means))
    logs = estimated(value, estimate, n)
    low, high = (None if end is None else math.exp(end) for end in (logs.low, logs.high))
    return Figure(math.exp(value), low, high, n)


def estimated(value: float, estimate: Estimate, n: int) -> Figure:
    """Make a figure of an estimate; its interval is left out where it would not be honest."""
    low, high = estimate.interval(PASS_LEVEL)
    sound = math.isfinite(low) and math.isfinite(high)
    return Figure(value, low if sound else None, high if sound else None, n)


def share(hits: int, n: int) -> Figure:
    """Make a figure of a share (Wilson)."""
    if not n:
        return Figure(None, None, None, 0)
    low, high = wilson(hits, n)
    return Figure(hits / n, low, high, n)


def log_point(ladder: Ladder, strength: float) -> float:
    """Give the logarithm of a point; "never" counts as one rung beyond the last."""
    if math.isfinite(strength):
        return math.log(strength)
    last = ladder.strengths[-1]
    return math.log(last) + (math.log(last / ladder.strengths[-2]) if len(ladder.strengths) > 1 else 1.0)


def median(values: Sequence[float]) -> float | None:
    """Give the lower median, so that "never" can be one."""
    return finite(float(np.quantile(values, 0.5, method="lower"))) if values else None


OUT_OF_LINE = 1.5
"""A reader is out of line whose points are, by the whole interval, more than this factor from those of most others."""

CLOSE = 2.0
"""Two points within this factor count as close."""


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """One reader.

    Attributes:
        reader: Who.
        order: Place in which the reader was assigned.
        read: Ladders read.
        of: Ladders there are.
        minutes: Time on the ladders.
        corrections: Marks corrected.
        alarms: Share of catch ladders on which a change was marked.
        set_aside: Whether that is too many.
        early: Marks where nothing had changed yet, or at the first rung.
        consistency: Share of repeated ladders marked within one rung of the first time.
        against: Factor between this reader's points and the median of the others'.
        out_of_line: Whether they are too far from most others'; of two readers alone nobody can say which.
    """

    reader: str
    order: int
    read: int
    of: int
    minutes: float
    corrections: int
    alarms: Figure
    set_aside: bool
    early: int
    consistency: Figure
    against: Figure
    out_of_line: bool


@dataclass(frozen=True, slots=True)
class AxisResult:
    """One axis.

    Attributes:
        axis: Its name.
        unit: Unit of its strengths.
        first: Its weakest strength.
        last: Its strongest.
        readers: The two whose points these are, None while two have not read it.
        items: Items with both points.
        points: Both points of each item, the smaller first; None for never.
        low: Median of the smaller points; None for never.
        high: Median of the larger points; None for never.
        cautious_low: What unread items take as the smaller point; None for never, or if too few are read.
        cautious_high: What unread items take as the larger point.
        lent: Whether unread items take anything.
        objectionable: Median of the larger objectionable points; None for never or not asked.
        alpha: Krippendorff's α (interval) of the logarithm of strength, all readers.
        ratio: Factor between the second reader's points and the first's.
        close: Share of items whose two points are within a factor of two.
        unreliable: Whether the points are a factor of four apart on half the items.
    """

    axis: str
    unit: str
    first: float
    last: float
    readers: tuple[str, str] | None
    items: int
    points: tuple[tuple[float | None, float | None], ...]
    low: float | None
    high: float | None
    cautious_low: float | None
    cautious_high: float | None
    lent: bool
    objectionable: float | None
    alpha: Figure
    ratio: Figure
    close: Figure
    unreliable: bool


@dataclass(frozen=True, slots=True)
class Results:
    """What came of a study."""

    study_id: str
    name: str
    protocol: str
    renderer: str
    readers: tuple[ReaderResult, ...]
    axes: tuple[AxisResult, ...]
    marks: int


def results_of(study: Study, lake: Lake, readers: Sequence[Reader]) -> Results:
    """Work out what came of a study whose readings are in a lake."""
    rows = Marks(study, lake).rows()
    latest = {
        (row["annotator_id"], row["item_id"], row["axis"], row["catch"], row["repeat"]): row for row in rows
    }
    careless = {reader.annotator_id for reader in readers} & set(careless_readers(list(latest.values())))
    ladders = {ladder.key: ladder for ladder in study.ladders}
    of_readers = tuple(_reader(study, reader, rows, latest, ladders, careless) for reader in readers)
    names = sorted({ladder.axis for ladder in study.ladders if not ladder.catch})
    of_axis: dict[str, list[MarkRow]] = {name: [] for name in names}
    for row in latest.values():
        if not row["catch"] and not row["repeat"] and row["annotator_id"] not in careless:
            of_axis[row["axis"]].append(row)
    axes = tuple(_axis(ladders, name, of_axis[name]) for name in names)
    return Results(study.study_id, study.name, study.protocol, study.renderer, of_readers, axes, len(rows))


def _reader(
    study: Study,
    reader: Reader,
    rows: Sequence[MarkRow],
    latest: Mapping[Any, MarkRow],
    ladders: Mapping[Any, Ladder],
    careless: set[str],
) -> ReaderResult:
    """Say how one reader reads."""
    who = reader.annotator_id
    own = [row for row in latest.values() if row["annotator_id"] == who]
    asked = [row for row in own if study.objectionable and row["objectionable"] is None]
    corrections = sum(row["annotator_id"] == who and row["reason"] not in {None, SECOND} for row in rows)
    seconds = sum(row["seconds"] or 0.0 for row in rows if row["annotator_id"] == who)
    catches = [row for row in own if row["catch"]]
    first = [row for row in own if not row["catch"] and not row["repeat"]]
    early = sum(row["perceptible"] <= ladders[_key(row)].strengths[0] * (1 + 1e-9) for row in first)
    others = {row["annotator_id"] for row in latest.values()} - careless - {who}
    points = _points(latest, ladders)
    far = sum(_is_far(_against(who, {other}, points, ladders)) for other in others)
    return ReaderResult(
        reader=who,
        order=reader.order,
        read=len(own) - len(asked),
        of=len(slots_of(study, reader.reader_id)),
        minutes=seconds / 60,
        corrections=corrections,
        alarms=share(sum(math.isfinite(row["perceptible"]) for row in catches), len(catches)),
        set_aside=who in careless,
        early=early,
        consistency=_consistency(own, ladders),
        against=_against(who, others, points, ladders),
        out_of_line=len(others) > 1 and 2 * far > len(others),
    )


def _is_far(against: Figure) -> bool:
    """Tell whether the whole interval of a factor lies beyond `OUT_OF_LINE`."""
    if against.low is None or against.high is None:
        return False
    return against.low > OUT_OF_LINE or against.high < 1 / OUT_OF_LINE


def _consistency(own: Sequence[MarkRow], ladders: Mapping[Any, Ladder]) -> Figure:
    """Give the share of repeated ladders that a reader marked within one rung of the first time."""
    by_ladder: dict[Any, dict[int, MarkRow]] = defaultdict(dict)
    for row in own:
        by_ladder[_key(row)][row["repeat"]] = row
    pairs = [(ladders[key], pair[0], pair[1]) for key, pair in by_ladder.items() if len(pair) > 1]
    same = sum(abs(_rung(ladder, one) - _rung(ladder, two)) <= 1 for ladder, one, two in pairs)
    return share(same, len(pairs))


def _points(
    latest: Mapping[Any, MarkRow], ladders: Mapping[Any, Ladder]
) -> dict[tuple[str, str, bool], dict[str, float]]:
    """Give the logarithm of every point, by ladder and reader."""
    points: dict[tuple[str, str, bool], dict[str, float]] = defaultdict(dict)
    for row in latest.values():
        if not row["catch"] and not row["repeat"]:
            points[_key(row)][row["annotator_id"]] = log_point(ladders[_key(row)], row["perceptible"])
    return points


def _against(
    who: str,
    others: set[str],
    points: Mapping[tuple[str, str, bool], Mapping[str, float]],
    ladders: Mapping[Any, Ladder],
) -> Figure:
    """Give the factor between one reader's points and the median of others' on the same ladders."""
    apart: dict[str, list[float]] = defaultdict(list)
    for key, by_reader in points.items():
        of_others = [value for name, value in by_reader.items() if name in others]
        if who in by_reader and of_others:
            apart[ladders[key].cluster].append(by_reader[who] - float(np.median(of_others)))
    return factor(apart)


def _axis(ladders: Mapping[Any, Ladder], name: str, rows: Sequence[MarkRow]) -> AxisResult:
    """Say what was found on one axis: the two readers assigned first make its points."""
    ladder = next(one for one in ladders.values() if one.axis == name and not one.catch)
    first, last = ladder.strengths[0], ladder.strengths[-1]
    by_item: dict[str, list[MarkRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["row"]):
        if row["perceptible"] > first * (1 + 1e-9):
            by_item[row["item_id"]].append(row)
    pairs = {item: marks[:2] for item, marks in sorted(by_item.items()) if len(marks) > 1}
    points = [sorted(float(row["perceptible"]) for row in pair) for pair in pairs.values()]
    lows, highs = [pair[0] for pair in points], [pair[1] for pair in points]
    objections = [
        max(asked)
        for pair in pairs.values()
        if len(asked := [row["objectionable"] for row in pair if row["objectionable"] is not None])
        == len(pair)
    ]
    apart: dict[str, list[float]] = defaultdict(list)
    for pair in pairs.values():
        one, two = (log_point(ladders[_key(row)], row["perceptible"]) for row in pair)
        apart[ladders[_key(pair[0])].cluster].append(two - one)
    lent = len(points) >= READ_ENOUGH
    far = sum(min(high, last) > APART * low for low, high in points)
    close = sum(abs(move) <= math.log(CLOSE) + 1e-9 for moves in apart.values() for move in moves)
    names = [row["annotator_id"] for row in next(iter(pairs.values()), [])]
    return AxisResult(
        axis=name,
        unit=ladder.unit,
        first=first,
        last=last,
        readers=(names[0], names[1]) if names else None,
        items=len(points),
        points=tuple((finite(low), finite(high)) for low, high in points),
        low=median(lows),
        high=median(highs),
        cautious_low=finite(float(np.quantile(lows, QUANTILE, method="lower"))) if lent else None,
        cautious_high=finite(float(np.quantile(highs, 1 - QUANTILE, method="higher"))) if lent else None,
        lent=lent,
        objectionable=median(objections),
        alpha=_alpha(ladders, by_item),
        ratio=factor(apart),
        close=share(close, len(points)),
        unreliable=bool(points) and 2 * far >= len(points),
    )


def _alpha(ladders: Mapping[Any, Ladder], by_item: Mapping[str, Sequence[MarkRow]]) -> Figure:
    """Give Krippendorff's α of the logarithm of strength over all readers."""
    items = {item: number for number, item in enumerate(sorted(by_item))}
    readers = sorted({row["annotator_id"] for marks in by_item.values() for row in marks})
    marks_of = [
        (items[item], readers.index(row["annotator_id"]), log_point(ladders[_key(row)], row["perceptible"]))
        for item, marks in by_item.items()
        for row in marks
    ]
    names = [ladders[_key(by_item[item][0])].cluster for item in items]
    if not marks_of:
        return Figure(None, None, None, 0)
    _, clusters = np.unique(names, return_inverse=True)
    columns = tuple(np.array(column) for column in zip(*marks_of, strict=True))
    shared = Clusters(clusters, np.zeros(int(clusters.max()) + 1, np.intp))
    agreement = alpha(Ratings(columns[0], columns[1], columns[2].astype(float), shared), INTERVAL)
    if not agreement.alpha.defined:
        return Figure(None, None, None, len(agreement.items))
    estimate = agreement.alpha.estimate(agreement.unseen)
    return estimated(agreement.alpha.value, estimate, len(agreement.items))


def _rung(ladder: Ladder, row: MarkRow) -> int:
    """Give the rung that was marked; one beyond the last for never."""
    point = float(row["perceptible"])
    return 1 + sum(value < point * (1 - 1e-9) for value in ladder.strengths)


def _key(row: MarkRow) -> tuple[str, str, bool]:
    return row["item_id"], row["axis"], row["catch"]
