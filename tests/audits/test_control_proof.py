"""What the self-proof says of controls: plain words, each fault once."""

from __future__ import annotations

from judge_audit.audits.control_proof import control_row, expected
from judge_audit.core.messages import say
from judge_audit.judges.controls import builtin_controls


def test_a_control_s_convictions_are_told_in_words_and_not_by_the_names_of_checks():
    tried = [
        {"check": check, "axis": axis, "verdict": "pass"}
        for check in ("premature", "jitter", "top_response", "scale", "covariates", "stability", "headroom")
        for axis in ("blur", "sharpen", "brightness+", "saturation+", "*")
    ]
    reasons = []
    for judge in builtin_controls("zones", 1):
        control = judge.control
        verdicts = [
            {"check": check, "axis": axis, "verdict": "fail"}
            for check, axis in sorted(expected(control.convictions, tried))
        ]
        verdicts += [
            {"check": check, "dimension": about.partition(" ")[2] or "copies", "verdict": "fail"}
            | {"finding": about.partition(" ")[0]}
            for check, about in sorted(control.convictions)
            if check == "mismatch"
        ]
        reasons.append(control_row("audit", "judge", control, verdicts)["reason"])
    told = " ".join(reasons)
    assert "top_response" not in told
    assert "premature" not in told
    assert f"{say('controls.fault.jitter')} on blur, brightness+, saturation+, sharpen" in told
    assert say("controls.fault.deaf", dimension="structure") in told
    assert say("controls.fault.copies") in told
