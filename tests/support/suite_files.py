"""Files of suites."""

from __future__ import annotations

import json

SQL = "-- Odd?\nSELECT 1 AS k, 2 AS v;\n-- keys: the one.\nSELECT 1 AS k;\n"


def expectation(**parts):
    entry = {
        "type": "expect_column_values_to_be_between",
        "kwargs": {"column": "v", "min_value": 0, "max_value": 3},
        "meta": {"name": "small", "reason": "It is big.", "remedy": "Shrink it."},
    }
    return {**entry, **parts}


def text(*expectations, **parts):
    content = {"owner": "judge owner", "key": ["k"], "expectations": list(expectations), **parts}
    return json.dumps(content)
