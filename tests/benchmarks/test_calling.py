"""Ratios within one run, so that the machine's speed does not matter."""

from __future__ import annotations

import os
import time

import cv2
import numpy as np
import pytest

from judge_audit.core.digests import pixel_digest
from judge_audit.judges import load_judge
from judge_audit.judges.calling.score_calls import score_block
from judge_audit.judges.cards.card import Card
from judge_audit.judges.protocol import Reply, Stimulus
from judge_audit.stimuli.axes import builtin_axes
from judge_audit.stimuli.axes.image_buffers import Scratch

AXES = {name: axis for name, axis in builtin_axes().items() if axis.default}


def _work(items=2, side=320):
    rng = np.random.default_rng(2)
    found = []
    for number in range(items):
        rough = cv2.GaussianBlur(rng.normal(size=(side, side, 3)), (0, 0), 3)
        pixels = np.clip(127 + 400 * rough, 0, 255).astype(np.uint8)
        item = {
            "item_id": f"i{number}",
            "source": "s",
            "pixel_digest": pixel_digest(pixels),
            "pixels": pixels,
        }
        rungs = [("original", 0.0), *((axis.name, x) for axis in AXES.values() for x in axis.strengths)]
        names = ("probe_id", "axis", "strength", "repeat", "prompt")
        found.append(
            (item, [dict(zip(names, (f"{number}{a}{x}", a, x, 0, ""), strict=True)) for a, x in rungs])
        )
    return found


class Sleeper:
    """A judge of 20 ms a picture that leaves the processor alone, as an endpoint or an accelerator does."""

    card = Card(kind="callable", name="sleeper", weights="w", batch_size=16)

    def __init__(self):
        self.busy = 0.0

    def score(self, stimuli):
        started = time.perf_counter()
        time.sleep(0.02 * len(stimuli))
        self.busy += time.perf_counter() - started
        return [Reply({"overall": 1.0}) for _ in stimuli]


def test_rendering_keeps_a_judge_of_20_ms_busy():
    judge, started = Sleeper(), time.perf_counter()
    list(score_block(judge, _work(), axes=AXES, load=lambda item: item["pixels"], answered={}))
    share = judge.busy / (time.perf_counter() - started)
    print(f"busy {share:.3f}")
    assert share >= 0.9


class Timed:
    """The default judge with a clock: `busy` is the time for which it was at work."""

    def __init__(self):
        self.judge = load_judge("brisque")
        self.card = self.judge.card
        self.busy = 0.0

    def score(self, stimuli):
        started = time.perf_counter()
        replies = self.judge.score(stimuli)
        self.busy += time.perf_counter() - started
        return replies


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="drawing and judging need a core each")
def test_scoring_with_the_default_judge_takes_hardly_longer_than_the_judge_itself():
    work, ratios = _work(), []
    for _ in range(4):
        judge, started = Timed(), time.perf_counter()
        list(score_block(judge, work, axes=AXES, load=lambda item: item["pixels"], answered={}))
        ratios.append((time.perf_counter() - started) / judge.busy)
    print("wall time over the judge's: " + ", ".join(f"{ratio:.3f}" for ratio in ratios))
    assert min(ratios) <= 1.1


@pytest.fixture(scope="module")
def shares():
    """Drawing's share of the default judge's time by side, in processor time of one thread, fastest of six.

    As in an audit, a batch is drawn and then judged.
    """
    cv2.setNumThreads(1)
    judge, scratch, found = load_judge("brisque"), Scratch(), {}
    for side in (320, 512):
        spent = []
        for _ in range(6):
            ((item, probes),) = _work(1, side)
            started = time.thread_time()
            pictures = [AXES[x["axis"]].draw(item["pixels"], x["strength"], scratch) for x in probes[1:]]
            drawn = time.thread_time()
            judge.score([Stimulus(pixels, "") for pixels in pictures])
            spent.append((drawn - started, time.thread_time() - drawn))
        drawing, judging = np.min(spent, axis=0)
        found[side] = drawing / judging
        print(f"{side} px: drawing {drawing:.3f} s, judging {judging:.3f} s, share {found[side]:.3f}")
    return found


def test_drawing_takes_less_than_a_fifth_of_the_default_judges_time(shares):
    assert max(shares.values()) <= 0.2


@pytest.mark.xfail(
    strict=True,
    reason="measured 0.14 at 320 and at 512 px: BRISQUE takes 1.5 and 3.9 ms a picture here, drawing 0.2 and 0.5 ms; "
    "the share was set for a BRISQUE of 7 and 18 ms, beside which drawing takes 0.03",
)
def test_rendering_costs_little_beside_the_default_judge(shares):
    assert max(shares.values()) <= 0.05
