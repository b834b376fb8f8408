"""The closed lists of words that stand in tables. One word per idea."""

from __future__ import annotations

from enum import StrEnum

POOLED = "*"
"""Stands for "all of them" in every key column of the results; never NULL."""

SMALL = "(small sources)"
"""Stands for the sources too small to stand alone, pooled."""

READ = "read items"
"""Kind of a verdict on items with readings of their own, beside the one on all."""

ORIGINAL = "original"
"""The axis of an untouched item."""

ANCHOR = "anchor"
"""The axis of an anchor: a picture of the labelled set, untouched, that serves as no reference."""

MISMATCHES = ("semantic_miss", "poor_quality", "compliance_breach", "structural_error")
"""The four ways in which a picture can be wrong."""
PAIR_AXIS = "pair:"
"""Begins the axis of the damaged member of a pair: `pair:<kind>`."""

IMAGES = "images"
"""Subject of figures about the pictures themselves, whatever the judge."""

PEOPLE = "people"
"""Subject of figures about the people who labelled, whatever the judge."""

WITHIN = "(within sources)"
"""Stands for one figure per source, combined by items; beside it `*` pools the sources first."""

OVERALL = "overall"
"""The dimension that ladders use when the judge returns it."""


class Region(StrEnum):
    """The part of a picture that a local axis keeps to, as a probe names it; a fixed part has its own name."""

    MASK = "mask"
    SALIENCY = "saliency"


class State(StrEnum):
    """What became of a call or of one dimension of it."""

    OK = "ok"
    INERT = "inert"
    REFUSED = "refused"
    UNPARSABLE = "unparsable"
    OUT_OF_SCALE = "out_of_scale"
    EMPTY = "empty"
    FAILED = "failed"


class Choice(StrEnum):
    """What a judge that compares two pictures answers: the place of the better one, or neither."""

    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"


class Tier(StrEnum):
    """How good people find an anchor as a whole."""

    GOOD = "good"
    MIDDLING = "middling"
    BAD = "bad"


class Verdict(StrEnum):
    """A measure against a limit."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    MISSING = "missing"


class Standing(StrEnum):
    """A judge in a use."""

    ALLOWED = "allowed"
    BARRED = "barred"
    UNPROVEN = "unproven"


class Position(StrEnum):
    """The highest step a judge holds today, lowest first."""

    NONE = "none"
    SCREENING = "screening"
    FILTER_AND_RANK = "filter and rank"
    REWARD = "reward"
    ACCEPT = "accept"


class Capability(StrEnum):
    """What a judge's scale can carry."""

    ABSOLUTE = "absolute"
    RANKER = "ranker"
    NONE = "none"


class ZoneBasis(StrEnum):
    """What an item's zone rests on."""

    READINGS = "readings"
    QUANTILES = "quantiles"
    MODELS = "models"
    MODEL_QUANTILES = "model quantiles"
    UNRELIABLE = "unreliable"
    UNKNOWN = "unknown"


NOT_ASKED = "not_asked"
"""Finding of a question that cannot be asked of a judge of this kind: no evidence of that sort will ever be there."""
