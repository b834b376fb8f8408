"""Controls that give one score: the honest ones, and those with a fault on an axis or of the scale."""

from __future__ import annotations

from scipy.special import ndtri

from judge_audit.judges.controls.recipe_control import ALL_AXES, Control, honest, probe_words, seen_share
from judge_audit.measures.headroom import read_combo

RETEST_NOISE = 0.25
JITTER = 0.01
SATURATION_CLIMB = 0.8

HACKED = frozenset({"saturation+", "contrast+"})
HACK_CLIMB = 0.9

DRIFTING = frozenset({"sharpen", "contrast+"})
LIKED = -0.2
"""What the first source makes of the honest fall: a small rise, too small to turn the axis as a whole."""

CONTROLS = (
    Control(
        name="honest",
        description="Answers every axis as people would; must be cleared.",
        convictions=frozenset(),
        answer=honest,
    ),
    Control(
        name="stochastic",
        description="Honest, but never gives the same score twice; must be cleared.",
        convictions=frozenset(),
        answer=lambda recipe, quality, change, draw: (
            quality
            + change
            + RETEST_NOISE * float(ndtri(draw("noise", *probe_words(recipe), str(recipe.repeat))))
        ),
    ),
    Control(
        name="blur-blind",
        description="Its score does not answer blur, however strong.",
        convictions=frozenset({("top_response", "blur")}),
        answer=lambda recipe, quality, change, _: quality if recipe.axis == "blur" else quality + change,
    ),
    Control(
        name="rewarded-brightness",
        description="Its score rises when brightness is overdone.",
        convictions=frozenset({("top_response", "brightness+")}),
        answer=lambda recipe, quality, change, _: (
            quality - change if recipe.axis == "brightness+" else quality + change
        ),
    ),
    Control(
        name="saturation-lover",
        description="Its score climbs with saturation below the visible point.",
        # A climb is also a move below the visible point, so the jitter question sees it too.
        convictions=frozenset({("premature", "saturation+"), ("jitter", "saturation+")}),
        # So do combined changes that nobody sees, where they are scored.
        tolerated=frozenset({("headroom", "*")}),
        answer=lambda recipe, quality, change, _: (
            quality + change + SATURATION_CLIMB * seen_share(recipe, "saturation+")
        ),
    ),
    Control(
        name="hackable",
        description="Clean on every axis alone; saturation and contrast raised together, unseen, lift the score.",
        convictions=frozenset({("headroom", "*")}),
        answer=lambda recipe, quality, change, _: (
            quality + change + (HACK_CLIMB if set(read_combo(recipe.axis).axes) >= HACKED else 0.0)
        ),
    ),
    Control(
        name="source-drifting",
        description="Overdone sharpening and contrast cost much, but are liked a little in the images of one source.",
        convictions=frozenset({("stability", "*")}),
        answer=lambda recipe, quality, change, _: (
            quality + change * (LIKED if recipe.axis in DRIFTING and recipe.first_source else 1.0)
        ),
    ),
    Control(
        name="compressed",
        description="Honest order, but all scores lie between 6.5 and 7.5 of 0 to 10.",
        convictions=frozenset({("scale", "*")}),
        answer=lambda _recipe, quality, change, _draw: 7.0 + (quality + change - 5.0) / 10,
    ),
    Control(
        name="constant-jitter",
        description="One score for all, plus a jitter that any change of a pixel throws anew.",
        convictions=frozenset({("jitter", ALL_AXES), ("scale", "*"), ("beside_people", "*")}),
        # It answers overdone changes, and the candidates of one prompt, at random as well, which a corpus large
        # enough shows.
        tolerated=frozenset({("top_response", ALL_AXES), ("within_prompt", "*")}),
        answer=lambda recipe, _quality, _change, draw: 5.0 + JITTER * draw("jitter", *probe_words(recipe)),
    ),
)
