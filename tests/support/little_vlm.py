"""The card of the little server's judge, and pictures to show it."""

from __future__ import annotations

import numpy as np

from judge_audit.judges.protocol import Stimulus

QUICK = {"attempts": 3, "first_wait": 0.01, "most_wait": 0.02}


def card(url, **more):
    fields = {
        "kind": "endpoint",
        "name": "vlm",
        "base_url": url,
        "model": "little-vlm",
        "prompt_template": "Rate: {prompt}",
    }
    fields |= {"scale_low": 0, "scale_high": 10, "retries": QUICK, "timeout": 2}
    return {name: value for name, value in {**fields, **more}.items() if value is not None}


def pictures(count, side=24, seed=3):
    drawn = np.random.default_rng(seed)
    return [drawn.integers(0, 255, (side, side + at, 3)).astype(np.uint8) for at in range(count)]


def stimuli(count, prompt="a cat", **more):
    return [Stimulus(image, prompt) for image in pictures(count, **more)]
