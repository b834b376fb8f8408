"""A night whose clock was three hours ahead, and the next one by a clock that is right."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from fault_world import make, same

import judge_audit
from judge_audit.audits.stages import check as examining
from judge_audit.audits.stages import plan as planning
from judge_audit.judges.calling import score_calls as calling
from judge_audit.lake import Lake

pytestmark = pytest.mark.long


class Ahead(datetime):
    """A clock that is three hours ahead."""

    @classmethod
    def now(cls, tz=None):
        return datetime.now(tz) + timedelta(hours=3)


def brightness(images, prompts):
    return [float(image.mean()) for image in images]


def test_the_next_night_buys_nothing_finds_the_same_and_says_that_a_clock_is_wrong(tmp_path, monkeypatch):
    world = make(tmp_path)
    given = {"axes": ["saturation+", "blur"], "ladder_items": 8, "pairs_per_kind": 0}
    with monkeypatch.context() as wrong:
        for module in (calling, planning, examining):
            wrong.setattr(module, "datetime", Ahead, raising=False)
        ahead = judge_audit.audit(brightness, world / "items.csv", lake=world / "lake", **given)
    held = Lake.open(world / "lake").read("calls")
    now = judge_audit.audit(brightness, world / "items.csv", lake=world / "lake", **given)
    assert Lake.open(world / "lake").read("calls").equals(held)
    assert any("an audit from the future" in note for note in now.document["caveats"])
    assert ahead.audit_id != now.audit_id
    judge_audit.audit(brightness, world / "items.csv", lake=world / "right", **given)
    same(world / "right", world / "lake")
