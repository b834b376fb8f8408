"""What programs read from the command line."""

from __future__ import annotations

import json

import numpy as np

from judge_audit.cli.output import print_json


def test_a_number_that_is_none_is_null_wherever_it_stands(capsys):
    print_json({"a": float("nan"), "b": [1.5, (float("inf"), -2)], "c": np.float64("nan"), "d": "ä"})
    said = capsys.readouterr().out
    assert "ä" in said

    def refused(name):
        raise AssertionError(name)

    told = json.loads(said, parse_constant=refused)
    assert told == {"a": None, "b": [1.5, [None, -2]], "c": None, "d": "ä"}
