"""A night in which nothing is new, beside the first one: figures in processor time, both in the same run."""

from __future__ import annotations

import pytest
from big_lake import context, night, pictures

from judge_audit.core.digests import row_digest

pytestmark = pytest.mark.parts

LADDERS = 12


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nights") / "team"
    pictures(folder, 60)
    return folder, night(folder, LADDERS, new=True), night(folder, LADDERS)


def test_it_buys_nothing_and_comes_to_the_same(nights):
    folder, (first, asked, _), (second, again, _) = nights
    assert asked > 1_000
    assert again == 0
    lake = context(folder, LADDERS).lake
    for table in ("curves", "measures", "verdicts", "standings"):
        then, now = (
            lake.read(table, audit_id=audit.audit_id).drop_columns(["audit_id"]) for audit in (first, second)
        )
        assert then.num_rows > 0
        assert row_digest(then) == row_digest(now)


def test_it_measures_nothing_again(nights):
    _, (_, _, first), (_, _, second) = nights
    print({name: (round(first[name], 2), round(second[name], 2)) for name in second})
    assert second["check"] <= 0.5 * first["check"]
    assert second["controls"] <= 0.5 * first["controls"]
