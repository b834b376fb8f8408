"""What a piece of work costs, next to a piece of work of the same run."""

from __future__ import annotations

import time

import numpy as np


def seconds(work, runs=3):
    """Processor seconds of the shortest of some runs."""
    taken = []
    for _ in range(runs):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return min(taken)


def sorting(rows=1_000_000):
    """Processor seconds that sorting random numbers takes on this machine now: the unit of these benchmarks."""
    values = np.random.default_rng(0).random(rows)
    return seconds(lambda: np.sort(values))
