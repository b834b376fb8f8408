"""Effects in several sources: drifting ones are convicted, those that only spread differently are not."""

from __future__ import annotations

from judge_audit.core.vocabulary import Verdict
from judge_audit.measures.estimates import Estimate
from judge_audit.measures.source_comparisons import Effect, compare, contrasts, drifting


def estimate(value, error=0.02):
    return Estimate(value, error**2, 30, 31, 31)


def effect(lifts, raws, name="blur"):
    return Effect(
        name,
        {source: estimate(value) for source, value in lifts.items()},
        {source: estimate(value, 0.05) for source, value in raws.items()},
    )


def verdict(given, families=1):
    return compare(contrasts([given]), 0.10, 0.25, families)


def test_a_difference_in_lift_and_raw_is_unstable():
    found = verdict(effect({"a": 0.0, "b": 0.4}, {"a": 0.0, "b": 1.0}))
    assert found.verdict == Verdict.FAIL
    assert [(entry.first, entry.second) for entry in found.apart] == [("a", "b")]


def test_a_difference_in_lift_alone_is_a_difference_of_spread():
    found = verdict(effect({"a": 0.1, "b": 0.4}, {"a": 0.5, "b": 0.5}))
    assert found.verdict == Verdict.INCONCLUSIVE
    assert len(found.spread) == 1


def test_raw_units_that_differ_the_other_way_convict_nobody():
    found = verdict(effect({"a": 0.1, "b": 0.4}, {"a": 1.0, "b": 0.0}))
    assert found.verdict == Verdict.INCONCLUSIVE


def test_equal_effects_pass_and_wide_intervals_stay_open():
    assert verdict(effect({"a": 0.01, "b": 0.0}, {"a": 0.0, "b": 0.0})).verdict == Verdict.PASS
    wide = Effect("x", {"a": estimate(0, 0.1), "b": estimate(0, 0.1)}, {"a": estimate(0), "b": estimate(0)})
    assert verdict(wide).verdict == Verdict.INCONCLUSIVE


def test_the_one_source_that_drifts_is_named_and_left_out_changes_the_rest():
    given = effect({"a": 0.0, "b": 0.4, "c": 0.01}, {"a": 0.0, "b": 1.2, "c": 0.0})
    found = verdict(given)
    assert drifting(given, found.apart) == ("b",)
    assert abs(given.without("b").value - 0.005) < 1e-12
    assert abs(given.drift("b").value - 0.395) < 1e-12


def test_of_two_sources_neither_is_the_one_that_drifts():
    given = effect({"a": 0.0, "b": 0.4}, {"a": 0.0, "b": 1.0})
    assert drifting(given, verdict(given).apart) == ("a", "b")
