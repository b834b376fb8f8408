"""Rows that the tests of the lake write."""

from __future__ import annotations

from datetime import UTC, datetime

from judge_audit.core.tables import from_rows

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def call_rows(judge, probes, *, state="ok", pixels="p", at=NOON, is_control=False):
    return from_rows(
        "calls",
        [
            {
                "judge_id": judge,
                "probe_id": probe,
                "repeat": 0,
                "state": state,
                "pixel_digest": pixels,
                "renderer": "r",
                "called_at": at,
                "is_control": is_control,
            }
            for probe in probes
        ],
    )


def score_rows(judge, values, *, dimension="overall", is_control=False):
    return from_rows(
        "scores",
        [
            {
                "judge_id": judge,
                "probe_id": probe,
                "repeat": 0,
                "dimension": dimension,
                "value": value,
                "state": "ok",
                "is_control": is_control,
            }
            for probe, value in values.items()
        ],
    )
