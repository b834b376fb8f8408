"""Limits: which way is looser stands with each, bounds hold whatever a project says, and what changed is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_audit.core.configuration import resolve
from judge_audit.core.errors import UsageError
from judge_audit.core.limits import changed_limits, limit_rules, read_limits, recorded_limits

NAMES = st.sampled_from(sorted(limit_rules()))


@pytest.mark.parametrize("name", sorted(limit_rules()))
def test_every_limit_states_its_direction_and_holds_its_own_bounds(name):
    rule = limit_rules()[name]
    assert rule.looser in {"up", "down", "either"}
    assert rule.low <= rule.value <= rule.high
    assert rule.meaning
    for beyond in (rule.high + 1, *([rule.low / 2] if rule.low else [])):
        with pytest.raises(UsageError, match=rf"{name}.*Nothing overrides these bounds"):
            read_limits({name: beyond})


def test_a_certificate_lasts_ninety_days_at_most():
    assert limit_rules()["certificate.days"].high == 90
    with pytest.raises(UsageError, match=r"certificate\.days"):
        read_limits({"certificate.days": 36500})


def test_all_faults_are_named_at_once_with_what_was_meant():
    given_limits = {
        "premature.margn": 0.1,
        "jitter.margin": "much",
        "scale.pile": {"value": 0.9, "reason": "why"},
        "certificate.days": 91,
    }
    with pytest.raises(UsageError) as refused:
        read_limits(given_limits)
    text = str(refused.value)
    assert "Did you mean “premature.margin”?" in text
    assert text.count("\n") == 3


@given(name=NAMES, share=st.floats(0, 1), again=st.floats(0, 1))
def test_a_value_is_looser_one_way_and_never_both(name, share, again):
    rule = limit_rules()[name]
    value, before = (rule.low + part * (rule.high - rule.low) for part in (share, again))
    there, back = rule.is_looser(value, before), rule.is_looser(before, value)
    assert (there, back) in (
        {(False, False)}
        if value == before
        else {(True, True)}
        if rule.looser == "either"
        else {(True, False), (False, True)}
    )
    names = read_limits({name: value}).looser_than(read_limits({name: before}))
    assert names == ([name] if there else [])


def test_an_owner_and_a_reason_are_kept_and_named(tmp_path):
    (tmp_path / "audit.yaml").write_text(
        "items: a.csv\nlimits:\n  premature.margin: {value: 0.08, reason: our raters see less, owner: Ada}\n"
        "  jitter.margin: 0.05\n"
    )
    configuration = resolve(tmp_path / "audit.yaml")
    recorded = json.dumps(configuration.as_json(), default=str)
    assert (
        recorded_limits(recorded)["premature.margin"]
        == read_limits(configuration.limits)["premature.margin"]
        == 0.08
    )
    stricter, looser = changed_limits(recorded)
    assert (stricter.name, stricter.looser, stricter.owner) == ("jitter.margin", False, "")
    assert (looser.name, looser.looser, looser.owner, looser.reason) == (
        "premature.margin",
        True,
        "Ada",
        "our raters see less",
    )


@pytest.mark.parametrize(
    "text",
    [
        "{value: 0.08}",
        "{value: 0.08, reason: x}",
        "{value: 0.08, reason: x, owner: ''}",
        "[0.08]",
        "much",
        "-1",
    ],
)
def test_an_override_of_another_shape_is_refused(tmp_path, text):
    (tmp_path / "audit.yaml").write_text(f"items: a.csv\nlimits:\n  premature.margin: {text}\n")
    with pytest.raises(UsageError, match=r"premature\.margin"):
        resolve(tmp_path / "audit.yaml")


def test_what_an_earlier_version_recorded_out_of_bounds_counts_as_the_bound():
    recorded = json.dumps({"limits": {"certificate.days": 36500, "gone.limit": 1, "jitter.margin": "x"}})
    assert recorded_limits(recorded)["certificate.days"] == 90
    assert [one.name for one in changed_limits(recorded)] == ["certificate.days"]
    assert recorded_limits(None).values == read_limits().values
