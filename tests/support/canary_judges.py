"""Judges that are asked about canaries night after night, and the rule by which they are found to have changed."""

from __future__ import annotations

import numpy as np

from judge_audit.core.limits import read_limits
from judge_audit.measures.canaries import Answers, look

LIMITS = read_limits()
ALARM, SUSPICION, TOLERANCE = (
    LIMITS[f"canaries.{name}"] for name in ("false_alarm", "suspicion", "tolerance")
)


def same(quality):
    return quality


def shuffled(quality):
    return quality[np.random.default_rng(3).permutation(len(quality))]


def deterministic(rng, quality, times):
    return np.repeat(quality[:, None], times, 1)


def noisy(rng, quality, times):
    return quality[:, None] + 0.3 * rng.normal(size=(len(quality), times))


def integer(rng, quality, times):
    return np.clip(np.round(5 + 1.5 * quality[:, None] + 0.6 * rng.normal(size=(len(quality), times))), 0, 10)


def jumpy(rng, quality, times):
    """Whole numbers that are the same again but for three answers in a hundred."""
    told = np.repeat(np.round(5 + 1.5 * quality)[:, None], times, 1)
    return told + (rng.random(told.shape) < 0.03) * rng.choice([-1, 1], size=told.shape)


def refusing(rng, quality, times):
    told = noisy(rng, quality, times)
    return np.where(rng.random(told.shape) < 0.1, np.nan, told)


JUDGES = {judge.__name__: judge for judge in (deterministic, noisy, integer, jumpy, refusing)}

RETEST_SD = {"deterministic": 0.1, "noisy": 0.3, "integer": 0.4, "jumpy": 1 / 1.5, "refusing": 0.3}
"""One retest standard deviation in units of quality (of judges that have none, a little)."""


def answers(values, times):
    values = np.asarray(values, float)
    values = values[:, :, None] if values.ndim == 2 else values
    given = np.ones(values.shape[:2], bool)
    return Answers(values, given, np.broadcast_to(np.asarray(times, float), given.shape).copy())


def changed_nights(judge, becomes, *, seed, nights=1, canaries=16, first=2, every_night=False):
    """Watch a judge; say for each night asked about (the last, or every one) whether it was called changed.

    Args:
        judge: Draws answers from qualities.
        becomes: What becomes of the qualities on each night, given the night.
        seed: Seed.
        nights: Nights after the first.
        canaries: How many.
        first: Answers to each before the first night.
        every_night: Count every night, not the last alone.
    """
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=canaries)
    values, times = judge(rng, quality, first), [0] * first
    told = []
    for night in range(1, nights + 1):
        now = becomes(quality, night)
        values, times = np.hstack([values, judge(rng, now, 1)]), [*times, night]
        looked = look(answers(values, times), TOLERANCE, int(rng.integers(1 << 30)))
        moved = False
        if looked.suspicious(ALARM, SUSPICION):
            values, times = np.hstack([values, judge(rng, now, 3)]), [*times, *[night] * 3]
            moved = look(answers(values, times), TOLERANCE, int(rng.integers(1 << 30))).changed(ALARM)
        if every_night or night == nights:
            told.append(moved)
        if moved:
            break
    return told
