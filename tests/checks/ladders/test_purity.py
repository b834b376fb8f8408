"""Purity against planted changes, an independent bootstrap, and real rungs."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from scipy import stats

from judge_audit.checks.ladders.purity import measure_purity
from judge_audit.measures.ladders import leakage, mean_changes
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch
from judge_audit.stimuli.surface_statistics import STATISTICS, measure_surface

AXES = {name: axis for name, axis in builtin_axes().items() if name in {"saturation+", "blur", "crop"}}


def _rows(axis, changes, originals, *, inert=0):
    """Responses of the ruler: every item untouched and at rung 1, the last `inert` items unchanged there."""
    found = []
    for number, (change, original) in enumerate(zip(changes, originals, strict=True)):
        place = {"item_id": f"i{number:03}", "source": "s", "cluster": f"c{number // 2}", "repeat": 0}
        found += [
            {**place, "axis": "original", "rung": 0, "dimension": name, "value": value, "state": "ok"}
            for name, value in zip(STATISTICS, original, strict=True)
        ]
        if number >= len(changes) - inert:
            found.append(
                {**place, "axis": axis, "rung": 1, "dimension": "*", "value": None, "state": "inert"}
            )
            continue
        found += [
            {**place, "axis": axis, "rung": 1, "dimension": name, "value": value, "state": "ok"}
            for name, value in zip(STATISTICS, original + change, strict=True)
        ]
    return found


@pytest.fixture
def planted():
    """Forty items whose chroma moves by two SDs and luma by half of one, up and down a little."""
    rng = np.random.default_rng(3)
    originals = rng.normal(100, 10, (40, len(STATISTICS)))
    spread = originals.std(axis=0, ddof=1)
    changes = np.zeros_like(originals)
    changes[:, STATISTICS.index("chroma")] = 2 * spread[STATISTICS.index("chroma")]
    changes[:, STATISTICS.index("luma")] = 0.5 * spread[STATISTICS.index("luma")] * rng.choice([0.9, 1.1], 40)
    return changes, originals


def _measured(findings, measure, kind="*"):
    rows = (*findings.measures, *findings.curves)
    (row,) = [row for row in rows if row["measure"] == measure and row.get("kind", "*") == kind]
    return row


def test_planted_changes_are_found_in_standard_deviations_and_as_leakage(planted):
    found = measure_purity("a", _rows("saturation+", *planted), AXES)
    assert _measured(found, "shift", "chroma")["value"] == pytest.approx(2.0)
    assert _measured(found, "shift", "contrast")["value"] == pytest.approx(0.0, abs=1e-12)
    leak = _measured(found, "leakage", "luma")
    assert leak["value"] == pytest.approx(0.25, abs=0.01)
    assert leak["ci_low"] < 0.25 < leak["ci_high"]
    assert _measured(found, "leakage", "noise")["value"] == pytest.approx(0.0, abs=1e-12)
    assert _measured(found, "rung_leakage", "luma")["value"] == leak["value"]


def test_rungs_that_change_no_pixel_enter_no_figure_but_the_share_of_such(planted):
    found = measure_purity("a", _rows("saturation+", *planted, inert=10), AXES)
    assert _measured(found, "shift", "chroma")["n"] == 30
    rows = [row for row in found.measures if row["measure"] == "inert_share" and row["axis"] == "saturation+"]
    assert [(row["value"], row["n"]) for row in rows] == [(0.25, 40)]


def test_an_axis_without_a_statistic_of_its_own_has_shifts_and_no_leakage(planted):
    found = measure_purity("a", _rows("crop", *planted), AXES)
    assert {row["measure"] for row in found.curves} == {"shift"}
    assert not [row for row in found.measures if row["measure"] == "leakage"]


def test_the_order_of_rows_changes_nothing(planted):
    rows = _rows("saturation+", *planted)
    assert measure_purity("a", rows[::-1], AXES) == measure_purity("a", rows, AXES)


def test_fewer_than_eight_clusters_give_a_figure_and_no_interval(planted):
    changes, originals = planted
    row = _measured(
        measure_purity("a", _rows("saturation+", changes[:10], originals[:10]), AXES), "leakage", "luma"
    )
    assert row["value"] > 0
    assert row["ci_low"] is None


def test_intervals_agree_with_a_bootstrap_over_independent_items():
    rng = np.random.default_rng(8)
    changes = np.column_stack([rng.normal(2, 0.5, 60), rng.normal(0.6, 0.8, 60)])
    names = [("s", str(number)) for number in range(60)]
    low, high = leakage(changes, 0, names)[1].interval(0.9)

    def ratio(own, other):
        return abs(other.mean()) / abs(own.mean())

    drawn = stats.bootstrap(
        (changes[:, 0], changes[:, 1]),
        ratio,
        paired=True,
        vectorized=False,
        n_resamples=3000,
        confidence_level=0.9,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert (low, high) == pytest.approx((drawn.low, drawn.high), abs=0.02)
    mean = mean_changes(changes, names)[1]
    low, high = stats.t.interval(0.9, 59, changes[:, 1].mean(), stats.sem(changes[:, 1]))
    assert mean.interval(0.9) == pytest.approx((low, high))


def test_clusters_not_items_are_what_an_interval_rests_on():
    rng = np.random.default_rng(8)
    once = np.column_stack([rng.normal(2, 0.5, 12), rng.normal(0.6, 0.8, 12)])
    names = [("s", str(number)) for number in range(12)]
    single = leakage(once, 0, names)[1]
    fourfold = leakage(np.repeat(once, 4, axis=0), 0, [name for name in names for _ in range(4)])[1]
    assert fourfold.interval(0.9) == pytest.approx(single.interval(0.9))


def test_real_saturation_moves_chroma_and_real_blur_moves_sharpness():
    rng = np.random.default_rng(4)
    rows = []
    for number in range(16):
        rough = cv2.GaussianBlur(rng.normal(size=(96, 96, 3)), (0, 0), 2)
        image = np.clip(rng.uniform(70, 180) + rng.uniform(80, 250) * rough, 0, 255).astype(np.uint8)
        place = {"item_id": f"i{number}", "source": "s", "cluster": f"c{number}", "repeat": 0, "state": "ok"}
        pictures = {("original", 0): image}
        scratch = Scratch()
        for name in ("saturation+", "blur"):
            rungs = enumerate(AXES[name].strengths, start=1)
            pictures |= {(name, rung): AXES[name].draw(image, x, scratch) for rung, x in rungs}
        for (axis, rung), pixels in pictures.items():
            told = measure_surface(pixels)
            rows += [
                {**place, "axis": axis, "rung": rung, "dimension": n, "value": told[n]} for n in STATISTICS
            ]
    found = measure_purity("a", rows, AXES)
    for axis, own, sign in (("saturation+", "chroma", 1), ("blur", "sharpness", -1)):
        shifts = [
            row["value"]
            for row in found.curves
            if row["measure"] == "shift" and row["axis"] == axis and row["kind"] == own
        ]
        assert len(shifts) == len(AXES[axis].strengths)
        assert np.all(sign * np.diff(shifts) > -0.001)
        assert sign * shifts[-1] > 1
        leaks = {
            row["kind"]: row["value"]
            for row in found.measures
            if row["measure"] == "leakage" and row["axis"] == axis
        }
        assert leaks["luma"] < 0.3
