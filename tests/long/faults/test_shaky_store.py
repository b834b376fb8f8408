"""A whole audit into a store that fails and is slow, and one whose store is down for a while."""

from __future__ import annotations

import time

import pytest
from fault_world import make, same

import judge_audit
from judge_audit.core.errors import MachineryError

pytestmark = pytest.mark.long
GIVEN = {"axes": ["saturation+", "blur"], "ladder_items": 8, "pairs_per_kind": 0}


def brightness(images, prompts):
    return [float(image.mean()) for image in images]


@pytest.fixture
def world(tmp_path):
    return make(tmp_path)


def test_one_request_in_ten_fails_and_every_one_is_slow(world, store):
    inner = store.server.app

    def slow(environ, start):
        time.sleep(0.03)
        return inner(environ, start)

    store.server.app = slow
    store.share = 0.1
    judge_audit.audit(brightness, world / "items.csv", lake="s3://audits/shaky", report=world / "r", **GIVEN)
    store.share = 0.0
    assert store.refused > 20
    assert store.lost > 5
    judge_audit.audit(brightness, world / "items.csv", lake=world / "here", **GIVEN)
    same(world / "here", "s3://audits/shaky")


def test_a_store_that_goes_down_ends_the_audit_plainly_and_the_next_one_goes_on(world, store):
    shown, fuse = [], [150]

    def counting(images, prompts):
        shown.extend(prompts)
        if len(shown) > fuse[0]:
            store.down, fuse[0] = True, 10_000
        return brightness(images, prompts)

    counting.identity = "brightness 1"
    given = {**GIVEN, "lake": "s3://audits/down", "report": world / "r"}
    with pytest.raises(MachineryError, match=r"cannot be reached .* Nothing committed is lost"):
        judge_audit.audit(counting, world / "items.csv", **given)
    bought = len(shown)
    store.down = False
    judge_audit.audit(counting, world / "items.csv", **given)
    again = len(shown)
    judge_audit.audit(counting, world / "items.csv", lake=world / "here", **GIVEN)
    # A batch of each of the two workers was answered and not committed.
    assert 0 <= again - (len(shown) - again) <= 2 * 32
    assert bought > 150
    same(world / "here", "s3://audits/down")
