"""What a person fills in on Prefect's page for a run."""

from __future__ import annotations

import pytest
from judge_audit_flows.deployment.parameters import NO_OVERRIDES, Overrides, Persistence
from pydantic import ValidationError

from judge_audit.core.configuration import audit_schema, resolve
from judge_audit.core.errors import InputError


@pytest.fixture
def audit(tmp_path):
    (tmp_path / "items.csv").write_text("item_id,source,prompt,image\n")
    path = tmp_path / "audit.yaml"
    path.write_text("items: items.csv\naxes: [blur]\nladder_items: 9\nrunner: processes\n")
    return path


def test_what_is_left_empty_stands_as_the_file_has_it(audit):
    assert NO_OVERRIDES.given() == {}
    assert resolve(audit, NO_OVERRIDES.given()) == resolve(audit)


def test_what_is_filled_in_wins_zero_too(audit):
    filled = Overrides(axes=("noise", "blur"), ladder_items=3, max_calls=0, runner="threads", seed=0)
    configuration = resolve(audit, filled.given())
    assert configuration.axes == ("noise", "blur")
    assert (configuration.ladder_items, configuration.max_calls, configuration.seed) == (3, 0, 0)
    assert configuration.runner == "threads"


def test_the_runners_that_are_offered_are_those_that_the_file_may_name(audit):
    offered = Overrides.model_json_schema()["properties"]["runner"]["enum"]
    assert offered[0] == ""
    assert {"threads", "processes"} <= set(offered)
    for name in offered[1:]:
        assert resolve(audit, Overrides(runner=name).given()).runner == name
    with pytest.raises(InputError):
        resolve(audit, Overrides(runner="hamsters").given())


def test_every_override_is_a_key_of_the_file_has_a_title_and_is_described():
    for model in (Overrides, Persistence):
        for told in model.model_json_schema()["properties"].values():
            assert told["title"]
            assert told["description"].endswith(".")
    assert set(Overrides.model_fields) <= set(audit_schema()["properties"])


@pytest.mark.parametrize("wrong", [{"ladder_items": 0}, {"max_cost": -1}, {"ladder": 3}])
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValidationError):
        Overrides(**wrong)
