"""What the self-proof says of controls: plain words, each fault once."""

from __future__ import annotations

from judge_audit.judges.controls import builtin_controls
from judge_audit.messages import say
from judge_audit.selfproof import control_row, expected


def test_a_control_s_convictions_are_told_in_words_and_not_by_the_names_of_checks():
    zoned = ["blur", "sharpen"]
    reasons = []
    for judge in builtin_controls("zones", 1):
        control = judge.control
        verdicts = [
            {"check": check, "axis": axis, "verdict": "fail"}
            for check, axis in sorted(expected(control.convictions, zoned))
        ]
        reasons.append(control_row("audit", "judge", control, verdicts, zoned)["reason"])
    told = " ".join(reasons)
    assert "top_response" not in told
    assert "premature" not in told
    assert f"{say('controls.fault.jitter')} on blur, sharpen" in told
